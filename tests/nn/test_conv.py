"""Shapes, sizes and padding of the convolutional networks, src/unbraid/nn/conv.py."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from unbraid.nn import ConvDecoder, ConvEncoder
from unbraid.nn.conv import LAYERS, SIDES, Variant


def parameters(network: nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


@pytest.mark.parametrize(
    ("variant", "channels", "side"),
    [
        *(("field", 1, side) for side in SIDES),
        *((variant, 3, 28) for variant in LAYERS),  # the side that gets a border
        *(
            (variant, 5, 48) for variant in ("disentanglement-lib", "contrast")
        ),  # odd maps, kernels of 2 and a stem
    ],
)
def test_every_variant_size_and_number_of_channels(variant: Variant, channels: int, side: int) -> None:
    shape = (channels, side, side)
    q = ConvEncoder(shape, 7, variant=variant)(torch.rand(2, *shape))
    assert q.mean.shape == q.logvar.shape == (2, 7)
    assert ConvDecoder(7, shape, variant=variant)(q.mean).shape == (2, *shape)


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        # 1·32·16+32, 32·32·16+32, 32·64·16+64, 64·64·16+64, 1024·256+256, 256·20+20
        ("field", 544 + 16_416 + 32_832 + 65_600 + 262_400 + 5_140),
        # 4 weights instead of 16 in the third and fourth
        ("disentanglement-lib", 544 + 16_416 + 8_256 + 16_448 + 262_400 + 5_140),
        # 1024·128+128, 128·20+20
        ("factor-vae", 544 + 16_416 + 32_832 + 65_600 + 131_200 + 2_580),
        # 32 channels throughout, then 512·256+256, 256·256+256
        ("burgess", 544 + 3 * 16_416 + 131_328 + 65_792 + 5_140),
        # 1·32·9+32, then 32, 32, 64 and 128 channels, 2048·20+20, and twice as many numbers as channels to normalize
        ("contrast", 320 + 16_416 + 16_416 + 32_832 + 131_200 + 40_980 + 2 * (32 + 32 + 32 + 64 + 128)),
        # the same with 2048·256+256, 256·256+256, 256·20+20
        (
            "contrast-deep",
            320 + 2 * 16_416 + 32_832 + 131_200 + 524_544 + 65_792 + 5_140 + 2 * (32 + 32 + 32 + 64 + 128),
        ),
        # 32·64·16+64, 64·128·16+128, 128·256·16+256, 4096·20+20
        ("contrast-faces", 544 + 32_832 + 131_200 + 524_544 + 81_940 + 2 * (32 + 64 + 128 + 256)),
    ],
)
def test_weights_of_the_encoder(variant: Variant, expected: int) -> None:
    assert parameters(ConvEncoder((1, 64, 64), 10, variant=variant)) == expected


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        # 10·256+256, 256·1024+1024, then 64·64·16+64, 64·32·16+32, 32·32·16+32, 32·1·16+1
        ("field", 2_816 + 263_168 + 65_600 + 32_800 + 16_416 + 513),
        ("disentanglement-lib", 2_816 + 263_168 + 65_600 + 32_800 + 16_416 + 513),
        # 10·128+128, 128·1024+1024
        ("factor-vae", 1_408 + 132_096 + 65_600 + 32_800 + 16_416 + 513),
        # 10·256+256, 256·256+256, 256·512+512
        ("burgess", 2_816 + 65_792 + 131_584 + 3 * 16_416 + 513),
        # 10·2048+2048, 128·64·16+64, 64·32·16+32, twice 32·32·16+32, 32·1·9+1, and what normalizes
        ("contrast", 22_528 + 131_136 + 32_800 + 2 * 16_416 + 289 + 2 * (64 + 32 + 32 + 32)),
        # the same with 10·256+256, 256·256+256, 256·2048+2048
        (
            "contrast-deep",
            2_816 + 65_792 + 526_336 + 131_136 + 32_800 + 2 * 16_416 + 289 + 2 * (64 + 32 + 32 + 32),
        ),
        # 10·4096+4096, 256·128·16+128, 128·64·16+64, 64·32·16+32, 32·1·16+1
        ("contrast-faces", 45_056 + 524_416 + 131_136 + 32_800 + 513 + 2 * (128 + 64 + 32)),
    ],
)
def test_weights_of_the_decoder(variant: Variant, expected: int) -> None:
    assert parameters(ConvDecoder(10, (1, 64, 64), variant=variant)) == expected


@pytest.mark.parametrize("variant", ["contrast-instance", "contrast-layer", "contrast-channel"])
def test_other_normalizations_have_the_papers_layers_and_no_batch_statistics(variant: Variant) -> None:
    """As many weights as with batch normalization; an image alone has the code that it has in a batch."""
    networks = ConvEncoder((3, 28, 28), 5, variant=variant), ConvDecoder(5, (3, 28, 28), variant=variant)
    batch = ConvEncoder((3, 28, 28), 5, variant="contrast"), ConvDecoder(5, (3, 28, 28), variant="contrast")
    assert list(map(parameters, networks)) == list(map(parameters, batch))
    encoder, decoder = (network.double().train() for network in networks)
    x = torch.rand(3, 3, 28, 28).double()
    codes = encoder(x).mean
    assert_close(codes[:1], encoder(x[:1]).mean)
    assert_close(decoder(codes)[:1], decoder(codes[:1]))
    assert not list(encoder.buffers())


@pytest.mark.parametrize("variant", ["field", "disentanglement-lib"])
@pytest.mark.parametrize("side", [32, 48, 64, 96])
def test_padding_is_tensorflows_same(variant: Variant, side: int) -> None:
    """TensorFlow pads so that n pixels become ceil(n/2), the odd pixel at the end; rewritten layer by layer."""
    encoder = ConvEncoder((2, side, side), 3, variant=variant).double()
    image = torch.rand(2, 2, side, side, dtype=torch.float64)
    x = image
    for layer in encoder.trunk:
        if isinstance(layer, nn.Conv2d):
            n, kernel = x.shape[2], layer.kernel_size[0]
            missing = max((-(-n // 2) - 1) * 2 + kernel - n, 0)
            before, after = missing // 2, missing - missing // 2
            x = F.conv2d(F.pad(x, (before, after, before, after)), layer.weight, layer.bias, stride=2)
        else:
            x = layer(x)
    assert_close(torch.cat(encoder(image), 1), encoder.heads(x))


def test_kernels_of_the_variants() -> None:
    kernels = {
        variant: [
            layer.kernel_size[0]
            for layer in ConvEncoder((1, 64, 64), 2, variant=variant).trunk
            if isinstance(layer, nn.Conv2d)
        ]
        for variant in LAYERS
    }
    assert kernels["field"] == kernels["factor-vae"] == kernels["burgess"] == [4, 4, 4, 4]
    assert kernels["disentanglement-lib"] == [4, 4, 2, 2]


def test_factor_vae_has_no_activation_before_its_heads() -> None:
    assert isinstance(ConvEncoder((1, 64, 64), 2, variant="factor-vae").trunk[-1], nn.Linear)
    assert isinstance(ConvEncoder((1, 64, 64), 2).trunk[-1], nn.ReLU)


def test_an_image_of_28_is_one_of_32_with_a_black_border() -> None:
    small, large = ConvEncoder((1, 28, 28), 3), ConvEncoder((1, 32, 32), 3)
    large.load_state_dict(small.state_dict())
    x = torch.rand(2, 1, 28, 28)
    bordered = torch.zeros(2, 1, 32, 32)
    bordered[:, :, 2:30, 2:30] = x
    assert_close(small(x).mean, large(bordered).mean)


def test_a_decoded_image_of_28_is_one_of_32_without_its_border() -> None:
    small, large = ConvDecoder(3, (1, 28, 28)), ConvDecoder(3, (1, 32, 32))
    large.load_state_dict(small.state_dict())
    z = torch.randn(2, 3)
    assert_close(small(z), large(z)[:, :, 2:30, 2:30])


@pytest.mark.parametrize("shape", [(1, 50, 50), (1, 64, 32), (0, 64, 64)])
def test_other_sizes_are_refused(shape: tuple[int, int, int]) -> None:
    sentence = r"square images .* of side 28, 32, 48, 64 or 96; got \(" + ", ".join(map(str, shape))
    with pytest.raises(ValueError, match=sentence):
        ConvEncoder(shape, 3)
    with pytest.raises(ValueError, match=sentence):
        ConvDecoder(3, shape)


def test_images_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match=r"requires observations of shape \(1, 32, 32\); got \(3, 32, 32\)"):
        ConvEncoder((1, 32, 32), 3)(torch.rand(2, 3, 32, 32))
