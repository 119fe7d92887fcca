"""The dataset of a run, opened again, and other datasets to evaluate the run on."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unbraid.custom_code import is_reference, require_known
from unbraid.data import ColumnScaler, Dataset, constructor, open_dataset
from unbraid.options import to_cli_args
from unbraid.runs.arguments import require_types
from unbraid.runs.folder import Run
from unbraid.settings import from_json


def training_dataset(run: Run, root: Path | str | None = None) -> Dataset:
    """The dataset that the run was trained on."""
    origin = _origin(run)
    dataset = open_dataset(origin["name"], root=root, **_options(origin))
    if dataset.description()["fingerprint"] != run.settings["data"]["fingerprint"]:
        raise ValueError(
            f"{origin['name']} is not the dataset that {run.folder} was trained on: its observations or their "
            "distribution differ, for example because of another data root. Pass the same --data-root, or open the "
            "dataset in Python and pass it to `evaluate`."
        )
    return dataset


def evaluation_dataset(
    run: Run, root: Path | str | None = None, *, data: str | None = None, **options: Any
) -> tuple[Dataset, str]:
    """Another dataset to evaluate a run on, and its name in the scores.

    Args:
        run: The run.
        root: Data root of official files.
        data: Name or path of the dataset. Default: the training dataset with the options of the run.
        **options: Options that replace those of the run: `split="test"`.
    """
    if data is None:
        origin = _origin(run)
        training_dataset(run, root)  # raises if the data differ from the training data
        dataset = open_dataset(origin["name"], root=root, **(_options(origin) | options))
    else:
        dataset = open_dataset(data, root=root, **options)
    if list(dataset.shape) != run.settings["data"]["shape"]:
        raise ValueError(
            f"{run.folder} was trained on observations of shape {tuple(run.settings['data']['shape'])}, but those of "
            f"{dataset.name} have shape {dataset.shape}. Choose options that give equal shapes."
        )
    dataset = standardized_for(run, dataset)
    words = [word for key, value in options.items() for word in to_cli_args(key, value)]
    return dataset, " ".join([data or _origin(run)["name"], *words])


def standardized_for(run: Run, dataset: Dataset) -> Dataset:
    """The dataset with the rows of a table, and of its background, standardized as in the training of the run."""
    if dataset.images:
        return dataset
    background, rescaled = dataset.background, dataset.replace(background=None).rescaled(run.columns)
    if background is None:
        return rescaled
    recorded = run.settings["data"].get("background", {}).get("columns")
    columns = run.columns if recorded is None else ColumnScaler.from_json(recorded, owner=str(run.folder))
    return rescaled.replace(background=background.rescaled(columns))


def _origin(run: Run) -> dict[str, Any]:
    origin = run.settings["data"]["origin"]
    if origin is None:
        raise ValueError(
            f"{run.folder} was trained on {run.data_name}, a dataset created in Python. Pass the dataset to `evaluate`."
        )
    for name in (origin["name"], origin["options"].get("background")):
        if isinstance(name, str) and is_reference(name):  # a run folder never makes code run
            require_known(name, option="--data", owner=str(run.folder))
    options = _options(origin)
    for name in (origin["name"], options.get("background")):
        if isinstance(name, str):
            require_types(constructor(name), options, f"the dataset {name} in {run.folder}")
    return origin


def _options(origin: Mapping[str, Any]) -> dict[str, Any]:
    return {key: from_json(value) for key, value in origin["options"].items()}
