"""Stacked trainings: trainings of one kind that take every step together, as one step of stacked models.

Each keeps its own noise, batches, run folder, history and checkpoints, and ends as if it had trained alone, up to the
order of sums. A training that fails ends alone, and the others go on.
"""

import functools
import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from unbraid.progress import Stopped
from unbraid.runs import Run
from unbraid.training.cuda_graph import CaptureError, CUDAGraphStep
from unbraid.training.loop import Trainer
from unbraid.training.stacked_draw import StackedDraw
from unbraid.training.stacked_step import NotStackableError, StackedDetector, StackedStep, terms_of
from unbraid.training.stacked_trial import require_equal_losses
from unbraid.training.streams import OwnStream
from unbraid.types import Terms


class StackedTraining:
    """Trainings of one kind as one; raises `NotStackableError` if they cannot be, and leaves them as they were.

    Args:
        trainers: The trainings, open and at the same step, with noise of their own.
        on_end: Called with the position of a training and its run, or its exception, as soon as it ends.
    """

    def __init__(self, trainers: Sequence[Trainer], on_end: Callable[[int, Run | Exception], None]) -> None:
        lead = trainers[0]
        self.active, self._on_end = dict(enumerate(trainers)), on_end
        own_streams = [trainer.own_stream for trainer in trainers]
        self._streams = [own for own in own_streams if isinstance(own, OwnStream)]
        streams = [own.stream for own in self._streams]
        if lead.device.type == "cuda":
            torch.cuda.synchronize(lead.device)  # the weights were made on other streams
        for own in self._streams:
            own.stream = streams[0]
        try:
            with self._stream():
                self._stack(trainers)
        except Exception as error:
            for own, stream in zip(self._streams, streams, strict=True):
                own.stream = stream
            if isinstance(error, NotStackableError):
                raise
            raise NotStackableError(f"{type(error).__name__}: {error}".partition("\n")[0]) from error
        self._detector = StackedDetector([trainer.nonfinite for trainer in trainers])
        self._device, self._uses_graph = lead.device, lead.uses_graph
        self._graphs: dict[int, CUDAGraphStep[dict[str, Terms]]] = {}  # by number of steps
        self._key: Hashable = None

    def _stack(self, trainers: Sequence[Trainer]) -> None:
        """Stacks the models, and tries their losses; gives each its own tensors again if that fails."""
        lead = trainers[0]
        self._training_step = StackedStep(
            [trainer.training_step for trainer in trainers],
            [own.noise for own in self._streams],
            varying=lead.varying or frozenset(),
            compiled=lead.training_step.compiled,
        )
        try:
            self._draw = StackedDraw(
                [trainer.draw for trainer in trainers],
                [trainer.dataset for trainer in trainers],
                lead.config.batch_size,
                [trainer.data for trainer in trainers],
                self._training_step.buffers["step"],
                same_data=all(trainer.val_dataset is None for trainer in trainers),
            )
            require_equal_losses(self._training_step, self._draw, self._streams)
        except Exception:
            self._training_step.release()
            raise

    def __len__(self) -> int:
        """Number of models on the device."""
        return len(self._streams)

    def steps(self, stop_requested: Callable[[], bool], *, turn: int) -> Iterator[None]:
        """Trains to the last step of each; yields as `Trainer.steps` does.

        Between two yields it takes `turn` steps at once where nothing is due: as one CUDA graph they take one launch.
        """
        for number, trainer in list(self.active.items()):
            self._attempt(number, trainer.begin)
        self._end_those_done()
        while self.active:
            trainers = list(self.active.values())
            count = turn if self._can_take(turn, trainers[0]) else 1
            with self._stream():
                terms = self._take(count)
            for trainer in trainers:
                trainer.state.step += count
            stop, save = stop_requested(), any(trainer.checkpoint_is_due for trainer in trainers)
            if stop or save or any(trainer.is_due for trainer in trainers):
                yield
                self._record(terms, stop=stop, save=save)
            elif trainers[0].state.step % turn == 0:
                yield

    def close(self) -> None:
        """Releases the run folders of trainings that have not ended, and the memory of captured steps."""
        self._graphs.clear()
        for trainer in self.active.values():
            trainer.close()

    @property
    def _step(self) -> int:
        return next(iter(self.active.values())).state.step

    def _can_take(self, count: int, trainer: Trainer) -> bool:
        """Whether nothing is due, and nothing that steps decide on the host changes, before the last of some steps."""
        keys = {self._training_step.graph_key(step) for step in range(self._step, self._step + count)}
        return steps_until_due(trainer) >= count and len(keys) == 1

    def _take(self, count: int) -> dict[str, Terms]:
        """Takes some steps, as one CUDA graph where they can be captured; the terms of the last."""
        if not self._uses_graph:
            return self._take_eagerly(count)
        key = self._training_step.graph_key(self._step)
        if key != self._key:  # optimizers may have started afresh, which captured steps do not know
            self._key, self._graphs = key, {}
        if count not in self._graphs:
            take = functools.partial(self._take_eagerly, count)
            generators = [*self._draw.generators, *self._training_step.noise]
            self._graphs[count] = CUDAGraphStep(take, self._device, generators)
        try:
            return self._graphs[count](key)
        except CaptureError as error:
            reason = str(error).partition("\n")[0]
            print(
                f"{len(self)} stacked models do not run as a CUDA graph: {reason}",
                file=sys.stderr,
                flush=True,
            )
            self._uses_graph = False
            self._graphs.clear()
            return self._take_eagerly(count)

    def _take_eagerly(self, count: int) -> dict[str, Terms]:
        terms: dict[str, Terms] = {}
        for step in range(self._step, self._step + count):
            terms = self._training_step.run(self._draw, step)
            self._detector.record(self._training_step.buffers["step"], terms)
        return terms

    def _record(self, stacked: dict[str, Terms], *, stop: bool, save: bool) -> None:
        """Lets every training log, validate and save; stops when all have saved."""
        with self._stream():
            terms = tree_map(_on_host, stacked)  # once for all
        stopped: list[Stopped] = []
        for number, trainer in list(self.active.items()):
            trainer.terms = terms_of(terms, number)
            try:
                self._attempt(number, lambda trainer=trainer: trainer.record(stop=stop, save=save))
            except Stopped as stop_of_one:
                stopped.append(stop_of_one)
        if stopped:
            raise stopped[0]
        self._end_those_done()

    def _end_those_done(self) -> None:
        for number, trainer in list(self.active.items()):
            if trainer.done:
                run = self._attempt(number, trainer.finish)
                if run is not None:
                    self._end(number, run)

    def _attempt(self, number: int, action: Callable[[], Any]) -> Any:
        """The result of what a training does by itself; None if it failed, which ends this training alone."""
        try:
            return action()
        except Exception as error:
            self._end(number, error)
            return None

    def _end(self, number: int, outcome: Run | Exception) -> None:
        self.active.pop(number).close()
        self._on_end(number, outcome)

    def _stream(self) -> AbstractContextManager[Any]:
        stream = self._streams[0].stream
        return nullcontext() if stream is None else torch.cuda.stream(stream)


def steps_until_due(trainer: Trainer) -> int:
    """How many steps a training takes until it ends, logs, validates or keeps weights."""
    step, config = trainer.state.step, trainer.config
    every = [trainer.loop.log_every] + ([] if trainer.val_dataset is None else [config.val_every])
    ends = [config.steps, *(kept for kept in config.keep_weights if kept > step)]
    return min([*(end - step for end in ends), *(period - step % period for period in every)])


def _on_host(tensor: Tensor) -> Tensor:
    return tensor.detach().cpu()
