"""Scores of decoded samples of the prior, src/unbraid/evaluation/prior_samples.py."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from tests.tiny import Formula, Itself
from unbraid.data import Dataset
from unbraid.evaluation.evaluate import evaluate
from unbraid.evaluation.prior_samples import BackgroundSampleQuality
from unbraid.evaluation.sample import Sample
from unbraid.methods import BetaVAE, ContrastVAE
from unbraid.methods.base import Method
from unbraid.metrics import sample_quality
from unbraid.objectives import Normal
from unbraid.types import Gaussian


def rows(n: int, *, scale: float, seed: int) -> Tensor:
    return scale * torch.randn(n, 4, generator=torch.Generator().manual_seed(seed))


def scores(method: Method, dataset: Dataset, *metrics: str) -> dict[str, dict[str, Any]]:
    found = evaluate(method, dataset, metrics, num_samples=0, num_test_samples=0)
    return {score["metric"]: score for score in found}


class Exact(Itself):
    """As `Itself`, with a variance of nearly 0."""

    def forward(self, x: Tensor) -> Gaussian:
        return Gaussian(x, torch.full_like(x, -30.0))


def itself(decode: Any = lambda z: z) -> BetaVAE:
    """A model whose code is the observation."""
    return BetaVAE(Exact(4), Formula(decode), likelihood=Normal(1.0))


def test_data_of_the_priors_width_are_as_near_as_its_samples() -> None:
    """The codes are the data: of the prior's distribution, ten times narrower, and ten times wider."""
    for scale, low, high in ((1.0, 0.9, 1.1), (0.1, 5, 50), (10.0, 0.0, 0.6)):
        found = scores(
            itself(), Dataset(rows(400, scale=scale, seed=1), name="rows", max_value=1), "prior_samples"
        )
        assert low < found["prior_samples"]["value"] < high
        assert (found["prior_samples.precision"]["value"] > 0.5) == (scale >= 1)
        assert (found["prior_samples.recall"]["value"] > 0.5) == (scale <= 1)
        assert found["prior_samples"]["n"] == 200


def test_the_numbers_are_those_of_decoded_halves() -> None:
    """Reconstructions, not observations: the decoder doubles every code, and both distances with it."""
    data = Dataset(rows(60, scale=1.0, seed=1), name="rows", max_value=1)
    plain, doubled = (
        scores(itself(decode), data, "prior_samples") for decode in (lambda z: z, lambda z: 2 * z)
    )
    assert_close(doubled["prior_samples"]["value"], plain["prior_samples"]["value"])
    for name in ("distance", "data_distance"):
        assert_close(doubled[f"prior_samples.{name}"]["value"], 2 * plain[f"prior_samples.{name}"]["value"])
    again = scores(itself(), data, "prior_samples")
    assert again["prior_samples"]["value"] == plain["prior_samples"]["value"]


def test_an_observation_that_is_drawn_twice_counts_once() -> None:
    """A copy in the other half would be at distance zero."""
    data = Dataset(rows(60, scale=1.0, seed=1).repeat(3, 1), name="rows", max_value=1)
    found = scores(itself(), data, "prior_samples")
    assert found["prior_samples"]["n"] == 30 and found["prior_samples.data_distance"]["value"] > 0.3


def test_reconstructions_are_of_samples_of_the_posterior() -> None:
    """All means are 0 and all variances 1: the samples have the distribution of the prior, the means are one point."""
    method = BetaVAE(Itself(4), Formula(lambda z: z), likelihood=Normal(1.0))
    found = scores(
        method, Dataset(1e-6 * rows(400, scale=1.0, seed=1), name="rows", max_value=1), "prior_samples"
    )
    assert 0.9 < found["prior_samples"]["value"] < 1.1


class Apart(nn.Module):
    """Decodes the common strand, dimensions 0 and 1, and adds a thousandfold of the salient one."""

    def forward(self, z: Tensor) -> Tensor:
        return torch.cat([z[:, :2], 1000 * z[:, 2:]], 1)


def test_the_background_is_generated_without_the_salient_strand() -> None:
    target, background = (Dataset(rows(800, scale=1.0, seed=s), name="rows", max_value=1) for s in (1, 2))
    method = ContrastVAE(Exact(4), Apart(), common_dim=2, salient_dim=2, likelihood=Normal(1.0))
    found = scores(method, target.with_background(background), "prior_samples", "background_prior_samples")
    assert found["prior_samples.distance"]["value"] > 50
    assert found["background_prior_samples.distance"]["value"] < 1
    assert 0.8 < found["background_prior_samples"]["value"] < 1.25
    assert found["background_prior_samples"]["n"] == 400
    assert "background_prior_samples.n_background" not in found


def test_the_fields_of_both_scores_agree() -> None:
    result = sample_quality(*(np.random.default_rng(seed).random((20, 2)) for seed in range(3)))
    fields = [name.replace("n_background", "n") for name in BackgroundSampleQuality._fields]
    assert fields == list(result._fields)


def test_the_callers_random_numbers_stay_as_they_are() -> None:
    data = Dataset(rows(20, scale=1.0, seed=1), name="rows", max_value=1)
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    scores(itself(), data, "prior_samples")
    assert_close(torch.rand(3), expected)


def test_few_observations_are_refused() -> None:
    data = Dataset(rows(7, scale=1.0, seed=1), name="rows", max_value=1)
    with pytest.raises(ValueError, match="at least 8 different observations; got 7"):
        scores(itself(), data, "prior_samples")


def test_shuffled_observations_are_different_ones_on_request() -> None:
    data = Dataset(rows(5, scale=1.0, seed=1).repeat(4, 1), name="rows", max_value=1)
    sample = Sample(itself(), data, size=0, seed=0)
    assert sample.shuffled(20).size == 20
    different = sample.shuffled(20, distinct=True)
    assert different.size == 5 == len(np.unique(different.all_codes, axis=0))
    assert sample.shuffled(3, distinct=True).size == 3
