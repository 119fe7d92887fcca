"""What every method of the package must do; methods are found in `unbraid.methods.__all__`."""

import copy
import inspect
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode

from tests.tiny import CLASSES, METHODS, batch_for, images, loss, make, roles
from unbraid.methods.autoencoder import Autoencoder
from unbraid.methods.base import DATASET_SIZES, Method, built_arguments
from unbraid.methods.predictor import Predictor
from unbraid.options import argument_help
from unbraid.settings import from_json, to_json
from unbraid.training.step import TrainingStep
from unbraid.types import Gaussian

every_method = pytest.mark.parametrize("cls", METHODS, ids=lambda cls: cls.name())


@every_method
def test_name_follows_from_the_file(cls: type[Method]) -> None:
    assert cls.__module__ == "unbraid.methods." + cls.name().replace("-", "_")


@every_method
def test_gradient_reaches_every_parameter_of_each_player(cls: type[Method]) -> None:
    method = make(cls)
    owned = []
    for player in method.players():
        parameters = list(player.parameters)
        batches = [batch_for(cls, seed=seed) for seed in range(player.batches_per_update)]
        gradients = torch.autograd.grad(player.loss(*batches).total, parameters)
        assert all(gradient.isfinite().all() and gradient.any() for gradient in gradients)
        owned += parameters
    assert len(owned) == len(set(owned)) == len(list(method.parameters()))


@every_method
def test_a_move_changes_only_the_player_s_own_parameters(cls: type[Method]) -> None:
    method = make(cls)
    game = TrainingStep(method)
    for side in game.player_states:
        before = copy.deepcopy(method.state_dict())
        batches = [batch_for(cls, seed=seed) for seed in range(side.player.batches_per_update)]
        side.update(side.player.loss(*batches), None)
        own = {id(parameter) for parameter in side.parameters}
        for name, parameter in method.named_parameters():
            assert torch.equal(parameter, before[name]) == (id(parameter) not in own), name


@every_method
def test_same_seed_same_loss(cls: type[Method]) -> None:
    method, batch = make(cls), batch_for(cls)
    first, second = loss(method, batch), loss(method, batch)
    assert_close(first.total, second.total, rtol=0, atol=0)
    assert first.names == ("loss", *first.by_name)
    assert_close(first.detached(), second.detached(), rtol=0, atol=0)


class NoWaiting(TorchDispatchMode):
    """Fails when a number leaves its tensor, for which a device would have to wait."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        assert func is not torch.ops.aten._local_scalar_dense.default, "a loss reads a number"
        return func(*args, **(kwargs or {}))


@every_method
def test_losses_read_no_numbers(cls: type[Method]) -> None:
    method = make(cls)
    for player in method.players():
        batches = [batch_for(cls, seed=seed) for seed in range(player.batches_per_update)]
        with NoWaiting():
            player.loss(*batches)


@every_method
def test_save_and_load(cls: type[Method], tmp_path: Path) -> None:
    method, other, batch = make(cls), make(cls, seed=1), batch_for(cls)
    method.step += 7
    save_file(method.state_dict(), tmp_path / "model.safetensors")
    other.load_state_dict(load_file(tmp_path / "model.safetensors"))
    assert_close(loss(other, batch).total, loss(method, batch).total, rtol=0, atol=0)


@every_method
def test_codes_follow_a_permuted_batch(cls: type[Method]) -> None:
    method, x = make(cls).eval(), images()
    order = torch.randperm(len(x))
    assert_close(method.encode(x[order]), method.encode(x)[order])


@pytest.mark.parametrize(
    "cls",
    [cls for cls in METHODS if "likelihood" in inspect.signature(cls).parameters],
    ids=lambda cls: cls.name(),
)
def test_what_is_decoded_is_the_mean_of_what_its_likelihood_is_of(cls: type[Method]) -> None:
    """The score `reconstruction` asks for the parameters of the likelihood, where there is one."""
    method = make(cls).eval()
    x, given = images(), method.condition_from(*roles())
    codes = method.encode(x, given)
    parameters = method.decode_parameters(codes, given)
    assert method.likelihood.nll(parameters, x).isfinite()
    assert_close(method.decode(codes, given), method.likelihood.mean(parameters))


@every_method
def test_loss_falls_on_64_images(cls: type[Method]) -> None:
    """Each player's, while the others hold still: in a game one's gain may be the other's loss."""
    for index in range(len(make(cls).players())):
        player = make(cls).players()[index]
        batches = [batch_for(cls, 64, seed=seed) for seed in range(player.batches_per_update)]
        parameters = list(player.parameters)
        optimizer = torch.optim.Adam(parameters, lr=1e-2)
        losses = []
        for _ in range(80):
            torch.manual_seed(2)
            losses.append(player.loss(*batches).total)
            gradients = torch.autograd.grad(losses[-1], parameters)
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter.grad = gradient
            optimizer.step()
        assert losses[-1] < losses[0] - 0.05 * losses[0].abs(), player.name


@every_method
def test_every_argument_is_explained(cls: type[Method]) -> None:
    explained = argument_help(inspect.getdoc(cls) or "")
    assert list(explained) == list(inspect.signature(cls).parameters)


@every_method
def test_hyperparameters_are_keyword_only(cls: type[Method]) -> None:
    for name, parameter in inspect.signature(cls).parameters.items():
        network = name in built_arguments(cls) and name not in DATASET_SIZES
        assert network == (parameter.kind is parameter.POSITIONAL_OR_KEYWORD), name


@every_method
def test_negative_weights_are_refused(cls: type[Method]) -> None:
    weights = [
        name for name, parameter in inspect.signature(cls).parameters.items() if parameter.annotation is float
    ]
    for name in weights:
        for value in (-1.0, float("nan"), float("inf")):
            with pytest.raises(
                ValueError, match=f"{name} must be a finite number of at least 0; got {value}"
            ):
                make(cls, **{name: value})


@every_method
def test_description_makes_the_same_method(cls: type[Method]) -> None:
    method, batch = make(cls), batch_for(cls)
    described = json.loads(json.dumps(to_json(method.arguments)))
    again = cls(**from_json(described)).double()
    assert to_json(again.arguments) == to_json(method.arguments)
    again.load_state_dict(method.state_dict())
    assert_close(loss(again, batch).total, loss(method, batch).total, rtol=0, atol=0)


@every_method
def test_a_copy_is_independent(cls: type[Method]) -> None:
    method, batch = make(cls), batch_for(cls)
    twin = copy.deepcopy(method)
    before = loss(method, batch).total
    with torch.no_grad():
        for parameter in twin.parameters():
            parameter.zero_()
    assert_close(loss(method, batch).total, before)
    assert all(player.loss.__self__ is twin for player in twin.players())  # type: ignore[attr-defined]


@every_method
def test_shapes_and_ranges(cls: type[Method]) -> None:
    method, x = make(cls), images()
    codes = method.encode(x)
    assert codes.shape == (len(x), method.strands.size)
    assert {dimension for strand in method.strands.values() for dimension in strand} == set(
        range(len(codes[0]))
    )
    if "latent_dim" in cls.code_size_options:
        assert dict(method.strands) == {"codes": (0, 1, 2, 3)}
    if isinstance(method, Autoencoder):
        q = method.posterior(x)
        assert isinstance(q, Gaussian) and q.mean.shape == q.logvar.shape == codes.shape
        assert_close(codes, q.mean)
        decoded = method.decode(codes)
        assert decoded.shape == x.shape and decoded.min() >= 0 and decoded.max() <= 1
    if isinstance(method, Predictor):
        assert method.predict(x).shape == (len(x), CLASSES)


@every_method
def test_low_precision_networks_leave_the_terms_in_full_precision(cls: type[Method]) -> None:
    method, batch = make(cls).float(), batch_for(cls)
    batch = type(batch)(
        *(field.float() if field is not None and field.is_floating_point() else field for field in batch)
    )
    full = loss(method, batch)
    with torch.autocast("cpu", torch.bfloat16):
        low = loss(method, batch)
    assert all(term.dtype == torch.float32 for term in low.by_name.values())
    first = next(iter(full.by_name))  # the likelihood, or what stands in its place
    assert_close(low.by_name[first], full.by_name[first], rtol=0.02, atol=0.1)
