"""How metrics rank the models of a study alike: Spearman's coefficients, as a table and as a picture.

    python benchmarks/rank_correlation.py STUDY [--metrics translation_difficulty,dci,sap,irs] [--out FILE.png]

Models are taken together whatever the law of the factors they were trained under; `unbraid compare STUDY` keeps them
apart. Metrics of which less is better are turned around first, so that a positive coefficient means agreement. Beside
each metric stands the p-value of its coefficient with the first, over the models that have both.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from unbraid.report.charts import file_bytes
from unbraid.report.heatmaps import rank_chart
from unbraid.studies.compare import rank_correlations
from unbraid.studies.results import read_records

METRICS = (
    *("translation_difficulty", "translation_difficulty.relative", "variation_predictability"),
    *("dci", "sap", "irs"),
)


def without_law(record: dict[str, Any]) -> dict[str, Any]:
    """The score under the dataset's own name, which a correlation lengthens."""
    pair = json.loads(record["settings"]).get("correlate") or ()
    return record | {"data": record["data"].removesuffix("-" + "-".join(pair))}


def chance(rho: float, runs: int) -> float:
    """The probability of a coefficient at least as far from 0 if nothing agreed, by Student's t."""
    t = abs(rho) * np.sqrt((runs - 2) / max(1e-12, 1 - rho**2))
    return float(2 * stats.t.sf(t, runs - 2))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("study", type=Path, help="the study's folder")
    parser.add_argument("--metrics", default=",".join(METRICS))
    parser.add_argument("--out", type=Path, help="the picture; none without")
    arguments = parser.parse_args()
    wanted = arguments.metrics.split(",")
    records = [without_law(record) for record in read_records(arguments.study)]
    found = rank_correlations(records, wanted)
    if not found:
        print("No dataset has three models with two of these metrics.")
    for data, names, rho, both, runs in found:
        print(f"{data}, {runs} models:")
        for index, name in enumerate(names):
            line = "  ".join(f"{value:+.2f}" for value in rho[index])
            p, models = chance(rho[0, index], both[0, index]), both[0, index]
            print(f"  {name:<26} {line}   p with {names[0]} {p:.3g} over {models}")
        if arguments.out is not None:
            target = arguments.out.with_stem(f"{arguments.out.stem}_{data}")
            target.write_bytes(file_bytes(rank_chart([name.replace("_", " ") for name in names], rho), "png"))
            print(f"  {target}")


if __name__ == "__main__":
    main()
