"""Whether faster steps train the same models: scores over seeds of eager, captured, compiled and bf16 training.

    python benchmarks/gpu_scores.py [--method beta-vae] [--data dsprites] [--steps 6000] [--seeds 5]

Every form trains the same seeds; the table has mean and spread of each score, and whether the mean of a form lies
within the spread of eager training in float32. Eager runs share the device as processes, the others as a population.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from unbraid.data.dataset import Dataset
from unbraid.evaluation.evaluate import evaluate
from unbraid.methods import method_class
from unbraid.runs.folder import Run
from unbraid.runs.model import load
from unbraid.studies.plan import Plan, replace
from unbraid.training.population import train_population

FORMS: dict[str, tuple[str, bool]] = {
    "graph": ("float32", False),
    "compiled": ("float32", True),
    "graph bf16": ("bf16", False),
    "compiled bf16": ("bf16", True),
}
METRICS = ("reconstruction", "kl", "mig", "modularity", "gaussian_total_correlation")


def eager(plan: Plan, folder: Path) -> None:
    reason = "eager steps are what is compared with"
    method_class(plan.method).cuda_graph_unsupported = lambda self, dataset: reason
    plan.run(folder, device="cuda", quiet=True)


def scores(run: Run, dataset: Dataset) -> dict[str, float]:
    found = evaluate(load(run.folder).method, dataset, METRICS, protocol="fast", seed=0)
    return {score["metric"]: score["value"] for score in found if score["metric"] in METRICS}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--method", default="beta-vae")
    parser.add_argument("--data", default="dsprites")
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--eager", type=int, default=None, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, default=None, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    plan = Plan(arguments.method, arguments.data, {"steps": arguments.steps, "batch_size": 64})
    if arguments.eager is not None:
        eager(replace(plan, seed=arguments.eager), arguments.folder)
        return
    out = Path(tempfile.mkdtemp())
    seeds = range(arguments.seeds)
    processes = [
        subprocess.Popen(
            [sys.executable, *sys.argv, "--eager", str(seed), "--folder", str(out / f"eager-{seed}")]
        )
        for seed in seeds
    ]
    assert all(process.wait() == 0 for process in processes)
    runs: dict[str, list[Run]] = {"eager": [Run(out / f"eager-{seed}") for seed in seeds]}
    for form, (precision, compiled) in FORMS.items():
        plans = [replace(plan, seed=seed, precision=precision) for seed in seeds]
        trained = train_population(plans, out / form, device="cuda", compile=compiled, quiet=True)
        runs[form] = [run for run in trained if isinstance(run, Run)]
    dataset = plan.dataset()
    table = {form: [scores(run, dataset) for run in done] for form, done in runs.items()}
    for form, rows in table.items():
        cells = []
        for metric in METRICS:
            base, values = [row[metric] for row in table["eager"]], [row[metric] for row in rows]
            mean, spread = statistics.fmean(values), statistics.stdev(values)
            within = abs(mean - statistics.fmean(base)) <= statistics.stdev(base)
            cells.append(f"{metric} {mean:.4g} ± {spread:.2g}{'' if within else ' (outside)'}")
        print(f"{form:<14} n={len(rows)}  " + "  ".join(cells), flush=True)
    print(json.dumps(table))


if __name__ == "__main__":
    main()
