"""From nothing to every score: β-VAE on dSprites for 300,000 steps, then all metrics, with the time of each part.

python benchmarks/end_to_end.py [--steps 300000] [--precision bf16] [--device cuda]
"""

import argparse
import tempfile
import time
from pathlib import Path

from unbraid.evaluation.evaluate import available_metrics, evaluate
from unbraid.runs.model import load
from unbraid.studies.plan import Plan
from unbraid.training.train import train

# All that score a code against factors; t-SNE and linear probes of classes are another matter.
METRICS = [name for name in available_metrics() if name not in ("clustering", "group_accuracy", "probe")]


def main() -> None:
    began = time.perf_counter()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default="dsprites")
    parser.add_argument("--steps", type=int, default=300_000)
    parser.add_argument("--precision", default="bf16")
    parser.add_argument("--device", default="cuda")
    arguments = parser.parse_args()
    options = {"steps": arguments.steps, "precision": arguments.precision, "batch_size": 64, "seed": 0}
    plan = Plan("beta-vae", arguments.data, options)
    dataset = plan.dataset()
    opened = time.perf_counter()
    folder = Path(tempfile.mkdtemp()) / "run"
    run = train(
        plan.build(dataset), dataset, out=folder, device=arguments.device, **plan.explicit_options("training")
    )
    trained = time.perf_counter()
    lines = run.history()
    first, last = next(line for line in lines if line["step"] >= min(1000, arguments.steps)), lines[-1]
    speed = (last["step"] - first["step"]) / max(last["seconds"] - first["seconds"], 1e-9)
    method = load(run.folder, device=arguments.device).method
    scores = evaluate(method, dataset, METRICS, protocol="fast")
    scored = time.perf_counter()
    for score in scores:
        if "." not in score["metric"]:
            print(
                f"  {score['metric']:<24} {score['value']:8.4f}   {score['seconds']:6.1f} s   {score['protocol']}"
            )
    print(
        f"opened in {opened - began:.1f} s, trained in {trained - opened:.1f} s ({speed:,.0f} steps/s once under way), "
        f"scored in {scored - trained:.1f} s: {scored - began:.1f} s in all"
    )


if __name__ == "__main__":
    main()
