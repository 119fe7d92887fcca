"""Ranking the models of a study without labels."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from unbraid.data import Dataset
from unbraid.progress import progress
from unbraid.runs import Run, load, training_dataset
from unbraid.settings import lookup, to_json
from unbraid.studies.aggregate import varying_options
from unbraid.studies.plan import Plan
from unbraid.studies.results import open_study
from unbraid.studies.selection_scores import ALIASES, CRITERIA, Candidate
from unbraid.studies.tables import format_setting, sign


class RankedModel(NamedTuple):
    """One model and its score."""

    data: str
    method: str
    settings: str  # those that vary within the study
    seed: int
    run: str
    score: float


class RankedSetting(NamedTuple):
    """The models of one setting, averaged over seeds."""

    data: str
    method: str
    settings: str
    seeds: int
    mean: float
    std: float | None  # None for a single seed


class Selection(NamedTuple):
    """The models of a study and its settings averaged over seeds, each dataset's best first."""

    by: str
    models: list[RankedModel]
    settings: list[RankedSetting]
    left_out: dict[str, str]  # by run, the reason


def select(
    folder: Path | str,
    by: str = "udr",
    *,
    num_samples: int = 2_000,
    seed: int = 0,
    root: Path | str | None = None,
    device: str = "auto",
    quiet: bool = True,
) -> Selection:
    """Ranks the models of a study without factors or labels.

    Args:
        folder: Study folder.
        by: Criterion: udr, consistency, model-centrality, relative-translation or translation-difficulty.
        num_samples: Number of observations to encode; model-centrality generates its own.
        seed: Random seed for sampling.
        root: Data root of official files.
        device: Device: auto, cpu, cuda, cuda:N or mps.
        quiet: Hide progress.
    """
    by = ALIASES.get(by, by)
    criterion = lookup("criterion", by, CRITERIA)
    study = open_study(folder)
    if not study.finished:
        raise ValueError(
            f"{folder} has no finished runs to rank. Continue the study until some are finished."
        )
    left_out: dict[str, str] = {}
    candidates = _candidates(study.finished, left_out, root=root, device=device, quiet=quiet)
    scores = criterion.scores(candidates, left_out, samples=num_samples, seed=seed)
    if not scores:
        raise ValueError(f"No model of {folder} can be ranked by {by}: {next(iter(left_out.values()))}")
    models = _ranked_models(candidates, scores, varying_options([plan for plan, _ in study.finished]))
    direction = sign(criterion.higher_is_better)
    return Selection(
        by,
        sorted(models, key=lambda model: (model.data, -direction * model.score)),
        sorted(_over_seeds(models), key=lambda setting: (setting.data, -direction * setting.mean)),
        left_out,
    )


def _ranked_models(
    candidates: Sequence[Candidate], scores: dict[str, float], varying: dict[str, set[str]]
) -> list[RankedModel]:
    return [
        RankedModel(
            candidate.run.data_name,
            candidate.plan.method_name,
            ", ".join(
                f"{name} {format_setting(to_json(value))}"
                for name, value in candidate.plan.options.items()
                if name in varying[candidate.plan.method_name]
            ),
            candidate.run.seed,
            candidate.run.folder.name,
            scores[candidate.run.folder.name],
        )
        for candidate in candidates
        if candidate.run.folder.name in scores
    ]


def _over_seeds(models: Sequence[RankedModel]) -> list[RankedSetting]:
    scores: dict[tuple[str, str, str], list[float]] = {}
    for model in models:
        scores.setdefault((model.data, model.method, model.settings), []).append(model.score)
    return [
        RankedSetting(
            *key,
            len(values),
            float(np.mean(values)),
            float(np.std(values, ddof=1)) if len(values) > 1 else None,
        )
        for key, values in scores.items()
    ]


def _candidates(
    finished: Sequence[tuple[Plan, Run]],
    left_out: dict[str, str],
    *,
    root: Path | str | None,
    device: str,
    quiet: bool,
) -> list[Candidate]:
    """The models with their training datasets; each dataset is opened once."""
    datasets: dict[str, Dataset] = {}
    candidates: dict[str, Candidate] = {}
    with progress("opening", len(finished), quiet=quiet, unit="runs") as bar:
        for index, (plan, run) in enumerate(finished, start=1):
            try:
                key = json.dumps([run.settings["data"]["origin"], run.settings["data"]["fingerprint"]])
                if key not in datasets:
                    datasets[key] = training_dataset(run, root)
                model = load(run.folder, device=device).without_columns()
                candidates.setdefault(run.folder.name, Candidate(plan, run, model, datasets[key]))
            except (ValueError, OSError) as error:
                left_out[run.folder.name] = str(error)
            bar.show(index, {})
    return list(candidates.values())
