"""The dataset of a run, opened again, and others to score the run on."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unbraid.data.catalogue import open_dataset
from unbraid.data.dataset import Dataset
from unbraid.options import written
from unbraid.runs import Run
from unbraid.settings import rebuild


def dataset_of(run: Run, root: Path | str | None = None) -> Dataset:
    """The dataset that a run was trained on, opened again."""
    origin = _origin(run)
    dataset = open_dataset(origin["name"], root=root, **_options(origin))
    if dataset.description()["fingerprint"] != run.settings["data"]["fingerprint"]:
        raise ValueError(
            f"{origin['name']} is not what {run.folder} was trained on: its observations or their distribution have "
            "changed, as they do with another data root; give the same, or open the right dataset in Python and pass "
            "it to `evaluate`."
        )
    return dataset


def dataset_beside(
    run: Run, root: Path | str | None = None, *, data: str | None = None, **options: Any
) -> tuple[Dataset, str]:
    """What to score a run on beside what it was trained on, and what that is called in its scores.

    Args:
        run: The run.
        root: The data root of official files.
        data: Another dataset's name or path; by default the run's own, with the options that it was trained with.
        **options: Options of the dataset that differ: `part="test"`.
    """
    if data is None:
        origin = _origin(run)
        dataset_of(run, root)  # so that a part is one of the very data
        dataset = open_dataset(origin["name"], root=root, **(_options(origin) | options))
    else:
        dataset = open_dataset(data, root=root, **options)
    if list(dataset.shape) != run.settings["data"]["shape"]:
        raise ValueError(
            f"{run.folder} was trained on observations of shape {tuple(run.settings['data']['shape'])}, and those of "
            f"{dataset.name} have {dataset.shape}: choose options that make them alike."
        )
    said = [word for key, value in options.items() for word in written(key, value)]
    return dataset, " ".join([data or _origin(run)["name"], *said])


def _origin(run: Run) -> dict[str, Any]:
    origin = run.settings["data"]["origin"]
    if origin is None:
        raise ValueError(
            f"{run.folder} was trained on {run.data_name}, made in Python: pass that dataset to `evaluate` there."
        )
    return origin


def _options(origin: Mapping[str, Any]) -> dict[str, Any]:
    return {key: rebuild(value) for key, value in origin["options"].items()}
