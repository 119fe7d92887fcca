"""The parameters of an estimator: the options of its method, its networks and its training."""

import inspect
import numbers
from collections.abc import Callable
from typing import Any, NamedTuple

from unbraid.methods import ClosedForm, Method, built_arguments
from unbraid.objectives import Likelihood
from unbraid.optimizers import Optimizer
from unbraid.options import Option, options_of
from unbraid.settings import Spec

AUTO = "auto"


class Parameter(NamedTuple):
    """A parameter with its default as plain data."""

    name: str
    default: Any
    help: str


NETWORKS = (
    Parameter("latent_dim", 10, "Number of latent dimensions."),
    Parameter(
        "architecture",
        AUTO,
        "Encoder and decoder, one of `unbraid.nn.ARCHITECTURES`; auto: conv for square images of a supported size, "
        "otherwise mlp-small.",
    ),
)
TRAINING = (
    Parameter("steps", 2000, "Number of training steps."),
    Parameter("batch_size", 64, "Observations per batch."),
    Parameter(
        "optimizer", None, "Optimizer of the first player, e.g. adam:0.001. Default: that of the method."
    ),
)
SHARED = (
    Parameter("strand", None, "Strand that `transform` returns. Default: the whole code."),
    Parameter(
        "image_shape",
        None,
        "Shape of one image, if X contains flattened images: (height, width), with channels first or last.",
    ),
    Parameter("standardize", True, "Whether to scale the columns of rows to mean 0 and variance 1."),
    Parameter("device", AUTO, "Device: auto, cpu, cuda, cuda:N or mps."),
    Parameter("random_state", None, "Random seed for initial weights, batches and noise."),
    Parameter("verbose", False, "Whether to show progress."),
)


def parameters_of(method: type[Method]) -> list[Parameter]:
    """The parameters of a method's estimator; the options of the method come first."""
    options = [
        Parameter(name, _default(option), _help(option)) for name, option in method_options(method).items()
    ]
    if issubclass(method, ClosedForm):
        return [*options, *SHARED]
    networks = [
        each for each in NETWORKS if each.name != "latent_dim" or "latent_dim" in method.code_size_options
    ]
    return [*options, *networks, *TRAINING, *SHARED]


def method_options(method: type[Method]) -> dict[str, Option]:
    """The options of a method: its constructor's arguments without those that `build_method` fills."""
    return options_of(method, leave_out=built_arguments(method))


def constructor(parameters: list[Parameter]) -> Callable[..., None]:
    """An `__init__` that stores its arguments unchanged, as scikit-learn requires."""
    defaults = {parameter.name: parameter.default for parameter in parameters}

    def __init__(self: Any, **arguments: Any) -> None:
        if unknown := arguments.keys() - defaults.keys():
            raise TypeError(
                f"{type(self).__name__} has no parameter {', '.join(sorted(unknown))}; its parameters are "
                f"{', '.join(defaults)}."
            )
        for name, value in (defaults | arguments).items():
            setattr(self, name, value)

    keyword = inspect.Parameter.KEYWORD_ONLY
    shown = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    shown += [inspect.Parameter(name, keyword, default=value) for name, value in defaults.items()]
    __init__.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    return __init__


def docstring(text: str, parameters: list[Parameter]) -> str:
    """A docstring with one line per parameter."""
    lines = [f"    {parameter.name}: {parameter.help}" for parameter in parameters]
    return "\n".join([inspect.cleandoc(text), "", "Args:", *lines])


def parse_value(option: Option, value: Any) -> Any:
    """The value of an option: strings are parsed as on the command line, and numbers take the option's type."""
    if value is None:
        return None
    if isinstance(value, str):
        return option.parse(value)
    if option.kind is float and isinstance(value, numbers.Real):
        return float(value)
    if option.kind is int and isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return int(value)
    return value


def parse_optimizer(value: Any) -> Optimizer | None:
    """An optimizer; strings are parsed as on the command line."""
    return Optimizer.parse(value) if isinstance(value, str) else value  # type: ignore[return-value]


def _default(option: Option) -> Any:
    """The default as plain data, because scikit-learn compares and prints parameters."""
    if _is_likelihood(option):
        return AUTO
    return option.default.short() if isinstance(option.default, Spec) else option.default


def _help(option: Option) -> str:
    automatic = " auto: normal:0.1 for rows, otherwise that of the method." if _is_likelihood(option) else ""
    return option.help + automatic


def _is_likelihood(option: Option) -> bool:
    return inspect.isclass(option.kind) and issubclass(option.kind, Likelihood)
