"""The datasets that have a name, and how a name or a path becomes a dataset."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unbraid.data.by_hand import ByHand
from unbraid.data.celeba import SOURCE as CELEBA
from unbraid.data.celeba import celeba
from unbraid.data.coloured_digits import colored_mnist, rotation_colored_mnist
from unbraid.data.columns import Columns
from unbraid.data.credit import credit
from unbraid.data.dataset import Dataset
from unbraid.data.download import Files, Source
from unbraid.data.dsprites import SOURCE as DSPRITES
from unbraid.data.dsprites import dsprites
from unbraid.data.emnist import SOURCE as EMNIST
from unbraid.data.emnist import emnist
from unbraid.data.expressions import SOURCE as EXPRESSIONS
from unbraid.data.expressions import expressions
from unbraid.data.faces import faces
from unbraid.data.files import ARRAYS, archive, folder
from unbraid.data.flowers102 import FILES as FLOWERS102
from unbraid.data.flowers102 import flowers102
from unbraid.data.grassy_mnist import grassy_mnist
from unbraid.data.hidden_groups import hidden_groups
from unbraid.data.hue_mnist import hue_mnist
from unbraid.data.law import with_law
from unbraid.data.mixture import mixture
from unbraid.data.mnist import digits
from unbraid.data.mnist import source as digits_source
from unbraid.data.mnist_stl10 import mnist_stl10
from unbraid.data.mouse_protein import SOURCE as MOUSE_PROTEIN
from unbraid.data.mouse_protein import mouse_protein
from unbraid.data.mpi3d import mpi3d
from unbraid.data.mpi3d import source as mpi3d_source
from unbraid.data.rooms import rooms
from unbraid.data.shapes3d import SOURCE as SHAPES3D
from unbraid.data.shapes3d import shapes3d
from unbraid.data.sprites import sprites
from unbraid.data.table import read_table, table
from unbraid.naming import choose, summary


@dataclass(frozen=True)
class Entry:
    """A dataset with a name: its constructor, and its official files where it has any."""

    constructor: Callable[..., Dataset]
    source: Callable[..., Source | Files | ByHand | None] | None = None  # takes the constructor's options
    stand_in: str = ""  # what it is made from where its files are missing; without one they must be there

    @property
    def summary(self) -> str:
        """What it is, by its constructor's documentation."""
        return summary(self.constructor)


TABLES = (".csv", ".tsv")
BUNDLED = "from scikit-learn's bundled digits"
DATASETS = {
    "sprites": Entry(sprites),
    "dsprites": Entry(dsprites, lambda **_: DSPRITES),
    "rooms": Entry(rooms),
    "shapes3d": Entry(shapes3d, lambda **_: SHAPES3D),
    "mpi3d": Entry(mpi3d, mpi3d_source),
    "digits": Entry(digits, digits_source, BUNDLED),
    "colored-mnist": Entry(colored_mnist, digits_source, BUNDLED),
    "rotation-colored-mnist": Entry(rotation_colored_mnist, digits_source, BUNDLED),
    "hue-mnist": Entry(hue_mnist, digits_source, BUNDLED),
    "mnist-stl10": Entry(
        mnist_stl10, digits_source, f"{BUNDLED}, and from textures where there are no photographs"
    ),
    "flowers102": Entry(flowers102, lambda **_: FLOWERS102),
    "credit": Entry(credit),
    "grassy-mnist": Entry(grassy_mnist, digits_source, BUNDLED),
    "celeba": Entry(celeba, lambda **_: CELEBA),
    "expressions": Entry(expressions, lambda **_: EXPRESSIONS),
    "faces": Entry(faces),
    "mouse-protein": Entry(mouse_protein, lambda **_: MOUSE_PROTEIN),
    "hidden-groups": Entry(hidden_groups),
    "emnist": Entry(emnist, lambda **_: EMNIST),
    "mixture": Entry(mixture),
}


def constructor(name_or_path: str) -> Callable[..., Dataset]:
    """What makes the dataset of a name, a folder of images, an `.npz`, `.npy` or `.csv` file; its first argument for
    all but a name is the path. Each also takes the options of `under_law`."""
    if name_or_path in DATASETS:
        return with_law(DATASETS[name_or_path].constructor)
    path = Path(name_or_path).expanduser()
    if path.is_dir():
        return with_law(folder)
    if path.suffix in ARRAYS:
        return with_law(archive)
    if path.suffix in TABLES:
        return with_law(table)
    if path.name != name_or_path:
        raise ValueError(
            f"There is no folder {name_or_path}: give that of your images, an .npz, .npy or .csv file, or "
            "the name of a dataset."
        )
    return choose(
        "dataset",
        name_or_path,
        DATASETS,
        or_else=", a folder of images, an .npz or .npy file, or a .csv file",
    ).constructor


def open_dataset(
    name_or_path: str, *, root: Path | str | None = None, background: str | None = None, **options: Any
) -> Dataset:
    """The dataset of a name, of a folder of images, or of an `.npz`, `.npy` or `.csv` file.

    Args:
        name_or_path: One of the names in `DATASETS`, or a path.
        root: The data root of official files; `UNBRAID_DATA` or the user's cache folder by default.
        background: Another name or path, whose observations lack what is looked for in the first; it takes those
            of the options that it has, and a table the means and spreads of the first.
        options: Further arguments of the dataset's constructor.
    """
    if background is None:
        return _open(name_or_path, root, options)
    own, shared = _shared_out(name_or_path, background, options)
    dataset, other = _open(name_or_path, root, own), _open(background, root, shared)
    assert dataset.origin is not None and other.origin is not None
    if dataset.shape == other.shape and _scale(dataset) != _scale(other):
        whole = ", or leave the numbers as they are with standardise (--no-standardise)"
        raise ValueError(
            f"The rows of {name_or_path} and {background} are not on one scale, since only .csv files take the means "
            "and spreads of another: give both as .csv files with the same columns"
            f"{whole if dataset.origin['name'].endswith(TABLES) else ''}."
        )
    beside = {"name": dataset.origin["name"], "options": {**options, "background": other.origin["name"]}}
    dataset = dataset.against(other)
    dataset.origin = beside
    return dataset


def _scale(dataset: Dataset) -> tuple[tuple[float, ...], ...] | None:
    """The means and spreads by which rows were standardised; None for rows as they are."""
    columns = dataset.columns
    if columns is None or columns == Columns.plain(columns.names):
        return None
    return columns.mean, columns.spread


def _open(name_or_path: str, root: Path | str | None, options: Mapping[str, Any]) -> Dataset:
    make = _constructor_taking(name_or_path, options)
    if name_or_path not in DATASETS:
        path = Path(name_or_path).expanduser().resolve()
        dataset = make(path, **options)
        dataset.origin = {"name": str(path), "options": dict(options)}
        return dataset
    rooted = {"root": None if root is None else Path(root)} if "root" in _parameters(make) else {}
    dataset = make(**rooted, **options)
    dataset.origin = {"name": name_or_path, "options": dict(options)}
    return dataset


def _shared_out(
    target: str, background: str, options: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What of the options is the target's, and what its background shares; what its classes are is not asked."""
    own, make = dict(options), constructor(background)
    shared = {name: value for name, value in options.items() if name in _parameters(make)}
    shared.pop("correlate", None)  # a law of the target's own factors
    if any(each.__wrapped__ is not table for each in (make, constructor(target))):  # type: ignore[attr-defined]
        return own, shared
    roles = {shared.pop("label", ""), *shared.pop("nuisances", ())} - {""}
    drop = shared.get("drop", ())
    target_columns, columns = (read_table(Path(path).expanduser()).names for path in (target, background))
    if drop:  # a column that only the background has is left out of it alone
        own["drop"] = tuple(name for name in drop if name in target_columns or name not in columns)
    like = str(Path(target).expanduser().resolve())
    return own, {"like": like, **shared, "drop": (*drop, *sorted(roles.difference(drop)))}


def check_dataset(name_or_path: str, root: Path | str | None = None, **options: Any) -> str:
    """Says in one line that a dataset is here and whole; raises with what is wrong otherwise."""
    source, entry = _source(name_or_path, options), DATASETS.get(name_or_path)
    stand_in = "" if entry is None else entry.stand_in
    if isinstance(source, Files) and stand_in and options.get("digits") != "mnist" and not source.here(root):
        source = None
    if source is not None:
        source.verify(source.locate(root))
    dataset = open_dataset(name_or_path, root=root, **options)
    kind = "images" if dataset.images else "rows"
    size = "×".join(map(str, dataset.shape))
    if source is not None:
        where = f" in {source.path(root)}"
    else:
        made = stand_in or ("rendered here" if dataset.images else "made here")
        where = f", {made}: nothing is needed" if name_or_path in DATASETS else ""
    return f"{dataset.name} is whole: {len(dataset)} {kind} of {size}{where}."


def get_dataset(name: str, root: Path | str | None = None, **options: Any) -> Path | None:
    """Fetches the official file of a dataset unless it is here, and checks it.

    Returns where it lies; None for a dataset that is rendered and needs no file.
    """
    if name not in DATASETS:
        constructor(name)
        raise ValueError(f"{name} is a path, not a name: there is nothing to get.")
    source = _source(name, options)
    if source is None:
        return None
    path = source.fetch(root)
    if source.sha256 is None:  # no hash to go by: the content must speak for itself
        open_dataset(name, root=root, **options)
    return path


def _constructor_taking(name_or_path: str, options: Mapping[str, Any]) -> Callable[..., Dataset]:
    make = constructor(name_or_path)
    allowed = [name for name in _parameters(make) if name not in ("root", "path")]
    if unknown := [name for name in options if name not in allowed]:
        raise ValueError(
            f"The dataset {name_or_path} has no option {', '.join(unknown)}; its options are {', '.join(allowed)}."
        )
    return make


def _parameters(make: Callable[..., Dataset]) -> list[str]:
    return list(inspect.signature(make).parameters)


def _source(name: str, options: Mapping[str, Any]) -> Source | Files | ByHand | None:
    _constructor_taking(name, options)
    entry = DATASETS.get(name)
    return None if entry is None or entry.source is None else entry.source(**options)
