"""Networks. A run folder may name those listed here and no others."""

from unbraid.nn.architectures import ARCHITECTURES, networks
from unbraid.nn.base import Decoder, Encoder, Network
from unbraid.nn.classifier import Classifier, Classifiers
from unbraid.nn.conv import ConvDecoder, ConvEncoder
from unbraid.nn.critic import Critic
from unbraid.nn.disentanglers import Disentanglers
from unbraid.nn.features import Features
from unbraid.nn.mlp import MLPDecoder, MLPEncoder

__all__ = [
    "ARCHITECTURES",
    "Classifier",
    "Classifiers",
    "ConvDecoder",
    "ConvEncoder",
    "Critic",
    "Decoder",
    "Disentanglers",
    "Encoder",
    "Features",
    "MLPDecoder",
    "MLPEncoder",
    "Network",
    "networks",
]
