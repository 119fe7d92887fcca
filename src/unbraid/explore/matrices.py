"""What each code has to do with each factor, as the run's scores found it or as its examples show."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from unbraid.explore.examples import Examples
from unbraid.metrics.information import discretize, entropy, mutual_information
from unbraid.runs import Run
from unbraid.strands import Strands

MOST_ROWS = 64  # codes of a matrix; more cannot be read
BINS = 10  # of each code, where information is measured here
FEWEST = 5  # examples that each value of a factor needs, on average, before information is measured here


class Matrix(NamedTuple):
    """A number for each code, or group of codes, and factor; the larger, the more they have to do with each other."""

    heading: str
    meaning: str
    unit: str  # as a cell is read: “share of the importance”, “of all there is to know”
    rows: tuple[tuple[str, tuple[int, ...]], ...]  # what each is called, and its codes
    factors: tuple[str, ...]
    values: Float[np.ndarray, "r k"]  # from 0 to 1


def matrix_of(
    run: Run, strands: Strands, examples: Examples, blocks: Sequence[str], order: Sequence[int]
) -> Matrix | None:
    """The importance of codes by DCI, the information by MIG, or the information that the examples show.

    Args:
        run: Where scores are looked for.
        strands: Of the code.
        examples: Observations, where there are no scores.
        blocks: Strands that stand for one feature each, which a score may have taken as its rows.
        order: The codes to look at in the examples, those that matter most first.
    """
    latest = {
        score["metric"]: score["evidence"]
        for score in run.scores()
        if "evidence" in score and "on" not in score
    }
    factors = _factors(run)
    for metric, read in (("dci", _importance), ("mig", _information)):
        for strand in (strands.default, *strands):
            evidence = latest.get(metric if strand == strands.default else f"{strand}:{metric}")
            rows = _rows(strands, strand, blocks, evidence)
            if evidence and rows and (found := read(evidence, rows, factors)) is not None:
                return found
    return _seen(order, examples)


def _factors(run: Run) -> dict[str, int]:
    """The factors that scores tell of, and how many values each has."""
    data = run.settings["data"]
    return {name: size for name, size in data["factors"].items() if size > 1 and name != data.get("instance")}


def _rows(
    strands: Strands, strand: str, blocks: Sequence[str], evidence: Mapping[str, Any] | None
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """What the rows of a score's evidence are: codes of the strand, or blocks of them."""
    table = (evidence or {}).get("importances") or (evidence or {}).get("information") or ()
    codes = strands[strand]
    if len(table) == len(codes):
        return tuple((f"code {code}", (code,)) for code in codes)
    if len(table) == len(blocks):
        return tuple((name, strands[name]) for name in blocks)
    return ()


def _importance(evidence: Mapping[str, Any], rows: Any, factors: Mapping[str, int]) -> Matrix | None:
    table = np.asarray(evidence.get("importances", ()), dtype=float)
    if table.shape != (len(rows), len(factors)) or len(rows) > MOST_ROWS:
        return None
    shares = table / np.maximum(table.sum(0, keepdims=True), 1e-12)
    return Matrix(
        "Importance",
        "How much each code matters in predicting each factor, as DCI has it; a factor’s column sums to 1.",
        "of what predicts",
        rows,
        tuple(factors),
        shares,
    )


def _information(evidence: Mapping[str, Any], rows: Any, factors: Mapping[str, int]) -> Matrix | None:
    table = np.asarray(evidence.get("information", ()), dtype=float)
    if table.shape != (len(rows), len(factors)) or len(rows) > MOST_ROWS:
        return None
    most = np.log(list(factors.values()))
    return _shares(rows, tuple(factors), table / most, "as MIG has it")


def _seen(order: Sequence[int], examples: Examples) -> Matrix | None:
    """From the examples themselves, where they are enough for the factors that have few values."""
    codes = order[:MOST_ROWS]
    factors = [
        factor
        for factor in examples.factors
        if len(factor.values) * FEWEST <= len(factor.of)
        and (factor.of >= 0).sum() >= FEWEST * len(factor.values)
    ]
    if not factors or len(codes) < 2:
        return None
    columns = []
    for factor in factors:
        known = factor.of >= 0
        binned = discretize(examples.codes.numpy()[known][:, list(codes)], bins=BINS)
        values = factor.of[known][:, None]
        filled = np.array([len(np.unique(column)) for column in binned.T])
        bias = (filled - 1) * (len(np.unique(values)) - 1) / (2 * len(values))  # of the plug-in estimate
        most = max(float(entropy(values)[0]), 1e-12)
        columns.append((mutual_information(binned, values)[:, 0] - bias) / most)
    rows = tuple((f"code {code}", (code,)) for code in codes)
    names = tuple(factor.name for factor in factors)
    how = f"estimated from {len(examples.codes)} observations"
    return _shares(rows, names, np.stack(columns, 1), how)


def _shares(rows: Any, factors: tuple[str, ...], table: np.ndarray, how: str) -> Matrix:
    meaning = f"How much each code knows of each factor, as a share of all there is to know, {how}."
    return Matrix("Information", meaning, "of all there is to know about", rows, factors, table.clip(0, 1))
