"""The figures of principled contrast from a study's runs: Figs. 3 to 8, 10 and 11, and the sweep of the threshold.

    unbraid study principled-contrast/figure6 --scale paper --out runs/figure6
    python benchmarks/contrast_figures.py runs/figure6 --out figures

For every run of the first seed: samples of target and background, images decoded from each strand, reconstructions,
interpolations of the salient codes, and a t-SNE map of the salient codes. For the study: the distance of common codes
over training, and the clustering accuracy over λ_z, the number of images and the threshold, if they vary.
"""

import argparse
import csv
import json
import statistics
from collections.abc import Sequence
from pathlib import Path

from unbraid import Plan, load
from unbraid.report.charts import curve_chart, curves_of, file_bytes
from unbraid.report.contrast import has_contrast, salient_map
from unbraid.report.figure_table import FIGURES
from unbraid.report.figures import Figure
from unbraid.report.image_grid import png_bytes
from unbraid.report.sweeps import sweep_chart
from unbraid.runs.folder import Run
from unbraid.runs.run_dataset import training_dataset
from unbraid.studies.results import Row, open_study
from unbraid.studies.tables import format_setting

SWEPT = {
    "lambda_z": True,
    "per_digit": False,
    "threshold": False,
}  # options, and whether their axis is logarithmic
SCORES = ("salient:clustering", "common:clustering")


def labeled(done: Sequence[tuple[Plan, Run]]) -> dict[str, Run]:
    """The finished run of the first seed of each setting, by its label in legends and file names.

    A label has the method, its equation, the data, and the options in which the settings of the study differ.
    """
    groups: dict[tuple[str, str], list[tuple[Plan, Run]]] = {}
    for plan, run in sorted(done, key=lambda pair: pair[1].seed):
        if run.finished:
            weight = run.settings["method"]["arguments"].get("lambda_z")
            equation = {None: "", 0.0: "-eq-7", 1.0: "-eq-8"}.get(weight, f"-lambda-z-{weight}")
            groups.setdefault((f"{run.method_name}{equation}", run.data_name), []).append((plan, run))
    labels: dict[str, Run] = {}
    for (method, data), group in groups.items():
        names = differing_options([plan for plan, _ in group])
        for plan, run in group:
            options = [
                f"-{name}-{format_setting(plan.options[name])}" for name in names if name in plan.options
            ]
            label = f"{method}{''.join(options)}-{data}".replace("_", "-").replace(":", "-")
            labels.setdefault(label, run)
    return labels


def differing_options(plans: Sequence[Plan]) -> list[str]:
    """The fewest options that distinguish the plans, numbers and words first; the seed is not one of them."""
    options = {name: value for plan in plans for name, value in plan.options.items() if name != "seed"}
    ordered = sorted(options, key=lambda name: not isinstance(options[name], int | float | str))
    chosen: list[str] = []
    for name in ordered:
        if _count_distinct(plans, [*chosen, name]) > _count_distinct(plans, chosen):
            chosen.append(name)
    return chosen


def _count_distinct(plans: Sequence[Plan], names: Sequence[str]) -> int:
    return len({tuple(str(plan.options.get(name)) for name in names) for plan in plans})


def rows_of(study: Path) -> list[Row]:
    """The scores of a study over its seeds, each with all settings."""
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
    parser.add_argument("study", type=Path, help="study folder")
    parser.add_argument("--out", type=Path, default=Path("figures"))
    parser.add_argument("--data-root", type=Path, help="data root")
    parser.add_argument("--points", type=int, default=1500, help="number of target images in a map")
    arguments = parser.parse_args()
    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    first = labeled(open_study(arguments.study).finished)
    for name, run in first.items():
        model, dataset = load(run.folder), training_dataset(run, arguments.data_root)
        if dataset.images and has_contrast(model, dataset):
            for entry in ("samples", "strands-apart", "both-reconstructed", "salient-grid"):
                figure = FIGURES[entry].draw(model, dataset)
                assert isinstance(figure, Figure)
                write(out, f"{name}-{entry}", png_bytes(figure.sheet()))
        if has_contrast(model, dataset):
            chart = salient_map(model, dataset, count=arguments.points)
            write(out, f"{name}-map", file_bytes(chart, "png"))
    curves = curves_of({name: run.history() for name, run in first.items()})
    if "w2" in curves:
        chart = curve_chart("w2", {"w2": curves["w2"]})
        chart.axes[0].set_ylabel("squared distance")
        write(out, "w2", file_bytes(chart, "png"))
    rows = rows_of(arguments.study)
    for setting, logarithmic in SWEPT.items():
        if len({row.settings[setting] for row in rows if setting in row.settings}) > 1:
            for score in SCORES:
                chart = sweep_chart(rows, setting, score, logarithmic=logarithmic)
                write(out, f"{setting}-{score.replace(':', '-')}", file_bytes(chart, "png"))


if __name__ == "__main__":
    main()
