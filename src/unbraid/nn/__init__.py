"""Networks. A run folder may name those listed here and no others."""

from unbraid.nn.architectures import ARCHITECTURES, networks
from unbraid.nn.base import Decoder, Encoder, Network
from unbraid.nn.classifier import Classifier, Classifiers
from unbraid.nn.conv import ConvDecoder, ConvEncoder
from unbraid.nn.critic import Critic
from unbraid.nn.digits import DigitDecoder, DigitEncoder
from unbraid.nn.directions import Directions
from unbraid.nn.disentanglers import Disentanglers
from unbraid.nn.extractors import EXTRACTORS, MLPFeatures, extractor
from unbraid.nn.features import Features
from unbraid.nn.flows import Flow, ImageFlow, RowFlow
from unbraid.nn.gan import Discriminator, Generator, PairCritic
from unbraid.nn.joined import Joined
from unbraid.nn.joint_critic import JointCritic
from unbraid.nn.judge import judge
from unbraid.nn.layered import Layered
from unbraid.nn.mlp import MLPDecoder, MLPEncoder
from unbraid.nn.polar import PolarEncoder
from unbraid.nn.projection import Projection
from unbraid.nn.resnet import ResNet
from unbraid.nn.small_conv import SmallConv

__all__ = [
    "ARCHITECTURES",
    "EXTRACTORS",
    "Classifier",
    "Classifiers",
    "ConvDecoder",
    "ConvEncoder",
    "Critic",
    "Decoder",
    "DigitDecoder",
    "DigitEncoder",
    "Directions",
    "Discriminator",
    "Disentanglers",
    "Encoder",
    "Features",
    "Flow",
    "Generator",
    "ImageFlow",
    "Joined",
    "JointCritic",
    "Layered",
    "MLPDecoder",
    "MLPEncoder",
    "MLPFeatures",
    "Network",
    "PairCritic",
    "PolarEncoder",
    "Projection",
    "ResNet",
    "RowFlow",
    "SmallConv",
    "extractor",
    "judge",
    "networks",
]
