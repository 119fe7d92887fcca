"""`unbraid export`."""

from pathlib import Path
from typing import Annotated

import typer

from unbraid.cli.console import AsJSON, RunFolder, print_json
from unbraid.cli.custom_code import takes_custom_code
from unbraid.cli.output import out_folder


@takes_custom_code("method", "data", "architecture")
def export(
    run: RunFolder,
    format: Annotated[
        str, typer.Option(metavar="FORMAT", help="Format: onnx, torchscript, safetensors or huggingface.")
    ],
    out: Annotated[
        Path | None, out_folder("Folder to write. Default: export-FORMAT in the run folder.")
    ] = None,
    weights: Annotated[str, typer.Option(help="Weights: last, or best (lowest validation loss).")] = "last",
    as_json: AsJSON = False,
) -> None:
    """Export a trained model with a model card and verify its outputs."""
    from unbraid.export import export as export_run

    exported = export_run(run, format, out, weights=weights)
    if as_json:
        print_json(exported._asdict() | {"folder": str(exported.folder)})
    else:
        print(f"Written to {exported.folder}: {', '.join(exported.files)}.")
        print(f"The outputs differ from the model's by at most {exported.difference:.1g}.")
