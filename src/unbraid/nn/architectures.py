"""Pairs of encoder and decoder by name."""

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from torch import nn

from unbraid.custom_code import is_reference, require_known
from unbraid.nn.base import Decoder, Encoder, HasLatentDim
from unbraid.nn.conv import ConvDecoder, ConvEncoder, Variant
from unbraid.nn.digits import DigitDecoder, DigitEncoder
from unbraid.nn.mlp import MLPDecoder, MLPEncoder
from unbraid.nn.polar import PolarEncoder
from unbraid.settings import lookup, require_images

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
    "conv-standardized": (partial(ConvEncoder, standardized=True), ConvDecoder),
    "conv-channelwise": (partial(ConvEncoder, standardized=True, channelwise=True), ConvDecoder),
    "conv-channelwise-polar": (PolarEncoder, ConvDecoder),
    "conv-contrast": _conv("contrast"),
    "conv-contrast-instance": _conv("contrast-instance"),
    "conv-contrast-layer": _conv("contrast-layer"),
    "conv-contrast-channel": _conv("contrast-channel"),
    "conv-contrast-deep": _conv("contrast-deep"),
    "conv-contrast-faces": _conv("contrast-faces"),
    "mlp": (MLPEncoder, MLPDecoder),
    "mlp-small": (partial(MLPEncoder, hidden=(128,)), partial(MLPDecoder, hidden=(128,))),
    "linear": (partial(MLPEncoder, hidden=()), partial(MLPDecoder, hidden=())),
}


OVERLAY = "overlay:"
SPLIT = (
    "split:"  # the first dimensions of the code have an encoder of their own: split:conv-channelwise@10+conv
)


def split_overlay(architecture: str) -> tuple[str, str]:
    """The architecture of the encoder, and that of the two decoders of an `OverlayDecoder` ("" for a single decoder).

    >>> split_overlay("overlay:conv"), split_overlay("overlay:linear+mlp-small"), split_overlay("conv")
    (('conv', 'conv'), ('linear', 'mlp-small'), ('conv', ''))
    """
    if not architecture.startswith(OVERLAY):
        return architecture, ""
    encoder, _, decoders = architecture.removeprefix(OVERLAY).partition("+")
    return encoder, decoders or encoder


def is_custom_architecture(name: Any) -> bool:
    """Whether an architecture is a function of your own: `own.py:networks`."""
    builtin = (OVERLAY, SPLIT)
    return isinstance(name, str) and ":" in name and not name.startswith(builtin) and is_reference(name)


def build_networks(name: str, shape: tuple[int, ...], latent_dim: int) -> tuple[nn.Module, nn.Module]:
    """The encoder and the decoder of the named architecture for observations of the given shape."""
    if name.startswith(OVERLAY):
        raise ValueError(
            f"The architecture {name!r} requires a method with the strands common and salient, such as "
            f"principled-contrast. Use {split_overlay(name)[0]!r} here."
        )
    if name.startswith(SPLIT):
        return _split_networks(name, shape, latent_dim)
    if name not in ARCHITECTURES and is_custom_architecture(name):
        return _custom_networks(name, shape, latent_dim)
    encoder, decoder = lookup("architecture", name, ARCHITECTURES)
    if latent_dim < 1:
        raise ValueError(f"A code needs at least 1 dimension; got latent_dim={latent_dim}.")
    if name.startswith("conv"):
        require_images(name, shape)
    return encoder(shape, latent_dim), decoder(latent_dim, shape)


def _split_networks(name: str, shape: tuple[int, ...], latent_dim: int) -> tuple[nn.Module, nn.Module]:
    """Two encoders whose codes are concatenated, and the decoder of the second."""
    from unbraid.nn.concat_encoder import ConcatEncoder  # which imports this module

    first, _, second = name.removeprefix(SPLIT).partition("+")
    first, _, dims = first.partition("@")
    if not (dims.isdecimal() and second and 0 < int(dims) < latent_dim):
        raise ValueError(
            f"A split architecture is written split:FIRST@DIM+SECOND, with DIM from 1 to {latent_dim - 1}, such as "
            f"split:conv-channelwise@1+conv; got {name!r}."
        )
    encoder, _ = build_networks(first, shape, int(dims))
    rest, _ = build_networks(second, shape, latent_dim - int(dims))
    _, decoder = build_networks(second, shape, latent_dim)
    return ConcatEncoder(encoder, rest), decoder


def _custom_networks(name: str, shape: tuple[int, ...], latent_dim: int) -> tuple[nn.Module, nn.Module]:
    """The encoder and the decoder that a function of your own returns for a shape and a code size."""
    make = require_known(name, option="--architecture")
    expected = (
        f"An architecture is a function of shape and latent_dim that returns an encoder and a decoder; {name}"
    )
    try:
        inspect.signature(make).bind(shape, latent_dim)
    except TypeError:
        parameters = ", ".join(inspect.signature(make).parameters) or "nothing"
        raise ValueError(f"{expected} takes {parameters}.") from None
    networks = make(shape, latent_dim)
    if not (
        isinstance(networks, tuple) and len(networks) == 2 and all(isinstance(n, nn.Module) for n in networks)
    ):
        raise ValueError(f"{expected} returned {networks!r:.80}.")
    return networks


def latent_dim_of(encoder: nn.Module) -> int:
    """The number of dimensions of the encoder's code; raises if the encoder does not say it."""
    latent_dim = encoder.latent_dim if isinstance(encoder, HasLatentDim) else None
    if not isinstance(latent_dim, int):
        raise ValueError(
            "An encoder needs an attribute `latent_dim`, the number of dimensions of its code; "
            f"{type(encoder).__name__} has {'none' if latent_dim is None else latent_dim}."
        )
    return latent_dim
