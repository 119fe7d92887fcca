"""The parts of the site that are generated when it is built: the gallery and the tables of the API reference.

A page asks for them by a comment: `<!-- gallery -->`, or `<!-- modules PACKAGE MODULE:NAME,NAME … -->`.
"""

import importlib
import inspect
import re
from collections import defaultdict
from pathlib import Path
from types import ModuleType

from make_pictures import plan_of
from PIL import Image

from unbraid import methods
from unbraid.data import DATASETS, constructor
from unbraid.methods import Method
from unbraid.methods.predictor import Predictor
from unbraid.types import ViewBatch

DOCS = Path(__file__).parent
PICTURES, THUMBNAILS = DOCS / "pictures", DOCS / "_build" / "thumbnails"
THUMBNAIL = (440, 300)
DATA = {
    "sprites": "rendered sprites",
    "colored-mnist": "colored digits",
    "faces": "drawn faces, with and without accessories",
    "mixture": "the generated mixture",
    "mnist-stl10": "digits on textures",
}


def concrete_methods() -> dict[str, type[Method]]:
    """Every method of `unbraid.methods.__all__` by its name on the command line, family by family."""
    named = {cls: name for name, cls in methods.method_classes().items()}
    public = [getattr(methods, name) for name in methods.__all__]
    kept = [cls for cls in public if cls in named]
    return {named[cls]: cls for cls in sorted(kept, key=lambda cls: (cls.family, named[cls]))}


def data_of(name: str, cls: type[Method]) -> str:
    """The dataset that the picture of a method shows."""
    if cls.batch_type is ViewBatch:
        return "mnist-stl10"
    if name in ("augmented-gin", "gin", "ivae"):
        return "mixture"
    return plan_of(name, 100, 64, 64).data


def picture_of(name: str, cls: type[Method]) -> Path:
    """The picture of a method, or of its data where a method has no decoder to show."""
    own = PICTURES / f"{name.replace('-', '_')}.png"
    if own.is_file():
        return own
    if cls.batch_type is ViewBatch:
        return PICTURES / "view_pairs.png"
    return PICTURES / ("colored_digits.png" if issubclass(cls, Predictor) else "sprites.png")


def thumbnail(picture: Path) -> str:
    """The top of a picture at the size of a card; its path as Markdown has it."""
    THUMBNAILS.mkdir(parents=True, exist_ok=True)
    path = THUMBNAILS / picture.name
    if not path.is_file() or path.stat().st_mtime < picture.stat().st_mtime:
        image = Image.open(picture).convert("RGB")
        width, height = THUMBNAIL
        image = image.resize((width, round(image.height * width / image.width)), Image.Resampling.LANCZOS)
        shown = Image.new("RGB", THUMBNAIL, image.getpixel((0, 0)) if image.height < height else "white")
        shown.paste(image, (0, max(0, (height - image.height) // 2)))
        shown.save(path, optimize=True)
    return f"/_build/thumbnails/{picture.name}"


def first_sentence(thing: object) -> str:
    """The first sentence of a docstring, or of its first line."""
    text = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
    return re.split(r"(?<=\.)\s", text)[0]


def gallery() -> str:
    """A card for each method, under the heading of its family."""
    families: dict[str, list[str]] = defaultdict(list)
    for name, cls in concrete_methods().items():
        shown = f"On {DATA[data_of(name, cls)]}."
        if not (PICTURES / f"{name.replace('-', '_')}.png").is_file():
            shown = f"No decoder: its data, {DATA[data_of(name, cls)]}."
        families[cls.family].append(
            f"::::{{grid-item-card}} {name}\n"
            f":img-top: {thumbnail(picture_of(name, cls))}\n"
            f":img-alt: {name}\n"
            f":link: methods/{name.replace('-', '_')}\n:link-type: doc\n\n"
            f"{first_sentence(cls)}\n\n:::{{card-footer}}\n{shown}\n:::\n::::\n"
        )
    return "\n".join(
        f"## {family}\n\n:::::{{grid}} 1 2 3 3\n:gutter: 3\n\n" + "\n".join(cards) + ":::::\n"
        for family, cards in sorted(families.items(), key=lambda item: -len(item[1]))  # the largest first
    )


def modules(package: str, *more: str) -> str:
    """A dropdown for each module that defines a public name of the package, and for further modules.

    `more` has `MODULE:NAME,NAME`, or `MODULE` for everything public in it.
    """
    found: dict[str, list[str]] = defaultdict(list)
    top: ModuleType = importlib.import_module(package)
    for name in getattr(top, "__all__", ()) if package != "unbraid" else ():
        thing = getattr(top, name)
        module = getattr(thing, "__module__", "")
        if not module.startswith(f"{package}.") or (
            not inspect.isroutine(thing) and not inspect.isclass(thing)
        ):
            continue
        if inspect.isclass(thing) and thing in concrete_methods().values():
            continue  # it has a page of its own
        found[module].append(name)
    if package == "unbraid.data":
        for name in DATASETS:
            dataset = constructor(name)
            found[dataset.__module__] += {dataset.__name__} - set(found[dataset.__module__])
    for entry in more:
        module, _, names = entry.partition(":")
        module = f"{package}.{module}" if not module.startswith("unbraid") else module
        found[module] += [name for name in names.split(",") if name and name not in found[module]]
    return "\n".join(dropdown(module, names) for module, names in sorted(found.items()))


def public_names(module: ModuleType) -> list[str]:
    """The documented classes and functions that a module defines."""
    return [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_")
        and getattr(thing, "__module__", None) == module.__name__
        and (inspect.isclass(thing) or inspect.isroutine(thing))
        and thing.__doc__
    ]


def dropdown(module: str, names: list[str]) -> str:
    """One module, closed until a reader opens it."""
    members = f" {', '.join(names)}" if names else ""
    shown = names or public_names(importlib.import_module(module))
    title = f"`{module}`: " + ", ".join(f"`{name}`" for name in shown)
    return f":::{{dropdown}} {title}\n\n```{{eval-rst}}\n.. automodule:: {module}\n   :members:{members}\n```\n:::\n"


def fill(text: str) -> str:
    """A page with its generated parts."""
    text = re.sub(r"^<!-- gallery -->$", lambda _: gallery(), text, flags=re.M)
    return re.sub(r"^<!-- modules (.+) -->$", lambda found: modules(*found[1].split()), text, flags=re.M)


def has_parts(text: str) -> bool:
    """Whether a page has generated parts."""
    return re.search(r"^<!-- (gallery|modules .+) -->$", text, re.M) is not None
