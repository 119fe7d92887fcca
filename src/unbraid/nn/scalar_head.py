"""Networks from an image to one number: the logit of a discriminator, or the logarithm of a weight.

Unsupervised Disentanglement Learning by Intervention, 2021, Tables 5, 7 and 9: the layers of the encoder, with few
differences, and one output. The loss applies the sigmoid and exponential of the paper.
"""

from torch import nn

from unbraid.nn.conv import ConvEncoder
from unbraid.nn.deterministic_encoder import DeterministicEncoder
from unbraid.nn.digits import DigitEncoder
from unbraid.nn.mlp import MLPEncoder
from unbraid.nn.polar import PolarEncoder


def scalar_head(encoder: nn.Module) -> DeterministicEncoder:
    """A new network with one output, for observations of the shape that the encoder takes."""
    if isinstance(encoder, DigitEncoder):
        return DeterministicEncoder(DigitEncoder(encoder.shape, 1, hidden=(128,)))
    if isinstance(encoder, ConvEncoder):
        variant = encoder.arguments["variant"]
        return DeterministicEncoder(
            ConvEncoder(
                encoder.shape, 1, variant="flowers-discriminator" if variant == "flowers" else variant
            )
        )
    if isinstance(encoder, MLPEncoder):
        return DeterministicEncoder(MLPEncoder(encoder.shape, 1, hidden=encoder.arguments["hidden"]))
    if isinstance(encoder, PolarEncoder):
        return DeterministicEncoder(ConvEncoder(encoder.shape, 1))  # uses colors, as with conv-channelwise
    raise ValueError(f"No discriminator is defined for {type(encoder).__name__}. Pass one explicitly.")
