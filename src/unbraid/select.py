"""Choosing among the models of a study without labels.

`udr`: Duan et al., 2020, arXiv:1905.12614, models of one setting that agree over seeds. `centrality`: Lin et al., 2020,
arXiv:1906.06034, the model that the others agree with. `translation`: Unsupervised Disentanglement Learning by
Intervention, 2021, the model whose active features are the easiest to translate, beside what their mean image tells.
`difficulty`: the same as the paper has it, over all features and in nats, among models that decode something.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from unbraid.data.dataset import Dataset
from unbraid.evaluate import evaluate
from unbraid.metrics import cross_votes, kl_per_code, model_centrality, udr
from unbraid.model import Model, load
from unbraid.naming import choose
from unbraid.plan import Plan
from unbraid.progress import progress
from unbraid.reopen import dataset_of
from unbraid.results import open_study, varying_options
from unbraid.runs import Run
from unbraid.samples import Sample
from unbraid.settings import describe
from unbraid.tables import written

GROUPS, SIZE = 200, 32  # of images, for centrality: fewer than the paper's, so that it takes minutes


class Choice(NamedTuple):
    """One model and how well it did."""

    data: str
    method: str
    settings: str  # those that vary
    seed: int
    run: str
    score: float


class Setting(NamedTuple):
    """The models of one setting, over their seeds."""

    data: str
    method: str
    settings: str
    seeds: int
    mean: float
    spread: float | None  # standard deviation; none of one seed


class Selection(NamedTuple):
    """The models of a study, and its settings over their seeds, the best of each dataset first."""

    by: str
    choices: list[Choice]
    settings: list[Setting]
    left_out: dict[str, str]  # by run, why


class _Candidate(NamedTuple):
    plan: Plan
    run: Run
    model: Model
    dataset: Dataset


def select(
    folder: Path | str,
    by: str = "udr",
    *,
    samples: int = 2_000,
    seed: int = 0,
    root: Path | str | None = None,
    device: str = "auto",
    quiet: bool = True,
) -> Selection:
    """Ranks the models of a study without looking at factors or labels.

    Args:
        folder: Of the study.
        by: udr, centrality, translation or difficulty.
        samples: Observations to encode; centrality decodes its own.
        seed: Of samples and draws.
        root: The data root, for runs on official files.
        device: auto, cpu, cuda or mps.
        quiet: Shows no progress.
    """
    rank = choose("way to choose", by, WAYS)
    study = open_study(folder)
    if not study.done:
        raise ValueError(f"{folder} has no finished runs to choose among: let the study finish some.")
    left_out: dict[str, str] = {}
    candidates = _candidates(study.done, left_out, root=root, device=device, quiet=quiet)
    scores = rank(candidates, left_out, samples=samples, seed=seed)
    if not scores:
        raise ValueError(f"No model of {folder} can be ranked by {by}: {next(iter(left_out.values()))}")
    varying = varying_options([plan for plan, _ in study.done])
    choices = [
        Choice(
            candidate.run.data_name,
            candidate.plan.method,
            ", ".join(
                f"{name} {written(describe(value))}"
                for name, value in candidate.plan.options.items()
                if name in varying[candidate.plan.method]
            ),
            candidate.run.seed,
            candidate.run.folder.name,
            scores[candidate.run.folder.name],
        )
        for candidate in candidates
        if candidate.run.folder.name in scores
    ]
    towards = 1 if by in ("translation", "difficulty") else -1  # the easier to translate, the better
    return Selection(
        by,
        sorted(choices, key=lambda one: (one.data, towards * one.score)),
        sorted(_over_seeds(choices), key=lambda one: (one.data, towards * one.mean)),
        left_out,
    )


def _over_seeds(choices: Sequence[Choice]) -> list[Setting]:
    scores: dict[tuple[str, str, str], list[float]] = {}
    for one in choices:
        scores.setdefault((one.data, one.method, one.settings), []).append(one.score)
    return [
        Setting(
            *key, len(found), float(np.mean(found)), float(np.std(found, ddof=1)) if len(found) > 1 else None
        )
        for key, found in scores.items()
    ]


def _candidates(
    done: Sequence[tuple[Plan, Run]],
    left_out: dict[str, str],
    *,
    root: Path | str | None,
    device: str,
    quiet: bool,
) -> list[_Candidate]:
    """The models with the data they were trained on, each dataset opened once."""
    datasets: dict[str, Dataset] = {}
    found: dict[str, _Candidate] = {}
    with progress("opening", len(done), quiet=quiet, unit="runs") as bar:
        for place, (plan, run) in enumerate(done, start=1):
            try:
                key = json.dumps([run.settings["data"]["origin"], run.settings["data"]["fingerprint"]])
                if key not in datasets:
                    datasets[key] = dataset_of(run, root)
                model = load(run.folder, device=device)
                found.setdefault(run.folder.name, _Candidate(plan, run, model, datasets[key]))
            except (ValueError, OSError) as error:
                left_out[run.folder.name] = str(error)
            bar.show(place, {})
    return list(found.values())


def _by_udr(
    candidates: Sequence[_Candidate], left_out: dict[str, str], *, samples: int, seed: int
) -> dict[str, float]:
    """Models are compared with those of the same settings and other seeds, as the paper does."""
    scores: dict[str, float] = {}

    def settings(candidate: _Candidate) -> Any:
        options = {name: value for name, value in candidate.plan.options.items() if name != "seed"}
        return candidate.plan.method, candidate.run.data_name, describe(options)

    for group in _groups(candidates, settings):
        if len(group) < 2:
            left_out[group[0].run.folder.name] = (
                "UDR compares seeds of one setting, and this one has a single seed."
            )
            continue
        seen = [
            Sample(one.model.method, _on(one), size=min(samples, len(one.dataset)), seed=seed)
            for one in group
        ]
        posterior = all(hasattr(one.model.method, "posterior") for one in group)
        kl = None
        if posterior:
            kl = [
                kl_per_code(*sample.posterior).per_code[list(sample.method.strands[sample.strand])]
                for sample in seen
            ]
        found = udr([sample.codes for sample in seen], kl=kl)
        scores |= {
            one.run.folder.name: float(score) for one, score in zip(group, found.per_model, strict=True)
        }
    return scores


def _by_centrality(
    candidates: Sequence[_Candidate], left_out: dict[str, str], *, samples: int, seed: int
) -> dict[str, float]:
    """Models are compared with all others on the dataset that have as many codes and the same prior."""
    scores: dict[str, float] = {}
    able = []
    for one in candidates:
        try:
            if one.model.method.conditional:
                raise ValueError(
                    f"{one.plan.method} decodes with a condition, which centrality does not draw."
                )
            one.model.sample(1)
            able.append(one)
        except ValueError as error:
            left_out[one.run.folder.name] = str(error)

    def kind(candidate: _Candidate) -> Any:
        return candidate.run.data_name, candidate.model.strands.size, _prior(candidate.model)

    for group in _groups(able, kind):
        if len(group) < 2:
            left_out[group[0].run.folder.name] = (
                "Centrality compares models with as many codes, and no other of this dataset has."
            )
            continue
        agreement = cross_votes(
            [_generate(one.model) for one in group],
            [_represent(one.model) for one in group],
            codes=group[0].model.strands.size,
            rng=np.random.default_rng(seed),
            groups=GROUPS,
            size=SIZE,
            prior=_prior(group[0].model),
        )
        found = model_centrality(agreement).per_model
        scores |= {one.run.folder.name: float(score) for one, score in zip(group, found, strict=True)}
    return scores


def _by_translation(
    candidates: Sequence[_Candidate], left_out: dict[str, str], *, samples: int, seed: int
) -> dict[str, float]:
    """Every model by itself, by the `relative` difficulty: the plain one is lowest where nothing is decoded."""
    found = _translated(candidates, left_out, samples, seed)
    return {run: values["translation_difficulty.relative"] for run, values in found.items()}


def _by_difficulty(
    candidates: Sequence[_Candidate], left_out: dict[str, str], *, samples: int, seed: int
) -> dict[str, float]:
    """Every model by itself, by the plain difficulty, without those that decode nothing."""
    scores: dict[str, float] = {}
    for run, values in _translated(candidates, left_out, samples, seed).items():
        if values["translation_difficulty.active_features"]:
            scores[run] = values["translation_difficulty"]
        else:
            left_out[run] = "None of its features is active, and nothing is easier to translate than that."
    return scores


def _translated(
    candidates: Sequence[_Candidate], left_out: dict[str, str], samples: int, seed: int
) -> dict[str, dict[str, float]]:
    """What the translation metric says of each run, by the names of its entries."""
    scores: dict[str, dict[str, float]] = {}
    for one in candidates:
        try:
            size = min(samples, len(one.dataset))
            found = evaluate(
                one.model.method,
                one.dataset,
                ["translation_difficulty"],
                samples=size,
                test_samples=0,
                seed=seed,
            )
            scores[one.run.folder.name] = {entry["metric"]: entry["value"] for entry in found}
        except ValueError as error:
            left_out[one.run.folder.name] = str(error)
    return scores


WAYS: dict[str, Callable[..., dict[str, float]]] = {
    "udr": _by_udr,
    "centrality": _by_centrality,
    "translation": _by_translation,
    "difficulty": _by_difficulty,
}


def _groups(candidates: Sequence[_Candidate], key: Callable[[_Candidate], Any]) -> list[list[_Candidate]]:
    found: dict[str, list[_Candidate]] = {}
    for candidate in candidates:
        found.setdefault(json.dumps(key(candidate), sort_keys=True), []).append(candidate)
    return list(found.values())


def _on(candidate: _Candidate) -> Dataset:
    return candidate.dataset.to(candidate.model.method.step.device)


def _prior(model: Model) -> str:
    """Which of the two priors of centrality the codes have: a normal one goes beyond 1."""
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        return "uniform" if float(model.method.prior(1000).abs().max()) <= 1 else "normal"


def _generate(model: Model) -> Callable[[np.ndarray], np.ndarray]:
    return lambda codes: model.decode(codes).numpy()


def _represent(model: Model) -> Callable[[np.ndarray], np.ndarray]:
    return lambda images: model.encode(images).numpy()
