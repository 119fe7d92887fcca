"""Metrics of the model itself, src/unbraid/evaluation/model_scores.py."""

import pytest
import torch
from torch.testing import assert_close

from tests.tiny import CODES, SHAPE, make
from unbraid.data import Dataset
from unbraid.evaluation.evaluate import evaluate
from unbraid.methods import BetaVAE, Intervention
from unbraid.objectives import kl_to_standard_normal
from unbraid.seeds import derive_seed


def test_kl_and_reconstruction_are_those_of_the_method() -> None:
    method, data = (
        make(BetaVAE).float(),
        Dataset(torch.randint(0, 256, (60, *SHAPE), dtype=torch.uint8), name="noise"),
    )
    scores = {score["metric"]: score for score in evaluate(method, data, num_samples=200, seed=5)}
    rows = data.sample_indices(200, torch.Generator().manual_seed(derive_seed(5, "evaluation")))
    x = data.observe(rows)
    with torch.no_grad():
        q = method.posterior(x)
        nll = method.likelihood.nll(method.decoder(q.mean), x)
    assert_close(scores["kl"]["value"], float(kl_to_standard_normal(q)), rtol=1e-4, atol=1e-4)
    assert_close(scores["reconstruction"]["value"], float(nll), rtol=1e-4, atol=1e-4)
    assert scores["reconstruction"]["protocol"] == "bernoulli"
    assert len(scores["kl"]["evidence"]["per_dim"]) == CODES
    assert set(scores) == {"reconstruction", "kl"}  # a threshold is a setting, not a score
    assert (
        scores["kl"]["n"] == len(rows.unique()) and scores["kl"]["seed"] == 5 and scores["kl"]["seconds"] >= 0
    )


def test_an_intervention_is_reversed_if_the_code_is_restored() -> None:
    """With pixels as codes it is fully reversed.

    Now let the second encoding forget the second of two dimensions. Of observations (1, 1) and (3, 3), setting a
    dimension to the other's value changes it by 2. Set back, the first dimension is restored and the second is off by 1
    and by 3, so 1 + 9 of 4 + 4 remains; of the other intervention 0 of 4 + 4 remains: 1 - 10 / 16.
    """

    class Halves(Intervention):
        forgets = False

        def encode(self, x: torch.Tensor, condition: object = None) -> torch.Tensor:
            codes = x.flatten(1)
            second = torch.zeros_like(codes) if self.forgets and self.again else codes
            self.again = True
            return torch.cat([codes[:, :1], second[:, 1:]], 1)

        def decode(self, codes: torch.Tensor, condition: object = None) -> torch.Tensor:
            return codes

    method = Halves.__new__(Halves)
    source = make(Intervention, num_features=2, feature_dim=1).float()
    method.__dict__ = source.__dict__
    data = Dataset(torch.tensor([[1.0, 1.0], [3.0, 3.0]]), name="two")
    for forgets, expected in ((False, 1.0), (True, 1 - 10 / 16)):
        method.forgets, method.again = forgets, False
        scores = evaluate(method, data, ["intervention_reversibility"], num_samples=0, num_test_samples=0)
        assert_close(scores[0]["value"], expected)


@pytest.mark.parametrize("ordered", [False, True])
def test_active_features_cause_a_share_of_the_observed_variance(ordered: bool) -> None:
    """Codes are pixels, and the decoder scales them by 1, 0.3 and 0.01. Each pixel has one third of the variance, so
    each feature causes the square of its scale times one third, whether or not the data are sorted."""

    class Scaled(Intervention):
        def encode(self, x: torch.Tensor, condition: object = None) -> torch.Tensor:
            return 1000 * x.flatten(1)

        def decode(self, codes: torch.Tensor, condition: object = None) -> torch.Tensor:
            return codes * codes.new_tensor([1.0, 0.3, 0.01]) / 1000

    method = Scaled.__new__(Scaled)
    method.__dict__ = make(Intervention, num_features=3, feature_dim=1).float().__dict__
    rows = torch.randn(4000, 3, generator=torch.Generator().manual_seed(0))
    rows = rows.sort(0).values if ordered else rows
    (score,) = evaluate(
        method, Dataset(rows, name="rows"), ["active_features"], num_samples=0, num_test_samples=0
    )
    assert (score["value"], score["n"], score["protocol"]) == (2, 2000, "threshold=0.01")
    assert_close(score["evidence"]["shares"], [1 / 3, 0.03, 1 / 3e4], rtol=0.1, atol=0)
