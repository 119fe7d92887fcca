"""Linear probes of every strand, src/unbraid/evaluation/strand_probes.py."""

import numpy as np
import pytest
import torch
from torch import Tensor

from unbraid.data import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.evaluation.evaluate import evaluate
from unbraid.evaluation.strand_probes import factor_roles
from unbraid.methods.base import Method
from unbraid.strands import Strands
from unbraid.types import Batch, Terms


class Copy(Method[Batch]):
    """A code that is the row: the class, the color and the angle, each with little noise, and their union."""

    @property
    def strands(self) -> Strands:
        return Strands({"all": [0, 1, 2], "kind": [0], "look": [1, 2], "empty": [3]}, size=4)

    def loss(self, batch: Batch) -> Terms:
        return Terms(batch.x.sum(), {})

    def encode(self, x: Tensor, condition: Tensor | None = None) -> Tensor:
        return x


def rows() -> Dataset:
    space = FactorSpace({"angle": 2, "color": 3, "class": 2})
    combinations = torch.arange(12).repeat(50)
    values = space.values(combinations)[:, [2, 1, 0]].float()
    codes = torch.cat([values, torch.zeros(len(values), 1)], 1)
    codes += 0.01 * torch.randn(codes.shape, generator=torch.Generator().manual_seed(0))
    return Dataset(
        codes,
        name="rows",
        factor_space=space,
        combinations=combinations,
        label="class",
        nuisances=("color",),
        hidden_nuisances=("angle",),
    )


def test_each_innermost_strand_is_probed_for_each_factor_in_the_order_of_roles() -> None:
    (score,) = evaluate(Copy(), rows(), ["strand_probes"], num_samples=0, num_test_samples=0)
    evidence = score["evidence"]
    assert evidence["strands"] == ["kind", "look", "empty"]
    assert evidence["factors"] == ["class", "color", "angle"]
    assert evidence["roles"] == ["class", "known nuisance", "hidden nuisance"]
    chance = np.array(evidence["chance"])
    perfect = np.array(evidence["accuracy"]) > 0.99
    assert perfect.tolist() == [[True, False, False], [False, True, True], [False, False, False]]
    assert (np.abs(np.array(evidence["accuracy"])[~perfect] - chance[[1, 2, 0, 0, 1, 2]]) < 0.15).all()
    assert score["value"] == pytest.approx(1 / 3, abs=0.1) and score["n"] + score["n_test"] == 600


def test_the_numbers_are_those_of_the_probe_of_each_strand() -> None:
    names = ["strand_probes", "kind:factor_probe", "look:factor_probe"]
    scores = {
        score["metric"]: score
        for score in evaluate(Copy(), rows(), names, num_samples=300, num_test_samples=0, seed=3)
    }
    evidence = scores["strand_probes"]["evidence"]
    for strand, accuracies in zip(evidence["strands"][:2], evidence["accuracy"], strict=False):
        for factor, accuracy in zip(evidence["factors"], accuracies, strict=True):
            assert accuracy == scores[f"{strand}:factor_probe.accuracy.{factor}"]["value"]


def test_data_without_factors_cannot_be_probed() -> None:
    plain = Dataset(torch.rand(40, 4), name="plain")
    with pytest.raises(ValueError, match="needs ground-truth factors, and plain has none"):
        evaluate(Copy(), plain, ["strand_probes"], num_samples=20)


def test_factors_without_a_role_come_last() -> None:
    dataset = rows().replace(label=None, nuisances=(), hidden_nuisances=("class",))
    roles = {"class": "hidden nuisance", "angle": "factor", "color": "factor"}
    assert factor_roles(dataset) == roles and next(iter(factor_roles(dataset))) == "class"
