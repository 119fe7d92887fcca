"""`unbraid encode`: the codes of your images."""

import io
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
        typer.Argument(metavar="IMAGES|FILE.npz", help="Image files, folders, an .npz or an .npy."),
    ],
    out: Annotated[Path, typer.Option(help="The .npz file to write: codes, strands and names.")],
    device: Device = "auto",
    as_json: AsJSON = False,
) -> None:
    """Encode your images with a trained model."""
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
    names, observations = read_observations(paths, model.shape)
    codes = model.encode(observations).numpy()
    strands = {f"strand_{name}": np.array(indices) for name, indices in model.strands.items()}
    content = io.BytesIO()
    np.savez(content, codes=codes, names=np.array(names), **strands)  # type: ignore[arg-type]
    write_atomically(out, content.getvalue())
    return {"out": str(out), "observations": len(codes), "dimensions": codes.shape[1]}
