"""Pictures read around their middle, src/unbraid/nn/polar.py."""

import math

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from unbraid.methods.base import build_method
from unbraid.methods.cnn import CNN
from unbraid.methods.recon_contrast import ReconContrast
from unbraid.nn import ConvEncoder, PolarEncoder
from unbraid.nn.conv import SIDES
from unbraid.nn.polar import CircularDownConv, Polar

STEP = 2 * math.pi / 32  # between two angles, on pictures of side 28 and 32


def ramp(turned: float, side: int = 28) -> Tensor:
    """An image that increases by 1 per pixel in one direction, 0 in the center: bilinear interpolation is exact."""
    steps = torch.arange(side, dtype=torch.float64) - (side - 1) / 2
    return (steps * math.cos(turned) - steps[:, None] * math.sin(turned))[None, None]


def blots(turned: float, side: int = 28) -> Tensor:
    """Three round blots of different widths, at different distances from the middle, in three colors."""
    steps = torch.arange(side, dtype=torch.float64) - (side - 1) / 2
    gray = torch.zeros(side, side, dtype=torch.float64)
    for radius, angle, width in ((4.0, 0.3, 2.0), (7.0, 2.0, 1.5), (9.0, 4.5, 2.5)):
        x, y = radius * math.cos(angle + turned), radius * math.sin(angle + turned)
        gray += torch.exp(-((steps - x) ** 2 + (steps[:, None] + y) ** 2) / (2 * width**2))
    return torch.stack([0.1 + 0.8 * gray, 0.9 - 0.5 * gray, 0.3 + 0.2 * gray])[None]


def test_a_row_is_a_radius_and_a_column_an_angle() -> None:
    """The middle of 28 pixels is 13.5 from the edge, so 3 radii are 2.25, 6.75 and 11.25; a ramp is r cos(angle)."""
    radii, angles = torch.tensor([2.25, 6.75, 11.25]).double(), torch.arange(8).double() * math.pi / 4
    seen = Polar(28, radii=3, angles=8).double()(ramp(0.0))
    assert_close(seen[0, 0], radii[:, None] * angles.cos(), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("steps", [1, 5, -3])
def test_a_turned_ramp_is_a_shifted_one(steps: int) -> None:
    polar = Polar(28, radii=16, angles=32).double()
    assert_close(polar(ramp(steps * STEP)), polar(ramp(0.0)).roll(steps, 3), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("side", [2, 7, 28, 96])
def test_rotation_by_a_right_angle_shifts_by_a_quarter(side: int) -> None:
    polar, x = Polar(side, radii=5, angles=12), torch.rand(2, 3, side, side)
    assert_close(polar(x.rot90(1, (2, 3))), polar(x).roll(3, 3))


def test_a_constant_image_stays_constant() -> None:
    assert_close(
        Polar(28, radii=16, angles=32)(torch.full((1, 1, 28, 28), 0.7)), torch.full((1, 1, 16, 32), 0.7)
    )


@pytest.mark.parametrize(("side", "radii", "angles"), [(1, 4, 4), (28, 0, 4), (28, 4, 0)])
def test_impossible_grids_are_refused(side: int, radii: int, angles: int) -> None:
    with pytest.raises(
        ValueError, match=f"at least 2 pixels.*got side={side}, radii={radii}, angles={angles}"
    ):
        Polar(side, radii=radii, angles=angles)


@pytest.mark.parametrize("apart", [1, 4])
def test_convolutions_shift_with_their_input_and_halve_the_radii(apart: int) -> None:
    layer, x = CircularDownConv(3, 2, apart).double(), torch.randn(2, 3, 6, 16, dtype=torch.float64)
    assert layer(x).shape == (2, 2, 3, 16)
    assert_close(layer(x.roll(5, 3)), layer(x).roll(5, 3))


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("side", SIDES)
def test_every_size_and_number_of_channels(side: int, channels: int) -> None:
    q = PolarEncoder((channels, side, side), 7)(torch.rand(2, channels, side, side))
    assert q.mean.shape == q.logvar.shape == (2, 7)


def test_it_is_no_larger_than_the_channelwise_encoder() -> None:
    """Convolutions of 1, 32, 32, 64 and 64 channels with 20 taps, 64·256+256 and 256·20+20."""
    sizes = (1 + 32 + 2 * 32 + 2 * 64) * 32 * 20 + (32 + 32 + 64 + 64) + 16_640 + 5_140
    assert sum(parameter.numel() for parameter in PolarEncoder((3, 28, 28), 10).parameters()) == sizes
    other = ConvEncoder((3, 28, 28), 10, standardized=True, channelwise=True)
    assert sizes < sum(parameter.numel() for parameter in other.parameters())


def test_the_order_and_the_level_of_channels_make_no_difference() -> None:
    torch.manual_seed(0)
    encoder, x = PolarEncoder((3, 28, 28), 4).double(), torch.rand(2, 3, 28, 28).double()
    assert_close(encoder(x[:, [2, 0, 1]] + 0.3).mean, encoder(x).mean, atol=1e-6, rtol=1e-6)
    assert_close(encoder(x[1:]).mean, encoder(x).mean[1:])
    other = x.clone()
    other[:, 0] = x[:, 1]
    assert (encoder(other).mean - encoder(x).mean).abs().max() > 1e-4


@pytest.mark.parametrize("side", SIDES)
def test_a_right_angle_makes_no_difference_and_a_mirror_does(side: int) -> None:
    torch.manual_seed(0)
    encoder, x = PolarEncoder((3, side, side), 4).double(), blots(0.0, side)
    mean = encoder(x).mean
    for quarters in (1, 2, 3):
        assert_close(encoder(x.rot90(quarters, (2, 3))).mean, mean, atol=1e-6, rtol=1e-6)
    assert (encoder(x.flip(3)).mean - mean).abs().max() > 1e-4


def change(encoder: PolarEncoder | ConvEncoder, turned: float) -> float:
    """The change of the features of an image under a rotation, relative to their norm."""
    with torch.no_grad():
        before, after = (encoder.double().trunk(blots(angle)) for angle in (0.0, turned))
    return ((after - before).norm() / before.norm()).item()


@pytest.mark.parametrize(("turned", "share"), [(STEP, 0.2), (0.5 * STEP, 0.5), (1.3, 0.1)])
def test_a_turn_changes_the_features_far_less_than_the_channelwise_encoder_s(
    turned: float, share: float
) -> None:
    """Half a step is the worst case: it lies farthest from all angles that are seen."""
    torch.manual_seed(0)
    polar = PolarEncoder((3, 28, 28), 4)
    plain = ConvEncoder((3, 28, 28), 4, standardized=True, channelwise=True)
    assert change(polar, turned) < 0.02
    assert change(polar, turned) < share * change(plain, turned)


def test_gradients_reach_every_weight_and_the_image() -> None:
    torch.manual_seed(0)
    encoder, x = PolarEncoder((3, 28, 28), 4), torch.rand(8, 3, 28, 28, requires_grad=True)
    sum(part.square().sum() for part in encoder(x)).backward()  # type: ignore[union-attr]
    for name, parameter in encoder.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().max() > 0, name
    assert x.grad is not None and x.grad.abs().max() > 0


def test_stacked_models_give_the_result_of_each_model() -> None:
    torch.manual_seed(0)
    encoders: list[nn.Module] = [PolarEncoder((1, 28, 28), 2) for _ in range(3)]
    parameters, buffers = torch.func.stack_module_state(encoders)
    x = torch.rand(3, 2, 1, 28, 28)

    def forward(parameters: dict[str, Tensor], buffers: dict[str, Tensor], x: Tensor) -> Tensor:
        return torch.func.functional_call(encoders[0], (parameters, buffers), (x,)).mean

    assert_close(torch.func.vmap(forward)(parameters, buffers, x)[1], encoders[1](x[1]).mean)


def test_mixed_precision_gives_nearly_the_same_result() -> None:
    torch.manual_seed(0)
    encoder, x = PolarEncoder((3, 28, 28), 4), torch.rand(2, 3, 28, 28)
    with torch.autocast("cpu", torch.bfloat16):
        mean = encoder(x).mean
    assert_close(mean.float(), encoder(x).mean, atol=0.02, rtol=0.02)


def test_its_grid_is_not_kept_with_its_weights() -> None:
    assert not any("places" in name for name in PolarEncoder((1, 28, 28), 2).state_dict())


@pytest.mark.parametrize("shape", [(1, 50, 50), (1, 64, 32), (0, 64, 64)])
def test_other_sizes_are_refused(shape: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match=r"square images .* of side 28, 32, 48, 64 or 96; got \("):
        PolarEncoder(shape, 3)


def test_images_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match=r"requires observations of shape \(1, 32, 32\); got \(3, 32, 32\)"):
        PolarEncoder((1, 32, 32), 3)(torch.rand(2, 3, 32, 32))


def test_it_reads_for_the_plain_cnn_and_for_recon_contrast() -> None:
    x = torch.rand(2, 3, 28, 28)
    cnn = build_method(CNN, (3, 28, 28), n=1, classes=10, architecture="conv-channelwise-polar")
    assert_close(cnn.predict(x.rot90(1, (2, 3))), cnn.predict(x))
    method = build_method(
        ReconContrast,
        (3, 28, 28),
        n=1,
        classes=10,
        predictive_dim=4,
        predictive_encoder="conv-channelwise-polar",
    )
    assert isinstance(method.encoder.first, PolarEncoder)
    predictive = method.strands.mask(x.new_zeros(1, 24), "predictive")
    turned = (method.encode(x.rot90(1, (2, 3))) - method.encode(x)).abs()
    assert turned[:, predictive].max() < 1e-5 and turned[:, ~predictive].max() > 1e-4
