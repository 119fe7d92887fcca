"""The training loop, read top to bottom."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Generator, Tensor

from unbraid.data.dataset import Dataset
from unbraid.data.draws import DRAWS, Draw
from unbraid.distributed import launch, processes, rank
from unbraid.interrupts import asked_to_stop
from unbraid.loop import Loop
from unbraid.memory import keep_freed_memory
from unbraid.methods.base import Method
from unbraid.runs import Run, identity, versions, write_json
from unbraid.seeds import derive
from unbraid.settings import describe
from unbraid.tracking import check_tracker
from unbraid.training import Training


def train(
    method: Method,
    dataset: Dataset,
    *,
    out: Path | str,
    draw: Draw | None = None,
    device: str = "auto",
    resume: bool = False,
    start_from: Path | str | None = None,
    checkpoint_seconds: float = 30.0,
    log_every: int = 50,
    devices: int = 1,
    nodes: int = 1,
    compiled: bool | None = None,
    track: str | None = None,
    quiet: bool = False,
    **training: Any,
) -> Run:
    """Trains a method on a dataset and writes a run folder.

    Killed at any moment and called again with `resume`, it ends on a CPU with the very weights of a run that
    was never interrupted.

    Args:
        method: What to train; its weights change in place.
        dataset: What to train on.
        out: The run folder, new or empty, or with `resume` the one to go on with.
        draw: How batches are made; the default one for the method's type of batch otherwise.
        device: auto, cpu, cuda or mps.
        resume: Goes on from the folder's last checkpoint; starts anew when there is none.
        start_from: A finished run whose weights to begin with.
        checkpoint_seconds: The time between two checkpoints.
        log_every: Steps between two lines of history.
        devices: Processes on this machine, one a device; above 1 needs the extra `distributed`.
        nodes: Machines that train together.
        compiled: Whether losses are compiled on a CUDA device; left out, from 50,000 steps, where that pays.
        track: Where the history goes beside the run folder: tensorboard, mlflow or wandb, by its own library.
        quiet: Shows no progress.
        **training: The fields of `Training`: steps, batch, seed, optimiser, …
    """
    check_tracker(track)
    place = launch(device, devices, nodes)
    opened = open_loop(
        method,
        dataset,
        place,
        out=out,
        draw=draw,
        resume=resume,
        start_from=start_from,
        training=training,
        checkpoint_seconds=checkpoint_seconds,
        log_every=log_every,
        compiled=compiled,
        track=track,
        quiet=quiet,
    )
    if isinstance(opened, Run):
        return opened
    with opened.bar, opened.tracker, asked_to_stop() as asked:
        while not opened.done:
            opened.advance(asked)
            opened.settle()
    return opened.finish()


def open_loop(
    method: Method,
    dataset: Dataset,
    place: torch.device,
    *,
    out: Path | str,
    draw: Draw | None,
    resume: bool,
    start_from: Path | str | None,
    training: dict[str, Any],
    log_every: int,
    **how: Any,
) -> Loop | Run:
    """Checks what was asked for and opens the run folder; the run itself when it is finished already."""
    plan = Training(**training).for_data(dataset)
    if log_every < 1:
        raise ValueError(f"Steps between two lines of history must be at least 1; got log_every={log_every}.")
    if plan.batch % processes():
        raise ValueError(f"A batch of {plan.batch} does not divide among {processes()} processes.")
    draw = draw or default_draw(method)
    settings = settings_of(method, dataset, draw, plan, start_from)
    _check_class(method, draw)
    draw.check(dataset)
    _check_labels(method, draw, dataset)
    _check_values(method, dataset)
    dataset, held_out = settle(dataset, place), None
    if plan.validation:
        dataset, held_out = dataset.split(
            plan.validation, Generator().manual_seed(derive(plan.seed, "split"))
        )
        for part in (dataset, held_out):  # what a part cannot give is said before the run begins
            draw.check(part)
            draw(part, 2, Generator(place).manual_seed(0), torch.tensor(plan.steps, device=place))
    if len(dataset) < (fewest := method.fewest_batches * plan.batch):
        raise ValueError(
            f"{method.name()} needs {method.fewest_batches} batches of different observations, {fewest} of them; "
            f"{dataset.name} has {len(dataset)}{' to train on' if plan.validation else ''}: take a smaller batch, "
            f"{'a smaller validation part, ' if plan.validation else ''}or more data."
        )
    fits = getattr(draw, "fits", None)  # whether there is enough for a batch
    if fits is not None and not method.closed_form:
        fits(dataset, plan.batch)
    if start_from is not None:
        _start_from(method, Run(start_from))
    run = _open_run(settings, out, resume)
    method.to(place)
    if place.type == "cpu":
        keep_freed_memory()
    if run.finished:
        method.load_state_dict(run.weights())
        method.eval()
        return run
    if rank() == 0:
        write_json(run.folder / "versions.json", versions(place))
    return Loop(method, dataset, held_out, draw, plan, run, log_every=log_every, **how)


def default_draw(method: Method) -> Draw:
    """The draw that makes the type of batch a method learns from; pairs of one class where it needs them."""
    draw = DRAWS[method.batch]
    return draw(same_class=True) if method.same_class else draw()


def _check_class(method: Method, draw: Draw) -> None:
    """Raises where pairs may differ in their class and the method would exchange it."""
    if method.same_class and not getattr(draw, "same_class", True):
        raise ValueError(
            f"{method.name()} exchanges what tells the class within a pair, so both must be of one class: leave out "
            "--no-same-class, or draw by Pairs(same_class=True)."
        )


def _check_labels(method: Method, draw: Draw, dataset: Dataset) -> None:
    """Raises where the data has too few labels for what the method works out at the end."""
    count = getattr(draw, "labels", None)
    if count is not None and (found := count(dataset)) < method.fewest_labels:
        raise ValueError(
            f"{method.name()} needs views with at least {method.fewest_labels} different labels for what it was asked; "
            f"those of {dataset.name} have {found}: ask for fewer directions, or take other data."
        )


def _check_values(method: Method, dataset: Dataset) -> None:
    """Raises where rows hold values that the likelihood cannot have; images never do."""
    likelihood = getattr(method, "likelihood", None)
    if likelihood is None or dataset.images or not getattr(likelihood, "bounded", False):
        return
    for part in (dataset, dataset.background):
        if part is not None and isinstance(part.source, Tensor):
            low, high = (float(end) / part.white for end in part.source.aminmax())
            if low < 0 or high > 1:
                raise ValueError(
                    f"The likelihood {likelihood.short()} is of values from 0 to 1, and the rows of {part.name} go "
                    f"from {low:.3g} to {high:.3g}: take a normal one (--likelihood normal:1)."
                )


def _open_run(settings: dict[str, Any], out: Path | str, resume: bool) -> Run:
    """Makes or finds the run folder; one process does, and all fail together if it cannot."""
    failure: list[str | None] = [None]
    if rank() == 0:
        try:
            Run.create(out, settings, resume=resume)
        except (ValueError, OSError) as error:
            if processes() == 1:
                raise
            failure = [str(error)]
    if processes() > 1:
        dist.broadcast_object_list(failure)
        if failure[0] is not None:
            raise ValueError(failure[0])
    return Run(out)


def _start_from(method: Method, run: Run) -> None:
    """Takes over the weights of another run; its step is left behind, since schedules belong to the new run."""
    weights, own = run.weights(), method.state_dict()
    if {name: value.shape for name, value in weights.items()} != {
        name: value.shape for name, value in own.items()
    }:
        raise ValueError(
            f"The weights of {run.folder} ({run.method_name}) do not fit this {method.name()}: begin with a run of "
            "the same method, code size and architecture."
        )
    method.load_state_dict(weights)
    method.step.zero_()


def settings_of(
    method: Method, dataset: Dataset, draw: Draw, plan: Training, start_from: Path | str | None = None
) -> dict[str, Any]:
    """Everything that makes two runs the same run."""
    return {
        "method": {"name": method.name(), "arguments": describe(method.arguments)},
        "data": dataset.description(),
        "draw": {"name": type(draw).__name__, "arguments": _fields(draw)},
        "training": _fields(plan),
        "start_from": None if start_from is None else identity(Run(start_from).settings),
    }


def _fields(settings: Any) -> dict[str, Any]:
    return {field.name: describe(getattr(settings, field.name)) for field in fields(settings)}


def settle(dataset: Dataset, place: torch.device) -> Dataset:
    """The dataset on the training device; observations that do not fit there stay where they are."""
    if place.type != "cuda":
        return dataset.to(place)
    free, _ = torch.cuda.mem_get_info(place)
    return dataset.to(place, observations=dataset.bytes < 0.7 * free)
