"""Scores computed in several processes, src/unbraid/metrics/processes.py."""

import os
import sys

import numpy as np
import pytest

from unbraid.metrics import dci as score
from unbraid.metrics import num_processes, processes
from unbraid.metrics.processes import Processes

dci = sys.modules["unbraid.metrics.dci"]


def negative(numbers: list[int]) -> list[tuple[int, int]]:
    return [(-number, os.getpid()) for number in numbers]


def die_elsewhere(tasks: list[tuple[int, int]]) -> list[int]:
    """The second number of each task; kills every process but that of the first number at the task 3."""
    for pid, number in tasks:
        if number == 3 and os.getpid() != pid:
            os._exit(1)
    return [number for _, number in tasks]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_results_are_in_the_order_of_the_tasks(count: int) -> None:
    with Processes(negative, count) as pool:
        for size in (5, 1, 0):
            results = pool.map(range(size))
            assert [result for result, _ in results] == [-number for number in range(size)]
            pids = {pid for _, pid in results}
            assert len(pids) == min(size, max(1, count)) and (os.getpid() in pids) == (count < 2 and size > 0)


def test_the_share_of_a_dead_process_is_computed_here() -> None:
    tasks = [(os.getpid(), number) for number in range(6)]
    with Processes(die_elsewhere, 2) as pool:
        assert pool.map(tasks) == pool.map(tasks) == [0, 1, 2, 3, 4, 5]


def test_without_processes_this_one_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with Processes(negative, 2) as pool:
        assert pool.map([1, 2]) == [(-1, os.getpid()), (-2, os.getpid())]


def test_there_are_never_more_processes_than_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "num_cores", lambda: 4)
    assert [num_processes(count) for count in (None, 1, 3, 4, 64)] == [4, 1, 3, 4, 4]
    with pytest.raises(ValueError, match="processes must be at least 1; got 0"):
        num_processes(0)


def test_dci_uses_processes_where_they_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[int] = []
    boost = dci.boost
    monkeypatch.setattr(processes, "num_cores", lambda: 6)
    monkeypatch.setattr(
        dci,
        "boost",
        lambda *arguments, processes: used.append(processes) or boost(*arguments, stages=2, processes=1),
    )
    rng = np.random.default_rng(0)
    factors = rng.integers(0, [3, 2], (60, 2))
    codes = factors @ rng.standard_normal((2, 3)) + rng.standard_normal((60, 3))
    for minimum in (0, 60 * 3 * 5 + 1):
        monkeypatch.setattr(dci, "MIN_NUMBERS", minimum)
        for count in (None, 2):
            score(codes, factors, test_codes=codes, test_factors=factors, rng=rng, processes=count)
    assert used == [5, 2, 1, 1]  # there are five classes, and as many trees in a stage
