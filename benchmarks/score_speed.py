"""Seconds of every metric of one model by a protocol, on the clock and of all cores, as it was and as it is.

    PYTHONPATH=src python3 benchmarks/score_speed.py    # every metric that applies; ten minutes of a core
    PYTHONPATH=src python3 benchmarks/score_speed.py --device cuda --processes 16
    PYTHONPATH=src python3 benchmarks/score_speed.py --only dci factor_vae_score beta_vae_score --now

The model is a β-VAE with the conv networks on sprites, which have the factors of dSprites, at 64×64. It is not trained;
its means are scaled to a standard deviation of 1. `before` encodes the factor grid for each metric in calls of 64
combinations, other observations in batches of 512 (on a GPU 4,096), tests the network of variation predictability in
batches of 512, and grows all trees in one process. The first evaluation of a process also loads libraries, so one
small evaluation precedes both.
"""

import argparse
import csv
import functools
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import torch

from unbraid.data import Dataset, open_dataset
from unbraid.evaluation import available_metrics, evaluate, sample
from unbraid.evaluation.sample import Sample
from unbraid.methods import BetaVAE, Method, build_method
from unbraid.metrics import num_processes

HEADINGS = ["metric", "seconds before", "seconds now", "CPU before", "CPU now", "score before", "score now"]
ELSEWHERE = ("clustering", "group_accuracy", "probe")  # of classes, or t-SNE


class Cost(NamedTuple):
    """A score, with its seconds on the clock and of all cores."""

    score: float
    seconds: float
    cpu: float


def model(dataset: Dataset, device: str) -> Method:
    """A β-VAE whose codes vary as those of a trained one do."""
    method = build_method(BetaVAE, dataset.shape, n=len(dataset), latent_dim=10, seed=0)
    codes = Sample(method, dataset, size=2048, seed=9).all_codes
    heads = [module for module in method.encoder.modules() if isinstance(module, torch.nn.Linear)][-1]
    with torch.no_grad():
        scale = torch.from_numpy(1 / codes.std(axis=0))
        heads.weight[: len(scale)] *= scale[:, None]
        heads.bias[: len(scale)] *= scale
    return method.to(device)


@contextmanager
def former() -> Iterator[None]:
    """Codes of the grid and batches as they were."""
    predictability = sys.modules["unbraid.metrics.variation_predictability"]

    def encode_factors(self: Sample) -> Any:
        return lambda factors: self._encode_factors(factors)[
            :, self._dimensions
        ]  # without the attribute `batch`

    def batch_size(shape: Any, device: torch.device) -> int:
        return 4096 if device.type == "cuda" else 512

    def accuracy(network: Any, x: torch.Tensor, y: torch.Tensor) -> float:
        network.eval()
        with torch.no_grad():
            return float(
                sum(
                    (network(a).argmax(1) == b).sum() for a, b in zip(x.split(512), y.split(512), strict=True)
                )
            ) / len(x)

    with (
        mock.patch.object(Sample, "encode_factors", property(encode_factors)),
        mock.patch.object(sample, "batch_size", batch_size),
        mock.patch.object(predictability, "_accuracy", accuracy),
    ):
        yield


def scores(
    method: Method, dataset: Dataset, metrics: list[Any], processes: int | None, protocol: str
) -> dict[str, Cost]:
    """What each metric costs, and all of them together."""
    found: dict[str, Cost] = {}
    start = last = time.perf_counter(), cpu_seconds()

    def show(entries: list[dict[str, Any]]) -> None:
        nonlocal last
        then, last = last, (time.perf_counter(), cpu_seconds())
        name = entries[0]["metric"]
        found[name] = cost = Cost(entries[0]["value"], last[0] - then[0], last[1] - then[1])
        print(
            f"  {name:<28} {cost.score:10.4f} {cost.seconds:8.2f} s {cost.cpu:8.2f} s",
            file=sys.stderr,
            flush=True,
        )

    evaluate(
        method, dataset, metrics, protocol=protocol, processes=processes, skip_missing=True, on_scores=show
    )
    return found | {"all": Cost(np.nan, last[0] - start[0], last[1] - start[1])}


def cpu_seconds() -> float:
    """Of this process and of those that it has waited for."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--processes", type=int, help="of the trees (one per core)")
    parser.add_argument("--threads", type=int, help="of torch (its own number)")
    parser.add_argument("--protocol", default="disentanglement_lib")
    parser.add_argument("--data", default="sprites", help="a dataset of 64×64 images, such as dsprites")
    parser.add_argument("--only", nargs="+", help="these metrics", default=[])
    parser.add_argument("--now", action="store_true", help="only as it is")
    parser.add_argument("--rows", type=Path, help="a CSV file to write the table to, too")
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    dataset = open_dataset(arguments.data)
    method = model(dataset, arguments.device)
    names = arguments.only or [name for name in available_metrics() if name not in ELSEWHERE]
    evaluate(method, dataset, names[:1], num_samples=256, num_test_samples=128, skip_missing=True)
    run = functools.partial(scores, method, dataset, protocol=arguments.protocol)
    before: dict[str, Cost] = {}
    if not arguments.now:
        print("before", file=sys.stderr)
        with former():
            before = run(names, 1)
    print("now", file=sys.stderr)
    now = run(names, arguments.processes)
    print(
        f"{arguments.protocol}, {arguments.data} on {arguments.device}, {os.cpu_count()} cores, "
        f"{num_processes(arguments.processes)} processes, {torch.get_num_threads()} threads, torch {torch.__version__}"
    )
    rows = []
    for name, cost in sorted(now.items(), key=lambda item: item[1].seconds):
        old = before.get(name, Cost(np.nan, np.nan, np.nan))
        times = [f"{seconds:.2f}" for seconds in (old.seconds, cost.seconds, old.cpu, cost.cpu)]
        rows.append(
            [name, *times, *("" if np.isnan(one.score) else f"{one.score:.6f}" for one in (old, cost))]
        )
    for row in [HEADINGS, *rows]:
        print(f"{row[0]:<28}" + "".join(f"{cell:>16}" for cell in row[1:]))
    if arguments.rows:
        with open(arguments.rows, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([HEADINGS, *rows])


if __name__ == "__main__":
    main()
