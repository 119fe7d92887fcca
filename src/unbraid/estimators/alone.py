"""Estimators of the methods that learn from images or rows alone."""

from unbraid import methods
from unbraid.estimators.base import Estimator


class VAE(Estimator, method=methods.VAE):
    """The variational autoencoder."""


class BetaVAE(Estimator, method=methods.BetaVAE):
    """The VAE in which the KL divergence is weighted."""


class AnnealedVAE(Estimator, method=methods.AnnealedVAE):
    """The VAE whose KL divergence is held at a capacity that grows during training."""


class FactorVAE(Estimator, method=methods.FactorVAE):
    """The VAE whose codes are made independent by a critic."""


class BetaTCVAE(Estimator, method=methods.BetaTCVAE):
    """The VAE in which only the total correlation is weighted."""


class DIPVAEI(Estimator, method=methods.DIPVAEI):
    """The VAE whose posterior means are made uncorrelated."""


class DIPVAEII(Estimator, method=methods.DIPVAEII):
    """The VAE whose codes, with their noise, are made uncorrelated."""


class SVAE(Estimator, method=methods.SVAE):
    """The symmetric VAE, which also minimises the divergence the other way round."""


class Intervention(Estimator, method=methods.Intervention):
    """The intervention autoencoder: a feature taken from another image must give an image that could be real."""
