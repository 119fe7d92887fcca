"""`unbraid encode`: the codes of your images or rows."""

import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from unbraid.cli.console import AsJSON, Device, RunFolder, print_json
from unbraid.cli.own_code import takes_own_code


@takes_own_code("method", "architecture")
def encode(
    run: RunFolder,
    images: Annotated[
        list[Path],
        typer.Argument(
            metavar="IMAGES|TABLE.csv|FILE.npz", help="Image files, folders, a table, an .npz or an .npy."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The .npz file to write: codes, strands and names.")],
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
    """Writes the codes, the dimensions of each strand and the names of the observations to an .npz."""
    import numpy as np

    from unbraid.cli.observations import read_observations
    from unbraid.files import write_atomically
    from unbraid.runs import load

    model = load(folder, device=device)
    given = read_observations(paths, model)
    if given.ignored:
        print(f"Columns that the model does not use: {', '.join(given.ignored)}.", file=sys.stderr)
    codes = model.encode(given.x, condition=given.condition).numpy()
    strands = {f"strand_{name}": np.array(indices) for name, indices in model.strands.items()}
    content = io.BytesIO()
    np.savez(content, codes=codes, names=np.array(given.names), **strands)  # type: ignore[arg-type]
    write_atomically(out, content.getvalue())
    return {"out": str(out), "observations": len(codes), "dimensions": codes.shape[1]}
