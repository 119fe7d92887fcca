"""A synthetic table with a nuisance, src/unbraid/data/credit.py."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torch.testing import assert_close

from unbraid.data.credit import credit
from unbraid.data.dataset import Dataset


def arrays(dataset: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    factors = dataset.factors(dataset.indices()).numpy()
    return dataset.source.numpy(), factors[:, 0], factors[:, 1]


def test_the_district_predicts_the_class_in_training_and_misleads_in_the_test() -> None:
    _, label, district = arrays(credit())
    assert abs((label == district).mean() - 0.9) < 0.02
    _, label, district = arrays(credit(split="test"))
    assert abs((label == district).mean() - 0.1) < 0.02
    _, label, district = arrays(credit(districts=3, bias=0.0))
    assert np.abs(np.corrcoef(label == 0, district == 2)[0, 1]) < 0.7
    assert set(district) == {0, 1, 2}


def test_a_plain_classifier_falls_for_it_and_one_of_unbiased_rows_does_not() -> None:
    test, test_label, _ = arrays(credit(split="test"))

    def accuracy(**options: float) -> float:
        rows, label, _ = arrays(credit(**options))
        return float(LogisticRegression().fit(rows, label).score(test, test_label))

    assert accuracy() < 0.65
    assert accuracy(bias=0.0) > 0.8


def test_features_leak_the_district() -> None:
    rows, _, district = arrays(credit(bias=0.0))
    assert LogisticRegression().fit(rows, district).score(rows, district) > 0.95


def test_the_same_seed_gives_the_same_rows() -> None:
    assert_close(credit().source, credit().source)
    assert not torch.equal(credit().source, credit(table_seed=1).source)
    assert (credit().name, credit(split="test").name) == ("credit", "credit-test")


def test_mistakes_get_one_sentence() -> None:
    with pytest.raises(ValueError, match="between -1 and 1; got bias=2"):
        credit(bias=2.0)
    with pytest.raises(ValueError, match="at least 2 districts"):
        credit(districts=1)
