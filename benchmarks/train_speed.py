"""Speed of the training loop beside a hand-written eager loop of the same model, data and batch.

    python benchmarks/train_speed.py [--method beta-vae] [--size 64] [--batch 64] [--rounds 7] [--json]

Both loops take turns in one process, a round of steps each, so that a noisy machine disturbs them alike; the
ratio is of the medians over rounds. The hand-written loop is what a careful person writes: the same networks,
images from the same uint8 array, fused Adam, gradients set to None. Then the parts of one of Unbraid's steps.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable

import torch
from torch import Generator, Tensor
from torch.nn import functional

from unbraid.data import Dataset, Samples
from unbraid.data.sprites import sprites
from unbraid.game import Game
from unbraid.methods import BetaVAE
from unbraid.methods.assemble import assemble


def stored(size: int, count: int = 8192) -> Dataset:
    """Rendered sprites as an array of bytes."""
    source = sprites(size=size)
    rows = source.draw(count, Generator().manual_seed(0))
    return Dataset((source.observe(rows) * 255).round().to(torch.uint8), name="stored sprites")


def model(dataset: Dataset) -> BetaVAE:
    torch.manual_seed(0)
    return assemble(BetaVAE, dataset.shape, n=len(dataset))


def hand_written(dataset: Dataset, batch: int) -> Callable[[], Tensor]:
    """A β-VAE's step as one would write it without a library."""
    method = model(dataset)
    encoder, decoder = method.encoder, method.decoder
    optimiser = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-4, fused=True)
    images = dataset.source
    assert isinstance(images, Tensor)

    def step() -> Tensor:
        x = images[torch.randint(len(images), (batch,))].float() / 255
        mean, logvar = encoder(x)
        z = mean + torch.exp(0.5 * logvar) * torch.randn_like(mean)
        nll = functional.binary_cross_entropy_with_logits(decoder(z), x, reduction="sum") / batch
        kl = 0.5 * (mean.square() + logvar.exp() - logvar - 1).sum(1).mean()
        loss = nll + 4.0 * kl
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        return loss

    return step


def unbraid_step(dataset: Dataset, batch: int) -> tuple[Callable[[], object], Game]:
    """A step of Unbraid's loop."""
    game, draw, generator = Game(model(dataset)), Samples(), Generator().manual_seed(0)
    return lambda: game.step(lambda: draw(dataset, batch, generator, game.method.step), 0), game


def seconds_a_step(step: Callable[[], object], steps: int) -> float:
    began = time.perf_counter()
    for _ in range(steps):
        step()
    return (time.perf_counter() - began) / steps


def parts(dataset: Dataset, batch: int, steps: int) -> dict[str, float]:
    """The share of data, forward, backward and optimiser in a step, by timing each alone."""
    game, draw, generator = Game(model(dataset)), Samples(), Generator().manual_seed(0)
    (side,) = game.sides
    taken = dict.fromkeys(("data", "forward", "backward", "optimiser"), 0.0)

    def timed(name: str, action: Callable[[], object]) -> object:
        began = time.perf_counter()
        result = action()
        taken[name] += time.perf_counter() - began
        return result

    for place in range(steps + 2):
        if place == 2:  # the first two warm up
            taken = dict.fromkeys(taken, 0.0)
        x = timed("data", lambda: draw(dataset, batch, generator, game.method.step))
        terms = timed("forward", lambda x=x: side.player.loss(x))
        gradients = timed(
            "backward",
            lambda terms=terms: torch.autograd.grad(terms.total, side.parameters),  # type: ignore[attr-defined]
        )
        for parameter, gradient in zip(side.parameters, gradients, strict=True):  # type: ignore[call-overload]
            parameter.grad = gradient
        timed("optimiser", side.optimiser.step)
    total = sum(taken.values())
    return {name: seconds / total for name, seconds in taken.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=20, help="steps a round")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()

    dataset = stored(arguments.size)
    loops = {
        "hand-written": hand_written(dataset, arguments.batch),
        "unbraid": unbraid_step(dataset, arguments.batch)[0],
        "unbraid, rendering": unbraid_step(sprites(size=arguments.size), arguments.batch)[0],
    }
    times: dict[str, list[float]] = {name: [] for name in loops}
    for step in loops.values():
        seconds_a_step(step, 3)
    for place in range(arguments.rounds):
        names = list(loops) if place % 2 == 0 else list(loops)[::-1]
        for name in names:
            times[name].append(seconds_a_step(loops[name], arguments.steps))
    medians = {name: statistics.median(values) for name, values in times.items()}
    shares = parts(dataset, arguments.batch, arguments.steps)
    result = {
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "steps_per_second": {name: 1 / seconds for name, seconds in medians.items()},
        "ratio": medians["hand-written"] / medians["unbraid"],
        "shares": shares,
    }
    if arguments.json:
        print(json.dumps(result, indent=2))
        return
    print(f"β-VAE, {arguments.size}×{arguments.size}, batch {arguments.batch}, {result['threads']} threads")
    for name, seconds in medians.items():
        spread = (max(times[name]) - min(times[name])) / seconds
        print(f"  {name:<20} {1 / seconds:8.1f} steps/s   {1e3 * seconds:7.2f} ms   spread {spread:.0%}")
    print(f"  unbraid is {result['ratio']:.3f} times as fast as the hand-written loop")
    print("  of a step: " + ", ".join(f"{name} {share:.1%}" for name, share in shares.items()))


if __name__ == "__main__":
    main()
