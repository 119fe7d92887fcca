"""Whether one method is ahead of the others: differences seed by seed, with their 95 % interval.

    python benchmarks/paired_seeds.py runs/table1/results.csv --method recon-contrast --metric group_accuracy.worst

Reads the table that a study writes. On each dataset every other method is compared with the one asked for, best
first, by runs of the same seed. An interval that holds zero is a tie.
"""

import argparse
import csv
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy import stats

Scores = dict[str, dict[int, float]]  # by method and its settings, then by seed


def read(path: Path, metric: str) -> dict[str, Scores]:
    """The scores of one metric by dataset."""
    found: dict[str, Scores] = defaultdict(lambda: defaultdict(dict))
    with path.open() as file:
        rows = [row for row in csv.DictReader(file) if row["metric"] == metric]
    if not rows:
        raise SystemExit(f"{path} has no scores of {metric}.")
    for row in rows:
        found[row["data"]][_named(row, rows)][int(row["seed"])] = float(row["value"])
    return found


def _named(row: dict[str, str], rows: list[dict[str, str]]) -> str:
    """The method, and those of its settings that not all of its runs on the dataset share."""
    peers = [
        json.loads(other["settings"])
        for other in rows
        if (other["method"], other["data"]) == (row["method"], row["data"])
    ]
    own = json.loads(row["settings"])
    varying = [name for name in own if any(peer.get(name) != own[name] for peer in peers)]
    return " ".join([row["method"], *(f"{name}={own[name]}" for name in varying)])


def interval(differences: np.ndarray) -> tuple[float, float]:
    """The 95 % interval of a mean by Student's t."""
    spread = stats.sem(differences)
    reach = float(stats.t.ppf(0.975, len(differences) - 1) * spread)
    return float(differences.mean()) - reach, float(differences.mean()) + reach


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("results", type=Path, help="results.csv of a study")
    parser.add_argument("--method", required=True, help="the method to compare, with its settings if several")
    parser.add_argument("--metric", default="group_accuracy.worst")
    arguments = parser.parse_args()
    for data, scores in read(arguments.results, arguments.metric).items():
        own = scores.get(arguments.method)
        if own is None:
            print(f"{data}: no runs of {arguments.method}; there are {', '.join(scores)}")
            continue
        print(f"{data}, {arguments.metric}: {arguments.method} {np.mean(list(own.values())):.4f}")
        others = [name for name in scores if name != arguments.method]
        for name in sorted(others, key=lambda name: -np.mean(list(scores[name].values()))):
            seeds = sorted(own.keys() & scores[name].keys())
            mean = np.mean(list(scores[name].values()))
            if len(seeds) < 2:
                print(f"  {name} {mean:.4f}: fewer than two seeds in common")
                continue
            low, high = interval(np.array([own[seed] - scores[name][seed] for seed in seeds]))
            verdict = "ahead" if low > 0 else "behind" if high < 0 else "tie"
            print(
                f"  {name} {mean:.4f}: difference {low:+.4f} to {high:+.4f} over {len(seeds)} seeds, {verdict}"
            )


if __name__ == "__main__":
    main()
