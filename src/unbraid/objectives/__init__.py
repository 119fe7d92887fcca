"""Objectives: pure functions, each a sum over pixels or codes and a mean over the batch, in nats per image."""

from unbraid.objectives.assignment import assignment
from unbraid.objectives.changed_codes import alike, change, exchange, jensen_shannon
from unbraid.objectives.class_average import class_average
from unbraid.objectives.contrast import contrast, contrast_gradient, supervised_contrast
from unbraid.objectives.covariance import (
    aggregate_covariance,
    covariance,
    diagonal_penalty,
    off_diagonal_penalty,
)
from unbraid.objectives.density_ratio import critic_cross_entropy, log_density_ratio
from unbraid.objectives.dependence import correlation, dependence
from unbraid.objectives.factorial import class_moments, factorial_nll, set_moments
from unbraid.objectives.feature_changes import count_active, shares_of_change, total_variance, variance_shares
from unbraid.objectives.independent_parts import Directions, independent_parts
from unbraid.objectives.kl import code_nll, kl, kl_per_code, kl_to_standard_normal
from unbraid.objectives.likelihoods import (
    Bernoulli,
    Likelihood,
    Normal,
    Pixels,
    bernoulli_nll,
    gaussian_nll,
    squared_error,
)
from unbraid.objectives.mmd import fast_group_mmd, fast_mmd, gaussian_kernel, mmd
from unbraid.objectives.pairwise_kl import pairwise_kl
from unbraid.objectives.reversal import reverse_gradient
from unbraid.objectives.reweighting import adversarial_terms, normalised_weights
from unbraid.objectives.shared_codes import shared_codes
from unbraid.objectives.subembeddings import hessian_blocks, infomin, orthogonality, unit_parts
from unbraid.objectives.total_correlation import Decomposition, decompose, total_correlation
from unbraid.objectives.translation import Translator, two_of
from unbraid.objectives.transport import squared_w2, squared_w2_to_zero

__all__ = [
    "Bernoulli",
    "Decomposition",
    "Directions",
    "Likelihood",
    "Normal",
    "Pixels",
    "Translator",
    "adversarial_terms",
    "aggregate_covariance",
    "alike",
    "assignment",
    "bernoulli_nll",
    "change",
    "class_average",
    "class_moments",
    "code_nll",
    "contrast",
    "contrast_gradient",
    "correlation",
    "count_active",
    "covariance",
    "critic_cross_entropy",
    "decompose",
    "dependence",
    "diagonal_penalty",
    "exchange",
    "factorial_nll",
    "fast_group_mmd",
    "fast_mmd",
    "gaussian_kernel",
    "gaussian_nll",
    "hessian_blocks",
    "independent_parts",
    "infomin",
    "jensen_shannon",
    "kl",
    "kl_per_code",
    "kl_to_standard_normal",
    "log_density_ratio",
    "mmd",
    "normalised_weights",
    "off_diagonal_penalty",
    "orthogonality",
    "pairwise_kl",
    "reverse_gradient",
    "set_moments",
    "shared_codes",
    "shares_of_change",
    "squared_error",
    "squared_w2",
    "squared_w2_to_zero",
    "supervised_contrast",
    "total_correlation",
    "total_variance",
    "two_of",
    "unit_parts",
    "variance_shares",
]
