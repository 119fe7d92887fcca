"""One training on its way: what a step does, and what is done between steps."""

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Generator, Tensor

from unbraid.capture import Captured
from unbraid.data.dataset import Dataset
from unbraid.data.draws import Draw
from unbraid.distributed import mean_over_processes, on_any_process, processes, rank, share_batch
from unbraid.estimate import estimate
from unbraid.finishing import finish
from unbraid.game import Game
from unbraid.methods.base import Method
from unbraid.progress import Progress, progress
from unbraid.runs import History, Run, read_tensors, write_tensors
from unbraid.seeds import derive
from unbraid.tracking import Tracker, open_tracker
from unbraid.training import Training
from unbraid.types import Terms
from unbraid.watch import Watch, check_weights

PAYS_FROM = 50_000  # steps; below, compiling (half a minute) costs more than it saves


class Loop:
    """A method, its game, its data and its run folder; `advance` makes steps, `settle` writes what they did.

    On a CUDA device steps are replayed from a recording and are not waited for before `settle`, so that several
    trainings can share the device: each then has a stream and a source of noise of its own.

    Args:
        method: What is trained, on its device.
        dataset: What it is trained on, on the same device.
        held_out: What validation measures the loss on, if anything.
        draw: How batches are made.
        plan: How to train.
        run: The folder; its checkpoint is gone on from.
        checkpoint_seconds: The time between two checkpoints.
        log_every: Steps between two lines of history.
        compiled: Whether losses are compiled; left out, where that pays.
        track: Where else the history goes: tensorboard, mlflow or wandb.
        varying: Numeric settings by which it differs from others that are trained at once on the same device;
            None when it is alone.
        quiet: Shows no progress.
    """

    def __init__(
        self,
        method: Method,
        dataset: Dataset,
        held_out: Dataset | None,
        draw: Draw,
        plan: Training,
        run: Run,
        *,
        checkpoint_seconds: float,
        log_every: int,
        compiled: bool | None = None,
        track: str | None = None,
        varying: frozenset[str] | None = None,
        quiet: bool = False,
    ) -> None:
        self.method, self.dataset, self.held_out, self.draw = method.train(), dataset, held_out, draw
        self.plan, self.run, self.place = plan, run, method.step.device
        self.checkpoint_seconds, self.log_every = checkpoint_seconds, log_every
        self.chief = rank() == 0
        self.tracker = open_tracker(track, run) if track and self.chief else Tracker()
        self.title = f"{run.method_name} on {run.data_name}"
        self.step, self.best, self.since_best = 0, math.inf, 0
        self.moves: dict[str, Terms] = {}
        alone = varying is None
        self._stream = None if alone else torch.cuda.Stream(self.place)
        self._noise = None if alone else Generator(self.place)
        with self._apart():
            self._open(compiled, varying, quiet)
        self.bar: Progress = progress(
            self.title, plan.steps, start=self.step, quiet=quiet or not alone or not self.chief
        )

    def _open(self, compiled: bool | None, varying: frozenset[str] | None, quiet: bool) -> None:
        plan, place, method = self.plan, self.place, self.method
        alone_on_cuda = place.type == "cuda" and processes() == 1
        recorded = alone_on_cuda and self._can_record(quiet)
        pays = plan.steps >= PAYS_FROM if compiled is None else compiled
        self.game = Game(
            method,
            optimiser=plan.optimiser,
            rate=plan.rate,
            clip=plan.clip or None,
            precision=plan.precision,
            compiled=recorded and pays,
            varying=varying,
        )
        if not quiet and self._stream is None:
            expected = estimate(
                self.game.rehearsal(), self.dataset, self.draw, plan.batch, plan.steps, recorded=recorded
            )
            if self.chief:
                print(f"{self.title}: {expected}", file=sys.stderr, flush=True)
        self._data = Generator(place).manual_seed(derive(plan.seed, "data"))
        if self._noise is None:
            torch.manual_seed(derive(plan.seed, "noise"))
        else:
            self._noise.manual_seed(derive(plan.seed, "noise"))
        self._watch = Watch()
        if self._checkpoint.exists():
            self._restore(read_tensors(self._checkpoint))
        self._play = Captured(self._advance, place, [self._data]) if recorded else None
        self._history = History(self.run, self.step, self.tracker.log) if self.chief else None
        self._saved_at = time.monotonic()

    @property
    def done(self) -> bool:
        """Whether there is nothing left to do, or no hope of a better validation loss."""
        patience = self.plan.patience
        return self.step >= self.plan.steps or bool(patience and self.since_best >= patience)

    def advance(self, asked: Callable[[], bool], *, most: int | None = None) -> None:
        """Makes the steps up to the next line of history; fewer when a checkpoint is due or a stop is asked for, and
        no more than `most`."""
        with self._apart():
            if not self._checkpoint.exists():
                self._begin()
            end = math.inf if most is None else self.step + most
            while True:
                self.moves = (
                    self._advance() if self._play is None else self._play(self.game.lineup(self.step))
                )
                self.step += 1
                self._stop, self._due = on_any_process(
                    [asked(), time.monotonic() - self._saved_at > self.checkpoint_seconds], self.place
                )
                if self._stop or self._due or self._notable or self.step >= end:
                    return

    def settle(self) -> None:
        """Writes history and checkpoint and measures the validation loss, as far as they are due."""
        with self._apart():
            if self.step % self.log_every == 0 or self.step == self.plan.steps:
                self._watch.check(self.run.folder)
                terms = numbers(self.moves)
                if self._history is not None:
                    self._history.add(self.step, terms)
                    self.bar.show(self.step, terms)
            if self._validates:
                self._validate()
            if self._stop or self._due:
                self._save()
                self._saved_at = time.monotonic()
        if self._stop:
            raise KeyboardInterrupt(f"Stopped at step {self.step} of {self.plan.steps}: go on with --resume.")

    def finish(self) -> Run:
        """Lets the method work out what it needs the last weights for, and writes them."""
        with self._apart():
            finish(self.method, self.dataset, draw=self.draw, seed=self.plan.seed)
            self._save()
            if self.chief:
                self.run.finish(self.method.state_dict(), self.step)
        self.method.eval()
        return self.run

    def _begin(self) -> None:
        """What comes before the first step: a method in closed form finds all that it has to find."""
        if self.method.closed_form:
            assert self.dataset.background is not None
            target, background = (
                part.observe(part.rows().to(self.place)) for part in (self.dataset, self.dataset.background)
            )
            self.method.fit(target, background)
        self._save()  # so that the first weights are kept, wherever they came from

    def _advance(self) -> dict[str, Terms]:
        moves = self.game.step(self._batch, self.step)
        self._watch.see(self.method.step, moves)
        return moves

    def _batch(self) -> Any:
        return share_batch(self.draw(self.dataset, self.plan.batch, self._data, self.method.step))

    @property
    def _validates(self) -> bool:
        last = self.step == self.plan.steps and self.best == math.inf
        return self.held_out is not None and (self.step % self.plan.validate_every == 0 or last)

    @property
    def _notable(self) -> bool:
        return self.step % self.log_every == 0 or self._validates or self.step >= self.plan.steps

    def _validate(self) -> None:
        assert self.held_out is not None
        loss = validate(self.method, self.held_out, self.draw, self.plan)
        if not math.isfinite(loss):
            raise FloatingPointError(f"Training stopped at step {self.step}: the validation loss is {loss}.")
        self.since_best = 0 if loss < self.best else self.since_best + 1
        if loss < self.best and self.chief:
            write_tensors(self.run.folder / "best.safetensors", self.method.state_dict())
        self.best = min(self.best, loss)
        if self._history is not None:
            self._history.add(self.step, numbers(self.moves) | {"validation": loss})

    def _save(self) -> None:
        self._watch.check(self.run.folder)
        check_weights(self.method, self.step, self.run.folder)
        state = self.game.state() | {
            "generator.data": self._data.get_state(),
            "generator.noise": torch.get_rng_state(),
        }
        if self.place.type == "cuda":
            state["generator.noise.cuda"] = torch.cuda.get_rng_state(self.place)
        state["step"], state["since_best"] = torch.tensor(self.step), torch.tensor(self.since_best)
        state["best"] = torch.tensor(self.best, dtype=torch.float64)
        if self.chief:
            try:
                write_tensors(self._checkpoint, state)
            except OSError as error:
                raise OSError(f"{error} Then go on with --resume.") from error

    def _restore(self, state: dict[str, torch.Tensor]) -> None:
        self.game.restore(state)
        self._data.set_state(state["generator.data"])
        torch.set_rng_state(state["generator.noise"])
        if self.place.type == "cuda":
            torch.cuda.set_rng_state(state["generator.noise.cuda"], self.place)
        self.step, self.best = int(state["step"]), float(state["best"])
        self.since_best = int(state["since_best"])

    @property
    def _checkpoint(self) -> Any:
        return self.run.folder / "checkpoint.safetensors"

    @property
    def _not_captured(self) -> str | None:
        """Why the method, its draw or its data needs the host in every step, if one does."""
        source = self.dataset.source
        if isinstance(source, Tensor) and source.device != self.place:
            return "the observations do not fit on the device"
        from_draw = getattr(self.draw, "not_captured", None)
        return self.method.not_captured or (from_draw and from_draw(self.dataset))

    def _can_record(self, quiet: bool) -> bool:
        reason = self._not_captured
        if reason is not None and not quiet:
            print(f"{self.title}: steps are not recorded: {reason}.", file=sys.stderr, flush=True)
        return reason is None

    @contextmanager
    def _apart(self) -> Iterator[None]:
        """On this training's own stream, with its own noise, when others share the device."""
        if self._stream is None or self._noise is None:
            yield
            return
        default = torch.cuda.default_generators[torch.cuda.current_device()]
        others = default.graphsafe_get_state()
        default.graphsafe_set_state(self._noise)
        try:
            with torch.cuda.stream(self._stream):
                yield
        finally:
            default.graphsafe_set_state(others)


def validate(method: Method, held_out: Dataset, draw: Draw, plan: Training) -> float:
    """The mean loss over a fixed number of batches of held-out observations, drawn alike every time."""
    device = method.step.device
    generator = Generator(device).manual_seed(derive(plan.seed, "validation"))
    end = torch.tensor(plan.steps, device=device)  # a curriculum in the draw is taken at its end
    batches = max(1, min(50, len(held_out) // plan.batch))
    method.eval()
    with torch.random.fork_rng([device] if device.type == "cuda" else []), torch.no_grad():
        torch.manual_seed(derive(plan.seed, "validation"))
        losses = [
            method.validation(share_batch(draw(held_out, plan.batch, generator, end))).total
            for _ in range(batches)
        ]
    method.train()
    return float(mean_over_processes(torch.stack(losses).mean()))


def numbers(moves: dict[str, Terms]) -> dict[str, float]:
    """The terms as numbers, averaged over the processes; those of later players carry their player's name."""
    named: dict[str, float] = {}
    for place, (player, terms) in enumerate(moves.items()):
        values = mean_over_processes(terms.detached().float()).tolist()
        prefix = f"{player}." if place else ""
        named |= {prefix + name: value for name, value in zip(terms.names, values, strict=True)}
    return named
