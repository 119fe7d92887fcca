"""Choosing without labels, src/unbraid/select.py."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.small_study import PLANS, small_study
from unbraid.evaluate import evaluate
from unbraid.model import load
from unbraid.optimisers import Adam
from unbraid.plan import replace
from unbraid.select import select


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_study(tmp_path_factory.mktemp("select") / "study", PLANS)


def test_udr_compares_seeds_of_one_setting(folder: Path) -> None:
    found = select(folder, "udr", samples=80, device="cpu")
    assert len(found.choices) == 6 and found.left_out == {}
    scores = [choice.score for choice in found.choices]
    assert scores == sorted(scores, reverse=True)
    pairs: dict[tuple[str, str], set[int]] = {}
    for choice in found.choices:
        pairs.setdefault((choice.method, choice.settings), set()).add(choice.seed)
    assert pairs == {
        ("beta-vae", "beta 1.0"): {0, 1},
        ("beta-vae", "beta 4.0"): {0, 1},
        ("ada-gvae", ""): {0, 1},
    }


def test_udr_is_that_of_the_codes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By hand for one pair, on the same sample. After three steps no code says anything, so all are made to."""
    from unbraid.data import open_dataset
    from unbraid.metrics import udr
    from unbraid.samples import Sample

    def ones(mean: np.ndarray, logvar: np.ndarray) -> SimpleNamespace:
        return SimpleNamespace(per_code=np.ones(mean.shape[1]))

    assert all(choice.score == 0 for choice in select(folder, "udr", samples=80, device="cpu").choices)
    monkeypatch.setattr(sys.modules["unbraid.select"], "kl_per_code", ones)
    found = {choice.run: choice.score for choice in select(folder, "udr", samples=80, device="cpu").choices}
    plans = PLANS[:2]
    dataset = open_dataset("sprites", size=32)
    samples = [
        Sample(load(folder / "runs" / plan.folder, device="cpu").method, dataset, size=80, seed=0)
        for plan in plans
    ]
    expected = udr([sample.codes for sample in samples]).per_model
    assert expected.min() > 0
    np.testing.assert_allclose([found[plan.folder] for plan in plans], expected)


def test_centrality_compares_all_models(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["unbraid.select"], "GROUPS", 20)
    found = select(folder, "centrality", device="cpu")
    assert len(found.choices) == 6 and all(0 <= choice.score <= 1 for choice in found.choices)


def of_translation(monkeypatch: pytest.MonkeyPatch, values: list[float], active: list[int]) -> None:
    """Gives the models these relative difficulties, plain ones in the opposite order, and active features."""
    models = iter(zip(values, active, strict=True))

    def evaluate(*_: object, **__: object) -> list[dict[str, object]]:
        value, features = next(models)
        return [
            {"metric": "translation_difficulty", "value": -value},
            {"metric": "translation_difficulty.relative", "value": value},
            {"metric": "translation_difficulty.active_features", "value": features},
        ]

    monkeypatch.setattr(sys.modules["unbraid.select"], "evaluate", evaluate)


def test_translation_takes_the_lowest_relative_difficulty(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_translation(monkeypatch, [3.0, 1.0, 2.0, 6.0, 5.0, 4.0], [0, 1, 1, 1, 1, 1])
    found = select(folder, "translation", device="cpu")
    assert [choice.score for choice in found.choices] == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    settings = [(one.method, one.settings, one.seeds, one.mean) for one in found.settings]
    assert settings == [
        ("beta-vae", "beta 1.0", 2, 2.0),
        ("beta-vae", "beta 4.0", 2, 4.0),
        ("ada-gvae", "", 2, 4.5),
    ]
    np.testing.assert_allclose([one.spread for one in found.settings], [2**0.5, 8**0.5, 0.5**0.5])


@pytest.mark.parametrize("by", ["translation", "difficulty"])
def test_models_are_ranked_by_the_metric_itself(by: str, tmp_path: Path) -> None:
    plan = replace(PLANS[0], steps=60, optimiser=Adam(0.01))
    folder = small_study(tmp_path / "study", [plan])
    found = select(folder, by, samples=130, device="cpu")
    assert len(found.choices) == 1
    for choice in found.choices:
        model, dataset = load(folder / "runs" / choice.run, device="cpu"), PLANS[0].dataset()
        entries = evaluate(model.method, dataset, ["translation_difficulty"], samples=130, test_samples=0)
        name = "translation_difficulty" + (".relative" if by == "translation" else "")
        assert choice.score == next(entry["value"] for entry in entries if entry["metric"] == name)


def test_difficulty_takes_the_lowest_of_the_models_that_decode_something(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_translation(monkeypatch, [3.0, 1.0, 2.0, 6.0, 5.0, 4.0], [1, 1, 1, 0, 1, 1])
    found = select(folder, "difficulty", device="cpu")
    assert [choice.score for choice in found.choices] == [-5.0, -4.0, -3.0, -2.0, -1.0]
    assert [reason for reason in found.left_out.values() if "None of its features is active" in reason]


def test_translation_is_the_metric_s_or_the_reason_why_not(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"ranked by translation: A translation is learned .* got 80"):
        select(folder, "translation", samples=80, device="cpu")


def test_a_single_seed_is_left_out(tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study", PLANS[:1])
    with pytest.raises(ValueError, match=r"can be ranked by udr: UDR compares seeds of one setting"):
        select(folder, "udr", device="cpu")
    with pytest.raises(ValueError, match="no way to choose 'urd'; did you mean udr"):
        select(folder, "urd")


def test_models_that_cannot_be_compared_are_left_out_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["unbraid.select"], "GROUPS", 5)
    small = [replace(plan, codes=2) for plan in PLANS[:1]]
    other = small_study(tmp_path / "study", [*PLANS[:2], *small])
    found = select(other, "centrality", device="cpu")
    assert len(found.choices) == 2
    assert list(found.left_out) == [small[0].folder]
    assert "no other of this dataset has" in found.left_out[small[0].folder]


def test_one_seed_has_no_spread(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules["unbraid.select"]
    monkeypatch.setitem(
        module.WAYS, "translation", lambda candidates, *_, **__: {candidates[0].run.folder.name: 2.0}
    )
    found = select(folder, "translation", device="cpu")
    assert [(one.seeds, one.mean, one.spread) for one in found.settings] == [(1, 2.0, None)]
