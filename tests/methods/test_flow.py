"""Shared properties of flows: inverses, noise, and strands discovered after training, src/unbraid/methods/flow.py."""

import math

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from tests.tiny import SHAPE, batch_for, images, loss, make
from unbraid.methods import GIN, AugmentedGIN
from unbraid.methods.base import build_method
from unbraid.methods.flow import FlowMethod
from unbraid.methods.protocols import HasMeasurements
from unbraid.nn import ImageFlow, RowFlow
from unbraid.optimizers import Adam
from unbraid.schedules import Exponential
from unbraid.types import Batch

both = pytest.mark.parametrize("cls", (AugmentedGIN, GIN))


def spread_out(*spreads: float) -> Tensor:
    torch.manual_seed(0)
    z = torch.randn(400, len(spreads), dtype=torch.float64)
    return 5 + (z - z.mean(0)) / z.std(0) * torch.tensor(spreads, dtype=torch.float64)


@both
def test_an_image_comes_back_from_its_code(cls: type[FlowMethod]) -> None:
    method = make(cls)
    assert_close(method.decode(method.encode(images())), images())
    assert method.decode(10 * torch.randn(4, 9, dtype=torch.float64)).max() <= 1  # of other codes, clipped


@both
def test_discovered_strands_are_stored_with_the_weights(cls: type[FlowMethod]) -> None:
    method, other = make(cls), make(cls, seed=1)
    assert dict(method.strands) == {"codes": tuple(range(9))}
    method.discover(spread_out(0.01, 2.0, 0.011, 0.01, 3.0, 0.012, 0.01, 0.01, 0.009))
    assert method.strands["informative"] == (4, 1) and method.strands.default == "informative"
    assert sorted(method.strands["noise"]) == [0, 2, 3, 5, 6, 7, 8]
    assert method.strands["codes"] == tuple(range(9))
    other.load_state_dict(method.state_dict())
    assert dict(other.strands) == dict(method.strands)


@both
def test_a_flow_is_measured_by_both_rules_without_touching_the_generator(cls: type[FlowMethod]) -> None:
    """A flow that only reorders: two of nine pixels vary, the others at the scale of the noise and below."""
    method = build_method(cls, SHAPE, n=1, classes=3, flow=RowFlow(SHAPE, blocks=2))
    x = spread_out(0.01, 2.0, 0.011, 0.01, 3.0, 0.012, 0.01, 0.01, 0.009).float().view(-1, *SHAPE)
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    first = method.measure(x)
    assert torch.equal(torch.rand(2), expected)
    assert first == method.measure(x) == {"knee": 2.0, "above_noise": 2.0}
    narrow = spread_out(*[0.05] * 9).float().view(-1, *SHAPE)
    assert method.measure(narrow)["above_noise"] == 0.0 and isinstance(method, HasMeasurements)


@both
def test_new_codes_have_the_data_s_mean_and_spread(cls: type[FlowMethod]) -> None:
    method = make(cls)
    method.discover(spread_out(*[0.1] * 8, 3.0))
    torch.manual_seed(0)
    codes = method.sample_prior(4000)
    assert_close(codes.mean(0), method.center, rtol=0, atol=0.2)
    assert_close(codes.std(0), method.std, rtol=0.1, atol=0)


@both
def test_on_train_end_uses_every_batch(cls: type[FlowMethod]) -> None:
    method, x = make(cls), images(16)
    method.on_train_end(Batch(part) for part in x.split(5))
    codes = method.encode(x)
    assert_close(method.center, codes.mean(0))
    assert_close(method.std, codes.std(0))
    assert int(method.num_informative) >= 1


@both
def test_noise_follows_the_step_when_it_cools(cls: type[FlowMethod]) -> None:
    cooled, plain = make(cls, noise_schedule=Exponential(0.4, 0.1, 10)), make(cls, noise=0.1)
    warm = make(cls, noise=0.4)
    batch = batch_for(cls)
    assert_close(loss(cooled, batch).total, loss(warm, batch).total)
    cooled.step += 10
    assert_close(loss(cooled, batch).total, loss(plain, batch).total)
    cooled.step -= 5
    assert_close(loss(cooled, batch).total, loss(make(cls, noise=0.2), batch).total)


@both
def test_rates_are_those_of_the_published_code(cls: type[FlowMethod]) -> None:
    sizes = {"n": 10, "classes": 3}
    (player,) = build_method(cls, (10,), **sizes).players()  # type: ignore[arg-type]
    assert player.optimizer == Adam(1e-2)
    (player,) = build_method(cls, (1, 8, 8), **sizes).players()  # type: ignore[arg-type]
    assert player.optimizer == Adam(3e-4)


def test_the_architecture_chooses_the_flow() -> None:
    assert isinstance(build_method(AugmentedGIN, (1, 8, 8), n=1).flow, ImageFlow)
    assert isinstance(build_method(AugmentedGIN, SHAPE, n=1, architecture="mlp").flow, RowFlow)
    with pytest.raises(ValueError, match="must be multiples of 4"):
        build_method(AugmentedGIN, SHAPE, n=1)


def test_a_network_that_cannot_be_inverted_is_refused() -> None:
    with pytest.raises(ValueError, match="Linear lacks one of them"):
        AugmentedGIN(nn.Linear(3, 3))


def test_the_loss_does_not_run_to_minus_infinity_with_the_floor() -> None:
    """Sets without any spread, no noise: d (log floor + ½ log 2π), and gradients of 0."""
    method = make(AugmentedGIN, noise=0.0, min_sigma=1e-3)
    x = images()[:, None].expand(-1, 4, -1, -1, -1)
    batch = batch_for(AugmentedGIN)._replace(x=x.contiguous())
    terms = loss(method, batch)
    assert_close(terms.total.item(), 9 * (math.log(1e-3) + 0.5 * math.log(2 * math.pi)))
    gradients = torch.autograd.grad(terms.total, list(method.parameters()))
    assert all(gradient.abs().max() < 1e-6 for gradient in gradients)
