"""What a study of subembeddings found: one line a setting, over its seeds, and its figures.

    unbraid study without-autoencoding/findings --scale short --out studies/findings
    python benchmarks/subembeddings.py studies/findings [--out FOLDER] [--json]

Accuracies are of linear probes on test pictures, in per cent, means over seeds; which half a seed gave to which factor
is chance, so that the first half is always that of the first factor. Gaps |C(z0) - C(z1)| with their
variance over seeds (divided by n, as the paper has it). The disentanglement gap is a mean ± standard deviation over
seeds. It counts where each half keeps within two points of the whole code on its own factor, and the whole code within
two points of the mean of the runs without a regularizer; one that does not count is 0 in the last column.
"""

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.evaluation.sample import Sample
from unbraid.report.charts import file_bytes
from unbraid.report.image_grid import png_bytes
from unbraid.report.subembeddings import (
    SCORE,
    accuracy_chart,
    location_chart,
    map_chart,
    strand_accuracies,
    tradeoff_chart,
    view_pairs,
)
from unbraid.runs.folder import Run
from unbraid.runs.model import load
from unbraid.runs.run_dataset import evaluation_dataset, training_dataset

PLAIN = ("none", "none, unified", "independent-subembeddings")  # without a regularizer
NEAR = 0.02  # what a half, or the whole code, may lose


def setting_of(run: Run) -> str:
    """The regularizers of a run with their weights; the method if it is not SubInfoMax, and the pipeline if it
    is not its first."""
    arguments = run.settings["method"]["arguments"]
    named = [
        f"{name.removeprefix('lambda_').replace('_', ' ')} {value:g}"
        for name, value in arguments.items()
        if name.startswith(("lambda_", "independent_")) and value
    ]
    if run.method_name != "subinfomax":
        return ", ".join([run.method_name, *named])
    pipeline = arguments["pipeline"]
    return " + ".join(named or ["none"]) + ("" if pipeline == "separate" else f", {pipeline}")


def numbers(run: Run) -> dict[str, float]:
    """What the run's subembeddings were scored, by the part of the metric's name after the strand."""
    strand = "r" if run.method_name == "supervised-subembeddings" else "z"
    scores = {score["metric"]: score["value"] for score in run.scores()}
    return {
        name.partition(":")[2].removeprefix(SCORE).lstrip("."): value
        for name, value in scores.items()
        if name.startswith(f"{strand}:{SCORE}")
    }


def lines(runs: list[Run]) -> list[dict[str, Any]]:
    """One entry a setting, in the order in which they were found."""
    groups: dict[str, list[dict[str, float]]] = {}
    factors = list(runs[0].settings["data"]["factors"])[:2]
    for run in runs:
        if found := numbers(run):
            groups.setdefault(setting_of(run), []).append(in_order(found, factors))
    plain = [entry for name in PLAIN for entry in groups.get(name, [])]
    level = {factor: _mean(plain, f"accuracy.whole.{factor}") for factor in factors} if plain else {}
    return [_line(name, group, factors, level) for name, group in groups.items()]


def in_order(found: dict[str, float], factors: list[str]) -> dict[str, float]:
    """The same with the half first that is given to the first factor: the way round with the larger gap."""
    parts = list(dict.fromkeys(key.split(".")[1] for key in found if key.startswith("accuracy.")))
    if len(parts) != 3:
        raise ValueError(f"The halves of a code are compared, so it must have 2 parts; got {len(parts) - 1}.")
    _, first, second = parts
    signed = [found[f"accuracy.{first}.{f}"] - found[f"accuracy.{second}.{f}"] for f in factors]
    if min(signed[0], -signed[1]) >= min(-signed[0], signed[1]):
        return found
    exchanged = dict(found)
    for factor in factors:
        one, two = f"accuracy.{first}.{factor}", f"accuracy.{second}.{factor}"
        exchanged[one], exchanged[two] = found[two], found[one]
    return exchanged


def _line(
    name: str, group: list[dict[str, float]], factors: list[str], level: dict[str, float]
) -> dict[str, Any]:
    counted = [
        entry["kept"] >= -NEAR and all(entry[f"accuracy.whole.{f}"] >= level[f] - NEAR for f in level)
        for entry in group
    ]
    scores = [entry[""] for entry in group]
    parts = [
        key.split(".")[1] for key in group[0] if key.startswith("accuracy.") and key.endswith(factors[0])
    ]
    return {
        "setting": name,
        "n": len(group),
        "accuracy": {part: [_mean(group, f"accuracy.{part}.{f}") for f in factors] for part in parts},
        "chance": [_mean(group, f"chance.{f}") for f in factors],
        "gap": [_mean(group, f"gap.{f}") for f in factors],
        "gap variance": [statistics.pvariance([100 * entry[f"gap.{f}"] for entry in group]) for f in factors],
        "diagonal": sum(entry["diagonal"] for entry in group),
        "degenerate": {
            kind: sum(entry[kind] > 0 for entry in group) for kind in ("random", "emptied", "repeated")
        },
        "score": [statistics.fmean(scores), statistics.stdev(scores) if len(scores) > 1 else 0.0],
        "counted": sum(counted),
        "counted score": statistics.fmean(
            score if counts else 0.0 for score, counts in zip(scores, counted, strict=True)
        ),
    }


def _mean(group: list[dict[str, float]], key: str) -> float:
    return statistics.fmean(entry[key] for entry in group)


def markdown(found: list[dict[str, Any]], factors: list[str]) -> str:
    heading = [
        *(
            "setting",
            "seeds",
            *(f"{part}: {' / '.join(factors)}" for part in ("whole", *(f"half of the {f}" for f in factors))),
        ),
        *("chance", "gaps (variance)", "diagonal", "degenerate", "disentanglement gap", "counts", "counted"),
    ]
    rows = [heading, ["---"] * len(heading)]
    for line in found:
        accuracy = [
            " / ".join(f"{100 * value:.1f}" for value in values)
            for values in (*line["accuracy"].values(), line["chance"])
        ]
        spread = zip(line["gap"], line["gap variance"], strict=True)
        degenerate = ", ".join(f"{kind} {count}" for kind, count in line["degenerate"].items() if count)
        rows.append(
            [
                *(line["setting"], str(line["n"]), *accuracy),
                " / ".join(f"{100 * gap:.1f} ({variance:.1f})" for gap, variance in spread),
                f"{line['diagonal']:.0f} of {line['n']}",
                degenerate or "none",
                f"{100 * line['score'][0]:.1f} ± {100 * line['score'][1]:.1f}",
                f"{line['counted']} of {line['n']}",
                f"{100 * line['counted score']:.1f}",
            ]
        )
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def figures(runs: list[Run], out: Path, root: Path | None) -> None:
    """View pairs, places, the accuracies of each setting, InfoMax against InfoMin, and maps of each setting: of the
    whole code and of each half, on test pictures."""
    out.mkdir(parents=True, exist_ok=True)
    first = {setting_of(run): run for run in reversed(runs)}
    first = {name: first[name] for name in dict.fromkeys(setting_of(run) for run in runs)}
    dataset, (test, _) = training_dataset(runs[0], root), evaluation_dataset(runs[0], root, split="test")
    (out / "view_pairs.png").write_bytes(png_bytes(view_pairs(dataset).sheet()))
    (out / "places.png").write_bytes(file_bytes(location_chart(), "png"))
    tables = {
        name: strand_accuracies(run).get("r" if run.method_name == "supervised-subembeddings" else "z", {})
        for name, run in first.items()
    }
    chart = accuracy_chart({name: table for name, table in tables.items() if table})
    (out / "accuracies.png").write_bytes(file_bytes(chart, "png"))
    for name, run in first.items():
        file = "".join(letter if letter.isalnum() else "-" for letter in name)
        if "infomin" in name:
            (out / f"tradeoff-{file}.png").write_bytes(file_bytes(tradeoff_chart(run.history()), "png"))
        whole = Sample(load(run.folder).method, test, size=2_000, seed=0)
        for half in ("", "0", "1"):
            sample = whole.select_strand(whole.strand + half)
            chart = map_chart(np.asarray(sample.codes), sample.factors, sample.names)
            (out / f"map-{file}-{sample.strand}.png").write_bytes(file_bytes(chart, "png"))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("study", type=Path)
    parser.add_argument("--out", type=Path, help="where to write figures; none are made without it")
    parser.add_argument("--root", type=Path, help="the data root")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    folders = sorted((arguments.study / "runs").iterdir(), key=lambda folder: folder.stat().st_ctime)
    runs = [run for run in map(Run, folders) if run.finished]
    found = lines(runs)
    factors = list(runs[0].settings["data"]["factors"])[:2]
    print(json.dumps(found, indent=2) if arguments.json else markdown(found, factors))
    if arguments.out:
        figures(runs, arguments.out, arguments.root)


if __name__ == "__main__":
    main()
