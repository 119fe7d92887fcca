"""What a metric of codes and factors scores for the codes of the common checks, tests/metrics/test_common.py.

The test file of such a metric has a list `COMMON` of them, one per protocol.
"""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class CommonCase(NamedTuple):
    name: str
    score: Callable[[np.ndarray, np.ndarray], Any]
    constant: float  # score of codes that never vary
    duplicated: float  # score of every factor given by two equal codes
    random: float | None  # what codes that know nothing stay below; None if it scores only who knows what
    entangled: float | None  # what Appendix A.1's code stays below; None if it scores only what can be read
    tolerance: float = 1e-9  # of the identity and of the reordered samples; solvers stop early
    identity: float = 1.0  # score of codes that are the factors


def common_cases() -> list[CommonCase]:
    """The cases of every test file of this folder."""
    files = sorted(Path(__file__).parent.glob("test_*.py"))
    with_cases = [file.stem for file in files if "COMMON = [" in file.read_text()]
    return [case for name in with_cases for case in importlib.import_module(f"tests.metrics.{name}").COMMON]
