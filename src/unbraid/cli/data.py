"""`unbraid data check` and `unbraid data download`."""

from typing import Annotated

import typer

from unbraid.cli.console import AsJSON, DataRoot, aligned, print_json

DatasetName = Annotated[str, typer.Argument(metavar="DATASET", help="Name of the dataset.")]
Variant = Annotated[
    str | None, typer.Option(help="Variant of a dataset with several files, e.g. toy for mpi3d.")
]


Links = Annotated[
    bool, typer.Option("--links", help="Ask every address of the official files, instead of reading files.")
]


def check(
    name: Annotated[
        str | None, typer.Argument(metavar="DATASET", help="Name of the dataset; optional with --links.")
    ] = None,
    data_root: DataRoot = None,
    variant: Variant = None,
    links: Links = False,
    as_json: AsJSON = False,
) -> None:
    """Check a dataset's files, or with --links their addresses."""
    from unbraid.data import check_dataset

    if links:
        _print_links(name, as_json)
        return
    if name is None:
        raise ValueError("Name a dataset, or ask for every address with --links.")
    sentence = check_dataset(name, data_root, **({"variant": variant} if variant else {}))
    print_json({"name": name, "intact": True, "sentence": sentence}) if as_json else print(sentence)


def _print_links(name: str | None, as_json: bool) -> None:
    """Prints what every address answers; the exit code is 1 if one is dead."""
    from unbraid.data import check_links

    links = check_links(name)
    if as_json:
        print_json([link._asdict() for link in links])
    elif not links:
        print(f"{name} needs no files.")
    else:
        rows = [("dataset", "file", "address", "state")]
        print(*aligned([*rows, *(link[:4] for link in links)]), sep="\n")
    if not all(link.is_alive for link in links):
        raise typer.Exit(1)


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
