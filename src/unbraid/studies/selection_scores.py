"""Criteria that rank models without labels.

`udr`: Duan et al., 2020, arXiv:1905.12614. Models of one setting should agree over seeds; higher is better.
`model-centrality`: Lin et al., 2020, arXiv:1906.06034. The model that agrees most with the others is best.
`translation-difficulty`: Unsupervised Disentanglement Learning by Intervention, 2021. In nats over all features, among
models with an active feature; lower is better.
`relative-translation`: The difficulty of the active features relative to their mean image; lower is better.
`consistency`: Ours. Restarts of one setting on one dataset should have the same dimensions everywhere; higher is
better.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from unbraid.data import Dataset
from unbraid.evaluation import Sample, evaluate
from unbraid.methods import HasPosterior
from unbraid.metrics import (
    UDR,
    Consistency,
    ModelCentrality,
    TranslationDifficulty,
    consistency,
    cross_votes,
    kl_per_dim,
    model_centrality,
    udr,
)
from unbraid.runs import Model, Run
from unbraid.settings import to_json
from unbraid.studies.plan import Plan

GROUPS, SIZE = 200, 32  # of images, for model centrality: fewer than in the paper, so that it takes minutes


class Candidate(NamedTuple):
    """A model that may be ranked."""

    plan: Plan
    run: Run
    model: Model
    dataset: Dataset


def _by_udr(
    candidates: Sequence[Candidate], left_out: dict[str, str], *, samples: int, seed: int
) -> dict[str, float]:
    """Compares models with the same settings and different seeds, as in the paper."""
    scores: dict[str, float] = {}
    for group in _restarts(candidates, left_out, "UDR"):
        encoded = _encoded(group, samples=samples, seed=seed)
        kl = None
        if all(isinstance(one.model.method, HasPosterior) for one in group):
            kl = [
                kl_per_dim(*sample.posterior).per_dim[list(sample.method.strands[sample.strand])]
                for sample in encoded
            ]
        per_model = udr([sample.codes for sample in encoded], kl=kl).per_model
        scores |= {one.run.folder.name: float(score) for one, score in zip(group, per_model, strict=True)}
    return scores


def _by_consistency(
    candidates: Sequence[Candidate], left_out: dict[str, str], *, samples: int, seed: int
) -> dict[str, float]:
    """Compares models with the same settings and data and different seeds."""
    scores: dict[str, float] = {}
    for group in _restarts(candidates, left_out, "Consistency"):
        per_model = consistency(
            [sample.codes for sample in _encoded(group, samples=samples, seed=seed)]
        ).per_model
        scores |= {one.run.folder.name: float(score) for one, score in zip(group, per_model, strict=True)}
    return scores


def _restarts(
    candidates: Sequence[Candidate], left_out: dict[str, str], criterion: str
) -> list[list[Candidate]]:
    """The models of each setting that has several seeds."""

    def settings(candidate: Candidate) -> Any:
        options = {name: value for name, value in candidate.plan.options.items() if name != "seed"}
        return candidate.plan.method_name, candidate.run.data_name, to_json(options)

    groups = _groups(candidates, settings)
    for group in (group for group in groups if len(group) < 2):
        left_out[group[0].run.folder.name] = (
            f"{criterion} compares seeds of one setting, and this setting has a single seed."
        )
    return [group for group in groups if len(group) > 1]


def _encoded(group: Sequence[Candidate], *, samples: int, seed: int) -> list[Sample]:
    return [
        Sample(one.model.method, _on_device(one), size=min(samples, len(one.dataset)), seed=seed)
        for one in group
    ]


def _by_model_centrality(
    candidates: Sequence[Candidate], left_out: dict[str, str], *, samples: int, seed: int
) -> dict[str, float]:
    """Compares all models on a dataset that have the same code size and prior."""
    scores: dict[str, float] = {}
    usable = []
    for one in candidates:
        try:
            if one.model.method.conditions_on == "nuisances":
                raise ValueError(
                    f"Model centrality needs decoders without a condition, and {one.plan.method_name} has one."
                )
            one.model.sample(1)
            usable.append(one)
        except ValueError as error:
            left_out[one.run.folder.name] = str(error)

    def kind(candidate: Candidate) -> Any:
        return candidate.run.data_name, candidate.model.strands.size, _prior(candidate.model)

    for group in _groups(usable, kind):
        if len(group) < 2:
            left_out[group[0].run.folder.name] = (
                "Model centrality compares models with the same code size and prior, and this dataset has no other."
            )
            continue
        agreement = cross_votes(
            [_decoder(one.model) for one in group],
            [_encoder(one.model) for one in group],
            latent_dim=group[0].model.strands.size,
            rng=np.random.default_rng(seed),
            groups=GROUPS,
            size=SIZE,
            prior=_prior(group[0].model),
        )
        per_model = model_centrality(agreement).per_model
        scores |= {one.run.folder.name: float(score) for one, score in zip(group, per_model, strict=True)}
    return scores


def _by_relative_translation(
    candidates: Sequence[Candidate], left_out: dict[str, str], *, samples: int, seed: int
) -> dict[str, float]:
    """Scores each model by the `relative` difficulty; the plain one is lowest for a decoder that ignores its code."""
    entries = _translation_scores(candidates, left_out, samples, seed)
    return {run: values["translation_difficulty.relative"] for run, values in entries.items()}


def _by_translation_difficulty(
    candidates: Sequence[Candidate], left_out: dict[str, str], *, samples: int, seed: int
) -> dict[str, float]:
    """Scores each model that has an active feature by the plain difficulty."""
    scores: dict[str, float] = {}
    for run, values in _translation_scores(candidates, left_out, samples, seed).items():
        if values["translation_difficulty.active_features"]:
            scores[run] = values["translation_difficulty"]
        else:
            left_out[run] = (
                "Translation difficulty needs an active feature, and this model has none: its decoder ignores the code."
            )
    return scores


def _translation_scores(
    candidates: Sequence[Candidate], left_out: dict[str, str], samples: int, seed: int
) -> dict[str, dict[str, float]]:
    """The entries of the metric `translation_difficulty` for each run."""
    scores: dict[str, dict[str, float]] = {}
    for one in candidates:
        try:
            entries = evaluate(
                one.model.method,
                one.dataset,
                ["translation_difficulty"],
                num_samples=min(samples, len(one.dataset)),
                num_test_samples=0,
                seed=seed,
            )
            scores[one.run.folder.name] = {entry["metric"]: entry["value"] for entry in entries}
        except ValueError as error:
            left_out[one.run.folder.name] = str(error)
    return scores


class Criterion(NamedTuple):
    """A score of each model that needs no labels, and its direction."""

    scores: Callable[..., dict[str, float]]
    higher_is_better: bool


CRITERIA = {
    "udr": Criterion(_by_udr, UDR.higher_is_better),
    "consistency": Criterion(_by_consistency, Consistency.higher_is_better),
    "model-centrality": Criterion(_by_model_centrality, ModelCentrality.higher_is_better),
    "relative-translation": Criterion(_by_relative_translation, TranslationDifficulty.higher_is_better),
    "translation-difficulty": Criterion(_by_translation_difficulty, TranslationDifficulty.higher_is_better),
}
ALIASES = {
    "centrality": "model-centrality",
    "translation": "relative-translation",
    "difficulty": "translation-difficulty",
}


def _groups(candidates: Sequence[Candidate], key: Callable[[Candidate], Any]) -> list[list[Candidate]]:
    groups: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault(json.dumps(key(candidate), sort_keys=True), []).append(candidate)
    return list(groups.values())


def _on_device(candidate: Candidate) -> Dataset:
    return candidate.dataset.to(candidate.model.method.step.device)


def _prior(model: Model) -> str:
    """The model's prior, normal or uniform, from samples: a normal prior has values beyond 1."""
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        return "uniform" if float(model.method.sample_prior(1000).abs().max()) <= 1 else "normal"


def _decoder(model: Model) -> Callable[[np.ndarray], np.ndarray]:
    return lambda codes: model.decode(codes).numpy()


def _encoder(model: Model) -> Callable[[np.ndarray], np.ndarray]:
    return lambda images: model.encode(images).numpy()
