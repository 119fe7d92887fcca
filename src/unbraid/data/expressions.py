"""Faces with expressions against neutral ones: AffectNet's files, or any folder with a subfolder for each expression.

Mollahosseini et al., 2017, AffectNet, arXiv:1708.03985.
"""

from pathlib import Path

import numpy as np
import torch
from torch import Generator

from unbraid.data.by_hand import ByHand
from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.files import image_files, read_images
from unbraid.data.root import data_root
from unbraid.data.unpack import readable
from unbraid.seeds import derive

# AffectNet's numbers; the numbers 8 to 10 stand for faces without one of these.
NUMBERED = ("neutral", "happy", "sad", "surprise", "fear", "disgust", "angry", "contempt")
SOURCE = ByHand(
    "expressions", (), "http://mohammadmahoor.com/affectnet/ (or any faces, a folder for each expression)"
)


def expressions(
    root: Path | None = None,
    *,
    faces: str = "expressions",
    per_class: int = 5000,
    size: int = 48,
    grey: bool = True,
    face_seed: int = 0,
) -> Dataset:
    """Faces with an expression, with neutral faces as the background.

    A folder has a subfolder for each expression, by name or by AffectNet's number, one of them neutral (or 0). In
    AffectNet's own form it has `images` and `annotations`, a file `N_exp.npy` for each image.

    Args:
        root: The data root; `UNBRAID_DATA` or the user's cache folder by default.
        faces: The folder: under the data root, or anywhere.
        per_class: How many faces of each expression, at most; classes keep their unequal sizes below that.
        size: Side of the picture in pixels.
        grey: Whether pictures are grey, as most sets of small faces are.
        face_seed: Of which faces are taken, where there are more.
    """
    if size < 1 or per_class < 1:
        raise ValueError(
            "Faces need at least one pixel a side, and at least one of each; "
            f"got size={size}, per_class={per_class}."
        )
    folder = data_root(root) / faces
    folder = folder if folder.is_dir() else Path(faces).expanduser()
    if not folder.is_dir():
        folder = SOURCE.locate(root)
    found = _annotated(folder) if (folder / "annotations").is_dir() else _by_folder(folder)
    neutral = found.pop("neutral", None)
    if neutral is None or len(found) < 2:
        raise ValueError(
            f"{folder} needs a subfolder `neutral` (or 0) with images and at least two of other expressions; "
            f"it has {', '.join(sorted(found)) or 'none'}."
        )
    generator = Generator().manual_seed(derive(face_seed, "faces"))

    def some(files: list[Path]) -> list[Path]:
        return [
            files[place] for place in torch.randperm(len(files), generator=generator)[:per_class].tolist()
        ]

    chosen = {name: some(found[name]) for name in sorted(found)}
    shape = (1 if grey else 3, size, size)
    background = read_images(some(neutral), shape, "reading neutral faces")
    counts = torch.tensor([len(files) for files in chosen.values()])
    return Dataset(
        read_images([file for files in chosen.values() for file in files], shape, "reading expressions"),
        name=folder.name,
        space=FactorSpace({"expression": len(chosen)}),
        combinations=torch.arange(len(chosen)).repeat_interleave(counts),
        label="expression",
        value_names={"expression": tuple(chosen)},
        background=Dataset(background, name=f"{folder.name}-neutral"),
    )


def _by_folder(folder: Path) -> dict[str, list[Path]]:
    """The images of each expression's subfolder."""
    found: dict[str, list[Path]] = {}
    for sub in sorted(entry for entry in folder.iterdir() if entry.is_dir()):
        name = NUMBERED[int(sub.name)] if sub.name in map(str, range(len(NUMBERED))) else sub.name.lower()
        if files := image_files(sub):
            found[name] = files
    return found


def _annotated(folder: Path) -> dict[str, list[Path]]:
    """The images of each expression by AffectNet's annotations."""
    found: dict[str, list[Path]] = {}
    for file in image_files(folder / "images"):
        note = folder / "annotations" / f"{file.stem}_exp.npy"
        if not note.is_file():
            raise FileNotFoundError(f"{note} is missing: each image needs its annotation.")
        with readable(note):
            number = int(np.load(note, allow_pickle=False).item())
        if 0 <= number < len(NUMBERED):
            found.setdefault(NUMBERED[number], []).append(file)
    return found
