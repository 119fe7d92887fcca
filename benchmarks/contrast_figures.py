"""The figures of principled contrast from a study's runs: Figs. 3 to 8, 10 and 11, and the sweep of the threshold.

    unbraid study principled-contrast/figure6 --scale paper --out runs/figure6
    python benchmarks/contrast_figures.py runs/figure6 --out figures

Of every run (of the first seed): samples of target and background, the strands apart, both reconstructed, the salient
codes from one image to another, and a map of them by t-SNE. Of the study: the distance of common codes over training,
and the clustering accuracy over λ_z, the number of images and the threshold, as far as they vary.
"""

import argparse
import csv
import json
import statistics
from collections.abc import Sequence
from pathlib import Path

from unbraid import Plan, load
from unbraid.reopen import dataset_of
from unbraid.report.charts import curve_chart, curves_of, file_bytes
from unbraid.report.contrast import CONTRAST_FIGURES, contrasts, salient_map
from unbraid.report.sheets import png_bytes
from unbraid.report.sweeps import sweep_chart
from unbraid.results import Row, open_study
from unbraid.runs import Run
from unbraid.tables import written

SWEPT = {
    "lambda_z": True,
    "per_digit": False,
    "threshold": False,
}  # settings, and whether spaced by their ratios
SCORES = ("salient:clustering", "common:clustering")


def labelled(done: Sequence[tuple[Plan, Run]]) -> dict[str, Run]:
    """The finished run of the first seed of each setting, by its name in legends and in the names of files.

    A name has the method, its equation, the data, and as many further options as tell it from others of the study.
    """
    groups: dict[tuple[str, str], list[tuple[Plan, Run]]] = {}
    for plan, run in sorted(done, key=lambda pair: pair[1].seed):
        if run.finished:
            weight = run.settings["method"]["arguments"].get("lambda_z")
            equation = {None: "", 0.0: "-eq-7", 1.0: "-eq-8"}.get(weight, f"-lambda-z-{weight}")
            groups.setdefault((f"{run.method_name}{equation}", run.data_name), []).append((plan, run))
    found: dict[str, Run] = {}
    for (method, data), group in groups.items():
        names = telling([plan for plan, _ in group])
        for plan, run in group:
            said = [f"-{name}-{written(plan.options[name])}" for name in names if name in plan.options]
            label = f"{method}{''.join(said)}-{data}".replace("_", "-").replace(":", "-")
            found.setdefault(label, run)
    return found


def telling(plans: Sequence[Plan]) -> list[str]:
    """As many options as tell different plans apart, plain numbers and words first; the seed is none."""
    options = {name: value for plan in plans for name, value in plan.options.items() if name != "seed"}
    ordered = sorted(options, key=lambda name: not isinstance(options[name], int | float | str))
    chosen: list[str] = []
    for name in ordered:
        if _kinds(plans, [*chosen, name]) > _kinds(plans, chosen):
            chosen.append(name)
    return chosen


def _kinds(plans: Sequence[Plan], names: Sequence[str]) -> int:
    return len({tuple(str(plan.options.get(name)) for name in names) for plan in plans})


def rows_of(study: Path) -> list[Row]:
    """The scores of a study over its seeds, each with all of its settings."""
    with (study / "results.csv").open() as file:
        records = [record for record in csv.DictReader(file) if record["metric"] in SCORES]
    groups: dict[tuple[str, ...], list[float]] = {}
    for record in records:
        key = tuple(record[name] for name in ("method", "data", "settings", "metric"))
        groups.setdefault(key, []).append(float(record["value"]))
    return [
        Row(
            method,
            data,
            json.loads(settings),
            metric,
            "",
            statistics.fmean(values),
            statistics.stdev(values) if len(values) > 1 else None,
            len(values),
            None,
        )
        for (method, data, settings, metric), values in groups.items()
    ]


def write(out: Path, name: str, content: bytes) -> None:
    (out / f"{name}.png").write_bytes(content)
    print(out / f"{name}.png", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("study", type=Path, help="the folder of a study")
    parser.add_argument("--out", type=Path, default=Path("figures"))
    parser.add_argument("--root", type=Path, help="the data root")
    parser.add_argument("--points", type=int, default=1500, help="of the target, in a map")
    arguments = parser.parse_args()
    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    first = labelled(open_study(arguments.study).done)
    for name, run in first.items():
        model, dataset = load(run.folder), dataset_of(run, arguments.root)
        if dataset.images and contrasts(model, dataset):
            for figure, (_, draw) in CONTRAST_FIGURES.items():
                write(out, f"{name}-{figure}", png_bytes(draw(model, dataset).sheet()))
        if contrasts(model, dataset):
            drawn = salient_map(model, dataset, count=arguments.points)
            write(out, f"{name}-map", file_bytes(drawn, "png"))
    curves = curves_of({name: run.history() for name, run in first.items()})
    if "w2" in curves:
        drawn = curve_chart("w2", {"w2": curves["w2"]})
        drawn.axes[0].set_ylabel("squared distance")
        write(out, "w2", file_bytes(drawn, "png"))
    rows = rows_of(arguments.study)
    for setting, logarithmic in SWEPT.items():
        if len({row.settings[setting] for row in rows if setting in row.settings}) > 1:
            for score in SCORES:
                drawn = sweep_chart(rows, setting, score, logarithmic=logarithmic)
                write(out, f"{setting}-{score.replace(':', '-')}", file_bytes(drawn, "png"))


if __name__ == "__main__":
    main()
