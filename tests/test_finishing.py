"""The end of training, src/unbraid/finishing.py."""

import torch

from unbraid.data import mixture
from unbraid.finishing import finish
from unbraid.methods import VAE, AugmentedGIN
from unbraid.methods.assemble import assemble
from unbraid.nn import RowFlow


def test_a_flow_finds_its_strands() -> None:
    """The inverse of the network that made the data: two wide codes among ten."""
    dataset = mixture()
    assert dataset.latents is not None

    class Inverse(RowFlow):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return dataset.latents.network.inverse(x)  # type: ignore[operator, union-attr]

    method = AugmentedGIN(Inverse((10,)))
    method.train()
    finish(method, dataset, samples=1000)
    assert set(method.strands["informative"]) == {0, 1} and method.training
    again = AugmentedGIN(Inverse((10,)))
    finish(again, dataset, samples=1000)
    assert torch.equal(again.spread, method.spread)


def test_most_methods_have_nothing_to_finish() -> None:
    method = assemble(VAE, (10,), n=10, architecture="mlp")
    before = {name: value.clone() for name, value in method.state_dict().items()}
    finish(method, mixture(), samples=10)
    assert all(torch.equal(value, before[name]) for name, value in method.state_dict().items())
