"""Objectives: pure functions, each a sum over pixels or dimensions and a mean over the batch, in nats per image."""

from unbraid.objectives.assignment import ON_HOST, assignment
from unbraid.objectives.changed_dims import (
    Divergence,
    divergence_per_dim,
    jensen_shannon,
    swap_where,
    unchanged_mask,
)
from unbraid.objectives.class_average import class_average
from unbraid.objectives.covariance import (
    aggregate_covariance,
    covariance,
    diagonal_penalty,
    off_diagonal_penalty,
)
from unbraid.objectives.density_ratio import critic_cross_entropy, log_density_ratio
from unbraid.objectives.dependence import correlation, dependence
from unbraid.objectives.elbo import (
    Bernoulli,
    Likelihood,
    Normal,
    Pixels,
    bernoulli_nll,
    code_nll,
    gaussian_nll,
    kl,
    kl_per_dim,
    kl_to_standard_normal,
    squared_error,
)
from unbraid.objectives.factorial import class_moments, factorial_nll, set_moments
from unbraid.objectives.feature_variance import (
    ACTIVE_VARIANCE_SHARE,
    count_active,
    total_variance,
    variance_share_per_feature,
    variance_shares,
)
from unbraid.objectives.gradient_reversal import reverse_gradient
from unbraid.objectives.independent_directions import Directions, find_independent_directions
from unbraid.objectives.info_nce import contrast_gradient, info_nce, supcon_loss
from unbraid.objectives.mmd import fast_group_mmd, fast_mmd, gaussian_kernel, mmd
from unbraid.objectives.pairwise_kl import pairwise_kl
from unbraid.objectives.reconstruction_distance import Distance, reconstruction_distance, require_distance
from unbraid.objectives.reweighting import adversarial_terms, normalized_weights
from unbraid.objectives.shared_dims import average_posterior, product_posterior, replace_shared, shared_mask
from unbraid.objectives.subembeddings import (
    InfoMinForm,
    Reduction,
    hessian_blocks,
    infomin,
    orthogonality,
    unit_subembeddings,
)
from unbraid.objectives.total_correlation import Decomposition, Sampling, decompose, total_correlation
from unbraid.objectives.translation import Translator, two_rows
from unbraid.objectives.translator_spec import (
    MLPTranslator,
    MLPTranslatorSGD,
    PlainTranslator,
    TranslatorSpec,
)
from unbraid.objectives.wasserstein import squared_w2, squared_w2_to_zero

__all__ = [
    "ACTIVE_VARIANCE_SHARE",
    "ON_HOST",
    "Bernoulli",
    "Decomposition",
    "Directions",
    "Distance",
    "Divergence",
    "InfoMinForm",
    "Likelihood",
    "MLPTranslator",
    "MLPTranslatorSGD",
    "Normal",
    "Pixels",
    "PlainTranslator",
    "Reduction",
    "Sampling",
    "Translator",
    "TranslatorSpec",
    "adversarial_terms",
    "aggregate_covariance",
    "assignment",
    "average_posterior",
    "bernoulli_nll",
    "class_average",
    "class_moments",
    "code_nll",
    "contrast_gradient",
    "correlation",
    "count_active",
    "covariance",
    "critic_cross_entropy",
    "decompose",
    "dependence",
    "diagonal_penalty",
    "divergence_per_dim",
    "factorial_nll",
    "fast_group_mmd",
    "fast_mmd",
    "find_independent_directions",
    "gaussian_kernel",
    "gaussian_nll",
    "hessian_blocks",
    "info_nce",
    "infomin",
    "jensen_shannon",
    "kl",
    "kl_per_dim",
    "kl_to_standard_normal",
    "log_density_ratio",
    "mmd",
    "normalized_weights",
    "off_diagonal_penalty",
    "orthogonality",
    "pairwise_kl",
    "product_posterior",
    "reconstruction_distance",
    "replace_shared",
    "require_distance",
    "reverse_gradient",
    "set_moments",
    "shared_mask",
    "squared_error",
    "squared_w2",
    "squared_w2_to_zero",
    "supcon_loss",
    "swap_where",
    "total_correlation",
    "total_variance",
    "two_rows",
    "unchanged_mask",
    "unit_subembeddings",
    "variance_share_per_feature",
    "variance_shares",
]
