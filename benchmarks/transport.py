"""What the exact transport of principled contrast costs, beside the step that it is part of.

    python benchmarks/transport.py [--device cuda] [--batch 128] [--seconds 3] [--population 8] [--json]

On a CPU the assignment is SciPy's: its share of an eager step is printed. On a CUDA device it is a kernel of our own,
which keeps one of the many processors of the device busy: an eager step, a captured step and a population are
each timed with the transport and without it, and their differences printed. Without it is the contrast VAE, whose step
is the same but for the transport and a sum of squares. A plan is never carried over to a later step.
"""

import argparse
import json
import time
from collections.abc import Callable

import torch
from torch import Generator

from unbraid.data.dataset import Dataset
from unbraid.data.draws import ContrastDraw
from unbraid.data.grassy_mnist import grassy_mnist
from unbraid.methods import method_class
from unbraid.methods.base import build_method
from unbraid.objectives import squared_w2
from unbraid.training.cuda_graph import WARMUP_STEPS, CUDAGraphStep
from unbraid.training.step import TrainingStep

WITH, WITHOUT = "principled-contrast", "contrast-vae"


def stepper(
    name: str, dataset: Dataset, batch: int, device: torch.device, *, use_graph: bool, seed: int = 0
) -> Callable[[], object]:
    """One step of a method."""
    method = build_method(method_class(name), dataset.shape, seed=seed, **dataset.counts).to(device)
    game, draw, data = TrainingStep(method), ContrastDraw(), Generator(device).manual_seed(seed)

    def step() -> object:
        return game.run(lambda: draw(dataset, batch, data, method.step), 0)

    return CUDAGraphStep(step, device, [data]) if use_graph else step


def milliseconds(step: Callable[[], object], seconds: float, device: torch.device) -> float:
    """The mean time of a step."""
    wait = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    for _ in range(WARMUP_STEPS + 2):
        step()
    wait()
    began, done = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        for _ in range(5):
            step()
        done += 5
        wait()
    return 1e3 * (time.perf_counter() - began) / done


def together(steps: list[Callable[[], object]]) -> Callable[[], object]:
    """One step of each of several captured models, each on its own stream."""
    streams = [torch.cuda.Stream() for _ in steps]

    def turn() -> None:
        for step, stream in zip(steps, streams, strict=True):
            with torch.cuda.stream(stream):
                step()

    return turn


def differences(found: dict[str, float]) -> dict[str, dict[str, float]]:
    """By form, what a step takes longer with the transport: in milliseconds, and in per cent of the step without."""
    forms = [name.removesuffix(f", {WITH}") for name in found if name.endswith(f", {WITH}")]
    without = {form: found[f"{form}, {WITHOUT}"] for form in forms}
    more = {form: found[f"{form}, {WITH}"] - without[form] for form in forms}
    return {form: {"ms": more[form], "per cent": 100 * more[form] / without[form]} for form in forms}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument(
        "--batch-size", type=int, default=128, help="codes of the target, and as many of the background"
    )
    parser.add_argument("--seconds", type=float, default=3.0, help="how long each form is timed")
    parser.add_argument("--population", type=int, default=8, help="models at once, on a CUDA device")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    device, batch, seconds = torch.device(arguments.device), arguments.batch_size, arguments.seconds
    dataset = grassy_mnist(digits="bundled", grass="painted").to(device)
    codes = torch.randn(batch, 16, device=device, requires_grad=True), torch.randn(batch, 16, device=device)
    cost = milliseconds(lambda: squared_w2(*codes).backward(), seconds, device)
    found = {"transport": cost}
    for use_graph in (False, True) if device.type == "cuda" else (False,):
        form = "graph" if use_graph else "eager"
        for name in (WITH, WITHOUT):
            step = stepper(name, dataset, batch, device, use_graph=use_graph)
            found[f"{form}, {name}"] = milliseconds(step, seconds, device)
    if device.type == "cuda" and arguments.population > 1:
        for name in (WITH, WITHOUT):
            steps = [
                stepper(name, dataset, batch, device, use_graph=True, seed=seed)
                for seed in range(arguments.population)
            ]
            for step in steps:
                for _ in range(WARMUP_STEPS + 2):
                    step()
            turn = milliseconds(together(steps), seconds, device)
            found[f"{arguments.population} at once, {name}"] = turn / arguments.population
    share = cost / found[f"eager, {WITH}"]
    more = differences(found)
    if arguments.json:
        print(json.dumps(found | {"share of an eager step": share, "with the transport": more}))
        return
    for name, time_ in found.items():
        print(f"{name}: {time_:.3f} ms")
    for form, difference in more.items():
        print(f"{form}, with the transport: {difference['ms']:+.3f} ms, {difference['per cent']:+.1f} %")
    print(f"The transport alone is {share:.1%} of an eager step at batch {batch}.")
    if device.type == "cuda":
        processors = torch.cuda.get_device_properties(device).multi_processor_count
        print(
            f"Its kernel keeps one of the device's {processors} processors busy; what hides it are kernels of models "
            "on other streams, which run on the others meanwhile. The captured step of one model waits for it."
        )


if __name__ == "__main__":
    main()
