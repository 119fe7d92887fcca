"""Whether each part tells a factor of its own, src/unbraid/metrics/disentanglement_gap.py."""

import numpy as np
import pytest
from torch.testing import assert_close

from unbraid.metrics import DisentanglementGap, disentanglement_gap, probe
from unbraid.metrics.disentanglement_gap import _summary

FACTORS = np.tile(np.indices((4, 2)).reshape(2, -1).T, (50, 1))
HALVES = {"z0": [0, 1], "z1": [2, 3]}


def gap(codes: np.ndarray, parts: dict[str, list[int]] = HALVES, **how: object) -> DisentanglementGap:
    return disentanglement_gap(
        codes, FACTORS, test_codes=codes, test_factors=FACTORS, inner_strands=parts, **how
    )


def one_hot(column: int, noise: float = 0.0) -> np.ndarray:
    """Two columns that tell the factor to a linear probe: 4 values as corners of a square, 2 as its sides."""
    corners = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]], float)
    return corners[FACTORS[:, column]] + noise


def summary(whole: list[float], *parts: list[float]) -> DisentanglementGap:
    table = np.array([whole, *parts])
    names = [f"z{k}" for k in range(len(parts))]
    return _summary(table, np.full(len(whole), 0.1), ["whole", *names], ["dc", "bc", "dl"][: len(whole)])


def test_each_factor_in_its_own_half() -> None:
    """A half that knows nothing of a factor is right by chance, ¼ and ½: gaps ¾ and ½, of which the lesser counts."""
    result = gap(np.column_stack([one_hot(1), one_hot(0)]), names=("shape", "scale"))
    assert_close(result.score, 0.5)
    assert_close(result.gap, {"shape": 0.75, "scale": 0.5})
    assert_close(result.chance, {"shape": 0.25, "scale": 0.5})
    assert_close(result.accuracy["whole.shape"], 1.0)
    assert_close(result.accuracy["z0.shape"], 0.25)
    assert (result.diagonal, result.random, result.emptied, result.repeated) == (1.0, 0.0, 0.0, 0.0)
    assert_close(result.kept, 0.0)
    assert (result.n, result.n_test) == (400, 400)


def test_the_halves_may_be_assigned_either_way() -> None:
    """The paper's Table 3, Hessian at 0.1: 74.7 against 57.5, and 50.9 against 42.4: the lesser is 8.5."""
    forth = summary([0.936, 0.563], [0.747, 0.424], [0.575, 0.509])
    back = summary([0.936, 0.563], [0.575, 0.509], [0.747, 0.424])
    assert_close(forth.score, 0.085)
    assert_close(back.score, 0.085)
    assert_close(forth.gap, {"dc": 0.172, "bc": 0.085})
    assert_close(forth.kept, 0.747 - 0.936)
    assert forth.diagonal == 1.0


def test_it_is_not_won_by_emptying_a_half() -> None:
    """The paper's 0.001: one half is better at both, so one of the two signed gaps is negative either way."""
    both = summary([0.924, 0.572], [0.607, 0.467], [0.479, 0.346])
    assert_close(both.score, -0.121)  # 12.8 and -12.1, or -12.8 and 12.1
    assert both.diagonal == 0.0
    codes = np.column_stack([one_hot(0), one_hot(1), np.zeros(400)])
    emptied = gap(codes, {"z0": [0, 1, 2, 3], "z1": [4]})
    assert emptied.emptied == 1.0 and emptied.score < 0


def test_degenerate_solutions_of_table_7() -> None:
    random = summary([0.117, 0.126], [0.117, 0.126], [0.117, 0.126])
    assert (random.random, random.emptied, random.repeated) == (1.0, 0.0, 0.0)
    difficulty = summary([0.767, 0.998], [0.42, 0.997], [0.321, 0.997])
    assert (difficulty.random, difficulty.emptied, difficulty.repeated) == (0.0, 0.0, 1.0)


def test_three_parts_and_factors() -> None:
    """Each part its own: the least gap, 0.9 - 0.3."""
    result = summary([0.9, 0.9, 0.9], [0.2, 0.9, 0.3], [0.9, 0.2, 0.2], [0.3, 0.3, 0.9])
    assert_close(result.score, 0.6)
    assert result.diagonal == 1.0


def test_more_parts_than_factors() -> None:
    """Each factor has a part of its own, and what is left of the parts may repeat: 0.9 - 0.7 and 0.8 - 0.4."""
    result = summary([0.9, 0.8], [0.9, 0.1], [0.7, 0.2], [0.1, 0.8], [0.1, 0.4])
    assert_close(result.score, 0.2)
    assert result.diagonal == 1.0
    one = summary([0.9, 0.8], [0.9, 0.8], [0.7, 0.2], [0.1, 0.3])  # the first part tells both best
    assert_close(one.score, -0.2)  # it gets the second factor, and the first one falls 0.7 - 0.9 short
    assert one.diagonal == 0.0


def test_accuracies_and_gaps_are_those_of_probes() -> None:
    rng = np.random.default_rng(0)
    codes = FACTORS @ rng.standard_normal((2, 4)) + 0.5 * rng.standard_normal((400, 4))
    result = gap(codes, {"z0": [0, 2], "z1": [1, 3]}, names=("shape", "scale"))
    for name, labels in zip(("shape", "scale"), FACTORS.T, strict=True):
        first, second = (
            probe(codes[:, part], labels, test_codes=codes[:, part], test_labels=labels).score
            for part in ([0, 2], [1, 3])
        )
        assert_close((result.accuracy[f"z0.{name}"], result.accuracy[f"z1.{name}"]), (first, second))
        assert_close(result.gap[name], abs(first - second))


def test_halves_that_both_know_everything_have_no_gap() -> None:
    both = np.column_stack([one_hot(0), one_hot(1)])
    result = gap(np.column_stack([both, both]), {"z0": [0, 1, 2, 3], "z1": [4, 5, 6, 7]})
    assert (result.score, result.diagonal, result.repeated) == (0.0, 0.0, 2.0)


def test_further_factors_are_probed_and_do_not_count() -> None:
    result = summary([0.9, 0.8, 0.7], [0.9, 0.1, 0.7], [0.1, 0.8, 0.7])
    assert_close(result.score, 0.7)
    assert result.diagonal == 1.0 and result.repeated == 1.0 and set(result.gap) == {"dc", "bc", "dl"}


def test_what_is_wrong_is_said() -> None:
    codes = np.column_stack([one_hot(0), one_hot(1)])
    with pytest.raises(ValueError, match="at least two strands; got 1"):
        gap(codes, {"z0": [0, 1]})
    with pytest.raises(ValueError, match="must be within the 4 dimensions"):
        gap(codes, {"z0": [0], "z1": [7]})
    with pytest.raises(ValueError, match="a name for each of 2 factors"):
        gap(codes, names=("one",))
