"""The score of an estimator: the evidence lower bound, or minus the reconstruction loss."""

from torch import Tensor

from unbraid.methods import HasLikelihood, HasPosterior, Method, Predicts, has_decoder
from unbraid.objectives import kl_to_standard_normal, squared_error
from unbraid.types import Observations


def has_score(method: type[Method]) -> bool:
    """Whether a method has a score: it decodes codes, or predicts classes."""
    return has_decoder(method) or issubclass(method, Predicts)


def negative_score(method: Method, x: Observations) -> Tensor:
    """The negative evidence lower bound; without a posterior, the reconstruction loss."""
    if not isinstance(method, HasLikelihood):
        return squared_error(method.decode(method.encode(x)), x)
    if not isinstance(method, HasPosterior):
        return method.likelihood.nll(method.decode_parameters(method.encode(x)), x)
    q = method.posterior(x)
    return method.likelihood.nll(method.decode_parameters(q.sample()), x) + kl_to_standard_normal(q)
