"""`unbraid encode` and `unbraid edit`: a trained model on one's own images."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unbraid.data.files import ARRAYS, archive, image_files, read_image
from unbraid.model import Model, as_observations, load
from unbraid.runs import write_atomically
from unbraid.types import Observations

SWEEP = torch.linspace(-2, 2, 9)


def encode_images(folder: Path, paths: Sequence[Path], out: Path, *, device: str) -> dict[str, Any]:
    """Writes the codes of images, folders of images, an .npz or an .npy, with the strands' dimensions and the names."""
    model = load(folder, device=device)
    names, observations = read_observations(paths, model.shape)
    codes = model.encode(observations).numpy()
    strands = {f"strand_{name}": np.array(indices) for name, indices in model.strands.items()}
    content = io.BytesIO()
    np.savez(content, codes=codes, names=np.array(names), **strands)  # type: ignore[arg-type]
    write_atomically(out, content.getvalue())
    return {"out": str(out), "observations": len(codes), "codes": codes.shape[1]}


def edit_images(
    folder: Path,
    paths: Sequence[Path],
    out: Path,
    *,
    swap: Sequence[str],
    set_: Sequence[str],
    zero: Sequence[str],
    sweep: Sequence[str],
    device: str,
) -> list[str]:
    """Writes a sheet with a row for the images, for their reconstructions, and for each edit."""
    from unbraid.report.sheets import image_sheet

    if not (swap or set_ or zero or sweep):
        raise ValueError(
            "Nothing to edit: give --swap, --set, --zero or --sweep with a strand or a code's number."
        )
    model = load(folder, device=device)
    if len(model.shape) != 3:
        raise ValueError(f"{folder} was trained on rows, and only images can be edited into a sheet.")
    names, images = read_observations(paths, model.shape)
    if swap and len(images) != 2:
        raise ValueError(f"--swap exchanges a strand between two images; got {len(images)}.")
    codes = model.encode(images)
    rows: list[tuple[str, Observations]] = [("images", images), ("reconstructed", model.decode(codes))]
    for strand in swap:
        a, b = model.strands.swap(codes[:1], codes[1:], strand)
        rows.append((f"swap {strand}", model.decode(torch.cat([a, b]))))
    for entry in set_:
        strand, values = _assignment(entry, model)
        rows.append((f"set {entry}", model.decode(model.strands.set(codes, strand, values))))
    for strand in zero:
        rows.append((f"zero {strand}", model.decode(model.strands.zero(codes, strand))))
    for strand in sweep:
        for code in model.strands[strand]:  # a strand is swept code by code
            for name, image in zip(names, images, strict=True):
                rows.append((f"sweep {code}: {name}", model.traverse(image, code, SWEEP)[:, 0]))
    content = io.BytesIO()
    image_sheet(rows).save(content, format="PNG")
    write_atomically(out, content.getvalue())
    return [name for name, _ in rows]


def read_observations(paths: Sequence[Path], shape: tuple[int, ...]) -> tuple[list[str], Observations]:
    """The observations of files, folders, one .npz or one .npy in the shape a model knows, with their names."""
    if len(paths) == 1 and paths[0].suffix in ARRAYS:
        dataset = archive(paths[0])
        x = dataset.observe(torch.arange(len(dataset)))
        return [str(row) for row in range(len(x))], as_observations(x, shape)
    if len(shape) != 3:
        raise ValueError(f"The model takes rows of {shape[0]} numbers: give an .npz with an array `images`.")
    files = [file for path in paths for file in (image_files(path) if path.is_dir() else [path])]
    if not files:
        raise ValueError(f"{', '.join(map(str, paths))} holds no images.")
    images: list[Tensor] = [read_image(file, shape) for file in files]  # type: ignore[arg-type]
    return [file.name for file in files], torch.stack(images).float() / 255


def _assignment(text: str, model: Model) -> tuple[str, Tensor]:
    strand, equals, values = text.partition("=")
    try:
        numbers = torch.tensor([float(value) for value in values.split(",")])
    except ValueError:
        numbers = torch.empty(0)
    if (
        not equals
        or not bool(torch.isfinite(numbers).all())
        or len(numbers) not in (1, len(model.strands[strand]))
    ):
        size = len(model.strands[strand])
        raise ValueError(f"--set takes STRAND=VALUE or STRAND= and its {size} values; got {text!r}.")
    return strand, numbers.expand(len(model.strands[strand])).clone()
