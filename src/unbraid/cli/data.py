"""`unbraid data check` and `unbraid data download`."""

from typing import Annotated

import typer

from unbraid.cli.console import AsJSON, DataRoot, print_json

DatasetName = Annotated[str, typer.Argument(metavar="DATASET", help="Name of the dataset.")]
Variant = Annotated[
    str | None, typer.Option(help="Variant of a dataset with several files, e.g. toy for mpi3d.")
]


def check(
    name: DatasetName, data_root: DataRoot = None, variant: Variant = None, as_json: AsJSON = False
) -> None:
    """Check that a dataset's files are present and intact."""
    from unbraid.data import check_dataset

    sentence = check_dataset(name, data_root, **({"variant": variant} if variant else {}))
    print_json({"name": name, "intact": True, "sentence": sentence}) if as_json else print(sentence)


def download(
    name: DatasetName, data_root: DataRoot = None, variant: Variant = None, as_json: AsJSON = False
) -> None:
    """Download a dataset's files, or show where to put them."""
    from unbraid.data import download_dataset

    path = download_dataset(name, data_root, **({"variant": variant} if variant else {}))
    if as_json:
        print_json({"name": name, "path": None if path is None else str(path)})
    elif path is None:
        print(f"{name} is generated on this computer and needs no download.")
    else:
        print(f"{name} is stored in {path}.")
