"""How metrics rank the models of a study alike: Spearman's coefficients, as a table and as a picture.

    python benchmarks/rank_correlation.py STUDY [--metrics translation_difficulty,dci,sap,irs] [--out FILE.png]

Reads the table that a study writes. Metrics of which less is better are negated first, so that a positive coefficient
means agreement. Beside each coefficient with the first metric stands its p-value.
"""

import argparse
import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from unbraid.report.charts import file_bytes
from unbraid.report.intervention import rank_chart

METRICS = ("translation_difficulty", "variation_predictability", "dci", "sap", "irs")
LESS_IS_BETTER = ("translation_difficulty",)


def read(path: Path) -> dict[str, dict[str, dict[str, float]]]:
    """Scores by dataset, then by run and metric; both laws of one dataset are one."""
    found: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    with path.open() as file:
        for row in csv.DictReader(file):
            sign = -1.0 if row["metric"] in LESS_IS_BETTER else 1.0
            found[row["data"].split("-")[0]][row["run"]][row["metric"]] = sign * float(row["value"])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("study", type=Path, help="the study's folder, or its results.csv")
    parser.add_argument("--metrics", default=",".join(METRICS))
    parser.add_argument("--out", type=Path, help="the picture; none without")
    arguments = parser.parse_args()
    path = arguments.study / "results.csv" if arguments.study.is_dir() else arguments.study
    for data, runs in read(path).items():
        names = [
            name for name in arguments.metrics.split(",") if all(name in scores for scores in runs.values())
        ]
        table = np.array([[scores[name] for name in names] for scores in runs.values()])
        if len(names) < 2 or len(table) < 3:
            print(f"{data}: fewer than two metrics or three models in common")
            continue
        pairs = [[spearmanr(first, second) for second in table.T] for first in table.T]
        coefficients, chances = (
            np.array([[getattr(pair, part) for pair in row] for row in pairs])
            for part in ("statistic", "pvalue")
        )
        print(f"{data}, {len(runs)} models:")
        for place, name in enumerate(names):
            line = "  ".join(f"{value:+.2f}" for value in coefficients[place])
            print(f"  {name:<26} {line}   p with {names[0]} {chances[0, place]:.3g}")
        if arguments.out is not None:
            target = arguments.out.with_stem(f"{arguments.out.stem}_{data}")
            target.write_bytes(
                file_bytes(rank_chart([name.replace("_", " ") for name in names], coefficients), "png")
            )
            print(f"  {target}")


if __name__ == "__main__":
    main()
