"""Comparisons, src/unbraid/studies/compare.py."""

import math
from pathlib import Path

import numpy as np
import pytest
from torch.testing import assert_close

from tests.run_files import score_entry
from tests.small_study import record
from unbraid.studies.compare import compare_methods, compare_runs, interval, rank_correlations
from unbraid.studies.plan import Plan


def scores(method: str, values: tuple[float, ...], **other: object) -> list[dict[str, object]]:
    return [record(method, seed, value, **other) for seed, value in enumerate(values)]


def test_the_interval_is_students() -> None:
    """Differences 1, 2, 3: mean 2, standard error 1/√3, t of 2 degrees at 97.5 % is 4.302653."""
    low, high = interval(np.array([1.0, 2.0, 3.0]))
    assert_close([low, high], [2 - 4.302653 / math.sqrt(3), 2 + 4.302653 / math.sqrt(3)], atol=1e-6, rtol=0)


def test_differences_are_paired_by_seed() -> None:
    """Both methods vary over seeds by 0.4, and their differences by 0."""
    records = [*scores("ours", (0.9, 0.5, 0.1)), *scores("theirs", (0.8, 0.4, 0.0))]
    (found,) = compare_methods(records)
    assert (found.first, found.second, found.verdict, found.seeds) == ("ours", "theirs", "ahead", 3)
    assert_close([found.difference, found.low, found.high], [0.1, 0.1, 0.1])
    (found,) = compare_methods(records, method="theirs")
    assert (found.first, found.verdict) == ("theirs", "behind")


def test_an_unknown_method_is_refused_also_where_nothing_is_compared() -> None:
    records = scores("ours", (0.9, 0.5))
    assert compare_methods(records, method="ours") == []
    with pytest.raises(ValueError, match="There is no method of the study 'nothing'"):
        compare_methods(records, method="nothing")


def test_an_interval_that_contains_zero_is_a_tie_and_one_seed_is_too_few() -> None:
    (found,) = compare_methods([*scores("a", (0.9, 0.1)), *scores("b", (0.2, 0.3))])
    assert found.verdict == "tie" and found.low is not None and found.low < 0 < (found.high or 0)
    (found,) = compare_methods([*scores("a", (0.9,)), *scores("b", (0.2, 0.3))])
    assert found.verdict == "too few seeds" and found.low is None and found.seeds == 1


def test_a_lower_loss_is_ahead_and_a_kl_is_only_higher() -> None:
    records = [
        *scores("a", (1.0, 1.1), metric="reconstruction", higher_is_better=False),
        *scores("b", (2.0, 2.1), metric="reconstruction", higher_is_better=False),
    ]
    (found,) = compare_methods(records)
    assert (found.first, found.verdict) == ("a", "ahead") and found.difference < 0
    (found,) = compare_methods([{**entry, "metric": "kl", "higher_is_better": None} for entry in records])
    assert (found.first, found.verdict) == ("b", "higher")


def test_methods_are_named_with_their_varying_settings() -> None:
    one, two = '{"beta": 1.0, "codes": 3}', '{"beta": 4.0, "codes": 3}'
    records = [*scores("vae", (0.1, 0.2), settings=one), *scores("vae", (0.5, 0.6), settings=two)]
    (found,) = compare_methods(records)
    assert (found.first, found.second) == ("vae beta=4.0", "vae beta=1.0")
    with pytest.raises(ValueError, match=r"several settings on sprites. Choose one of vae beta=4\.0; vae"):
        compare_methods(records, method="vae")
    with pytest.raises(ValueError, match="no method of the study 'vea'"):
        compare_methods(records, method="vea")
    with pytest.raises(ValueError, match="no score of the study 'mgi'; did you mean mig"):
        compare_methods(records, metric="mgi")


def test_training_and_evaluation_datasets_are_compared_separately() -> None:
    records = [*scores("a", (1.0, 1.1)), *scores("b", (0.0, 0.2)), *scores("a", (1.0, 1.2), data="rooms")]
    records += [*scores("a", (1.0, 1.1), on="test"), *scores("b", (0.0, 0.2), on="test")]
    assert [found.data for found in compare_methods(records)] == [
        "sprites, evaluated on sprites",
        "sprites, evaluated on test",
    ]


def test_rank_correlations_are_spearmans() -> None:
    """Ranks 1 2 3 4 against 1 2 4 3: ρ = 1 - 6·2 / (4·15) = 0.8, however the values are spaced."""
    records = [record("vae", seed, value) for seed, value in enumerate((0.0, 0.1, 0.2, 9.0))]
    records += [record("vae", seed, value, metric="sap") for seed, value in enumerate((1.0, 2.0, 8.0, 3.0))]
    records += [record("vae", seed, 1.0, metric="dci") for seed in range(3)]
    (found,) = rank_correlations(records)
    assert found.metrics == ("mig", "sap", "dci") and found.runs == 4
    assert_close(found.rho[0, 1], 0.8)
    assert math.isnan(found.rho[0, 2])
    assert found.both.tolist() == [[4, 4, 3], [4, 4, 3], [3, 3, 3]]
    assert rank_correlations(records[:2]) == []


def test_scores_for_which_lower_is_better_are_negated() -> None:
    records = [record("vae", seed, value) for seed, value in enumerate((0.1, 0.2, 0.3))]
    records += [
        record("vae", seed, value, metric=metric, higher_is_better=higher_is_better)
        for metric, higher_is_better in (("translation_difficulty", False), ("kl", None))
        for seed, value in enumerate((9.0, 5.0, 1.0))
    ]
    (found,) = rank_correlations(records)
    assert_close(found.rho[0], np.array([1.0, 1.0, -1.0]))
    assert not any("." in name for name in found.metrics)
    further = "translation_difficulty.relative"
    records += [
        record("vae", seed, value, metric=further, higher_is_better=False)
        for seed, value in enumerate((3.0, 1.0, 2.0))
    ]
    (named,) = rank_correlations(records, [further, "mig"])
    assert named.metrics == (further, "mig")
    assert_close(named.rho[0], np.array([1.0, 0.5]))


def test_two_runs_are_compared(tmp_path: Path) -> None:
    options = {"image_size": 32, "latent_dim": 3, "architecture": "mlp", "steps": 1, "batch_size": 4}
    runs = [
        Plan("beta-vae", "sprites", options | {"beta": beta}).run(
            tmp_path / str(beta), quiet=True, device="cpu"
        )
        for beta in (1.0, 4.0)
    ]
    runs[0].add_scores([score_entry("mig", 0.5, protocol="x")])
    found = compare_runs(*runs)
    assert found.settings == [("method.arguments.beta", "1.0", "4.0")]
    assert found.scores == [("mig", "x", 0.5, None)]
