"""Methods as scikit-learn estimators."""

from unbraid.estimators.target_background import (
    CVAE,
    ContrastivePCA,
    ContrastVAE,
    MMcVAE,
    PrincipledContrast,
    RbVAE,
    SRbVAE,
)
from unbraid.estimators.unsupervised import (
    DIPVAEI,
    DIPVAEII,
    SVAE,
    VAE,
    AnnealedVAE,
    BetaTCVAE,
    BetaVAE,
    FactorVAE,
    Intervention,
)

__all__ = [
    "CVAE",
    "DIPVAEI",
    "DIPVAEII",
    "SVAE",
    "VAE",
    "AnnealedVAE",
    "BetaTCVAE",
    "BetaVAE",
    "ContrastVAE",
    "ContrastivePCA",
    "FactorVAE",
    "Intervention",
    "MMcVAE",
    "PrincipledContrast",
    "RbVAE",
    "SRbVAE",
]
