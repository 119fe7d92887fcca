"""`unbraid encode`: the codes of your images or rows."""

import csv
import io
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unbraid.cli.console import AsJSON, Device, RunFolder, print_json
from unbraid.cli.custom_code import takes_custom_code
from unbraid.cli.output import out_file

if TYPE_CHECKING:
    import numpy as np

FORMATS = (".npz", ".npy", ".csv")


@takes_custom_code("method", "architecture")
def encode(
    run: RunFolder,
    images: Annotated[
        list[Path],
        typer.Argument(
            metavar="IMAGES|TABLE.csv|FILE.npz", help="Image files, folders, a table, an .npz or an .npy."
        ),
    ],
    out: Annotated[Path, out_file(*FORMATS, help="The .npz, .npy or .csv file to write.")],
    device: Device = "auto",
    as_json: AsJSON = False,
) -> None:
    """Encode your images or rows with a trained model.

    Rows are in the units of the training table; columns are matched by name, and further columns are left out.
    """
    summary = encode_images(run, images, out, device=device)
    if as_json:
        print_json(summary)
    else:
        print(
            f"{summary['observations']} observations encoded to {summary['dimensions']} dimensions in {out}."
        )


def encode_images(folder: Path, paths: Sequence[Path], out: Path, *, device: str) -> dict[str, Any]:
    """Writes the codes in the order of the observations."""
    from unbraid.cli.observations import read_observations
    from unbraid.files import write_atomically
    from unbraid.runs import load

    model = load(folder, device=device)
    given = read_observations(paths, model)
    if given.ignored:
        print(f"Columns that the model does not use: {', '.join(given.ignored)}.", file=sys.stderr)
    codes = model.encode(given.x, condition=given.condition).numpy()
    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(out, encoded_file(out.suffix.lower(), given.names, codes, model.strands))
    return {"out": str(out), "observations": len(codes), "dimensions": codes.shape[1]}


def encoded_file(
    ending: str, names: Sequence[str], codes: "np.ndarray", strands: Mapping[str, Sequence[int]]
) -> bytes:
    """A file of codes: .npz with names and strands, .csv with a header and names, or .npy with the codes alone."""
    import numpy as np

    if ending == ".csv":
        text = io.StringIO(newline="")
        rows = zip(names, codes, strict=True)
        csv.writer(text).writerows(
            [["name", *column_names(strands, codes.shape[1])], *([name, *row] for name, row in rows)]
        )
        return text.getvalue().encode("utf-8", "surrogateescape")
    content = io.BytesIO()
    if ending == ".npy":
        np.save(content, codes)
    else:
        dimensions = {f"strand_{name}": np.array(indices) for name, indices in strands.items()}
        np.savez(content, codes=codes, names=np.array(names), **dimensions)  # type: ignore[arg-type]
    return content.getvalue()


def column_names(strands: Mapping[str, Sequence[int]], size: int) -> list[str]:
    """The names of the dimensions: by strand, or `dim_0`, … unless each dimension is in one of several strands.

    >>> column_names({"common": (0, 1), "salient": (2,)}, 3), column_names({"codes": (0, 1)}, 2)
    (['common_0', 'common_1', 'salient_0'], ['dim_0', 'dim_1'])
    """
    names_of: list[list[str]] = [[] for _ in range(size)]
    for name, indices in strands.items():
        for position, index in enumerate(indices):
            names_of[index].append(f"{name}_{position}")
    by_strand = len(strands) > 1 and all(len(names) == 1 for names in names_of)
    return [names[0] if by_strand else f"dim_{index}" for index, names in enumerate(names_of)]
