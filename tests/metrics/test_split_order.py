"""scikit-learn's orders, src/unbraid/metrics/split_order.py."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from unbraid.metrics.split_order import FeatureOrder, left_sums, running_sum, swap_apart


def slow_swap(row: list[int], goes_left: list[bool]) -> tuple[list[int], int]:
    """Look at the first place; if it belongs right, swap it with the last place not yet settled."""
    items, first, last = list(zip(row, goes_left, strict=True)), 0, len(row)
    while first < last:
        if items[first][1]:
            first += 1
        else:
            last -= 1
            items[first], items[last] = items[last], items[first]
    return [item[0] for item in items], first


@settings(deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=30))
def test_sides_lie_as_the_swaps_leave_them(flags: list[bool]) -> None:
    row, goes_left = np.arange(len(flags)) * 7, np.array(flags)
    expected, count = slow_swap(row.tolist(), flags)
    if 0 < count < len(flags):  # a cut always leaves something on both sides
        assert swap_apart(row, goes_left, 1).tolist() == expected[:count]
        assert swap_apart(row, goes_left, 2).tolist() == expected[count:]


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(-1, 1), st.booleans()), min_size=2, max_size=30))
def test_left_sums_take_the_shorter_way(pairs: list[tuple[float, bool]]) -> None:
    values = np.array([value for value, _ in pairs])
    positions = [index for index in range(1, len(pairs)) if pairs[index][1]]
    total, here, reached, expected = float(values.sum()), 0.0, 0, []
    for there in positions:
        if there - reached <= len(values) - there:
            for index in range(reached, there):
                here += values[index]
        else:
            here = total
            for index in range(len(values) - 1, there - 1, -1):
                here -= values[index]
        reached = there
        expected.append(here)
    got = left_sums(values, np.array(positions, dtype=np.int64), total)
    assert_close(got, np.array(expected), rtol=0, atol=0)


def test_every_code_is_visited_once_and_constants_are_kept() -> None:
    visits = FeatureOrder(12345, 6)
    flat = np.array([False, True, False, False, True, False])
    visited, constants = visits.of_node(flat, [])
    assert sorted(visited) == [0, 2, 3, 5]
    assert sorted(constants) == [1, 4]
    flat[0] = True
    visited, more = visits.of_node(flat, constants)
    assert sorted(visited) == [2, 3, 5]
    assert more[:2] == constants
    assert more[2:] == [0]


def test_xorshift_by_hand() -> None:
    """1 -> 1 ^ 1<<13 = 0x2001 -> ^ >>17 = 0x2001 -> ^ <<5 = 0x2001 ^ 0x40020 = 0x42021; of 7 codes: 270369 % 7 = 1."""
    visits = FeatureOrder(1, 7)
    assert visits.of_node(np.zeros(7, dtype=bool), [])[0][0] == 0x42021 % 7


def test_sums_run_one_by_one() -> None:
    values = np.array([1e16, 1.0, -1e16, 1.0])
    assert_close(running_sum(values), ((1e16 + 1.0) - 1e16) + 1.0)


def test_visits_that_are_asked_for_late_are_those_of_every_node_in_turn() -> None:
    """Node 3 is asked for first, then its parent: the generator is where it would have been."""
    rng = np.random.default_rng(0)
    flats = [np.zeros(6, dtype=bool), *(rng.random((4, 6)) < 0.3)]
    parents = [-1, 0, 1, 0, 3]
    at_once, late = FeatureOrder(12345, 6), FeatureOrder(12345, 6)
    expected: list[tuple[list[int], list[int]]] = []
    for flat, parent in zip(flats, parents, strict=True):
        expected.append(at_once.of_node(flat, expected[parent][1] if parent >= 0 else []))
        assert late.add(flat, parent) == len(expected) - 1
    for node in (3, 0, 4, 1, 2):
        assert late.visited(node) == expected[node][0]
