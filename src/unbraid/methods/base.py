"""What a method is: a loss on one type of batch, an encoder, strands, and the players of its game."""

import abc
import inspect
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, get_args, get_origin

import torch
from torch import Tensor, nn

from unbraid.nn import Critic, networks
from unbraid.optimisers import Adam, Optimiser
from unbraid.settings import Described
from unbraid.strands import Strands
from unbraid.types import Codes, Observations, Others, Terms

B = TypeVar("B", bound=tuple)  # the type of batch a method learns from


@dataclass(frozen=True)
class Player:
    """One side of a game: what it may change, what it minimises, and how it moves.

    Players move in order within a step; each computes its loss after the moves before it, and only its own
    parameters get a gradient. In every step the first update of each player sees the same batches; every
    further update, fresh ones. A player that `takes` from one before it is also given what that one's loss kept, so
    that it need not compute the same again from the same batches. Some of its parameters may rest in a step: they stay
    as they are, to the bit. When others rest than in the step before, its optimiser begins anew: averages over steps in
    which there was nothing to learn would make Adam's next ones several times its rate.
    """

    name: str
    parameters: Iterable[nn.Parameter]
    loss: Callable[..., Terms]  # of as many batches as `batches`
    optimiser: Optimiser = field(default_factory=Adam)
    updates: int = 1  # a step
    batches: int = 1  # an update
    start: int = 0  # the first step in which it moves
    takes: str = ""  # a player before it, whose `Terms.kept` follow the batches of the first update
    resting: Callable[[int], Iterable[nn.Parameter]] = lambda step: ()  # those that do not learn in a step


class Facts(NamedTuple):
    """What a method is assembled for: what the data has, and what was asked for."""

    shape: tuple[int, ...]  # of one observation
    n: int  # observations
    classes: int  # values of the label; 0 without one
    nuisances: tuple[int, ...]  # values of each known nuisance
    codes: int
    architecture: str


class Method(Described, nn.Module, abc.ABC, Generic[B]):
    """A way to learn a code. Concrete classes are final; networks come in as arguments.

    `step` counts the steps of training for annealed weights; the loop advances it and a checkpoint keeps it.
    """

    batch: type[tuple]  # the type of batch, from `Method[Batch]`
    sizes_strands: ClassVar[bool] = (
        False  # whether its settings say how large each is; there is no `codes` then
    )
    sized_by: ClassVar[str] = "its own options"  # what gives the code its size then, as a person writes it
    not_captured: ClassVar[str | None] = None  # why its steps cannot be recorded as a CUDA graph, if so
    finish_as_drawn: ClassVar[bool] = False  # whether `finish` is given batches as training draws them
    finish_samples: ClassVar[int] = 10_000  # how many observations, or pairs, it is given
    fewest_batches: ClassVar[int] = 0  # for how many batches the data must have observations
    fewest_labels: int = 0  # different ones, that its batches must have
    same_class: ClassVar[bool] = False  # whether the two of a pair must show the same class
    conditional: ClassVar[bool] = False  # whether `given`, the known nuisances, changes what it computes
    closed_form: ClassVar[bool] = (
        False  # whether `fit` finds all there is to find, and no step changes anything
    )
    auxiliary: ClassVar[bool] = False  # whether it is `given` the labels instead
    step: Tensor

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for base in getattr(cls, "__orig_bases__", ()):
            if get_origin(base) is not None and issubclass(get_origin(base), Method):
                (cls.batch,) = get_args(base)

    @classmethod
    def name(cls) -> str:
        """What the method is called on the command line and in runs: `beta-vae`; the class for one's own."""
        package, _, module = cls.__module__.rpartition(".")
        return module.replace("_", "-") if package == "unbraid.methods" else cls.__qualname__

    @classmethod
    def parts(cls, facts: Facts, wanted: Set[str], settings: Mapping[str, Any]) -> dict[str, Any]:
        """The networks and sizes that the constructor asks for and nobody gave.

        Args:
            facts: What they are made for.
            wanted: The constructor's parameters that are not among the settings; others need not be made.
            settings: What was given.
        """
        parts: dict[str, Any] = {"n": facts.n, "classes": facts.classes, "nuisances": facts.nuisances}
        if {"encoder", "decoder"} & wanted:
            parts["encoder"], parts["decoder"] = networks(facts.architecture, facts.shape, facts.codes)
        if "critic" in wanted:
            parts["critic"] = Critic(getattr(settings.get("encoder"), "codes", facts.codes))
        return parts

    @classmethod
    def setting(cls, settings: Mapping[str, Any], name: str) -> Any:
        """One of the constructor's settings: what was given, else its default."""
        return settings.get(name, inspect.signature(cls).parameters[name].default)

    @classmethod
    def given(cls, labels: Tensor | None, nuisances: Tensor | None) -> Tensor | None:
        """Which of these `encode` and `decode` are given: the known nuisances, the labels, or nothing."""
        return nuisances if cls.conditional else labels if cls.auxiliary else None

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("step", torch.zeros((), dtype=torch.long))

    @property
    @abc.abstractmethod
    def strands(self) -> Strands:
        """The named parts of the code."""

    @abc.abstractmethod
    def loss(self, batch: B) -> Terms:
        """What the first player minimises."""

    @abc.abstractmethod
    def encode(self, x: Observations, given: Tensor | None = None) -> Codes:
        """The code of each observation, without noise."""

    def decode(self, codes: Codes, given: Tensor | None = None) -> Observations:
        """The observation of each code, in [0, 1] for images."""
        raise ValueError(f"{type(self).__name__} learns no decoder, so its codes cannot be decoded.")

    def prior(self, size: int) -> Codes:
        """Codes to decode into new observations; standard normal unless a method knows better."""
        return torch.randn(size, self.strands.size, device=self.step.device)

    def fit(self, target: Observations, background: Others) -> None:
        """Finds in one go what a method in closed form has to find; the loop calls it once, before the first step."""
        raise ValueError(f"{type(self).__name__} learns step by step: train it.")

    def players(self) -> tuple[Player, ...]:
        """The sides of the game, in the order in which they move; one by default."""
        return (Player("model", self.parameters(), self.loss),)

    def forward(self, batch: B) -> Terms:  # so that hooks and torch.compile see the loss
        return self.loss(batch)

    def finish(self, batches: Iterable[Any]) -> None:
        """What is worked out once, after the last step, from samples of the data; nothing unless a method says so."""

    def validation(self, batch: Any) -> Terms:
        """What a validation split measures; the loss unless a method knows better."""
        return self.loss(batch)
