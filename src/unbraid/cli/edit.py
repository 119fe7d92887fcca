"""`unbraid edit`: your images with edited strands."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unbraid.cli.console import AsJSON, Device, RunFolder, print_json
from unbraid.cli.custom_code import takes_custom_code
from unbraid.cli.output import IMAGES, out_file

if TYPE_CHECKING:
    from torch import Tensor

    from unbraid.runs import Model

TRAVERSED = (-2.0, 2.0, 9)  # from, to, number of values


@takes_custom_code("method", "architecture")
def edit(
    run: RunFolder,
    images: Annotated[
        list[Path], typer.Argument(metavar="A [B]", help="One image, or two images for --swap.")
    ],
    out: Annotated[Path, out_file(*IMAGES, help="The image file to write: .png, .jpg, .webp, .tif or .bmp.")],
    swap: Annotated[
        list[str] | None,
        typer.Option(metavar="STRAND", help="Strand or dimension to swap between the two images."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="STRAND=V,…", help="Strand or dimension to set, with its values."),
    ] = None,
    zero: Annotated[
        list[str] | None, typer.Option(metavar="STRAND", help="Strand or dimension to set to zero.")
    ] = None,
    traverse: Annotated[
        list[str] | None,
        typer.Option(metavar="STRAND", help="Strand or dimension to traverse from -2 to 2, per dimension."),
    ] = None,
    device: Device = "auto",
    as_json: AsJSON = False,
) -> None:
    """Edit strands of your images and save the decoded results."""
    rows = edit_images(
        run,
        images,
        out,
        swap=swap or [],
        set_=set_ or [],
        zero=zero or [],
        traverse=traverse or [],
        device=device,
    )
    print_json({"out": str(out), "rows": rows}) if as_json else print(f"{len(rows)} rows written to {out}.")


def edit_images(
    folder: Path,
    paths: Sequence[Path],
    out: Path,
    *,
    swap: Sequence[str],
    set_: Sequence[str],
    zero: Sequence[str],
    traverse: Sequence[str],
    device: str,
) -> list[str]:
    """Writes an image grid with one row for the images, one for their reconstructions, and one per edit."""
    import torch
    from PIL import Image

    from unbraid.cli.observations import read_observations
    from unbraid.files import write_atomically
    from unbraid.report import image_sheet
    from unbraid.runs import load

    if not (swap or set_ or zero or traverse):
        raise ValueError(
            "Nothing to edit: give --swap, --set, --zero or --traverse with a strand or a dimension's index."
        )
    model = load(folder, device=device)
    if len(model.shape) != 3:
        raise ValueError(f"Only images can be edited, and {folder} was trained on rows.")
    given = read_observations(paths, model)
    names, images = given.names, torch.as_tensor(given.x)
    if swap and len(images) != 2:
        raise ValueError(f"--swap needs two images; got {len(images)}.")
    codes = model.encode(images)
    rows: list[tuple[str, Tensor]] = [("images", images), ("reconstructed", model.decode(codes))]
    rows += _edited(model, codes, swap=swap, set_=set_, zero=zero)
    rows += _traversed(model, names, images, traverse)
    content = io.BytesIO()
    image_sheet(rows).save(content, format=Image.registered_extensions()[out.suffix.lower()])
    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(out, content.getvalue())
    return [name for name, _ in rows]


def _edited(
    model: "Model", codes: "Tensor", *, swap: Sequence[str], set_: Sequence[str], zero: Sequence[str]
) -> list[tuple[str, "Tensor"]]:
    import torch

    rows = []
    for strand in swap:
        swapped = torch.cat(model.strands.swap(codes[:1], codes[1:], strand))
        rows.append((f"swap {strand}", model.decode(swapped)))
    for entry in set_:
        strand, values = _assignment(entry, model)
        rows.append((f"set {entry}", model.decode(model.strands.set(codes, strand, values))))
    for strand in zero:
        rows.append((f"zero {strand}", model.decode(model.strands.zero(codes, strand))))
    return rows


def _traversed(
    model: "Model", names: Sequence[str], images: "Tensor", strands: Sequence[str]
) -> list[tuple[str, "Tensor"]]:
    import torch

    values = torch.linspace(*TRAVERSED)
    return [
        (f"traverse {dimension}: {name}", model.traverse(image, dimension, values)[:, 0])
        for strand in strands
        for dimension in model.strands[strand]
        for name, image in zip(names, images, strict=True)
    ]


def _assignment(text: str, model: "Model") -> tuple[str, "Tensor"]:
    """The strand and its values in `STRAND=VALUE,…`."""
    import torch

    strand, equals, values = text.partition("=")
    try:
        numbers = torch.tensor([float(value) for value in values.split(",")])
    except ValueError:
        numbers = torch.empty(0)
    size = len(model.strands[strand])
    if not equals or not bool(torch.isfinite(numbers).all()) or len(numbers) not in (1, size):
        raise ValueError(f"--set takes STRAND=VALUE or STRAND= and its {size} values; got {text!r}.")
    return strand, numbers.expand(size).clone()
