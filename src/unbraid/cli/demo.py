"""`unbraid demo`."""

from pathlib import Path
from typing import Annotated

from unbraid.cli.console import AsJSON, print_json
from unbraid.cli.output import out_folder


def demo(
    out: Annotated[Path, out_folder("Folder for the runs and the page.")] = Path("demo"),
    as_json: AsJSON = False,
) -> None:
    """Train five small systems without downloads and write a page of results."""
    from unbraid.demo import demo as run_demo

    path = run_demo(out, quiet=as_json)
    print_json({"out": str(path)}) if as_json else print(f"Open {path} in a browser.")
