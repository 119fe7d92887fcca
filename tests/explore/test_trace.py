"""Decoders as steps, src/unbraid/explore/trace.py."""

import signal

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from tests.tiny import METHODS, make
from unbraid.explore.trace import trace
from unbraid.methods.base import Method, build_method
from unbraid.methods.beta_vae import BetaVAE
from unbraid.methods.gin import GIN
from unbraid.methods.infogan import InfoGAN
from unbraid.methods.principled_contrast import PrincipledContrast
from unbraid.nn import ARCHITECTURES
from unbraid.progress import STOPPING, Stopped, signals_handled, stop_command

DECODING = [cls for cls in METHODS if cls.decode is not Method.decode]


def shaken(method: Method) -> Method:
    """The method with weights and statistics that are nowhere zero."""
    with torch.no_grad():
        for parameter in method.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
        for name, buffer in method.named_buffers():
            if name.endswith("running_var"):
                buffer.uniform_(0.5, 2)
            elif name.endswith("running_mean"):
                buffer.normal_()
            elif name.endswith("seen"):
                buffer.fill_(True)
    return method.float()


@torch.no_grad()
def check(method: Method) -> None:
    condition = torch.tensor([[1, 2]]) if method.conditions_on == "nuisances" else None
    program = trace(method, condition)
    for _ in range(3):
        codes = torch.randn(1, method.strands.size)
        other = None if condition is None else torch.tensor([[0, 1]])
        assert_close(program.run(codes, other), method.decode(codes, other), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("cls", DECODING, ids=lambda cls: cls.name())
def test_every_decoder_is_read(cls: type[Method]) -> None:
    check(shaken(make(cls)))


@pytest.mark.parametrize("architecture", [name for name in ARCHITECTURES if name.startswith("conv")])
@pytest.mark.parametrize("side", [28, 32])
def test_every_architecture_is_read(architecture: str, side: int) -> None:
    check(shaken(build_method(BetaVAE, (3, side, side), n=10, architecture=architecture)))


@pytest.mark.parametrize("architecture", ["overlay:conv+mlp-small", "overlay:conv-contrast"])
def test_overlay_decoders_are_traced(architecture: str) -> None:
    check(shaken(build_method(PrincipledContrast, (3, 28, 28), n=10, architecture=architecture)))


def test_a_generator_with_batch_statistics_is_read() -> None:
    check(shaken(build_method(InfoGAN, (1, 32, 32), n=10)))


def test_a_flow_of_images_is_read_backwards() -> None:
    check(shaken(build_method(GIN, (1, 8, 8), n=10, classes=3)))


def test_an_unknown_operation_is_named() -> None:
    method = make(BetaVAE).float()
    method.decoder = nn.Sequential(nn.Linear(4, 9), nn.Softplus(), nn.Unflatten(1, (1, 3, 3)))
    with pytest.raises(ValueError, match=r"'softplus'.*--serve"):
        trace(method)


class Scaled(nn.Module):
    """A decoder whose operations depend on the values of the code."""

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return (z if float(z.sum()) > 0 else -z)[:, :1, None, None].expand(-1, 1, 3, 3)


def test_a_decoder_that_branches_on_values_is_refused() -> None:
    method = make(BetaVAE).float()
    method.decoder = Scaled()
    with pytest.raises(ValueError, match=r"The page cannot decode this model.*--serve"):
        trace(method)


def test_any_error_of_a_decoder_is_one_sentence() -> None:
    method = make(BetaVAE).float()
    method.decoder = nn.Linear(7, 9)
    with pytest.raises(ValueError, match=r"cannot decode this model: .*shapes cannot be multiplied.*--serve"):
        trace(method)


class SpatialBroadcast(nn.Module):
    """The code at every position beside the positions themselves, then convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer(
            "positions", torch.stack(torch.meshgrid(*[torch.linspace(-1, 1, 3)] * 2, indexing="ij"))
        )
        self.layers = nn.Sequential(nn.Conv2d(6, 5, 3, padding=1), nn.ReLU(), nn.Conv2d(5, 1, 1))

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        positions = self.positions[None].expand(len(z), -1, -1, -1)  # type: ignore[index]
        return self.layers(torch.cat([z[:, :, None, None].expand(-1, -1, 3, 3), positions], 1))


def test_a_spatial_broadcast_decoder_is_read() -> None:
    method = make(BetaVAE).float()
    method.decoder = SpatialBroadcast()
    check(method)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_waits_until_the_decoder_is_recorded(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inside PyTorch's recording, its exception would end the process or be taken for one of the decoder."""
    method, recorded = shaken(make(BetaVAE)), []
    decode = method.decode

    def interrupted(codes: Tensor, condition: Tensor | None = None) -> Tensor:
        signal.raise_signal(number)
        recorded.append(decode(codes, condition))
        return recorded[-1]

    monkeypatch.setattr(method, "decode", interrupted)
    with pytest.raises(Stopped) as stopped, signals_handled(STOPPING, stop_command):
        trace(method)
    assert len(recorded) == 1 and stopped.value.number == number
