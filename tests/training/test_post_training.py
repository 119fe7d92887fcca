"""The end of training, src/unbraid/training/post_training.py."""

import torch

from unbraid.data import mixture
from unbraid.methods import VAE, AugmentedGIN
from unbraid.methods.base import build_method
from unbraid.nn import RowFlow
from unbraid.training.post_training import run_post_training


def test_a_flow_finds_its_strands() -> None:
    """The inverse of the network that made the data: two wide codes among ten."""
    dataset = mixture()
    assert dataset.latents is not None

    class Inverse(RowFlow):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return dataset.latents.network.inverse(x)  # type: ignore[operator, union-attr]

    method = AugmentedGIN(Inverse((10,)))
    method.train()
    run_post_training(method, dataset, samples=1000)
    assert set(method.strands["informative"]) == {0, 1} and method.training
    again = AugmentedGIN(Inverse((10,)))
    run_post_training(again, dataset, samples=1000)
    assert torch.equal(again.std, method.std)


def test_most_methods_have_nothing_to_finish() -> None:
    method = build_method(VAE, (10,), n=10, architecture="mlp")
    before = {name: value.clone() for name, value in method.state_dict().items()}
    run_post_training(method, mixture(), samples=10)
    assert all(torch.equal(value, before[name]) for name, value in method.state_dict().items())
