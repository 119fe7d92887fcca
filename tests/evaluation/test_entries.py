"""Entries of the scores, src/unbraid/evaluation/entries.py."""

import functools
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from unbraid.evaluation.arrays import Arrays
from unbraid.evaluation.entries import score_entries, split_finite
from unbraid.metrics import clustering, probe
from unbraid.metrics.clustering import Clustering
from unbraid.metrics.probe import Probe

CODES = {"codes": np.zeros((6, 2)), "test_codes": np.zeros((3, 2))}
SAMPLES = Arrays(CODES["codes"]), Arrays(CODES["test_codes"])


class Roughness(NamedTuple):
    score: float
    chance: float
    per_class: dict[str, float]
    steps: np.ndarray
    width: int
    note: str
    share: np.float32

    higher_is_better = False
    bounds = (0.0, None)
    undirected = ("chance",)


def roughness(codes: Any, *, width: int = 3) -> Roughness:
    return Roughness(2.0, 0.5, {"a": 1.0, "b": 3.0}, np.arange(2), width, "text", np.float32(0.25))


def test_a_result_states_its_direction_and_further_numbers_inherit_it() -> None:
    entries = score_entries("roughness", roughness, roughness(None), CODES, SAMPLES)
    assert [(entry["metric"], entry["value"], entry["higher_is_better"]) for entry in entries] == [
        ("roughness", 2.0, False),
        ("roughness.chance", 0.5, None),
        ("roughness.per_class.a", 1.0, False),
        ("roughness.per_class.b", 3.0, False),
        ("roughness.share", 0.25, False),
    ]
    assert all(entry["protocol"] == "width=3" for entry in entries)
    assert entries[0]["evidence"] == {"steps": [0, 1]} and "evidence" not in entries[1]
    assert (entries[0]["n"], entries[0]["n_test"]) == (6, 3)  # the result has no sizes: those of the arrays


def test_lower_is_better_in_the_strands_that_a_result_names() -> None:
    numbers = Clustering(0.9, 0.1, 6, 0.5, 0.5, 0.5, 6, np.zeros(6, int), np.zeros((6, 2)))
    for strand, expected in (("common", False), ("salient", True), ("", True)):
        first, *further = score_entries("clustering", clustering, numbers, CODES, SAMPLES, strand=strand)
        assert first["metric"] == f"{strand}:clustering".lstrip(":") and first["higher_is_better"] is expected
        directions = {entry["metric"].rpartition(".")[2]: entry["higher_is_better"] for entry in further}
        assert directions["chance"] is None and directions["silhouette_map_labels"] is expected
    result = Probe(0.9, {"z0": 0.8}, 1.0, 0.3, 60, 30, 1.0)
    first, *further = score_entries("probe", probe, result, CODES, SAMPLES)
    assert (first["n"], first["n_test"], first["protocol"]) == (60, 30, "inverse_penalty=1.0")
    assert [(entry["metric"], entry["higher_is_better"]) for entry in further] == [
        ("probe.per_strand.z0", None),
        ("probe.train_score", True),
        ("probe.chance", None),
    ]


@pytest.mark.parametrize("number", [2, 2.0, True, np.float32(2), np.array(2.0), torch.tensor(2.0)])
def test_numbers_of_every_kind_are_scores_without_a_direction(number: Any) -> None:
    def plain(codes, level=1):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        return number

    (entry,) = score_entries("plain", plain, number, CODES, SAMPLES)
    assert entry == {
        "metric": "plain",
        "protocol": "",
        "value": float(number),
        "higher_is_better": None,
        "n": 6,
        "n_test": 3,
    }
    assert type(entry["value"]) is float
    (entry,) = score_entries("plain", functools.partial(plain, level=2), number, CODES, SAMPLES)
    assert entry["protocol"] == "level=2"


class Late(NamedTuple):
    name: str
    score: float


@pytest.mark.parametrize("result", [None, "0.5", (0.5,), {"score": 0.5}, Late("a", 0.5), np.zeros(2)])
def test_other_results_are_refused(result: Any) -> None:
    with pytest.raises(
        ValueError, match="a named tuple whose first field is a number named score; roughness"
    ):
        score_entries("roughness", roughness, result, CODES, SAMPLES)


def test_entries_that_are_not_finite_are_split_off() -> None:
    entries = [{"metric": "mig", "value": 0.5}, {"metric": "mig.rmig", "value": float("nan")}]
    assert split_finite(entries) == (entries[:1], ["mig.rmig is nan"])
    entries[0] = {"metric": "mig", "value": float("inf")}
    assert split_finite(entries) == ([], ["mig is inf", "mig.rmig is nan"])


def test_evidence_is_valid_json() -> None:
    class Table(NamedTuple):
        score: float
        table: np.ndarray

    (entry,) = score_entries(
        "table", lambda codes: None, Table(1.0, np.array([[np.nan, 2.0], [np.inf, 0.5]])), CODES, SAMPLES
    )
    assert entry["evidence"] == {"table": [[None, 2.0], [None, 0.5]]}
