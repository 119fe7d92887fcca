"""CelebA: celebrity faces with forty attributes. Liu et al., 2015, Deep Learning Face Attributes in the Wild."""

from pathlib import Path

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Generator

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.image_folder import read_images
from unbraid.data.manual_download import RESEARCH_ONLY, ManualDownload
from unbraid.data.unpack import explain_read_errors
from unbraid.seeds import derive_seed

SOURCE = ManualDownload(
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
    image_size: int = 64,
    face_seed: int = 0,
) -> Dataset:
    """Faces with a hat or eyeglasses; the background has neither (CelebA's official files).

    The label is the attribute of a face. Faces with several attributes are excluded, and the classes are balanced.
    Listed images that the folder lacks are skipped, so a subset of CelebA is enough.

    Args:
        root: Data root; default: `$UNBRAID_DATA`, otherwise `~/.cache/unbraid`.
        attributes: Attributes of the target, at least two of the forty; each face has exactly one of them.
        per_class: Number of faces per attribute; limited by the rarest attribute.
        plain: Maximum number of background faces, which have none of the attributes.
        image_size: Side of the images in pixels.
        face_seed: Random seed for the choice of faces.
    """
    if image_size < 1 or per_class < 1 or plain < 1:
        raise ValueError(
            "image_size, per_class and plain must be at least 1; "
            f"got image_size={image_size}, per_class={per_class}, plain={plain}."
        )
    folder = SOURCE.require(root)
    files, has_attribute = _read_attributes(folder, attributes)
    groups, plain_rows = _group_rows(has_attribute, plain, face_seed)
    count = min(per_class, *map(len, groups))
    if count < 1 or not len(plain_rows):
        rarest = attributes[int(np.argmin([*map(len, groups)]))]
        raise ValueError(
            f"{folder} lacks faces with {rarest} only, or faces without any of the attributes. Choose other attributes."
        )
    target = np.concatenate([rows[:count] for rows in groups])
    shape = (3, image_size, image_size)
    return Dataset(
        read_images([files[row] for row in target], shape, "reading the target"),
        name="celeba",
        factor_space=FactorSpace({"attribute": len(attributes)}),
        combinations=torch.arange(len(attributes)).repeat_interleave(count),
        label="attribute",
        value_names={"attribute": attributes},
        background=Dataset(
            read_images([files[row] for row in plain_rows], shape, "reading the background"),
            name="celeba-plain",
            license=RESEARCH_ONLY,
        ),
        license=RESEARCH_ONLY,
    )


def _group_rows(
    has_attribute: Bool[np.ndarray, "n a"], plain: int, seed: int
) -> tuple[list[Int[np.ndarray, " m"]], Int[np.ndarray, " p"]]:
    """The rows with exactly one attribute, per attribute, and up to `plain` rows without any; in random order."""
    generator = Generator().manual_seed(derive_seed(seed, "faces"))
    order = torch.randperm(len(has_attribute), generator=generator).numpy()
    shuffled = has_attribute[order]
    groups = [order[column & (shuffled.sum(1) == 1)] for column in shuffled.T]
    return groups, order[~shuffled.any(1)][:plain]


def _read_attributes(folder: Path, attributes: tuple[str, ...]) -> tuple[list[Path], Bool[np.ndarray, "n a"]]:
    """The files of the images that are present, and whether each image has each of the attributes."""
    path = folder / "list_attr_celeba.txt"
    with explain_read_errors(path):
        lines = path.read_text(encoding="utf-8").splitlines()
    all_attributes = lines[1].split() if len(lines) > 2 else []
    if len(attributes) < 2 or len(set(attributes)) < len(attributes):
        raise ValueError(
            f"The target needs at least two different attributes; got {', '.join(attributes) or 'none'}."
        )
    for name in attributes:
        if name not in all_attributes:
            raise ValueError(f"{path} has no attribute {name!r}; it has {', '.join(all_attributes)}.")
    columns = [1 + all_attributes.index(name) for name in attributes]
    present_files = {file.name for file in (folder / "img_align_celeba").iterdir()}
    files, rows = [], []
    for line in lines[2:]:
        cells = line.split()
        if len(cells) != 1 + len(all_attributes):
            raise ValueError(
                f"{path} is damaged: a line has {len(cells)} entries for {1 + len(all_attributes)} columns."
            )
        if cells[0] in present_files:
            files.append(folder / "img_align_celeba" / cells[0])
            rows.append([cells[column] == "1" for column in columns])
    if not files:
        raise ValueError(f"{folder / 'img_align_celeba'} contains none of the images that {path.name} lists.")
    return files, np.array(rows)
