"""Speed of training on a CPU: Unbraid, a hand-written PyTorch loop, disent and pythae, in one run.

    python benchmarks/train_speed.py [--peers FOLDER] [--threads 2] [--rounds 15] [--quick] [--json]

β-VAE and FactorVAE with the same layers and weights, images, batch and Adam at 1e-4. Each loop lives in a
process of its own, so that what one library asks of its process does not help or hurt another, and the
processes take turns, a few steps each, so that a busy machine disturbs all alike; numbers are medians over
the rounds. The hand-written loop is what a careful person writes: images from a uint8 array, fused Adam,
gradients set to None, the critic on detached codes. Between them a matrix product measures what the cores
can do at most. Beside the wall clock stands processor time, which other people's processes disturb less.
`training_peers.py` says what of the peers is timed; disent has no FactorVAE.
"""

import argparse
import json
import multiprocessing
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # for all of them; read when torch is first imported

import torch
import training_peers as peers
from torch import Generator, Tensor, nn
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from unbraid.data import Dataset, IIDDraw
from unbraid.data.sprites import sprites
from unbraid.methods import BetaVAE, FactorVAE
from unbraid.methods.base import build_method
from unbraid.nn.strided_conv import DownConv, UpConv
from unbraid.training.process import keep_freed_memory
from unbraid.training.step import TrainingStep

METHODS = {"beta-vae": BetaVAE, "factor-vae": FactorVAE}
LOOPS = {
    "beta-vae": ("unbraid", "unbraid, rendering", "hand-written", "disent", "pythae"),
    "factor-vae": ("unbraid", "hand-written", "pythae"),
}
PEERS = ("disent", "pythae")
Step = Callable[[], object]


class Task(NamedTuple):
    """What one process times."""

    loop: str  # one of LOOPS, or `peak`
    method: str
    size: int
    batch: int
    threads: int
    folder: str | None  # where the peers are installed


def stored(size: int, count: int = 8192) -> Dataset:
    """Rendered sprites as an array of bytes."""
    source = sprites(image_size=size)
    rows = source.sample_indices(count, Generator().manual_seed(0))
    return Dataset((source.observe(rows) * 255).round().to(torch.uint8), name="stored sprites")


def model(method: str, dataset: Dataset) -> Any:
    torch.manual_seed(0)
    return build_method(METHODS[method], dataset.shape, n=len(dataset))


def plain(method: Any) -> Any:
    """With PyTorch's own convolutions of the same sizes and weights, as everyone else has them."""
    for layer in method.modules():
        for ours, theirs in ((DownConv, nn.Conv2d), (UpConv, nn.ConvTranspose2d)):
            if type(layer) is ours:
                layer.__class__ = theirs
    return method


def images_of(dataset: Dataset) -> Callable[[int], Tensor]:
    """The batches that everyone but Unbraid is given."""
    images = dataset.source
    assert isinstance(images, Tensor)
    return lambda count: images[torch.randint(len(images), (count,))].float() / 255


def hand_written_beta_vae(dataset: Dataset, batch: int) -> Step:
    """A β-VAE's step as one would write it without a library."""
    method, images = plain(model("beta-vae", dataset)), images_of(dataset)
    encoder, decoder = method.encoder, method.decoder
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-4, fused=True)

    def step() -> Tensor:
        x = images(batch)
        mean, logvar = encoder(x)
        z = mean + torch.exp(0.5 * logvar) * torch.randn_like(mean)
        nll = F.binary_cross_entropy_with_logits(decoder(z), x, reduction="sum") / batch
        kl = 0.5 * (mean.square() + logvar.exp() - logvar - 1).sum(1).mean()
        loss = nll + method.beta * kl
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss

    return step


def hand_written_factor_vae(dataset: Dataset, batch: int) -> Step:
    """A FactorVAE's step: the autoencoder's update, then the critic's on detached codes."""
    method, images = plain(model("factor-vae", dataset)), images_of(dataset)
    encoder, decoder, critic = method.encoder, method.decoder, method.critic
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-4, fused=True)
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-4, betas=(0.5, 0.9), fused=True)
    original, shuffled = torch.zeros(batch, dtype=torch.long), torch.ones(batch, dtype=torch.long)

    def sample(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        mean, logvar = encoder(x)
        return mean + torch.exp(0.5 * logvar) * torch.randn_like(mean), mean, logvar

    def step() -> Tensor:
        x = images(batch)
        z, mean, logvar = sample(x)
        nll = F.binary_cross_entropy_with_logits(decoder(z), x, reduction="sum") / batch
        kl = 0.5 * (mean.square() + logvar.exp() - logvar - 1).sum(1).mean()
        logits = critic(z)
        loss = nll + kl + method.gamma * (logits[:, 0] - logits[:, 1]).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            other, *_ = sample(images(batch))
            permuted = torch.stack([column[torch.randperm(batch)] for column in other.unbind(1)], 1)
        error = F.cross_entropy(critic(z.detach()), original) + F.cross_entropy(critic(permuted), shuffled)
        critic_optimizer.zero_grad(set_to_none=True)
        (0.5 * error).backward()
        critic_optimizer.step()
        return loss

    return step


def unbraid_step(method: str, dataset: Dataset, batch: int) -> Step:
    """A step of Unbraid's loop, in a process that is set up as the command line's is."""
    keep_freed_memory()
    game, draw, generator = TrainingStep(model(method, dataset)), IIDDraw(), Generator().manual_seed(0)
    return lambda: game.run(lambda: draw(dataset, batch, generator, game.method.step), 0)


def peer_step(task: Task, dataset: Dataset) -> Step:
    if task.folder is not None:
        sys.path.append(task.folder)
    method, images = plain(model(task.method, dataset)), images_of(dataset)
    networks = (method.encoder, method.decoder)
    if task.method == "factor-vae":
        return peers.pythae_factor_vae(*networks, method.critic, images, task.batch, method.gamma)
    make = peers.disent_beta_vae if task.loop == "disent" else peers.pythae_beta_vae
    return make(*networks, images, task.batch, method.beta)


def product(side: int = 2048) -> Step:
    """A matrix product large enough to keep the cores busy with nothing else."""
    a, b, c = torch.rand(side, side), torch.rand(side, side), torch.empty(side, side)
    return lambda: torch.mm(a, b, out=c)


def step_of(task: Task) -> Step:
    if task.loop == "peak":
        return product()
    if task.loop == "unbraid, rendering":
        return unbraid_step(task.method, sprites(image_size=task.size), task.batch)
    dataset = stored(task.size)
    if task.loop == "unbraid":
        return unbraid_step(task.method, dataset, task.batch)
    if task.loop == "hand-written":
        make = hand_written_beta_vae if task.method == "beta-vae" else hand_written_factor_vae
        return make(dataset, task.batch)
    return peer_step(task, dataset)


def readings() -> tuple[float, float, int]:
    """The wall clock, the processor time, and the pages of memory that the system had to hand out."""
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    return time.perf_counter(), time.process_time(), faults


def serve(task: Task, pipe: Connection) -> None:
    """Warms up, says how many operations a step has, then times as many steps as it is told to."""
    torch.set_num_threads(task.threads)
    try:
        step = step_of(task)
    except ImportError as error:
        pipe.send(str(error))
        return
    with FlopCounterMode(display=False) as counter:
        step()
    for _ in range(2):
        step()
    pipe.send(counter.get_total_flops())
    while steps := pipe.recv():
        before = readings()
        for _ in range(steps):
            step()
        pipe.send([(after - earlier) / steps for after, earlier in zip(readings(), before, strict=True)])


class Loop:
    """A process that takes its turns."""

    def __init__(self, task: Task) -> None:
        self.name, self.times = task.loop, []
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(task, theirs), daemon=True)
        self.process.start()
        answer = self.pipe.recv()
        self.missing, self.operations = (answer, 0) if isinstance(answer, str) else (None, answer)

    def turn(self, steps: int) -> None:
        self.pipe.send(steps)
        self.times.append(self.pipe.recv())

    def close(self) -> None:
        if self.missing is None:
            self.pipe.send(0)
        self.process.join()

    def result(self) -> dict[str, Any]:
        """Medians over the rounds, and how far the rounds of the middle half lie apart."""
        walls, processor, faults = zip(*self.times, strict=True)
        low, middle, high = statistics.quantiles(walls, n=4)
        return {
            "steps_per_second": 1 / middle,
            "processor_ms": 1e3 * statistics.median(processor),
            "page_faults": statistics.median(faults),
            "spread": (high - low) / middle,
            "operations": self.operations,
            "operations_per_second": self.operations / middle,
            "operations_per_processor_second": self.operations / statistics.median(processor),
        }


def race(method: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Every loop of a method in turns; the results by loop, and what is missing."""
    facts = (method, arguments.image_size, arguments.batch_size, arguments.threads, arguments.peers)
    loops = [Loop(Task(name, *facts)) for name in (*LOOPS[method], "peak")]
    running = [loop for loop in loops if loop.missing is None]
    for index in range(arguments.rounds):
        for loop in running if index % 2 == 0 else running[::-1]:
            loop.turn(arguments.steps)
    for loop in loops:
        loop.close()
    results = {loop.name: loop.result() for loop in running}
    peak, ours = results["peak"], results["unbraid"]
    summary: dict[str, Any] = {"loops": results, "missing": {x.name: x.missing for x in loops if x.missing}}
    for clock, key in (("wall", "operations_per_second"), ("processor", "operations_per_processor_second")):
        summary[f"share_of_peak_{clock}"] = ours[key] / peak[key]
    rivals = [name for name in PEERS if name in results]
    for name in ("hand-written", *rivals):
        results[name]["unbraid_ratio_wall"] = ours["steps_per_second"] / results[name]["steps_per_second"]
        results[name]["unbraid_ratio_processor"] = results[name]["processor_ms"] / ours["processor_ms"]
    if rivals:
        summary["fastest_peer"] = min(rivals, key=lambda name: results[name]["unbraid_ratio_wall"])
    return summary


def show(method: str, summary: dict[str, Any], arguments: argparse.Namespace) -> None:
    side = f"{arguments.image_size}×{arguments.image_size}"
    print(
        f"{method}, {side}, batch {arguments.batch_size}, threads: {arguments.threads}, torch {torch.__version__}"
    )
    print(
        f"  {'':<20} {'steps/s':>8} {'spread':>7} {'processor':>10} {'faults':>7}   unbraid is … times as fast"
    )
    for name, result in summary["loops"].items():
        if name == "peak":
            continue
        line = f"  {name:<20} {result['steps_per_second']:8.2f} {result['spread']:7.0%}"
        line += f" {result['processor_ms']:7.1f} ms {result['page_faults']:7.0f}"
        if "unbraid_ratio_wall" in result:
            line += f"   {result['unbraid_ratio_wall']:.2f} by the wall clock, "
            line += f"{result['unbraid_ratio_processor']:.2f} by processor time"
        print(line)
    if "fastest_peer" in summary:
        fastest = summary["fastest_peer"]
        ratio = summary["loops"][fastest]["unbraid_ratio_wall"]
        print(f"  {ratio:.2f} times as fast as the fastest peer, {fastest}")
    peak, ours = summary["loops"]["peak"], summary["loops"]["unbraid"]
    print(
        f"  a step is {ours['operations'] / 1e9:.2f} Gflop; the cores' matrix peak "
        f"{peak['operations_per_second'] / 1e9:.0f} Gflop/s; unbraid reaches "
        f"{summary['share_of_peak_wall']:.0%} of it ({summary['share_of_peak_processor']:.0%} by processor time)"
    )
    for name, reason in summary["missing"].items():
        print(f"  {name} is not there ({reason}): {peers.INSTALL.format(peers.NEEDS[name])}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--method", choices=METHODS, help="one of them; both by default")
    parser.add_argument("--image-size", type=int, default=64)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--steps", type=int, default=5, help="steps a round")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--peers", help="a folder in which disent and pythae are installed")
    parser.add_argument("--quick", action="store_true", help="3 rounds of 2 steps: does it run?")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.rounds, arguments.steps = 3, 2
    chosen = [arguments.method] if arguments.method else list(METHODS)
    results = {}
    for method in chosen:
        results[method] = race(method, arguments)
        if not arguments.json:
            show(method, results[method], arguments)
    if arguments.json:
        print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
