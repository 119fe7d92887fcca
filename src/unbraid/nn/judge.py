"""Networks from an image to one number: a discriminator's logit, or the logarithm of a weight.

Unsupervised Disentanglement Learning by Intervention, 2021, Tables 5, 7 and 9: the layers of the encoder, with a few
differences, and one number at the end. The paper's sigmoid and exponential are left to the loss.
"""

from torch import nn

from unbraid.nn.conv import ConvEncoder
from unbraid.nn.digits import DigitEncoder
from unbraid.nn.features import Features
from unbraid.nn.mlp import MLPEncoder
from unbraid.nn.polar import PolarEncoder


def judge(encoder: nn.Module) -> Features:
    """A fresh network that goes with the encoder of an autoencoder for the same observations."""
    if isinstance(encoder, DigitEncoder):
        return Features(DigitEncoder(encoder.shape, 1, hidden=(128,)))
    if isinstance(encoder, ConvEncoder):
        variant = encoder.arguments["variant"]
        return Features(
            ConvEncoder(encoder.shape, 1, variant="flowers-judge" if variant == "flowers" else variant)
        )
    if isinstance(encoder, MLPEncoder):
        return Features(MLPEncoder(encoder.shape, 1, hidden=encoder.arguments["hidden"]))
    if isinstance(encoder, PolarEncoder):
        return Features(ConvEncoder(encoder.shape, 1))  # sees colours, as with conv-channelwise
    raise ValueError(f"There is no judge that goes with {type(encoder).__name__}: pass one of your own.")
