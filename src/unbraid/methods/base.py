"""The base class of methods: a loss on one type of batch, an encoder, strands and players."""

import abc
import functools
import inspect
import typing
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar, get_args, get_origin

import torch
from torch import Tensor, nn

from unbraid.custom_code import (
    is_reference,
    known,
    location,
    plugin,
    plugin_name,
    plugins,
    reference,
    require_known,
    use,
)
from unbraid.nn import Critic, HasLatentDim, build_networks
from unbraid.optimizers import Adam, Optimizer
from unbraid.options import require_values
from unbraid.seeds import derive_seed
from unbraid.settings import RecordsArguments, lookup
from unbraid.strands import Strands
from unbraid.types import Batch, Codes, Observations, Terms

ENTRY_POINTS = "unbraid.methods"
NETWORKS = ("encoder", "decoder", "critic")  # also without an annotation
DATASET_SIZES = ("n", "classes", "nuisances")  # constructor parameters that the dataset determines
M = TypeVar("M", bound="Method")
Architecture = Callable[
    [tuple[int, ...], int], tuple[nn.Module, nn.Module]
]  # shape and latent_dim to networks
B = TypeVar("B", bound=tuple)  # the batch type of a method


@dataclass(frozen=True)
class Player:
    """One optimizer with its parameters and its loss inside a training step.

    Players are updated in order within a step. Each loss is computed after the updates of the players before, and only
    the player's own parameters get a gradient. The first update of every player in a step uses the same batches; each
    further update uses new ones. A player that `reuses` a player before it also receives the tensors in `Terms.cached`
    of that player's loss. Parameters that are frozen at a step do not change at all. When the set of frozen parameters
    changes, the optimizer is reset: moment estimates from steps without a gradient would multiply Adam's next steps.
    """

    name: str
    parameters: Iterable[nn.Parameter]
    loss: Callable[..., Terms]  # takes `batches_per_update` batches
    optimizer: Optimizer = field(default_factory=Adam)
    updates_per_step: int = 1
    batches_per_update: int = 1
    start_step: int = 0  # the first step at which the player is updated
    reuses: str = ""  # name of an earlier player; its `Terms.cached` follow the batches of the first update
    frozen: Callable[[int], Iterable[nn.Parameter]] = lambda step: ()  # parameters not updated at a step


class BuildSpec(NamedTuple):
    """Everything that default networks depend on: sizes of the dataset, size of the code, architecture."""

    shape: tuple[int, ...]  # of one observation
    n: int  # number of observations
    classes: int  # number of values of the label; 0 without a label
    nuisances: tuple[int, ...]  # number of values of each known nuisance
    latent_dim: int
    architecture: str

    def latent_dim_with(self, settings: Mapping[str, Any]) -> int:
        """The size of the code: that of an encoder among the arguments that were passed, otherwise `latent_dim`."""
        encoder = settings.get("encoder")
        return encoder.latent_dim if isinstance(encoder, HasLatentDim) else self.latent_dim


class Method(RecordsArguments, nn.Module, abc.ABC, Generic[B]):
    """A trainable model class: networks, loss and strands. Concrete classes are final; networks are arguments.

    A subclass defines `strands`, `loss` and `encode`, and `decode` where it has a decoder. Further abilities are
    protocols that a method satisfies by defining their members: see `unbraid.methods.protocols`.

    `step` is the number of training steps, for schedules; the trainer advances it and checkpoints contain it.
    """

    batch_type: type[tuple] = Batch  # `Method[PairBatch]` sets it
    family: ClassVar[str] = "Other methods"  # heading in `unbraid list methods`
    code_size_options: ClassVar[tuple[str, ...]] = ("latent_dim",)  # that set the size of the code
    conditions_on: ClassVar[Literal["labels", "nuisances"] | None] = None  # what `condition` holds
    step: Tensor
    # The options of `build_method` that built the networks; None if networks were passed to the constructor.
    network_options: Mapping[str, Any] | None = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for base in getattr(cls, "__orig_bases__", ()):
            if get_origin(base) is not None and issubclass(get_origin(base), Method):
                (batch_type,) = get_args(base)
                if not isinstance(batch_type, TypeVar):  # of a base class for several batch types
                    cls.batch_type = batch_type

    @classmethod
    def name(cls) -> str:
        """The name on the command line and in runs, such as `beta-vae`.

        A method of an installed package has the name of its entry point, and your own method the name of its class.
        """
        package, _, module = cls.__module__.rpartition(".")
        if package == "unbraid.methods":
            return module.replace("_", "-")
        return plugin_name(ENTRY_POINTS, cls) or cls.__qualname__

    @classmethod
    def default_arguments(
        cls, spec: BuildSpec, missing: Set[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Default networks and sizes for the constructor arguments that were not passed.

        Args:
            spec: Sizes of the dataset and of the code.
            missing: Constructor parameters without a value in `settings`; defaults for other parameters are ignored.
            settings: The arguments that were passed.
        """
        arguments: dict[str, Any] = {"n": spec.n, "classes": spec.classes, "nuisances": spec.nuisances}
        if {"encoder", "decoder"} & missing:
            arguments["encoder"], arguments["decoder"] = build_networks(
                spec.architecture, spec.shape, spec.latent_dim
            )
        if "critic" in missing:
            arguments["critic"] = Critic(spec.latent_dim_with(settings))
        return arguments

    @classmethod
    def option(cls, settings: Mapping[str, Any], name: str) -> Any:
        """The value of a constructor argument: from `settings` if it is there, otherwise the default."""
        return settings.get(name, inspect.signature(cls).parameters[name].default)

    @classmethod
    def condition_from(cls, labels: Tensor | None, nuisances: Tensor | None) -> Tensor | None:
        """The `condition` of `encode` and `decode`: the known nuisances, the labels, or None."""
        return {"labels": labels, "nuisances": nuisances, None: None}[cls.conditions_on]

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("step", torch.zeros((), dtype=torch.long))

    @property
    @abc.abstractmethod
    def strands(self) -> Strands:
        """The strands of the code."""

    @abc.abstractmethod
    def loss(self, batch: B) -> Terms:
        """The loss of the first player."""

    @abc.abstractmethod
    def encode(self, x: Observations, condition: Tensor | None = None) -> Codes:
        """The code of each observation, without noise."""

    def decode(self, codes: Codes, condition: Tensor | None = None) -> Observations:
        """The observation of each code, in [0, 1] for images."""
        raise ValueError(f"{type(self).__name__} has no decoder, so its codes cannot be decoded.")

    def sample_prior(self, size: int) -> Codes:
        """Codes to decode into new observations; standard normal unless a method overrides it."""
        return torch.randn(size, self.strands.size, device=self.step.device)

    def players(self) -> tuple[Player, ...]:
        """The players, in the order of their updates; one by default."""
        return (Player("model", self.parameters(), self.loss),)

    def forward(self, batch: B) -> Terms:  # for hooks and torch.compile
        return self.loss(batch)

    def validation_loss(self, batch: Any) -> Terms:
        """The loss on validation data; the training loss unless a method overrides it."""
        return self.loss(batch)


def build_method(
    cls: type[M],
    shape: tuple[int, ...],
    *,
    n: int,
    classes: int = 0,
    nuisances: tuple[int, ...] = (),
    latent_dim: int = 10,
    architecture: str | Architecture = "conv",
    seed: int | None = None,
    **options: Any,
) -> M:
    """Builds a method for observations of the given shape.

    `cls.default_arguments` provides the networks and the parameters `n`, `classes` and `nuisances` of the constructor
    that are not among the options.

    Args:
        cls: Class of the method.
        shape: Shape of one observation.
        n: Number of observations in the dataset.
        classes: Number of values of the label; 0 without a label.
        nuisances: Number of values of each known nuisance.
        latent_dim: Number of dimensions of the code.
        architecture: Architecture of encoder and decoder: a name such as conv or mlp, or your own FILE.py:FUNCTION.
        seed: Random seed of the initial weights. Default: torch's default generator in its current state.
        **options: Options of the method, and custom networks.
    """
    parameters = inspect.signature(cls).parameters
    settable = {name: parameter for name, parameter in parameters.items() if name not in built_arguments(cls)}
    for name in options.keys() - parameters.keys():
        lookup(f"option of {cls.name()}", name, settable)  # raises, with the nearest name
    missing = parameters.keys() - options.keys()
    if seed is not None:
        torch.manual_seed(derive_seed(seed, "weights"))
    if not isinstance(architecture, str):
        use(architecture)
        architecture = reference(architecture)
    spec = BuildSpec(shape, n, classes, nuisances, latent_dim, architecture)
    arguments = cls.default_arguments(spec, missing, options)
    arguments = {name: value for name, value in arguments.items() if name in missing} | options
    require_values(f"The method {cls.name()}", cls, arguments)
    method = cls(**arguments)
    if not options.keys() & set(built_arguments(cls)):
        method.network_options = {"latent_dim": latent_dim, "architecture": architecture}
    return method


def built_arguments(cls: type[Method]) -> tuple[str, ...]:
    """The constructor parameters that are not options: networks, and sizes of the dataset."""
    annotations = typing.get_type_hints(cls.__init__)
    return tuple(
        name
        for name in inspect.signature(cls).parameters
        if name in DATASET_SIZES
        or _is_network(annotations.get(name, nn.Module if name in NETWORKS else None))
    )


def _is_network(annotation: Any) -> bool:
    """Whether an annotation is a network type, possibly optional."""
    alternatives = typing.get_args(annotation) or (annotation,)
    return any(inspect.isclass(entry) and issubclass(entry, nn.Module) for entry in alternatives)


def method_class(name: str) -> type[Method]:
    """The method with this command-line name, or your own method that was named before (`unbraid.use`)."""
    builtin = method_classes()
    if name in builtin:
        return builtin[name]
    if (installed := plugin(ENTRY_POINTS, name)) is not None:
        return require_method(installed.code, name)
    if is_reference(name):
        return require_method(require_known(name, option="--method"), name)
    if inspect.isclass(code := known(name)) and issubclass(code, Method):
        return code
    plugin_classes = {key: entry.code for key, entry in plugins(ENTRY_POINTS).items()}
    return lookup("method", name, builtin | plugin_classes, or_else=", or your own FILE.py:CLASS")


def method_reference(cls: type[Method]) -> str:
    """The text that stands for a method in plans: its name, or the reference of your own class."""
    name, builtin = cls.name(), method_classes()
    if builtin.get(name) is cls or (name not in builtin and plugin_name(ENTRY_POINTS, cls) is not None):
        return name
    return location(use(cls))


def require_method(code: Any, name: str) -> type[Method]:
    """The class; raises unless it is a method that can be trained."""
    if not (inspect.isclass(code) and issubclass(code, Method)):
        raise ValueError(
            f"{name} is no method. A method is a class that derives from unbraid.Method and defines `loss`, `encode` "
            "and `strands`."
        )
    if missing := sorted(code.__abstractmethods__):
        raise ValueError(f"The method {name} must define {', '.join(missing)}.")
    return code


@functools.cache
def method_classes() -> dict[str, type[Method]]:
    """Every method of Unbraid by its command-line name."""
    from unbraid import methods

    exported = [getattr(methods, entry) for entry in methods.__all__]
    concrete = [
        entry
        for entry in exported
        if inspect.isclass(entry) and issubclass(entry, Method) and not inspect.isabstract(entry)
    ]
    return {cls.name(): cls for cls in concrete}
