"""How far metrics without labels depend on their own settings: the ranking of a study's models, setting by setting.

    python benchmarks/metric_robustness.py STUDY [--models 12] [--workers 8] [--out FILE.csv]

For the translation metric its steps, rate and width are changed one at a time, for variation predictability its
epochs, rate and width. Each time the models are scored again on what they were trained on, and the ranking is compared
by Spearman's coefficient with that of the default settings and with that of DCI in the study's scores. Of the
translation metric the difficulty and the relative one, by which models are chosen, are ranked, both negated: less is
better.
"""

import argparse
import csv
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.stats import spearmanr

from unbraid.evaluation.evaluate import evaluate
from unbraid.metrics import translation_difficulty, variation_predictability
from unbraid.runs.folder import Run
from unbraid.runs.model import load
from unbraid.runs.run_dataset import training_dataset

SETTINGS: dict[str, list[dict[str, Any]]] = {
    "translation_difficulty": [
        {},
        *({"steps": steps} for steps in (3, 10, 30)),
        *({"lr_schedule": rate} for rate in (0.02, 0.1)),
        *({"width": width} for width in (16, 64)),
    ],
    "variation_predictability": [
        {},
        *({"epochs": epochs} for epochs in (10, 50)),
        *({"lr_schedule": rate} for rate in (1e-3, 3e-3)),
        *({"width": width} for width in (16, 32)),
    ],
}
METRICS = {
    "translation_difficulty": translation_difficulty,
    "variation_predictability": variation_predictability,
}
# What is ranked: its metric, what `evaluate` calls it, and its sign.
RANKED = {
    "translation_difficulty": ("translation_difficulty", "partial", -1),
    "translation_difficulty.relative": ("translation_difficulty", "partial.relative", -1),
    "variation_predictability": ("variation_predictability", "partial", 1),
}


def scored(folder: str, samples: int, device: str) -> list[float]:
    """One model by every setting of whatever is ranked, the higher the better."""
    torch.set_num_threads(1)
    run = Run(folder)
    method, dataset = load(folder, device=device).method, training_dataset(run)
    values = []
    scores = {
        name: evaluate(
            method, dataset, [partial(METRICS[name], **options) for options in settings], num_samples=samples
        )
        for name, settings in SETTINGS.items()
    }
    for metric, entry, sign in RANKED.values():
        values += [sign * score["value"] for score in scores[metric] if score["metric"] == entry]
    return values


def spread(ranked: Sequence[Path], count: int) -> list[Path]:
    """So many of them, from the first to the last, evenly; all of them where they are fewer."""
    places = np.linspace(0, len(ranked) - 1, min(count, len(ranked))).round().astype(int)
    return [ranked[index] for index in places]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("study", type=Path)
    parser.add_argument("--models", type=int, default=12, help="evenly spread over those with a DCI")
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    known = {}
    for folder in sorted((arguments.study / "runs").iterdir()):
        found = [score["value"] for score in Run(folder).scores() if score["metric"] == "dci"]
        if found:
            known[folder] = found[-1]
    folders = spread(sorted(known, key=lambda folder: known[folder]), arguments.models)
    score = partial(scored, samples=arguments.samples, device=arguments.device)
    with ProcessPoolExecutor(arguments.workers, mp_context=get_context("spawn")) as pool:
        table = list(pool.map(score, map(str, folders)))
    columns, rows = list(zip(*table, strict=True)), []
    truth = [known[folder] for folder in folders]
    position = 0
    for name, (metric, _, _) in RANKED.items():
        first = columns[position]
        for options in SETTINGS[metric]:
            own = [spearmanr(columns[position], other).statistic for other in (first, truth)]
            said = ", ".join(f"{key} {value}" for key, value in options.items()) or "default"
            rows.append({"metric": name, "setting": said, "with default": own[0], "with dci": own[1]})
            print(f"{name:<32} {said:<12} with default {own[0]:+.2f}  with DCI {own[1]:+.2f}")
            position += 1
    if arguments.out is not None:
        with arguments.out.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
