"""Directions and ranges of scores, src/unbraid/metrics/direction.py."""

import inspect
from typing import Any, NamedTuple

import pytest

from unbraid import metrics
from unbraid.metrics.direction import Direction

RESULTS = [
    result
    for result in vars(metrics).values()
    if inspect.isclass(result) and result is not Direction and "score" in getattr(result, "_fields", ())
]


class Unstated(NamedTuple):
    score: float
    bounds: float  # a field, not the bounds of the score


def test_what_is_not_stated_has_no_direction_and_no_bounds() -> None:
    for result in (float, Unstated):
        assert Direction.of(result) == Direction(None, (None, None), (), ())
    assert Direction().of_number() is None and str(Direction()) == "neither direction is better"


def test_strands_and_undirected_numbers() -> None:
    direction = Direction(True, (0.0, 1.0), ("chance",), ("common",))
    assert direction.of_number() is True and direction.of_number(strand="common") is False
    assert direction.of_number("gap.digit") is True and direction.of_number("gap", strand="common") is False
    assert direction.of_number("chance.digit") is direction.of_number("chance", strand="common") is None


def test_directions_in_words() -> None:
    assert str(Direction(True, (0.0, 1.0))) == "higher is better, 0 to 1"
    assert str(Direction(False, (0.0, None))) == "lower is better, at least 0"
    assert (
        str(Direction(None, (None, 1.0), (), ("common",)))
        == "neither direction is better; lower in common, at most 1"
    )


def test_a_direction_must_be_one_of_three() -> None:
    class Wrong(NamedTuple):
        score: float
        higher_is_better = "yes"

    class Open(NamedTuple):
        score: float
        bounds = (0.0,)

    with pytest.raises(ValueError, match="higher_is_better of Wrong must be True, False or None; got 'yes'"):
        Direction.of(Wrong)
    with pytest.raises(ValueError, match="bounds of Open must be the lowest and the highest score"):
        Direction.of(Open)


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: result.__name__)
def test_every_result_states_its_direction(result: Any) -> None:
    assert {"higher_is_better", "bounds"} <= vars(result).keys()
    direction = Direction.of(result)
    low, high = direction.bounds
    assert low is None or high is None or low < high
    assert set(direction.undirected) <= set(result._fields)
    assert not set(Direction._fields) & set(result._fields)


def test_the_direction_follows_the_definition() -> None:
    directions = {result.__name__: Direction.of(result).higher_is_better for result in RESULTS}
    lower = {name for name, higher_is_better in directions.items() if higher_is_better is False}
    neither = {name for name, higher_is_better in directions.items() if higher_is_better is None}
    assert lower == {"GaussianTotalCorrelation", "TranslationDifficulty"}
    assert neither == {
        *("ActiveDims", "BackgroundDistance", "BackgroundNorm", "Bootstrap", "FactorProbe", "KLPerDim"),
        *("AboveNoise", "PriorDistance", "SampleQuality", "Spectrum", "W2"),
    }
