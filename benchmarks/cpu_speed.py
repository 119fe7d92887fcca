"""Training steps on a CPU: each method in Unbraid's loop, and in the eager loop one would write around its losses.

    python benchmarks/cpu_speed.py [--methods sw-vae,…] [--rounds 7] [--steps 3] [--batch-size 64] [--json]

Both have the same losses, weights, data and learning rates. The eager loop has PyTorch's own convolutions, weights laid
out as PyTorch lays them out, and for each player a fused Adam, `backward` and a step. They alternate in one process,
and processor time counts, since other people's processes disturb the wall clock; the ratio is that of the medians.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from gpu_speed import CASES, DATASETS
from torch import Generator
from train_speed import plain

from unbraid.data.dataset import Dataset
from unbraid.data.draws import DRAWS
from unbraid.data.rooms import rooms
from unbraid.data.sprites import sprites
from unbraid.methods import method_class
from unbraid.methods.base import Method, build_method
from unbraid.training.process import keep_freed_memory
from unbraid.training.step import TrainingStep
from unbraid.types import Terms

METHODS = (
    *("beta-vae", "sw-vae", "recon-contrast", "principled-contrast", "cvae"),
    *("subinfomax none", "subinfomax infomin", "subinfomax orthogonality", "subinfomax permuted"),
    *("subinfomax hessian", "independent correlation", "independent dependence"),
    *("intervention", "intervention paper", "intervention plain", "sequential-intervention"),
    "infogan-cr regularized",
)
SMALL = {"architecture": "conv"}  # instead of a ResNet, which is too slow on two cores
Step = Callable[[], object]


def opened(name: str) -> Dataset:
    """What the method learns from: that of the GPU's benchmark, or rooms for pairs."""
    known = CASES.get(name, (name, {}))[0]
    return DATASETS[known]() if known in DATASETS else rooms() if known == "sw-vae" else sprites()


def built(name: str, dataset: Dataset, batch: int) -> tuple[Method, Callable[[], Any]]:
    """The method, and what draws its batches."""
    known, settings = CASES.get(name, (name, {}))
    settings = settings | (SMALL if settings.get("architecture") == "resnet-18" else {})
    method = build_method(method_class(known), dataset.shape, seed=0, **dataset.counts, **settings)
    draw, data = DRAWS[method.batch_type](), Generator().manual_seed(0)
    return method, lambda: draw(dataset, batch, data, method.step)


def ours(method: Method, draw: Callable[[], Any]) -> Step:
    """As `unbraid train` does it."""
    step = TrainingStep(method)
    return lambda: step.run(draw, 0)


def eager(method: Method, draw: Callable[[], Any]) -> Step:
    """Every player's losses, `backward` and an update of its own."""
    sides = [(player, player.optimizer.make(list(player.parameters))) for player in plain(method).players()]

    def step() -> None:
        drawn: list[list[Any]] = []
        moved: dict[str, Terms] = {}
        for player, optimizer in sides:
            for update in range(player.updates):
                while len(drawn) <= update:
                    drawn.append([])
                while len(drawn[update]) < player.batches:
                    drawn[update].append(draw())
                kept = moved[player.takes].cached if update == 0 and player.takes else ()
                terms = player.loss(*drawn[update][: player.batches], *kept)
                method.zero_grad(set_to_none=True)
                terms.total.backward()
                optimizer.step()
                moved[player.name] = terms
        method.step += 1

    return step


def measured(name: str, batch: int, rounds: int, steps: int) -> dict[str, Any]:
    """Milliseconds of processor time a step, of both loops, and how many times as fast ours is."""
    dataset = opened(name)
    loops = {loop.__name__: loop(*built(name, dataset, batch)) for loop in (ours, eager)}
    spent: dict[str, list[float]] = {loop: [] for loop in loops}
    for done in range(rounds + 1):
        for loop, step in loops.items():
            begin = time.process_time()
            for _ in range(steps):
                step()
            if done:  # the first round warms up
                spent[loop].append(1000 * (time.process_time() - begin) / steps)
    times = {loop: statistics.median(values) for loop, values in spent.items()}
    return {"method": name, **times, "ratio": times["eager"] / times["ours"]}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    keep_freed_memory()
    rows = []
    for name in arguments.methods.split(","):
        row = measured(name, arguments.batch_size, arguments.rounds, arguments.steps)
        rows.append(row)
        if not arguments.json:
            print(
                f"{name:26} {row['ours']:8.1f} ms  eager {row['eager']:8.1f} ms  {row['ratio']:.2f}",
                flush=True,
            )
    if arguments.json:
        print(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
