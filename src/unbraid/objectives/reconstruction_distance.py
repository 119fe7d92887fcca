"""The distance D of two reconstructions, in the units of the reconstruction term that it is weighed against.

Reconstruction for Disentanglement, Contrast for Invariance, 2022 (SW-VAE), Eq. 6.
"""

from typing import Literal, get_args

from torch.nn import functional as F

from unbraid.objectives.elbo import Bernoulli, Likelihood, Normal, Pixels, squared_error
from unbraid.types import Observations, Scalar

Distance = Literal["mse", "bce"]


def reconstruction_distance(
    likelihood: Likelihood, parameters: Observations, others: Observations, distance: Distance = "mse"
) -> Scalar:
    r"""D(x̂, x_rec) of two decoded images, summed over pixels, averaged over the batch; 0 where they are equal.

    .. math:: \text{mse: } \frac{1}{2σ^2} \sum_i (\hat m_i - m_i)^2, \qquad
              \text{bce: } \frac{1}{2σ^2} \sum_i m_i \log \frac{m_i}{\hat m_i}
              + (1 - m_i) \log \frac{1 - m_i}{1 - \hat m_i}

    Here m are the expected observations. A Gaussian likelihood divides squared errors by 2σ², and so does D: with
    σ = 0.1 the square of an error counts 50 times in both. For a Bernoulli likelihood the factor is 1. `bce` is the
    cross-entropy less its minimum, the entropy of m; m is a target without gradient. With `mse` both images have a
    gradient: the paper states no stop-gradient.

    Args:
        likelihood: The family p(x|z).
        parameters: Decoder output for x̂.
        others: Decoder output for x_rec.
        distance: `mse` or `bce`; `bce` requires pixels between 0 and 1.
    """
    scale = 0.5 / likelihood.sigma**2 if isinstance(likelihood, Normal) else 1.0
    if distance == "mse":
        return scale * squared_error(likelihood.mean(parameters), likelihood.mean(others))
    target = others.detach()
    return scale * (_cross_entropy(parameters, target) - _cross_entropy(target, target))


def require_distance(likelihood: Likelihood, distance: str) -> None:
    """Raises unless the likelihood has this distance."""
    if distance not in get_args(Distance):
        raise ValueError(f"distance must be one of {', '.join(get_args(Distance))}; got {distance!r}.")
    if distance == "bce" and not isinstance(likelihood, Bernoulli | Pixels):
        raise ValueError(
            "distance=bce requires decoded pixels between 0 and 1; the likelihood "
            f"{type(likelihood).__name__.lower()} does not bound them. Use the likelihood bernoulli or pixels:SIGMA, "
            "or distance=mse."
        )


def _cross_entropy(logits: Observations, target_logits: Observations) -> Scalar:
    """The cross-entropy of Bernoulli variables, given by the logits of both."""
    return F.binary_cross_entropy_with_logits(logits, target_logits.sigmoid(), reduction="sum") / len(logits)
