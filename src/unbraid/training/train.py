"""Training one method: check, open the run folder, train, write the weights."""

from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import torch
from torch import Generator, Tensor

from unbraid.data import ChecksBatchSize, ChoosesClass, Dataset, Draw, draw_class
from unbraid.distributed import choose_device, init_distributed, on_rank_zero, world_size
from unbraid.files import locked, remove_partial_files
from unbraid.methods import ChecksTraining, ClosedForm, HasLikelihood, Method, needs_same_class
from unbraid.runs import Run, create_folder
from unbraid.seeds import derive_seed
from unbraid.training.config import LoopConfig, TrainConfig, run_plan, run_settings, split_options
from unbraid.training.loop import Trainer
from unbraid.training.process import deterministic_kernels, keep_freed_memory, stop_requested
from unbraid.training.tracking import check_logger

LOCK_SECONDS = 1.0  # how long a process that was killed may need to disappear


def train(
    method: Method,
    dataset: Dataset,
    *,
    out: Path | str,
    draw: Draw | None = None,
    device: str = "auto",
    resume: bool = False,
    init_from: Path | str | None = None,
    devices: int = 1,
    num_nodes: int = 1,
    **options: Any,
) -> Run:
    """Trains a method on a dataset and writes a run folder.

    On a CPU, a run that was killed at any moment and resumed ends with the weights of an uninterrupted run, bit for
    bit.

    Args:
        method: The method; its weights change in place.
        dataset: The training data.
        out: Run folder; must be new or empty unless `resume` is true.
        draw: How batches are sampled; by default the standard draw of the method's batch type.
        device: Device: auto, cpu, cuda, cuda:N or mps.
        resume: Whether to continue from the folder's last checkpoint, or start if there is none.
        init_from: Initial weights from this finished run.
        devices: Number of processes on this machine, one per device; above 1 needs the extra `distributed`.
        num_nodes: Number of machines that train together.
        **options: Fields of `TrainConfig` (steps, batch_size, seed, optimizer, …) and of `LoopConfig`
            (checkpoint_seconds, log_every, compile, logger, quiet).
    """
    config, loop = split_options(options)
    if loop.logger is not None:
        check_logger(loop.logger)
    with deterministic_kernels(config.deterministic, choose_device(device)):
        trainer = open_trainer(
            method,
            dataset,
            init_distributed(device, devices, num_nodes),
            config,
            loop,
            out=out,
            draw=draw,
            resume=resume,
            init_from=init_from,
        )
        if isinstance(trainer, Run):
            return trainer
        with closing(trainer):
            with trainer.bar, stop_requested() as stop:
                for _ in trainer.steps(stop):
                    pass
            return trainer.finish()


def open_trainer(
    method: Method,
    dataset: Dataset,
    device: torch.device,
    config: TrainConfig,
    loop: LoopConfig,
    *,
    out: Path | str,
    draw: Draw | None = None,
    resume: bool = False,
    init_from: Path | str | None = None,
    varying: frozenset[str] | None = None,
) -> Trainer | Run:
    """A training that is ready to begin or to continue; the run if it is finished already."""
    config, draw = config.resolve_steps(dataset), draw or default_draw(method)
    settings, plan = (
        run_settings(method, dataset, draw, config, init_from),
        run_plan(method, dataset, draw, config),
    )
    check_training(method, dataset, draw, config)
    dataset, val_dataset = move_to_device(dataset, device), None
    if config.val_fraction:
        generator = Generator().manual_seed(derive_seed(config.seed, "split"))
        dataset, val_dataset = dataset.split(config.val_fraction, generator)
        check_split((dataset, val_dataset), draw, config, device)
    check_size(method, dataset, draw, config)
    if init_from is not None:
        first = Run(init_from)
        check_columns(dataset, first)
        init_weights_from(method, first)
    method.to(device)
    if device.type == "cpu":
        keep_freed_memory()
    with ExitStack() as resources:
        run = on_rank_zero(lambda: open_run(settings, out, resume=resume, resources=resources))
        if run.complete:
            method.load_state_dict(run.weights())
            method.eval()
            return run
        trainer = Trainer(
            method, dataset, draw, config, run, val_dataset=val_dataset, loop=loop, varying=varying
        )
        documents = {"versions": trainer.versions()} | ({} if plan is None else {"plan": plan})
        on_rank_zero(lambda: run.begin(**documents))
        trainer.resources = resources.pop_all()
    return trainer


def default_draw(method: Method) -> Draw:
    """The standard draw of the method's batch type; of pairs, those of the same class where the method needs them."""
    draw = draw_class(method.batch_type)
    return draw(same_class=True) if needs_same_class(method) else draw()


def move_to_device(dataset: Dataset, device: torch.device) -> Dataset:
    """The dataset on the training device; observations that do not fit there stay in host memory."""
    if device.type != "cuda":
        return dataset.to(device)
    free, _ = torch.cuda.mem_get_info(device)
    return dataset.to(device, observations=dataset.nbytes < 0.7 * free)


def open_run(settings: dict[str, Any], out: Path | str, *, resume: bool, resources: ExitStack) -> Run:
    """The run in a folder that no other process trains in; a complete run is only read.

    Args:
        settings: The settings of the run.
        out: The run folder. Until `Run.begin`, only its lock is written.
        resume: Whether the folder may hold the run already.
        resources: Receives the lock.
    """
    run = Run.prepare(out, settings, resume=resume)
    if run.complete and run.has_moved_files:
        return run
    create_folder(run.folder)
    message = (
        f"Another process is training in {run.folder}. Wait until it has ended, or choose another folder."
    )
    resources.enter_context(locked(run.folder / ".lock", message=message, timeout=LOCK_SECONDS))
    remove_partial_files(run.folder)
    run = Run.prepare(out, settings, resume=resume)  # another process may have ended in the meantime
    run.move_new_files()
    return run


def check_columns(dataset: Dataset, run: Run) -> None:
    """Raises unless the rows of a table have the columns of another run's table, in its order."""
    if dataset.columns is None or run.columns is None or dataset.columns.names == run.columns.names:
        return
    raise ValueError(
        f"--init-from needs the columns of {run.folder} in the same order, because its weights belong to them; "
        f"{dataset.name} has {', '.join(dataset.columns.names[:12])} in place of {', '.join(run.columns.names[:12])}. "
        "Pass the run's table as --reference-table, or reorder the columns."
    )


def init_weights_from(method: Method, run: Run) -> None:
    """Copies the weights of another run. The step stays 0, because schedules belong to the new run."""
    weights, current = run.weights(), method.state_dict()
    shapes = [{name: value.shape for name, value in state.items()} for state in (weights, current)]
    if shapes[0] != shapes[1]:
        raise ValueError(
            f"--init-from needs a run of the same method, code size and architecture: the weights of {run.folder} "
            f"({run.method_name}) do not fit this {method.name()}."
        )
    method.load_state_dict(weights)
    method.step.zero_()


def check_training(method: Method, dataset: Dataset, draw: Draw, config: TrainConfig) -> None:
    """Raises unless the configuration, the draw and the data suit the method."""
    if config.batch_size % world_size():
        raise ValueError(
            f"The batch size must be a multiple of the {world_size()} processes; got {config.batch_size}."
        )
    config.first_optimizer(method)  # raises for an option that the optimizer does not have
    _check_class(method, draw)
    draw.check(dataset)
    _check_values(method, dataset)


def check_split(
    splits: tuple[Dataset, Dataset], draw: Draw, config: TrainConfig, device: torch.device
) -> None:
    """Raises unless batches can be drawn from the training split and from the validation split."""
    for split in splits:
        draw.check(split)
        draw(split, 2, Generator(device).manual_seed(0), torch.tensor(config.steps, device=device))


def check_size(method: Method, dataset: Dataset, draw: Draw, config: TrainConfig) -> None:
    """Raises unless the training split meets the requirements of the method and of the draw."""
    if isinstance(method, ChecksTraining):
        method.check_training(dataset, draw, config.batch_size)
    if isinstance(draw, ChecksBatchSize) and not isinstance(method, ClosedForm):
        draw.check_batch_size(dataset, config.batch_size)


def _check_class(method: Method, draw: Draw) -> None:
    """Raises if the two of a pair may differ in their class although the method swaps the class strand."""
    if isinstance(draw, ChoosesClass) and not draw.same_class and needs_same_class(method):
        raise ValueError(
            f"{method.name()} needs pairs of the same class, because it swaps the class strand. Remove "
            "--no-same-class, or draw with PairDraw(same_class=True)."
        )


def _check_values(method: Method, dataset: Dataset) -> None:
    """Raises if table rows hold values outside the range of the likelihood; images never do."""
    if dataset.images or not isinstance(method, HasLikelihood) or not method.likelihood.bounded:
        return
    for rows in (dataset, dataset.background):
        if rows is not None and isinstance(rows.source, Tensor):
            low, high = (float(end) / rows.max_value for end in rows.source.aminmax())
            if low < 0 or high > 1:
                raise ValueError(
                    f"The likelihood {method.likelihood.short()} needs values from 0 to 1, and the rows of {rows.name} "
                    f"range from {low:.3g} to {high:.3g}. Use a normal likelihood (--likelihood normal:1)."
                )
