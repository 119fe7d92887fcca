"""Methods, one file each."""

from unbraid.methods.ada_gvae import AdaGVAE
from unbraid.methods.ada_ml_vae import AdaMLVAE
from unbraid.methods.annealed_vae import AnnealedVAE
from unbraid.methods.augmented_gin import AugmentedGIN
from unbraid.methods.autoencoder import Autoencoder
from unbraid.methods.base import (
    DATASET_SIZES,
    ENTRY_POINTS,
    BuildSpec,
    Method,
    Player,
    build_method,
    built_arguments,
    method_class,
    method_classes,
    method_reference,
)
from unbraid.methods.beta_tcvae import BetaTCVAE
from unbraid.methods.beta_vae import BetaVAE
from unbraid.methods.cai import CAI
from unbraid.methods.cnn import CNN
from unbraid.methods.cnn_beta_vae import CNNBetaVAE
from unbraid.methods.contrast_vae import ContrastVAE
from unbraid.methods.contrastive_pca import ContrastivePCA
from unbraid.methods.cvae import CVAE
from unbraid.methods.cvib import CVIB
from unbraid.methods.dip_vae_i import DIPVAEI
from unbraid.methods.dip_vae_ii import DIPVAEII
from unbraid.methods.factor_vae import FactorVAE
from unbraid.methods.flow import FlowMethod
from unbraid.methods.gin import GIN
from unbraid.methods.independent_subembeddings import IndependentSubembeddings
from unbraid.methods.infogan import InfoGAN
from unbraid.methods.infogan_cr import InfoGANCR
from unbraid.methods.intervention import Intervention
from unbraid.methods.ivae import IVAE
from unbraid.methods.mm_cvae import MMcVAE
from unbraid.methods.principled_contrast import PrincipledContrast
from unbraid.methods.protocols import (
    ChecksTraining,
    ClassifiesCodes,
    ClosedForm,
    HasBackgroundCodes,
    HasFeatureStrands,
    HasFigures,
    HasLikelihood,
    HasMeasurements,
    HasPosterior,
    HasPostTraining,
    NeedsSameClass,
    Predicts,
    SwapsPairs,
    feature_strand_names,
    has_decoder,
    needs_same_class,
)
from unbraid.methods.rb_vae import RbVAE
from unbraid.methods.recon_contrast import ReconContrast
from unbraid.methods.sequential_intervention import SequentialIntervention
from unbraid.methods.simclr import SimCLR
from unbraid.methods.srb_vae import SRbVAE
from unbraid.methods.subinfomax import SubInfoMax
from unbraid.methods.supcon import SupCon
from unbraid.methods.supervised_subembeddings import SupervisedSubembeddings
from unbraid.methods.svae import SVAE
from unbraid.methods.sw_vae import SWVAE
from unbraid.methods.uai import UAI
from unbraid.methods.vae import VAE
from unbraid.methods.vfae import VFAE

__all__ = [
    "CAI",
    "CNN",
    "CVAE",
    "CVIB",
    "DATASET_SIZES",
    "DIPVAEI",
    "DIPVAEII",
    "ENTRY_POINTS",
    "GIN",
    "IVAE",
    "SVAE",
    "SWVAE",
    "UAI",
    "VAE",
    "VFAE",
    "AdaGVAE",
    "AdaMLVAE",
    "AnnealedVAE",
    "AugmentedGIN",
    "Autoencoder",
    "BetaTCVAE",
    "BetaVAE",
    "BuildSpec",
    "CNNBetaVAE",
    "ChecksTraining",
    "ClassifiesCodes",
    "ClosedForm",
    "ContrastVAE",
    "ContrastivePCA",
    "FactorVAE",
    "FlowMethod",
    "HasBackgroundCodes",
    "HasFeatureStrands",
    "HasFigures",
    "HasLikelihood",
    "HasMeasurements",
    "HasPostTraining",
    "HasPosterior",
    "IndependentSubembeddings",
    "InfoGAN",
    "InfoGANCR",
    "Intervention",
    "MMcVAE",
    "Method",
    "NeedsSameClass",
    "Player",
    "Predicts",
    "PrincipledContrast",
    "RbVAE",
    "ReconContrast",
    "SRbVAE",
    "SequentialIntervention",
    "SimCLR",
    "SubInfoMax",
    "SupCon",
    "SupervisedSubembeddings",
    "SwapsPairs",
    "build_method",
    "built_arguments",
    "feature_strand_names",
    "has_decoder",
    "method_class",
    "method_classes",
    "method_reference",
    "needs_same_class",
]
