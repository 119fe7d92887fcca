"""Metrics of a code, with and without ground-truth factors: functions from arrays to a score and its details."""

from unbraid.metrics.above_noise import NOISE, AboveNoise, above_noise
from unbraid.metrics.active_dims import ActiveDims, active_dims
from unbraid.metrics.background_distance import BackgroundDistance, background_distance
from unbraid.metrics.background_norm import BackgroundNorm, background_norm
from unbraid.metrics.beta_vae_score import BetaVAEScore, beta_vae_score
from unbraid.metrics.bootstrap import Bootstrap, bootstrap
from unbraid.metrics.class_accuracy import ClassAccuracy, class_accuracy
from unbraid.metrics.clustering import Clustering, clustering
from unbraid.metrics.consistency import Consistency, consistency
from unbraid.metrics.dci import DCI, dci
from unbraid.metrics.direction import Direction
from unbraid.metrics.disentanglement_gap import DisentanglementGap, disentanglement_gap
from unbraid.metrics.explicitness import Explicitness, explicitness
from unbraid.metrics.factor_probe import FactorProbe, factor_probe
from unbraid.metrics.factor_vae_score import FactorVAEScore, factor_vae_score
from unbraid.metrics.gaussian_total_correlation import GaussianTotalCorrelation, gaussian_total_correlation
from unbraid.metrics.group_accuracy import GroupAccuracy, group_accuracy
from unbraid.metrics.info_mec import InfoMEC, info_mec
from unbraid.metrics.information import discretize, entropy, mutual_information, neighbor_information
from unbraid.metrics.irs import IRS, irs
from unbraid.metrics.kl_per_dim import KLPerDim, kl_per_dim
from unbraid.metrics.latents import LatentMCC, LatentR2, highest_variance_dims, latent_mcc, latent_r2
from unbraid.metrics.mcc import MCC, mcc
from unbraid.metrics.mig import MIG, mig
from unbraid.metrics.model_centrality import ModelCentrality, cross_votes, model_centrality
from unbraid.metrics.modularity import Modularity, modularity
from unbraid.metrics.prior_distance import PriorDistance, prior_distance
from unbraid.metrics.probe import Probe, probe
from unbraid.metrics.processes import num_cores, num_processes
from unbraid.metrics.sample_quality import SampleQuality, sample_quality
from unbraid.metrics.sap import SAP, sap
from unbraid.metrics.spectrum import Spectrum, spectrum
from unbraid.metrics.std_rank import StdRank, std_rank
from unbraid.metrics.translation_difficulty import TranslationDifficulty, translation_difficulty
from unbraid.metrics.udr import UDR, udr
from unbraid.metrics.variation_predictability import VariationPredictability, variation_predictability
from unbraid.metrics.w2 import W2, w2

__all__ = [
    "DCI",
    "IRS",
    "MCC",
    "MIG",
    "NOISE",
    "SAP",
    "UDR",
    "W2",
    "AboveNoise",
    "ActiveDims",
    "BackgroundDistance",
    "BackgroundNorm",
    "BetaVAEScore",
    "Bootstrap",
    "ClassAccuracy",
    "Clustering",
    "Consistency",
    "Direction",
    "DisentanglementGap",
    "Explicitness",
    "FactorProbe",
    "FactorVAEScore",
    "GaussianTotalCorrelation",
    "GroupAccuracy",
    "InfoMEC",
    "KLPerDim",
    "LatentMCC",
    "LatentR2",
    "ModelCentrality",
    "Modularity",
    "PriorDistance",
    "Probe",
    "SampleQuality",
    "Spectrum",
    "StdRank",
    "TranslationDifficulty",
    "VariationPredictability",
    "above_noise",
    "active_dims",
    "background_distance",
    "background_norm",
    "beta_vae_score",
    "bootstrap",
    "class_accuracy",
    "clustering",
    "consistency",
    "cross_votes",
    "dci",
    "discretize",
    "disentanglement_gap",
    "entropy",
    "explicitness",
    "factor_probe",
    "factor_vae_score",
    "gaussian_total_correlation",
    "group_accuracy",
    "highest_variance_dims",
    "info_mec",
    "irs",
    "kl_per_dim",
    "latent_mcc",
    "latent_r2",
    "mcc",
    "mig",
    "model_centrality",
    "modularity",
    "mutual_information",
    "neighbor_information",
    "num_cores",
    "num_processes",
    "prior_distance",
    "probe",
    "sample_quality",
    "sap",
    "spectrum",
    "std_rank",
    "translation_difficulty",
    "udr",
    "variation_predictability",
    "w2",
]
