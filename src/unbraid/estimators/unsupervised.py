"""Estimators of unsupervised methods."""

from unbraid import methods
from unbraid.estimators.base import Estimator


class VAE(Estimator, method=methods.VAE):
    """Variational autoencoder."""


class BetaVAE(Estimator, method=methods.BetaVAE):
    """VAE with a weight β on the KL divergence."""


class AnnealedVAE(Estimator, method=methods.AnnealedVAE):
    """VAE with a capacity for the KL divergence that grows during training."""


class FactorVAE(Estimator, method=methods.FactorVAE):
    """VAE with a critic that penalizes the total correlation of the codes."""


class BetaTCVAE(Estimator, method=methods.BetaTCVAE):
    """VAE with a weight β on the total correlation only."""


class DIPVAEI(Estimator, method=methods.DIPVAEI):
    """VAE with a penalty on correlations between the posterior means."""


class DIPVAEII(Estimator, method=methods.DIPVAEII):
    """VAE with a penalty on correlations between sampled codes."""


class SVAE(Estimator, method=methods.SVAE):
    """Symmetric VAE, with the reverse KL divergence as an additional loss."""


class Intervention(Estimator, method=methods.Intervention):
    """Intervention autoencoder: after a feature is set from another image, the decoded image must look real."""
