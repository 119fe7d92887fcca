"""Methods as scikit-learn estimators: fit, transform, inverse_transform, score."""

from unbraid.estimators.alone import (
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
from unbraid.estimators.contrast import (
    CVAE,
    ContrastivePCA,
    ContrastVAE,
    MMcVAE,
    PrincipledContrast,
    RbVAE,
    SRbVAE,
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
