"""Faces with expressions and neutral faces: AffectNet's files, or any folder with a subfolder per expression.

Mollahosseini et al., 2017, AffectNet, arXiv:1708.03985.
"""

from pathlib import Path

import torch
from torch import Generator

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.image_folder import image_files, read_images
from unbraid.data.manual_download import RESEARCH_ONLY, ManualDownload
from unbraid.data.numpy_files import read_npy
from unbraid.data.root import data_root
from unbraid.data.unpack import explain_read_errors
from unbraid.seeds import derive_seed

# AffectNet's numbers; 8 to 10 stand for faces without any of these expressions.
NUMBERED = ("neutral", "happy", "sad", "surprise", "fear", "disgust", "angry", "contempt")
SOURCE = ManualDownload(
    "expressions", (), "http://mohammadmahoor.com/affectnet/ (or any faces, one folder per expression)"
)


def expressions(
    root: Path | None = None,
    *,
    faces: str = "expressions",
    per_class: int = 5000,
    image_size: int = 48,
    gray: bool = True,
    face_seed: int = 0,
) -> Dataset:
    """Faces with an expression, with neutral faces as the background.

    The folder has one subfolder per expression, by name or by AffectNet's number, one of them `neutral` (or 0). In
    AffectNet's layout it has `images` and `annotations`, with a file `N_exp.npy` per image.

    Args:
        root: Data root; default: `$UNBRAID_DATA`, otherwise `~/.cache/unbraid`.
        faces: Folder of the faces, under the data root or anywhere.
        per_class: Maximum number of faces per expression; smaller classes keep their size.
        image_size: Side of the images in pixels.
        gray: Convert the images to gray.
        face_seed: Random seed for the choice of faces in larger classes.
    """
    if image_size < 1 or per_class < 1:
        raise ValueError(
            "image_size and per_class must be at least 1; "
            f"got image_size={image_size}, per_class={per_class}."
        )
    folder = data_root(root) / faces
    folder = folder if folder.is_dir() else Path(faces).expanduser()
    if not folder.is_dir():
        folder = SOURCE.require(root)
    files = _annotated(folder) if (folder / "annotations").is_dir() else _by_folder(folder)
    neutral = files.pop("neutral", None)
    if neutral is None or len(files) < 2:
        raise ValueError(
            f"{folder} needs a subfolder `neutral` (or 0) with images and at least two of other expressions; "
            f"it has {', '.join(sorted(files)) or 'none'}."
        )
    generator = Generator().manual_seed(derive_seed(face_seed, "faces"))

    chosen = {name: _sample(files[name], per_class, generator) for name in sorted(files)}
    shape = (1 if gray else 3, image_size, image_size)
    background = read_images(_sample(neutral, per_class, generator), shape, "reading neutral faces")
    counts = torch.tensor([len(paths) for paths in chosen.values()])
    return Dataset(
        read_images([path for paths in chosen.values() for path in paths], shape, "reading expressions"),
        name=folder.name,
        factor_space=FactorSpace({"expression": len(chosen)}),
        combinations=torch.arange(len(chosen)).repeat_interleave(counts),
        label="expression",
        value_names={"expression": tuple(chosen)},
        background=Dataset(background, name=f"{folder.name}-neutral", license=RESEARCH_ONLY),
        license=RESEARCH_ONLY,
    )


def _sample(files: list[Path], size: int, generator: Generator) -> list[Path]:
    """At most `size` of the files, in random order."""
    return [files[index] for index in torch.randperm(len(files), generator=generator)[:size].tolist()]


def _by_folder(folder: Path) -> dict[str, list[Path]]:
    """The image files of each expression's subfolder."""
    files: dict[str, list[Path]] = {}
    for sub in sorted(entry for entry in folder.iterdir() if entry.is_dir()):
        name = NUMBERED[int(sub.name)] if sub.name in map(str, range(len(NUMBERED))) else sub.name.lower()
        if images := image_files(sub):
            files[name] = images
    return files


def _annotated(folder: Path) -> dict[str, list[Path]]:
    """The image files of each expression by AffectNet's annotations."""
    files: dict[str, list[Path]] = {}
    for file in image_files(folder / "images"):
        note = folder / "annotations" / f"{file.stem}_exp.npy"
        if not note.is_file():
            raise FileNotFoundError(f"{note} is missing: every image needs an annotation.")
        with explain_read_errors(note):
            number = int(read_npy(note).item())
        if 0 <= number < len(NUMBERED):
            files.setdefault(NUMBERED[number], []).append(file)
    return files
