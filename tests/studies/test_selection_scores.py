"""Criteria without labels, src/unbraid/studies/selection_scores.py."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.small_study import PLANS, small_study
from unbraid.data import open_dataset
from unbraid.evaluation.evaluate import evaluate
from unbraid.evaluation.sample import Sample
from unbraid.metrics import consistency, udr
from unbraid.optimizers import Adam
from unbraid.runs.model import load
from unbraid.studies import selection_scores
from unbraid.studies.plan import replace
from unbraid.studies.select import select


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_study(tmp_path_factory.mktemp("select") / "study", PLANS)


def test_udr_compares_seeds_of_one_setting(folder: Path) -> None:
    ranking = select(folder, "udr", num_samples=80, device="cpu")
    assert len(ranking.models) == 6 and ranking.left_out == {}
    scores = [model.score for model in ranking.models]
    assert scores == sorted(scores, reverse=True)
    pairs: dict[tuple[str, str], set[int]] = {}
    for model in ranking.models:
        pairs.setdefault((model.method, model.settings), set()).add(model.seed)
    assert pairs == {
        ("beta-vae", "beta 1.0"): {0, 1},
        ("beta-vae", "beta 4.0"): {0, 1},
        ("ada-gvae", ""): {0, 1},
    }


def test_udr_is_the_metric_of_the_codes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Computed here for one pair on the same sample. All dimensions count as active."""

    def ones(mean: np.ndarray, logvar: np.ndarray) -> SimpleNamespace:
        return SimpleNamespace(per_dim=np.ones(mean.shape[1]))

    assert all(model.score == 0 for model in select(folder, "udr", num_samples=80, device="cpu").models)
    monkeypatch.setattr(selection_scores, "kl_per_dim", ones)
    scores = {model.run: model.score for model in select(folder, "udr", num_samples=80, device="cpu").models}
    plans = PLANS[:2]
    dataset = open_dataset("sprites", image_size=16)
    samples = [
        Sample(load(folder / "runs" / plan.folder_name, device="cpu").method, dataset, size=80, seed=0)
        for plan in plans
    ]
    expected = udr([sample.codes for sample in samples]).per_model
    assert expected.min() > 0
    np.testing.assert_allclose([scores[plan.folder_name] for plan in plans], expected)


def test_model_centrality_compares_all_models(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection_scores, "GROUPS", 20)
    ranking = select(folder, "model-centrality", device="cpu")
    assert len(ranking.models) == 6 and all(0 <= model.score <= 1 for model in ranking.models)


def with_translation(monkeypatch: pytest.MonkeyPatch, values: list[float], active: list[int]) -> None:
    """Gives the models these relative difficulties, their negatives as plain difficulties, and active features."""
    models = iter(zip(values, active, strict=True))

    def evaluate(*_: object, **__: object) -> list[dict[str, object]]:
        value, features = next(models)
        return [
            {"metric": "translation_difficulty", "value": -value},
            {"metric": "translation_difficulty.relative", "value": value},
            {"metric": "translation_difficulty.active_features", "value": features},
        ]

    monkeypatch.setattr(selection_scores, "evaluate", evaluate)


def test_translation_difficulty_leaves_out_models_without_active_features(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_translation(monkeypatch, [3.0, 1.0, 2.0, 6.0, 5.0, 4.0], [1, 1, 1, 0, 1, 1])
    ranking = select(folder, "translation-difficulty", device="cpu")
    assert [model.score for model in ranking.models] == [-5.0, -4.0, -3.0, -2.0, -1.0]
    assert [reason for reason in ranking.left_out.values() if "needs an active feature" in reason]
    with_translation(monkeypatch, [3.0, 1.0, 2.0, 6.0, 5.0, 4.0], [1, 1, 1, 0, 1, 1])
    ranking = select(folder, "relative-translation", device="cpu")
    assert [model.score for model in ranking.models] == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


@pytest.mark.parametrize("by", ["relative-translation", "translation-difficulty"])
def test_models_are_ranked_by_the_metric_itself(by: str, tmp_path: Path) -> None:
    plan = replace(PLANS[0], steps=60, optimizer=Adam(0.01))
    folder = small_study(tmp_path / "study", [plan])
    (ranked,) = select(folder, by, num_samples=130, device="cpu").models
    model, dataset = load(folder / "runs" / ranked.run, device="cpu"), PLANS[0].dataset()
    entries = evaluate(model.method, dataset, ["translation_difficulty"], num_samples=130, num_test_samples=0)
    name = "translation_difficulty" + (".relative" if by == "relative-translation" else "")
    assert ranked.score == next(entry["value"] for entry in entries if entry["metric"] == name)


def test_the_error_of_the_metric_is_the_reason(folder: Path) -> None:
    with pytest.raises(
        ValueError, match=r"ranked by relative-translation: A translation is learned .* got 80"
    ):
        select(folder, "relative-translation", num_samples=80, device="cpu")


def test_a_single_seed_is_left_out(tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study", PLANS[:1])
    with pytest.raises(ValueError, match=r"can be ranked by udr: UDR compares seeds of one setting"):
        select(folder, "udr", device="cpu")


def test_models_that_cannot_be_compared_are_left_out_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selection_scores, "GROUPS", 5)
    small = [replace(plan, latent_dim=2) for plan in PLANS[:1]]
    mixed = small_study(tmp_path / "study", [*PLANS[:2], *small])
    ranking = select(mixed, "model-centrality", device="cpu")
    assert len(ranking.models) == 2
    assert list(ranking.left_out) == [small[0].folder_name]
    assert "this dataset has no other" in ranking.left_out[small[0].folder_name]


def test_consistency_is_the_metric_of_the_codes_of_the_seeds(folder: Path) -> None:
    ranking = select(folder, "consistency", num_samples=80, device="cpu")
    assert len(ranking.models) == 6 and ranking.left_out == {}
    scores = {model.run: model.score for model in ranking.models}
    plans = PLANS[:2]
    dataset = open_dataset("sprites", image_size=16)
    samples = [
        Sample(load(folder / "runs" / plan.folder_name, device="cpu").method, dataset, size=80, seed=0)
        for plan in plans
    ]
    expected = consistency([sample.codes for sample in samples]).per_model
    np.testing.assert_allclose([scores[plan.folder_name] for plan in plans], expected)
