"""The training loop: draw, update every player, log, validate, checkpoint."""

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from typing import Any

import torch
from torch import Generator

from unbraid.data import Dataset, Draw
from unbraid.distributed import any_rank, rank, shard_batch, world_size
from unbraid.files import write_tensors
from unbraid.methods import ClosedForm, HasMeasurements, HasPostTraining, Method
from unbraid.progress import Stopped, progress
from unbraid.runs import Run
from unbraid.seeds import derive_seed
from unbraid.training.checkpoint import (
    FILE_NAME,
    RESTORE,
    History,
    TrainState,
    check_weights_finite,
    load_checkpoint,
    save_checkpoint,
)
from unbraid.training.config import LoopConfig, TrainConfig
from unbraid.training.cuda_graph import CUDAGraphStep, cuda_graph_unsupported
from unbraid.training.estimate import show_estimate
from unbraid.training.measure import measurements
from unbraid.training.post_training import run_post_training, weights_if_ended
from unbraid.training.process import versions
from unbraid.training.step import NonFiniteDetector, TrainingStep, terms_as_floats
from unbraid.training.streams import OwnStream
from unbraid.training.tracking import open_logger
from unbraid.training.validation import validation_loss
from unbraid.types import Observations, Terms

COMPILE_MIN_STEPS = 50_000  # below, compiling (half a minute) costs more time than it saves
ESTIMATE_MIN_STEPS = 20  # below, the estimate would take longer than the training


class Trainer:
    """One training: a method, its data, its run folder, and the loop over steps.

    Args:
        method: The method, on its device.
        dataset: The training data, on the same device.
        draw: How batches are sampled.
        config: How to train.
        run: The run folder; training continues from its checkpoint. Nothing is written before the first step.
        val_dataset: The held-out observations of the validation loss.
        loop: What to show and save on the way.
        varying: Numeric options in which this training differs from others that share the CUDA device, with its own
            stream and noise and without progress; None for a training that runs alone.
    """

    def __init__(
        self,
        method: Method,
        dataset: Dataset,
        draw: Draw,
        config: TrainConfig,
        run: Run,
        *,
        val_dataset: Dataset | None = None,
        loop: LoopConfig,
        varying: frozenset[str] | None = None,
    ) -> None:
        self.method, self.dataset, self.draw, self.config = method.train(), dataset, draw, config
        self.run, self.val_dataset, self.loop, self.varying = run, val_dataset, loop, varying
        self.device, self.alone, self.is_rank_zero = method.step.device, varying is None, rank() == 0
        self.resources = ExitStack()  # what `close` releases, such as the lock of the run folder
        self.title = f"{run.method_name} on {run.data_name}"
        self.terms: dict[str, Terms] = {}
        self.own_stream = nullcontext() if self.alone else OwnStream(self.device)
        with self.own_stream:
            self._open()
        shown = self.alone and self.is_rank_zero and not loop.quiet
        self.bar = progress(self.title, config.steps, start=self.state.step, quiet=not shown)

    def steps(self, stop_requested: Callable[[], bool], *, turn: int | float = math.inf) -> Iterator[None]:
        """Trains to the last step.

        Yields every `turn` steps, and before every wait for the device, so that other trainings can take a turn.
        """
        self.begin()
        while not self.done:
            with self.own_stream:
                self.terms = self._step()  # draws batches and updates every player
                self.state.step += 1
                self.bar.move(self.state.step)
                stop, save = any_rank([stop_requested(), self.checkpoint_is_due], self.device)
            if stop or save or self.is_due or self.state.step % turn == 0:
                yield
                self.record(stop=stop, save=save)

    def begin(self) -> None:
        """Opens the history, fits a method in closed form, and keeps the first weights in a checkpoint."""
        if self.is_rank_zero:
            name = self.loop.logger
            logger = None if name is None else self.resources.enter_context(open_logger(name, self.run))
            self._history = History(self.run, self.state.step, logger and logger.log)
        if self._resumes:
            return
        with self.own_stream:
            if isinstance(self.method, ClosedForm):
                background = self.dataset.background
                self.method.fit(
                    self._all_observations(self.dataset),
                    None if background is None else self._all_observations(background),
                )
            self._save()

    def record(self, *, stop: bool, save: bool) -> None:
        """Logs, validates, keeps and saves what is due after a step; raises if the training is to stop."""
        with self.own_stream:
            if self._logs:
                self._log()
            if self._validates:
                self._validate()
            if self._keeps:
                self._keep()
            if stop or save:
                self._save()
        if stop:
            step, steps = self.state.step, self.config.steps
            raise Stopped(f"Stopped at step {step} of {steps}: continue with --resume.")

    def finish(self) -> Run:
        """Runs the method's post-training hook, if it has one, and writes the last weights."""
        with self.own_stream:
            if isinstance(self.method, HasPostTraining):
                run_post_training(self.method, self.dataset, draw=self.draw, seed=self.config.seed)
            self._save()
            if self.is_rank_zero:
                self.run.finish(self.method.state_dict(), self.state.step)
        self.method.eval()
        return self.run

    def versions(self) -> dict[str, str]:
        """What the weights depend on besides the settings: versions, the device, and numbers of threads by step."""
        return versions(self.device) | {"threads": self.state.threads_by_step()}

    def close(self) -> None:
        """Closes the logger and releases the run folder."""
        self.resources.close()

    @property
    def done(self) -> bool:
        """Whether the last step is done, or the validation loss has not improved for `patience` validations."""
        patience = self.config.patience
        return self.state.step >= self.config.steps or bool(patience and self.state.since_best >= patience)

    def _open(self) -> None:
        """Builds the step, measures it, seeds the generators and restores the checkpoint, in this order."""
        config, device = self.config, self.device
        self.nonfinite = NonFiniteDetector()
        self.uses_graph = self._uses_graph()
        compile = config.steps >= COMPILE_MIN_STEPS if self.loop.compile is None else self.loop.compile
        self.training_step = TrainingStep(
            self.method,
            optimizer=config.first_optimizer(self.method),
            lr_schedule=config.lr_schedule,
            grad_clip=config.grad_clip or None,
            precision=config.precision,
            compiled=self.uses_graph and compile,
            varying=self.varying,
        )
        if self.alone and not self.loop.quiet and config.steps >= ESTIMATE_MIN_STEPS:
            show_estimate(self)
        self.data = Generator(device).manual_seed(derive_seed(config.seed, "data"))
        seed_noise = self.own_stream.seed if isinstance(self.own_stream, OwnStream) else torch.manual_seed
        seed_noise(derive_seed(config.seed, "noise"))
        self._checkpoint = self.run.folder / FILE_NAME
        self._resumes = self._checkpoint.exists()
        self.state = self._restored()
        self._note_threads()
        self._graph_step = CUDAGraphStep(self._eager_step, device, [self.data]) if self.uses_graph else None
        self._history: History | None = None
        self._saved_at = time.monotonic()

    def _restored(self) -> TrainState:
        """The progress in the checkpoint, whose content is restored; that of a new training without a checkpoint."""
        if self._resumes:
            self.run.logged()  # raises for a damaged line
            return load_checkpoint(self._checkpoint, self.training_step, self.data, steps=self.config.steps)
        if self.run.finished:
            raise FileNotFoundError(
                f"{self._checkpoint} is missing, so that the run cannot be extended. {RESTORE}"
            )
        return TrainState()

    def _note_threads(self) -> None:
        """Records the number of threads; a change is printed on a CPU, where the order of sums depends on it."""
        before = self.state.change_threads(now := torch.get_num_threads())
        if before is not None and self.device.type == "cpu" and self.is_rank_zero:
            print(
                f"{self.title}: warning: the run continues with {now} threads instead of {before}, so that its weights "
                f"will differ in their last digits. Set OMP_NUM_THREADS={before} to keep them.",
                file=sys.stderr,
                flush=True,
            )

    def _all_observations(self, dataset: Dataset) -> Observations:
        return dataset.observe(dataset.indices().to(self.device))

    def _step(self) -> dict[str, Terms]:
        if self._graph_step is None:
            return self._eager_step()
        return self._graph_step(self.training_step.graph_key(self.state.step))

    def _eager_step(self) -> dict[str, Terms]:
        terms = self.training_step.run(self.draw_batch, self.state.step)
        self.nonfinite.record(self.method.step, terms)
        return terms

    def draw_batch(self) -> Any:
        return shard_batch(self.draw(self.dataset, self.config.batch_size, self.data, self.method.step))

    @property
    def is_due(self) -> bool:
        """Whether `record` has something to do after this step besides saving."""
        return self._logs or self._validates or self._keeps

    @property
    def _logs(self) -> bool:
        return self.state.step % self.loop.log_every == 0 or self.state.step >= self.config.steps

    @property
    def _validates(self) -> bool:
        never_yet = self.state.step == self.config.steps and self.state.best == math.inf
        return self.val_dataset is not None and (self.state.step % self.config.val_every == 0 or never_yet)

    @property
    def _keeps(self) -> bool:
        return self.state.step in self.config.keep_weights

    @property
    def checkpoint_is_due(self) -> bool:
        return time.monotonic() - self._saved_at > self.loop.checkpoint_seconds

    def _log(self) -> None:
        self.nonfinite.raise_if_found(self.run.folder)
        terms = terms_as_floats(self.terms)
        terms |= measurements(self, self.method) if isinstance(self.method, HasMeasurements) else {}
        if self._history is not None:
            self._history.add(self.state.step, terms)
        self.bar.show(self.state.step, terms)

    def _validate(self) -> None:
        assert self.val_dataset is not None
        loss, state = validation_loss(self.method, self.val_dataset, self.draw, self.config), self.state
        if not math.isfinite(loss):
            raise FloatingPointError(f"Training stopped at step {state.step}: the validation loss is {loss}.")
        improved = loss < state.best
        state.best, state.since_best = min(state.best, loss), 0 if improved else state.since_best + 1
        if improved and self.is_rank_zero:
            write_tensors(self.run.new_path("best.safetensors"), self.method.state_dict())
        if self._history is not None:
            self._history.add(state.step, terms_as_floats(self.terms) | {"validation": loss})

    def _keep(self) -> None:
        """Writes the weights of this step, before any checkpoint that continues from it."""
        self._require_finite()
        weights = weights_if_ended(self.method, self.dataset, draw=self.draw, seed=self.config.seed)
        if self.is_rank_zero:
            self.run.keep(weights, self.state.step)

    def _require_finite(self) -> None:
        self.nonfinite.raise_if_found(self.run.folder)
        check_weights_finite(self.method, self.state.step, self.run.folder)

    def _save(self) -> None:
        self._require_finite()
        if self._history is not None:
            self._history.sync()
            save_checkpoint(self._checkpoint, self.state, self.training_step, self.data)
        self._saved_at = time.monotonic()

    def _uses_graph(self) -> bool:
        """Whether steps run as a CUDA graph: on one CUDA device, since several processes communicate in every step."""
        return self.device.type == "cuda" and world_size() == 1 and self._can_capture()

    def _can_capture(self) -> bool:
        """Whether steps can run as a CUDA graph; the reason is printed once if not."""
        reason = cuda_graph_unsupported(self.method, self.draw, self.dataset, self.device)
        if reason is not None and not self.loop.quiet:
            print(f"{self.title}: steps do not run as a CUDA graph: {reason}.", file=sys.stderr, flush=True)
        return reason is None
