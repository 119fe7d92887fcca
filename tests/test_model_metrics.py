"""What a model is asked for beside its codes, src/unbraid/model_metrics.py."""

import pytest
import torch
from torch.testing import assert_close

from tests.tiny import CODES, SHAPE, make
from unbraid.data import Dataset
from unbraid.evaluate import evaluate
from unbraid.methods import BetaVAE, Intervention
from unbraid.objectives import kl_to_standard_normal
from unbraid.seeds import derive


def test_kl_and_reconstruction_are_those_of_the_method() -> None:
    method, data = (
        make(BetaVAE).float(),
        Dataset(torch.randint(0, 256, (60, *SHAPE), dtype=torch.uint8), name="noise"),
    )
    scores = {score["metric"]: score for score in evaluate(method, data, samples=200, seed=5)}
    rows = data.draw(200, torch.Generator().manual_seed(derive(5, "evaluation")))
    x = data.observe(rows)
    with torch.no_grad():
        q = method.posterior(x)
        nll = method.likelihood.nll(method.decoder(q.mean), x)
    assert_close(scores["kl"]["value"], float(kl_to_standard_normal(q)), rtol=1e-4, atol=1e-4)
    assert_close(scores["reconstruction"]["value"], float(nll), rtol=1e-4, atol=1e-4)
    assert scores["reconstruction"]["protocol"] == "bernoulli"
    assert len(scores["kl"]["evidence"]["per_code"]) == CODES
    assert set(scores) == {"reconstruction", "kl"}  # a threshold is a setting, not a score
    assert scores["kl"]["n"] == 200 and scores["kl"]["seed"] == 5 and scores["kl"]["seconds"] >= 0


def test_an_intervention_is_undone_where_the_code_comes_back() -> None:
    """With pixels for codes all of it is undone.

    Now let encoding a second time forget the second of two codes. Of observations (1, 1) and (3, 3), setting a code to
    the other's changes it by 2. Set back, the first code is right and the second is off by 1 and by 3, so 1 + 9 is left
    of 4 + 4; of the other intervention nothing is left of 4 + 4: 1 - 10 / 16.
    """

    class Halves(Intervention):
        forgets = False

        def encode(self, x: torch.Tensor, given: object = None) -> torch.Tensor:
            codes = x.flatten(1)
            second = torch.zeros_like(codes) if self.forgets and self.again else codes
            self.again = True
            return torch.cat([codes[:, :1], second[:, 1:]], 1)

        def decode(self, codes: torch.Tensor, given: object = None) -> torch.Tensor:
            return codes

    method = Halves.__new__(Halves)
    source = make(Intervention, features=2, dimensions=1).float()
    method.__dict__ = source.__dict__
    data = Dataset(torch.tensor([[1.0, 1.0], [3.0, 3.0]]), name="two")
    for forgets, expected in ((False, 1.0), (True, 1 - 10 / 16)):
        method.forgets, method.again = forgets, False
        scores = evaluate(method, data, ["undone"], samples=0, test_samples=0)
        assert_close(scores[0]["value"], expected)


@pytest.mark.parametrize("ordered", [False, True])
def test_active_features_make_a_part_of_the_variance_of_what_is_seen(ordered: bool) -> None:
    """Pixels are codes, and a decoder scales them by 1, 0.3 and 0.01. All pixels have the same variance, a third of the
    whole, of which each then makes the square of its scale; also where the data are in order, and neighbours alike."""

    class Scaled(Intervention):
        def encode(self, x: torch.Tensor, given: object = None) -> torch.Tensor:
            return 1000 * x.flatten(1)

        def decode(self, codes: torch.Tensor, given: object = None) -> torch.Tensor:
            return codes * codes.new_tensor([1.0, 0.3, 0.01]) / 1000

    method = Scaled.__new__(Scaled)
    method.__dict__ = make(Intervention, features=3, dimensions=1).float().__dict__
    rows = torch.randn(4000, 3, generator=torch.Generator().manual_seed(0))
    rows = rows.sort(0).values if ordered else rows
    (score,) = evaluate(method, Dataset(rows, name="rows"), ["active_features"], samples=0, test_samples=0)
    assert (score["value"], score["n"], score["protocol"]) == (2, 2000, "threshold=0.01")
    assert_close(score["evidence"]["shares"], [1 / 3, 0.03, 1 / 3e4], rtol=0.1, atol=0)
