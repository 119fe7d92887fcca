"""Factors, labels and nuisances of a sample, src/unbraid/evaluation/ground_truth.py."""

import numpy as np
import pytest
import torch

from unbraid.data import Dataset, FactorSpace
from unbraid.evaluation.arrays import NotAvailable
from unbraid.evaluation.ground_truth import GroundTruth

SPACE = FactorSpace({"class": 2, "color": 3, "fixed": 1, "object": 4})


def truth(size: int = 0, **roles: object) -> GroundTruth:
    data = Dataset(torch.zeros(24, 5), name="rows", max_value=1, factor_space=SPACE, **roles)  # type: ignore[arg-type]
    return GroundTruth(data, size=size, seed=0)


def test_roles_are_columns_of_the_factors() -> None:
    known = truth(label="class", nuisances=("color",), instance="object")
    assert known.names == ("class", "color") and known.factor_sizes == (2, 3, 4)
    assert np.array_equal(known.labels, known.factors[:, 0])
    assert np.array_equal(known.nuisances, known.factors[:, 1:])
    assert known.instances.tolist() == list(range(4)) * 6


def test_hidden_nuisances_have_the_names_of_their_values() -> None:
    known = truth(hidden_nuisances=("color", "object"), value_names={"color": ("red", "green", "blue")})
    assert set(known.hidden_nuisances["color"]) == {"red", "green", "blue"}
    assert set(known.hidden_nuisances["object"]) == {0, 1, 2, 3}


def test_the_label_and_what_the_dataset_names_is_unordered() -> None:
    assert truth(label="class", unordered=("object", "fixed")).unordered == ("class", "object")
    assert truth(value_names={"color": ("red", "green", "blue")}).unordered == ()
    assert truth(unordered=("color",), instance="object").unordered == ("color",)


def test_rows_without_factors() -> None:
    known = GroundTruth(
        Dataset(torch.tensor([[0.0, 1], [2, 3], [4, 5]]), name="plain", max_value=1), size=0, seed=0
    )
    assert known.names == known.factor_sizes == known.unordered == () and known.hidden_nuisances == {}
    assert known.instances.tolist() == known.rows.tolist() == [0, 1, 2] and known.distinct() == 3
    twice = Dataset(torch.tensor([[0.0, 1], [2, 3], [0, 1]]), name="plain", max_value=1)
    again = GroundTruth(twice, size=0, seed=0)
    assert again.instances.tolist() == again.rows.tolist() == [0, 1, 0] and again.distinct() == 2
    for name in ("factors", "labels", "nuisances", "latents", "class_names", "factor_space"):
        with pytest.raises(NotAvailable, match="plain"):
            getattr(known, name)


def test_the_sample_follows_size_and_seed() -> None:
    assert truth(7).size == 7 and truth().size == 24
    assert np.array_equal(truth(7).factors, truth(7).factors)
    with pytest.raises(ValueError, match="at least 1 observation, or 0 for all; got -1"):
        truth(-1)
