"""A study on one machine with a GPU and many cores: runs train in groups on the device, others are scored meanwhile.

    python benchmarks/parallel_study.py RECIPE|FILE.py [--scale paper] [--out FOLDER] [--population 8] [--workers 8]

Scores by forests and translators take longer than training a small model, and need no GPU or little of it. So while
a group of runs is trained at once, those of the groups before are scored by other processes. What is there already is
not repeated. Ends with the study's table.
"""

import argparse
import os
import sys
import time
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import torch

from unbraid.plan import Plan
from unbraid.population import train_population
from unbraid.recipes import Recipe, read_recipe
from unbraid.results import markdown
from unbraid.study import study


def scored(plan: Plan, folder: str, device: str) -> str:
    """Scores one finished run, in a process of its own; what went wrong, if anything."""
    torch.set_num_threads(1)
    torch.set_float32_matmul_precision("high")
    Path(folder).mkdir(parents=True, exist_ok=True)
    if not (runs := Path(folder) / "runs").exists():
        runs.symlink_to(Path(folder).resolve().parents[1] / "runs")  # tables apart, run folders shared
    result = study(Recipe("one", "", (plan,), {}), folder, device=device, quiet=True)
    return "; ".join(failure["error"] for failure in result.failures)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("recipe")
    parser.add_argument("--scale", default="paper")
    parser.add_argument("--out", type=Path, default=Path("runs/parallel"))
    parser.add_argument("--population", type=int, default=8, help="models at once on the device")
    parser.add_argument("--workers", type=int, default=8, help="processes that score")
    parser.add_argument("--device", default="auto")
    arguments = parser.parse_args()
    torch.set_float32_matmul_precision("high")
    os.environ.setdefault("LOKY_MAX_CPU_COUNT", str(max(1, (os.cpu_count() or 1) // arguments.workers)))
    recipe, began = read_recipe(arguments.recipe, arguments.scale), time.perf_counter()
    waiting: dict[str, Future[str]] = {}
    with ProcessPoolExecutor(arguments.workers, mp_context=get_context("spawn")) as pool:
        size = arguments.population
        for start in range(0, len(recipe.runs), size):
            group = recipe.runs[start : start + size]
            outcomes = train_population(
                list({plan.identity: plan for plan in group}.values()),
                arguments.out / "runs",
                at_once=size,
                device=arguments.device,
                resume=True,
                log_every=500,
                quiet=True,
            )
            for plan, outcome in zip(group, outcomes, strict=False):
                if isinstance(outcome, Exception):
                    print(f"{plan}: {type(outcome).__name__}: {outcome}", file=sys.stderr, flush=True)
                else:
                    waiting[str(plan)] = pool.submit(
                        scored, plan, str(arguments.out / "parts" / plan.folder), arguments.device
                    )
            print(f"trained {start + len(group)} after {time.perf_counter() - began:.0f} s", flush=True)
        for plan, future in waiting.items():
            if failure := future.result():
                print(f"{plan}: {failure}", file=sys.stderr, flush=True)
    print(f"scored after {time.perf_counter() - began:.0f} s", flush=True)
    print(markdown(study(recipe, arguments.out, device=arguments.device, quiet=True).rows))


if __name__ == "__main__":
    main()
