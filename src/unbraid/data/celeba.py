"""CelebA: faces of celebrities with forty attributes. Liu et al., 2015, Deep Learning Face Attributes in the Wild."""

from pathlib import Path

import numpy as np
import torch
from jaxtyping import Bool
from torch import Generator

from unbraid.data.by_hand import ByHand
from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.files import read_images
from unbraid.data.unpack import readable
from unbraid.seeds import derive

SOURCE = ByHand(
    "celeba",
    ("list_attr_celeba.txt", "img_align_celeba"),
    "https://mmlab.ie.cuhk.edu.hk/projects/CelebA.html",
)


def celeba(
    root: Path | None = None,
    *,
    attributes: tuple[str, ...] = ("Wearing_Hat", "Eyeglasses"),
    per_class: int = 5000,
    plain: int = 10_000,
    size: int = 64,
    face_seed: int = 0,
) -> Dataset:
    """Faces with a hat or with eyeglasses against faces with neither; from CelebA's official files.

    The label says which of the attributes a face has. Faces with several of them are left out, and the classes are
    balanced. Images that the attributes list and the folder lacks are left out too, so that a part of CelebA will do.

    Args:
        root: The data root; `UNBRAID_DATA` or the user's cache folder by default.
        attributes: Of the forty, those that the target has, one of them in each face.
        per_class: How many faces of each; as many as the rarest attribute has, where that is fewer.
        plain: How many faces without any of them make the background, at most.
        size: Side of the picture in pixels.
        face_seed: Of which faces are taken.
    """
    if size < 1 or per_class < 1 or plain < 1:
        raise ValueError(
            "Faces need at least one pixel a side, and at least one of each; "
            f"got size={size}, per_class={per_class}, plain={plain}."
        )
    folder = SOURCE.locate(root)
    files, table = _attributes(folder, attributes)
    generator = Generator().manual_seed(derive(face_seed, "faces"))
    order = torch.randperm(len(files), generator=generator).numpy()
    alone = [order[table[order, place] & (table[order].sum(1) == 1)] for place in range(len(attributes))]
    count = min(per_class, *map(len, alone))
    neither = order[~table[order].any(1)][:plain]
    if count < 1 or not len(neither):
        raise ValueError(
            f"{folder} has no face with {attributes[int(np.argmin([*map(len, alone)]))]} alone, or none with neither: "
            "choose other attributes."
        )
    target = np.concatenate([rows[:count] for rows in alone])
    shape = (3, size, size)
    return Dataset(
        read_images([files[row] for row in target], shape, "reading the target"),
        name="celeba",
        space=FactorSpace({"attribute": len(attributes)}),
        combinations=torch.arange(len(attributes)).repeat_interleave(count),
        label="attribute",
        value_names={"attribute": attributes},
        background=Dataset(
            read_images([files[row] for row in neither], shape, "reading the background"), name="celeba-plain"
        ),
    )


def _attributes(folder: Path, wanted: tuple[str, ...]) -> tuple[list[Path], Bool[np.ndarray, "n a"]]:
    """The images that are there, and which of the wanted attributes each has."""
    path = folder / "list_attr_celeba.txt"
    with readable(path):
        lines = path.read_text(encoding="utf-8").splitlines()
    names = lines[1].split() if len(lines) > 2 else []
    if len(wanted) < 2 or len(set(wanted)) < len(wanted):
        raise ValueError(
            f"The target needs at least two different attributes; got {', '.join(wanted) or 'none'}."
        )
    for name in wanted:
        if name not in names:
            raise ValueError(f"{path} has no attribute {name!r}; it has {', '.join(names)}.")
    columns = [1 + names.index(name) for name in wanted]
    there = {file.name for file in (folder / "img_align_celeba").iterdir()}
    files, rows = [], []
    for line in lines[2:]:
        cells = line.split()
        if len(cells) != 1 + len(names):
            raise ValueError(
                f"{path} is damaged: a line has {len(cells)} entries for {1 + len(names)} columns."
            )
        if cells[0] in there:
            files.append(folder / "img_align_celeba" / cells[0])
            rows.append([cells[column] == "1" for column in columns])
    if not files:
        raise ValueError(f"{folder / 'img_align_celeba'} holds none of the images that {path.name} lists.")
    return files, np.array(rows)
