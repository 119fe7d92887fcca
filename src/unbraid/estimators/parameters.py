"""The parameters of an estimator: the method's own settings, and how it is trained."""

import inspect
import numbers
from collections.abc import Callable
from typing import Any, NamedTuple

from unbraid.methods.assemble import filled
from unbraid.methods.base import Method
from unbraid.objectives.likelihoods import Likelihood
from unbraid.optimisers import Optimiser
from unbraid.options import Option, options_of
from unbraid.settings import Plain

AUTO = "auto"


class Parameter(NamedTuple):
    """One of them, with the default that scikit-learn shows."""

    name: str
    default: Any
    help: str


NETWORKS = (
    Parameter("codes", 10, "The number of dimensions of the code."),
    Parameter(
        "architecture",
        AUTO,
        "Encoder and decoder, one of `unbraid.nn.ARCHITECTURES`; auto: conv for images that it fits, mlp-small "
        "otherwise.",
    ),
)
TRAINING = (
    Parameter("steps", 2000, "How many steps of training."),
    Parameter("batch", 64, "Observations in a batch."),
    Parameter("optimiser", None, "Takes the place of the method's own, such as adam:0.001."),
)
EVERY = (
    Parameter(
        "strand", None, "The strand of the code that `transform` puts out; all of the code by default."
    ),
    Parameter(
        "image_shape",
        None,
        "Of images that come as rows, the shape of one: (height, width), with channels before or after them.",
    ),
    Parameter(
        "standardise", True, "Whether the columns of rows are brought to mean 0 and variance 1 within."
    ),
    Parameter("device", AUTO, "auto, cpu, cuda or mps."),
    Parameter("random_state", None, "Of the weights, of the draws and of the noise in training."),
    Parameter("verbose", False, "Shows progress."),
)


def parameters_of(method: type[Method]) -> list[Parameter]:
    """The parameters of the estimator of a method, its own settings first."""
    own = [Parameter(name, _default(option), _help(option)) for name, option in settings_of(method).items()]
    if method.closed_form:
        return [*own, *EVERY]
    networks = [each for each in NETWORKS if each.name != "codes" or not method.sizes_strands]
    return [*own, *networks, *TRAINING, *EVERY]


def settings_of(method: type[Method]) -> dict[str, Option]:
    """The settings of a method's constructor."""
    return options_of(method, leave_out=filled(method))


def constructor(parameters: list[Parameter]) -> Callable[..., None]:
    """An `__init__` that keeps what it is given, as scikit-learn wants it."""
    defaults = {parameter.name: parameter.default for parameter in parameters}

    def __init__(self: Any, **given: Any) -> None:
        if unknown := given.keys() - defaults.keys():
            raise TypeError(
                f"{type(self).__name__} has no parameter {', '.join(sorted(unknown))}; its parameters are "
                f"{', '.join(defaults)}."
            )
        for name, value in (defaults | given).items():
            setattr(self, name, value)

    keyword = inspect.Parameter.KEYWORD_ONLY
    shown = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    shown += [inspect.Parameter(name, keyword, default=value) for name, value in defaults.items()]
    __init__.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    return __init__


def documented(text: str, parameters: list[Parameter]) -> str:
    """A docstring with a line for each parameter."""
    lines = [f"    {parameter.name}: {parameter.help}" for parameter in parameters]
    return "\n".join([inspect.cleandoc(text), "", "Args:", *lines])


def value_of(option: Option, value: Any) -> Any:
    """What a method takes: numbers of its kind, and likelihoods and schedules from what the command line calls them."""
    if value is None:
        return None
    if isinstance(value, str):
        return option.parse(value)
    if option.kind is float and isinstance(value, numbers.Real):
        return float(value)
    if option.kind is int and isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return int(value)
    return value


def optimiser_of(value: Any) -> Optimiser | None:
    """An optimiser, from its words where it is given so."""
    return Optimiser.parse(value) if isinstance(value, str) else value  # type: ignore[return-value]


def _default(option: Option) -> Any:
    """Plain data: scikit-learn compares and prints parameters."""
    if _is_likelihood(option):
        return AUTO
    return option.default.short() if isinstance(option.default, Plain) else option.default


def _help(option: Option) -> str:
    return f"{option.help} auto: normal:0.1 for rows." if _is_likelihood(option) else option.help


def _is_likelihood(option: Option) -> bool:
    return inspect.isclass(option.kind) and issubclass(option.kind, Likelihood)
