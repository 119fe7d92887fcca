"""Players and their updates, src/unbraid/training/step.py."""

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from unbraid.methods import BetaVAE
from unbraid.methods.base import Method, Player, build_method
from unbraid.optimizers import SGD, Adam, Optimizer, RMSprop
from unbraid.schedules import Linear
from unbraid.strands import Strands
from unbraid.training.step import NonFiniteDetector, TrainingStep
from unbraid.types import Batch, Codes, Observations, Terms


class Numbers(Method[Batch]):
    """Two numbers that learn."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Parameter(torch.zeros(())), nn.Parameter(torch.zeros(()))

    @property
    def strands(self) -> Strands:
        return Strands.from_sizes(codes=1)

    def encode(self, x: Observations, condition: Tensor | None = None) -> Codes:
        return x


class Duel(Numbers):
    """a is drawn towards the data, b towards a; what each has seen is noted."""

    def __init__(self, *, updates: int = 1, batches: int = 1, start: int = 0) -> None:
        super().__init__()
        self.updates, self.batches, self.start = updates, batches, start
        self.seen: list[tuple[str, tuple[float, ...]]] = []

    def loss(self, batch: Batch) -> Terms:
        self.seen.append(("a", (float(batch.x[0, 0]),)))
        return Terms(0.5 * (self.a - batch.x.mean()).square(), {})

    def chase(self, *batches: Batch) -> Terms:
        self.seen.append(("b", tuple(float(batch.x[0, 0]) for batch in batches)))
        return Terms(0.5 * (self.b - self.a).square(), {})

    def players(self) -> tuple[Player, ...]:
        return (
            Player("first", [self.a], self.loss, SGD(0.5)),
            Player("second", [self.b], self.chase, SGD(0.5), self.updates, self.batches, self.start),
        )


class InTurn(Numbers):
    """Both are drawn from 1 to the data, a up to step 50 and then b."""

    def __init__(self) -> None:
        super().__init__()
        nn.init.ones_(self.a)
        nn.init.ones_(self.b)

    def loss(self, batch: Batch) -> Terms:
        return Terms(sum(0.5 * (own - batch.x.mean()).square() for own in (self.a, self.b)), {})

    def players(self) -> tuple[Player, ...]:
        return (Player("model", [self.a, self.b], self.loss, frozen=self.frozen),)

    def frozen(self, step: int) -> list[nn.Parameter]:
        return [self.b] if step < 50 else [self.a]


class Counter:
    """Batches that hold 1, 2, 3, …"""

    def __init__(self) -> None:
        self.drawn = 0

    def __call__(self) -> Batch:
        self.drawn += 1
        return Batch(torch.full((2, 1), float(self.drawn)))


def test_each_player_is_updated_after_those_before_it_and_changes_only_its_own_parameters() -> None:
    method = Duel()
    TrainingStep(method).run(Counter(), 0)
    assert_close(method.a.data, torch.tensor(0.5))  # halfway to 1
    assert_close(method.b.data, torch.tensor(0.25))  # halfway to the a that has moved
    assert method.a.grad is None and method.b.grad is None
    assert int(method.step) == 1


def test_first_updates_share_a_batch_and_further_ones_draw_fresh_ones() -> None:
    method, draw = Duel(updates=2, batches=2), Counter()
    TrainingStep(method).run(draw, 0)
    assert method.seen == [("a", (1.0,)), ("b", (1.0, 2.0)), ("b", (3.0, 4.0))]


class Handing(Duel):
    """The second player takes the mean that the first one's loss computed, in its first update."""

    def loss(self, batch: Batch) -> Terms:
        mean = batch.x.mean()
        return Terms(0.5 * (self.a - mean).square(), {}, cached=(mean,))

    def chase(self, *given: Any) -> Terms:
        *batches, last = given
        mean = last if isinstance(last, Tensor) else -last.x.mean()
        self.seen.append(("b", (len(batches), float(mean))))
        return Terms(0.5 * (self.b - mean).square(), {})

    def players(self) -> tuple[Player, ...]:
        first, second = super().players()
        return first, replace(second, reuses="first")


def test_a_player_reuses_what_one_before_it_cached() -> None:
    method = Handing(updates=2)
    TrainingStep(method).run(Counter(), 0)
    # The first update has batch 1 and its mean; the second a fresh batch alone.
    assert method.seen == [("b", (1, 1.0)), ("b", (0, -2.0))]


def test_a_player_waits_for_its_start_step() -> None:
    method = Duel(start=1)
    training_step, draw = TrainingStep(method), Counter()
    assert set(training_step.run(draw, 0)) == {"first"}
    assert set(training_step.run(draw, 1)) == {"first", "second"}


def test_an_optimizer_given_takes_the_place_of_the_first_players() -> None:
    method = Duel()
    TrainingStep(method, optimizer=SGD(1.0)).run(Counter(), 0)
    assert_close(method.a.data, torch.tensor(1.0))
    assert_close(method.b.data, torch.tensor(0.5))


def test_the_schedule_scales_every_players_learning_rate() -> None:
    method = Duel()
    method.step += 1
    TrainingStep(method, lr_schedule=Linear(1.0, 0.0, 2)).run(Counter(), 1)  # halfway: rates are halved
    assert_close(method.a.data, torch.tensor(0.25))
    assert_close(method.b.data, torch.tensor(0.0625))


def test_clipping_bounds_the_gradient() -> None:
    method = Duel()
    TrainingStep(method, grad_clip=0.1).run(Counter(), 0)
    assert_close(method.a.data, torch.tensor(0.05), atol=1e-6, rtol=0)


def test_a_restored_state_continues_alike() -> None:
    def play(training_step: TrainingStep, steps: range) -> None:
        for step in steps:
            batch = Batch(torch.full((2, 1), float(step)))
            training_step.run(lambda batch=batch: batch, step)

    whole, first = Duel(), Duel()
    momentum: dict[str, Any] = {"optimizer": SGD(0.1, momentum=0.9)}
    play(TrainingStep(whole, **momentum), range(6))
    interrupted = TrainingStep(first, **momentum)
    play(interrupted, range(3))
    state = {name: tensor.clone() for name, tensor in interrupted.state().items()}
    resumed = TrainingStep(Duel(), **momentum)
    resumed.restore(state)
    play(resumed, range(3, 6))
    assert_close(dict(resumed.method.state_dict()), dict(whole.state_dict()), atol=0, rtol=0)


def test_a_dry_run_leaves_the_method_alone() -> None:
    method = Duel()
    training_step = TrainingStep(method)
    training_step.dry_run_copy().run(Counter(), 0)
    assert_close(method.a.data, torch.tensor(0.0))


def test_a_parameter_has_one_owner() -> None:
    class Greedy(Duel):
        def players(self) -> tuple[Player, ...]:
            return Player("one", [self.a], self.loss), Player("two", [self.a], self.loss)

    with pytest.raises(ValueError, match="own the same parameter"):
        TrainingStep(Greedy())


def test_bf16_computes_losses_under_autocast() -> None:
    seen = []

    class Curious(Duel):
        def loss(self, batch: Batch) -> Terms:
            seen.append(torch.is_autocast_enabled("cpu"))
            return super().loss(batch)

    TrainingStep(Curious(), precision="bf16").run(Counter(), 0)
    TrainingStep(Curious()).run(Counter(), 0)
    assert seen == [True, False]


@pytest.mark.parametrize("optimizer", [Adam(1e-2), SGD(1e-3, momentum=0.9), RMSprop(1e-3)])
def test_steps_equal_those_of_a_plain_loop(optimizer: Optimizer) -> None:
    """Convolutions, whose memory layout changes, against backward and an optimizer that is not fused."""
    torch.manual_seed(0)
    method = build_method(BetaVAE, (1, 32, 32), n=64, latent_dim=3).double()
    plain = copy.deepcopy(method)
    rule = {Adam: torch.optim.Adam, SGD: torch.optim.SGD, RMSprop: torch.optim.RMSprop}[type(optimizer)]
    options = {"momentum": 0.9} if isinstance(optimizer, SGD) else {}
    reference = rule(plain.parameters(), lr=optimizer.lr, foreach=False, **options)
    batch = Batch(torch.rand(4, 1, 32, 32, dtype=torch.float64))
    training_step = TrainingStep(method, optimizer=optimizer)
    for step in range(4):
        if step == 2:  # through a checkpoint
            state = {name: tensor.clone().contiguous() for name, tensor in training_step.state().items()}
            training_step = TrainingStep(method, optimizer=optimizer)
            training_step.restore(state)
        torch.manual_seed(step)
        training_step.run(lambda: batch, step)
        torch.manual_seed(step)
        reference.zero_grad()
        plain.loss(batch).total.backward()
        reference.step()
    trained = {name: value for name, value in method.state_dict().items() if name != "step"}
    expected = {name: plain.state_dict()[name] for name in trained}
    assert_close(trained, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(
    "optimizer",
    [Adam(0.1), Adam(0.1, weight_decay=0.1), SGD(0.1, momentum=0.9, weight_decay=0.1), RMSprop(0.1)],
)
@pytest.mark.parametrize("through", [None, 30, 50])
def test_frozen_parameters_stay_and_start_like_new_ones_when_unfrozen(
    optimizer: Optimizer, through: int | None
) -> None:
    """Neither momentum nor weight decay changes frozen parameters, also through a checkpoint."""
    method, a, b = InTurn(), [], []
    training_step = TrainingStep(method, optimizer=optimizer)
    for step in range(80):
        if step == through:
            state = {name: tensor.clone() for name, tensor in training_step.state().items()}
            training_step = TrainingStep(method, optimizer=optimizer)
            training_step.restore(state)
        training_step.run(lambda: Batch(torch.full((1, 1), 3.0)), step)
        a.append(float(method.a.detach()))
        b.append(float(method.b.detach()))
    assert set(b[:50]) == {1.0} and set(a[50:]) == {a[49]}
    assert len(set(a[:10])) == 10
    assert_close(b[50:], a[:30])


def test_the_graph_key_changes_when_other_parameters_are_frozen() -> None:
    training_step = TrainingStep(InTurn())
    assert (
        training_step.graph_key(0)
        == training_step.graph_key(49)
        != training_step.graph_key(50)
        == training_step.graph_key(1000)
    )


def terms(nll: float, kl: float) -> Terms:
    return Terms(torch.tensor(nll + kl), {"nll": torch.tensor(nll), "kl": torch.tensor(kl)})


def test_finite_terms_pass(tmp_path: Path) -> None:
    watch = NonFiniteDetector()
    watch.record(torch.tensor(1), {"model": terms(1.0, 2.0)})
    watch.raise_if_found(tmp_path)


def test_the_first_bad_step_and_its_terms_are_named(tmp_path: Path) -> None:
    watch = NonFiniteDetector()
    watch.record(torch.tensor(1), {"model": terms(1.0, 2.0)})
    watch.record(torch.tensor(2), {"model": terms(1.0, float("inf"))})
    watch.record(torch.tensor(3), {"model": terms(float("nan"), float("nan"))})
    with pytest.raises(
        FloatingPointError, match=r"loss, kl of model .* at step 2.* There is no checkpoint yet"
    ):
        watch.raise_if_found(tmp_path)
    (tmp_path / "checkpoint.safetensors").touch()
    with pytest.raises(FloatingPointError, match=f"last good checkpoint is in {tmp_path}"):
        watch.raise_if_found(tmp_path)
