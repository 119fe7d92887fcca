"""Ranking models without labels, src/unbraid/studies/select.py."""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.small_study import PLANS, small_study
from unbraid.studies.select import select
from unbraid.studies.selection_scores import ALIASES, CRITERIA, Candidate


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_study(tmp_path_factory.mktemp("select") / "study", PLANS)


def with_scores(monkeypatch: pytest.MonkeyPatch, by: str, values: Sequence[float]) -> None:
    """Replaces a criterion by these scores of the first models."""

    def criterion(candidates: Sequence[Candidate], *_: object, **__: object) -> dict[str, float]:
        return {one.run.folder.name: value for one, value in zip(candidates, values, strict=False)}

    monkeypatch.setitem(CRITERIA, by, CRITERIA[by]._replace(scores=criterion))


def test_models_and_settings_are_sorted_best_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_scores(monkeypatch, "relative-translation", [3.0, 1.0, 2.0, 6.0, 5.0, 4.0])
    ranking = select(folder, "relative-translation", device="cpu")
    assert [model.score for model in ranking.models] == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert [(one.method, one.settings, one.seeds, one.mean) for one in ranking.settings] == [
        ("beta-vae", "beta 1.0", 2, 2.0),
        ("beta-vae", "beta 4.0", 2, 4.0),
        ("ada-gvae", "", 2, 4.5),
    ]
    np.testing.assert_allclose([one.std for one in ranking.settings], [2**0.5, 8**0.5, 0.5**0.5])
    with_scores(monkeypatch, "udr", [0.3, 0.1, 0.2])
    ranking = select(folder, device="cpu")
    assert [model.score for model in ranking.models] == [0.3, 0.2, 0.1] and ranking.by == "udr"


def test_one_seed_has_no_standard_deviation(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_scores(monkeypatch, "udr", [2.0])
    ranking = select(folder, device="cpu")
    assert [(one.seeds, one.mean, one.std) for one in ranking.settings] == [(1, 2.0, None)]


def test_short_names_of_criteria_are_accepted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for alias, by in ALIASES.items():
        with_scores(monkeypatch, by, [1.0])
        assert select(folder, alias, device="cpu").by == by
    with pytest.raises(ValueError, match="no criterion 'urd'; did you mean udr"):
        select(folder, "urd")


def test_models_that_cannot_be_ranked_are_left_out_with_the_reason(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(path: Path, **_: object) -> None:
        raise ValueError(f"{path.name} is damaged")

    monkeypatch.setattr(sys.modules["unbraid.studies.select"], "load", load)
    with_scores(monkeypatch, "udr", [])
    with pytest.raises(
        ValueError, match=r"No model of .* can be ranked by udr: beta-vae-sprites-.* is damaged"
    ):
        select(folder, device="cpu")
