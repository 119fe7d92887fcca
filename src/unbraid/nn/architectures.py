"""Pairs of encoder and decoder by name."""

from collections.abc import Callable, Mapping
from functools import partial

from unbraid.naming import choose
from unbraid.nn.base import Decoder, Encoder
from unbraid.nn.conv import ConvDecoder, ConvEncoder, Variant
from unbraid.nn.digits import DigitDecoder, DigitEncoder
from unbraid.nn.mlp import MLPDecoder, MLPEncoder
from unbraid.nn.polar import PolarEncoder

Pair = tuple[Callable[..., Encoder], Callable[..., Decoder]]


def _conv(variant: Variant) -> Pair:
    return partial(ConvEncoder, variant=variant), partial(ConvDecoder, variant=variant)


ARCHITECTURES: Mapping[str, Pair] = {
    "conv": _conv("field"),
    "conv-disentanglement-lib": _conv("disentanglement-lib"),
    "conv-factor-vae": _conv("factor-vae"),
    "conv-burgess": _conv("burgess"),
    "conv-flowers": _conv("flowers"),
    "conv-digits": (DigitEncoder, DigitDecoder),
    "conv-standardised": (partial(ConvEncoder, standardised=True), ConvDecoder),
    "conv-channelwise": (partial(ConvEncoder, standardised=True, channelwise=True), ConvDecoder),
    "conv-channelwise-polar": (PolarEncoder, ConvDecoder),
    "conv-contrast": _conv("contrast"),
    "conv-contrast-deep": _conv("contrast-deep"),
    "conv-contrast-faces": _conv("contrast-faces"),
    "mlp": (MLPEncoder, MLPDecoder),
    "mlp-small": (partial(MLPEncoder, hidden=(128,)), partial(MLPDecoder, hidden=(128,))),
    "linear": (partial(MLPEncoder, hidden=()), partial(MLPDecoder, hidden=())),
}


def networks(name: str, shape: tuple[int, ...], codes: int) -> tuple[Encoder, Decoder]:
    """The encoder and the decoder of the named architecture for observations of the given shape."""
    encoder, decoder = choose("architecture", name, ARCHITECTURES)
    if codes < 1:
        raise ValueError(f"A code needs at least 1 dimension; got codes={codes}.")
    if len(shape) != 3 and name.startswith("conv"):
        raise ValueError(
            f"The architecture {name!r} is for images (channels, height, width), and the observations have the "
            f"shape {shape}: use 'mlp'."
        )
    return encoder(shape, codes), decoder(codes, shape)
