"""Speed of a training step of augmented GIN beside the same step built with FrEIA, in one process.

    python benchmarks/flow_speed.py [--sets 1000] [--rounds 7] [--steps 10] [--images] [--json]

FrEIA (https://github.com/vislearn/FrEIA, `pip install FrEIA`) is the library that GIN was published with. Both have the
sizes of the published code, start as the identity, see the same sets and minimize Eq. 7 with Adam; their first losses
must agree. They take turns, a round of steps each, so that a busy machine disturbs them alike, and the ratio is of the
medians over rounds. FrEIA's soft clamp is that of its own version, which makes no difference in speed.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable

import torch
from torch import Generator, Tensor, nn

from unbraid.data import Dataset, SetDraw, digits, mixture
from unbraid.methods import AugmentedGIN
from unbraid.methods.base import build_method
from unbraid.training.step import TrainingStep

FLOOR = 1e-4


def full(width: int) -> Callable[[int, int], nn.Module]:
    return lambda before, after: _last_at_zero(
        nn.Linear(before, width), nn.Linear(width, width), nn.Linear(width, after)
    )


def convolutional(width: int) -> Callable[[int, int], nn.Module]:
    def layer(before: int, after: int) -> nn.Module:
        return nn.Conv2d(before, after, 3, padding=1)

    return lambda before, after: _last_at_zero(layer(before, width), layer(width, width), layer(width, after))


def _last_at_zero(first: nn.Module, second: nn.Module, last: nn.Module) -> nn.Module:
    for parameter in last.parameters():
        nn.init.zeros_(parameter)
    return nn.Sequential(first, nn.ReLU(), second, nn.ReLU(), last)


def peer(shape: tuple[int, ...]) -> nn.Module:
    """GIN as one builds it with FrEIA."""
    from FrEIA import framework, modules

    flow = framework.SequenceINN(*shape)

    def couple(count: int, subnet: Callable[[int, int], nn.Module]) -> None:
        for _ in range(count):
            flow.append(modules.GINCouplingBlock, subnet_constructor=subnet, clamp=2.0)
            flow.append(modules.PermuteRandom)

    if len(shape) == 1:
        couple(8, full(10))
        return flow
    for width in (16, 32):
        flow.append(modules.IRevNetDownsampling)
        couple(4, convolutional(width))
    flow.append(modules.Flatten)
    couple(2, full(392))
    return flow


def peer_step(dataset: Dataset, sets: int) -> Callable[[], Tensor]:
    """A step as one writes it by hand around FrEIA's flow."""
    flow, draw, generator = peer(dataset.shape), SetDraw(), Generator().manual_seed(0)
    optimizer = torch.optim.Adam(flow.parameters(), lr=1e-2, fused=True)

    def step() -> Tensor:
        x = draw(dataset, sets, generator, torch.tensor(0)).x
        a = x.flatten(0, 1)
        z, _ = flow(a + 0.01 * torch.randn_like(a))
        z = z.view(*x.shape[:2], -1)
        mean = z.mean(1, keepdim=True)
        sigma = z.std(1, correction=0, keepdim=True).clamp(min=FLOOR)
        loss = (0.5 * ((z - mean) / sigma).square() + sigma.log()).sum(2).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss

    return step


def own_step(dataset: Dataset, sets: int) -> Callable[[], Tensor]:
    """A step of Unbraid's loop."""
    method = build_method(AugmentedGIN, dataset.shape, **dataset.counts, min_sigma=FLOOR)
    game, draw, generator = TrainingStep(method), SetDraw(), Generator().manual_seed(0)
    constant = 0.9189385332 * len(method.std)  # ½ log 2π a code, which the hand-written loss leaves out

    def step() -> Tensor:
        moves = game.run(lambda: draw(dataset, sets, generator, method.step), 0)
        return moves["model"].total - constant

    return step


def seconds_a_step(step: Callable[[], object], steps: int) -> float:
    began = time.perf_counter()
    for _ in range(steps):
        step()
    return (time.perf_counter() - began) / steps


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", type=int, help="in a step; 1000 by default, 20 of images")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=10, help="steps a round")
    parser.add_argument("--images", action="store_true", help="digits, not the mixture")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    dataset = digits() if arguments.images else mixture()
    sets = arguments.sets or (20 if arguments.images else 1000)
    loops = {}
    for name, make in {"FrEIA": peer_step, "unbraid": own_step}.items():
        torch.manual_seed(0)
        loops[name] = make(dataset, sets)
    first = {}
    for name, step in loops.items():
        torch.manual_seed(1)
        first[name] = float(step().detach())
    if abs(first["FrEIA"] - first["unbraid"]) > 1e-3 * abs(first["FrEIA"]):
        raise SystemExit(f"The two do not compute the same loss: {first}.")
    times: dict[str, list[float]] = {name: [] for name in loops}
    for index in range(arguments.rounds):
        for name in list(loops) if index % 2 == 0 else list(loops)[::-1]:
            times[name].append(seconds_a_step(loops[name], arguments.steps))
    medians = {name: statistics.median(values) for name, values in times.items()}
    result = {
        "data": dataset.name,
        "sets": sets,
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "first_loss": first,
        "milliseconds": {name: 1e3 * seconds for name, seconds in medians.items()},
        "ratio": medians["FrEIA"] / medians["unbraid"],
    }
    if arguments.json:
        print(json.dumps(result, indent=2))
        return
    print(f"{sets} sets of {dataset.name}, {result['threads']} threads, torch {torch.__version__}")
    for name, seconds in medians.items():
        spread = (max(times[name]) - min(times[name])) / seconds
        print(
            f"  {name:<8} {1e3 * seconds:8.2f} ms a step   spread {spread:.0%}   first loss {first[name]:.4f}"
        )
    print(f"  unbraid is {result['ratio']:.2f} times as fast")


if __name__ == "__main__":
    main()
