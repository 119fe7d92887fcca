"""Networks. A run folder may name those listed here and no others."""

from unbraid.nn.architectures import (
    ARCHITECTURES,
    OVERLAY,
    build_networks,
    is_custom_architecture,
    latent_dim_of,
    split_overlay,
)
from unbraid.nn.backbones import BACKBONES, MLPFeatures, backbone
from unbraid.nn.base import (
    Decoder,
    Encoder,
    HasFeatures,
    HasLatentDim,
    HasShape,
    HasTrunk,
    Invertible,
    Network,
)
from unbraid.nn.batch_norm import (
    BatchNorm1d,
    background_batch_stats,
    frozen_batch_stats,
    separate_background_stats,
)
from unbraid.nn.classifier import Classifier, Classifiers
from unbraid.nn.concat_encoder import ConcatEncoder
from unbraid.nn.conv import SIDES, ConvDecoder, ConvEncoder
from unbraid.nn.conv_ops import use_kernels
from unbraid.nn.critic import Critic
from unbraid.nn.deterministic_encoder import DeterministicEncoder
from unbraid.nn.digits import DigitDecoder, DigitEncoder
from unbraid.nn.disentanglers import Disentanglers
from unbraid.nn.flows import Flow, ImageFlow, RowFlow, disable_tf32, flow_for
from unbraid.nn.gan import Discriminator, Generator, PairCritic
from unbraid.nn.joint_critic import JointCritic
from unbraid.nn.linear_projection import LinearProjection
from unbraid.nn.mlp import MLPDecoder, MLPEncoder
from unbraid.nn.overlay_decoder import OverlayDecoder
from unbraid.nn.polar import PolarEncoder
from unbraid.nn.projection import Projection
from unbraid.nn.resnet import ResNet
from unbraid.nn.scalar_head import scalar_head
from unbraid.nn.small_conv import SmallConv
from unbraid.nn.strided_conv import order_weights

__all__ = [
    "ARCHITECTURES",
    "BACKBONES",
    "OVERLAY",
    "SIDES",
    "BatchNorm1d",
    "Classifier",
    "Classifiers",
    "ConcatEncoder",
    "ConvDecoder",
    "ConvEncoder",
    "Critic",
    "Decoder",
    "DeterministicEncoder",
    "DigitDecoder",
    "DigitEncoder",
    "Discriminator",
    "Disentanglers",
    "Encoder",
    "Flow",
    "Generator",
    "HasFeatures",
    "HasLatentDim",
    "HasShape",
    "HasTrunk",
    "ImageFlow",
    "Invertible",
    "JointCritic",
    "LinearProjection",
    "MLPDecoder",
    "MLPEncoder",
    "MLPFeatures",
    "Network",
    "OverlayDecoder",
    "PairCritic",
    "PolarEncoder",
    "Projection",
    "ResNet",
    "RowFlow",
    "SmallConv",
    "backbone",
    "background_batch_stats",
    "build_networks",
    "disable_tf32",
    "flow_for",
    "frozen_batch_stats",
    "is_custom_architecture",
    "latent_dim_of",
    "order_weights",
    "scalar_head",
    "separate_background_stats",
    "split_overlay",
    "use_kernels",
]
