"""The end of training, src/unbraid/training/post_training.py."""

from collections.abc import Iterable
from dataclasses import dataclass

import torch

from unbraid.data import Dataset, IIDDraw, mixture
from unbraid.methods import VAE, AugmentedGIN
from unbraid.methods.base import build_method
from unbraid.nn import RowFlow
from unbraid.training.post_training import run_post_training, weights_if_ended
from unbraid.types import Batch


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


class Averaging(VAE):
    """A method of a user that keeps the mean of what its hook gets."""

    on_train_end_uses_draw = False
    on_train_end_samples = 700

    def on_train_end(self, batches: Iterable[Batch]) -> None:
        assert not self.training and not torch.is_grad_enabled()
        self.seen = [batch.x for batch in batches]


@dataclass(frozen=True)
class Zeros(IIDDraw):
    def __call__(self, dataset: Dataset, size: int, generator: torch.Generator, step: torch.Tensor) -> Batch:
        return Batch(torch.zeros(size, 10))


def test_a_hook_gets_as_many_observations_as_it_asks_for() -> None:
    method = build_method(Averaging, (10,), n=10, architecture="mlp")
    run_post_training(method, mixture(), draw=Zeros())
    assert [x.shape for x in method.seen] == [(500, 10), (500, 10)] and method.training
    assert all(x.std() > 0.1 for x in method.seen)  # not of the draw of the training
    Averaging.on_train_end_uses_draw = True
    run_post_training(method, mixture(), draw=Zeros(), samples=10)
    assert [float(x.abs().sum()) for x in method.seen] == [0.0]


def test_most_methods_have_nothing_to_finish() -> None:
    method = build_method(VAE, (10,), n=10, architecture="mlp")
    before = {name: value.clone() for name, value in method.state_dict().items()}
    run_post_training(method, mixture(), samples=10)
    assert all(torch.equal(value, before[name]) for name, value in method.state_dict().items())


def test_the_weights_if_training_ended_now_leave_the_method_and_its_noise_as_they_are() -> None:
    """Those of the hook, which a flow's strands are in; without a hook, the weights themselves."""
    dataset = mixture()
    method, ended = (
        build_method(AugmentedGIN, (10,), seed=1, **dataset.counts, architecture="mlp") for _ in range(2)
    )
    before = {name: tensor.clone() for name, tensor in method.state_dict().items()}
    noise = torch.get_rng_state()
    found = weights_if_ended(method, dataset, seed=3)
    assert torch.equal(torch.get_rng_state(), noise)
    assert all(torch.equal(tensor, before[name]) for name, tensor in method.state_dict().items())
    run_post_training(ended, dataset, seed=3)
    assert all(torch.equal(tensor, found[name]) for name, tensor in ended.state_dict().items())
    assert any(not torch.equal(tensor, before[name]) for name, tensor in found.items())
    plain = build_method(VAE, (10,), n=10, architecture="mlp")
    assert weights_if_ended(plain, dataset).keys() == plain.state_dict().keys()
