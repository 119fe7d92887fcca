"""The training loop, read top to bottom."""

import math
import sys
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Generator

from unbraid.data.dataset import Dataset
from unbraid.data.draws import DRAWS, Draw
from unbraid.distributed import launch, mean_over_processes, on_any_process, processes, rank, share_batch
from unbraid.estimate import estimate
from unbraid.game import Game
from unbraid.interrupts import asked_to_stop
from unbraid.methods.base import Method
from unbraid.progress import progress
from unbraid.runs import History, Run, identity, read_tensors, versions, write_json, write_tensors
from unbraid.seeds import derive
from unbraid.settings import describe
from unbraid.training import Training
from unbraid.types import Terms
from unbraid.watch import Watch, check_weights


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
        quiet: Shows no progress.
        **training: The fields of `Training`: steps, batch, seed, optimiser, …
    """
    plan = Training(**training).for_data(dataset)
    if log_every < 1:
        raise ValueError(f"Steps between two lines of history must be at least 1; got log_every={log_every}.")
    draw = draw or default_draw(method)
    place = launch(device, devices, nodes)
    if plan.batch % processes():
        raise ValueError(f"A batch of {plan.batch} does not divide among {processes()} processes.")
    chief = rank() == 0
    settings = settings_of(method, dataset, draw, plan, start_from)
    draw.check(dataset)
    dataset, held_out = _settle(dataset, place), None
    if plan.validation:
        dataset, held_out = dataset.split(
            plan.validation, Generator().manual_seed(derive(plan.seed, "split"))
        )
        for part in (dataset, held_out):  # what a part cannot give is said before the run begins
            draw(part, 2, Generator(place).manual_seed(0), torch.tensor(plan.steps, device=place))
    if start_from is not None:
        _start_from(method, Run(start_from))

    run = _open_run(settings, out, resume)
    if run.finished:
        method.load_state_dict(run.weights())
        method.to(place).eval()
        return run
    if chief:
        write_json(run.folder / "versions.json", versions(place))
    method.to(place).train()
    game = Game(
        method, optimiser=plan.optimiser, rate=plan.rate, clip=plan.clip or None, precision=plan.precision
    )
    title = f"{run.method_name} on {run.data_name}"
    if not quiet:
        expected = estimate(game.rehearsal(), dataset, draw, plan.batch, plan.steps)
        if chief:
            print(f"{title}: {expected}", file=sys.stderr, flush=True)
    data = Generator(place).manual_seed(derive(plan.seed, "data"))
    torch.manual_seed(derive(plan.seed, "noise"))

    def batch() -> Any:
        return share_batch(draw(dataset, plan.batch, data, method.step))

    step, best, since_best = 0, math.inf, 0
    checkpoint = run.folder / "checkpoint.safetensors"
    if checkpoint.exists():
        state = read_tensors(checkpoint)
        game.restore(state)
        data.set_state(state["generator.data"])
        torch.set_rng_state(state["generator.noise"])
        if place.type == "cuda":
            torch.cuda.set_rng_state(state["generator.noise.cuda"], place)
        step, best, since_best = int(state["step"]), float(state["best"]), int(state["since_best"])
    history = History(run, step) if chief else None
    watch = Watch()
    saved_at = time.monotonic()

    def save() -> None:
        watch.check(run.folder)
        check_weights(method, step, run.folder)
        state = game.state() | {"generator.data": data.get_state(), "generator.noise": torch.get_rng_state()}
        if place.type == "cuda":
            state["generator.noise.cuda"] = torch.cuda.get_rng_state(place)
        state["step"], state["since_best"] = torch.tensor(step), torch.tensor(since_best)
        state["best"] = torch.tensor(best, dtype=torch.float64)
        if chief:
            try:
                write_tensors(checkpoint, state)
            except OSError as error:
                raise OSError(f"{error} Then go on with --resume.") from error

    if not checkpoint.exists():
        save()  # so that the first weights are kept, wherever they came from
    bar = progress(title, plan.steps, start=step, quiet=quiet or not chief)
    with bar, asked_to_stop() as asked:
        while step < plan.steps and not (plan.patience and since_best >= plan.patience):
            moves = game.step(batch, step)
            step += 1
            watch.see(method.step, moves)
            if step % log_every == 0 or step == plan.steps:
                watch.check(run.folder)
                terms = _numbers(moves)
                if history is not None:
                    history.add(step, terms)
                    bar.show(step, terms)
            last = step == plan.steps
            if held_out is not None and (step % plan.validate_every == 0 or (last and best == math.inf)):
                loss = validate(method, held_out, draw, plan)
                if not math.isfinite(loss):
                    raise FloatingPointError(
                        f"Training stopped at step {step}: the validation loss is {loss}."
                    )
                since_best = 0 if loss < best else since_best + 1
                if loss < best and chief:
                    write_tensors(run.folder / "best.safetensors", method.state_dict())
                best = min(best, loss)
                if history is not None:
                    history.add(step, _numbers(moves) | {"validation": loss})
            due = time.monotonic() - saved_at > checkpoint_seconds
            stopping, due = on_any_process([asked(), due], place)
            if stopping or due:
                save()
                saved_at = time.monotonic()
            if stopping:
                raise KeyboardInterrupt(f"Stopped at step {step} of {plan.steps}: go on with --resume.")
    save()
    if chief:
        run.finish(method.state_dict(), step)
    method.eval()
    return run


def default_draw(method: Method) -> Draw:
    """The draw that makes the type of batch a method learns from."""
    return DRAWS[method.batch]()


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


def _numbers(moves: dict[str, Terms]) -> dict[str, float]:
    """The terms as numbers, averaged over the processes; those of later players carry their player's name."""
    numbers: dict[str, float] = {}
    for place, (player, terms) in enumerate(moves.items()):
        values = mean_over_processes(terms.detached().float()).tolist()
        prefix = f"{player}." if place else ""
        numbers |= {prefix + name: value for name, value in zip(terms.names, values, strict=True)}
    return numbers


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


def _settle(dataset: Dataset, place: torch.device) -> Dataset:
    """The dataset on the training device; observations that do not fit there stay where they are."""
    if place.type != "cuda":
        return dataset.to(place)
    free, _ = torch.cuda.mem_get_info(place)
    return dataset.to(place, observations=dataset.bytes < 0.7 * free)
