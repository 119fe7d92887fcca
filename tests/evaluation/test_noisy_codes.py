"""Codes of observations with noise, src/unbraid/evaluation/noisy_codes.py."""

import numpy as np
import torch
from numpy.testing import assert_allclose

from tests.tiny import SHAPE, make
from unbraid.data import Dataset
from unbraid.evaluation import evaluate
from unbraid.evaluation.sample import Sample
from unbraid.methods import AugmentedGIN
from unbraid.metrics import NOISE, above_noise
from unbraid.nn import RowFlow


def sample(size: int = 40) -> Sample:
    images = torch.randint(256, (size, *SHAPE), generator=torch.Generator().manual_seed(0)).to(torch.uint8)
    torch.manual_seed(0)  # of the order of dimensions
    method = make(AugmentedGIN, flow=RowFlow(SHAPE, blocks=1)).float()
    return Sample(method, Dataset(images, name="noise"), size=size, seed=0)


def test_a_flow_that_reorders_shows_the_noise_itself() -> None:
    with torch.no_grad():
        one = sample(4000)
        for parameter in one.method.parameters():
            parameter.zero_()
    change = one.noisy_codes - one.codes
    assert_allclose(change.std(axis=0), NOISE, rtol=0.05)
    assert abs(np.corrcoef(change.T) - np.eye(9)).max() < 0.1


def test_noise_is_the_same_every_time_and_follows_the_strand() -> None:
    one, again = sample(), sample()
    assert_allclose(one.noisy_codes, again.noisy_codes, rtol=0, atol=0)
    one.method.std.copy_(torch.arange(9.0))  # type: ignore[union-attr]
    one.method.num_informative.fill_(2)  # type: ignore[union-attr]
    assert_allclose(one.select_strand("informative").noisy_codes, one.noisy_codes[:, [8, 7]], rtol=0, atol=0)


def test_the_second_rule_is_evaluated_beside_the_knee() -> None:
    one = sample()
    entries = evaluate(one.method, one.dataset, ["codes:above_noise", "codes:spectrum"], num_samples=40)
    scores = {entry["metric"]: entry["value"] for entry in entries}
    expected = above_noise(one.codes, one.noisy_codes).score
    assert scores["codes:above_noise"] == expected and 0 <= scores["codes:spectrum"] <= 9
