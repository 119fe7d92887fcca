"""What a study of augmented GIN found: one line a setting, over its trials and with the worst; and its figures.

    unbraid study augmented-gin/figure1 --scale paper --out studies/figure1
    python benchmarks/augmented_gin.py studies/figure1 [--out docs/results/pictures] [--json]

    unbraid study augmented-gin/figure2 --scale paper --out studies/figure2
    python benchmarks/augmented_gin.py studies/figure2 --out docs/results/pictures

On the mixture: linear R² and MCC of the two true latents, means and the worst trial, how many dimensions are before the
knee and above the noise, the rank of condition (iii), and the largest error of the inverse; where a trial has several
seeds, the same of the seed that consistency chooses. Digits have a line for each split. The figures are those of the
paper: Fig. 1 for the mixture, Figs. 2 to 10 for digits, of the first seed of each setting, from means of test digits.
"""

import argparse
import json
import math
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Generator

from unbraid.data.dataset import Dataset
from unbraid.data.set_draw import SetDraw
from unbraid.metrics import consistency, latent_mcc, latent_r2, spectrum
from unbraid.objectives import factorial_nll, set_moments
from unbraid.report.charts import file_bytes
from unbraid.report.flow_charts import Recovered, recovery_chart, rotation_chart, spectrum_chart
from unbraid.report.flows import augmented_samples, class_means, variable, variables
from unbraid.report.image_grid import png_bytes
from unbraid.runs.folder import Run
from unbraid.runs.model import Model, load
from unbraid.runs.run_dataset import evaluation_dataset, training_dataset
from unbraid.settings import from_json
from unbraid.training.post_training import run_post_training

SHOWN = (
    *("latent_r2", "latent_mcc", "spectrum", "spectrum.drop", "above_noise", "std_rank"),
    "std_rank.min_ratio",
)


def setting_of(run: Run) -> str:
    """What tells the run from the other settings, in words."""
    settings, method = run.settings, run.settings["method"]["arguments"]
    words, draw = [run.method_name], settings["draw"]["arguments"]
    if run.data_name == "mixture":
        words = [] if run.method_name == "augmented-gin" else words
        words += _words_of_mixture(settings["data"]["origin"]["options"])
    else:
        optimizer = from_json(settings["training"]["optimizer"])
        words += [f"{run.steps:,} steps", *([] if optimizer is None else [f"lr {optimizer.lr:g}"])]
    schedule = method.get("noise_schedule")
    noise = from_json(schedule).end if schedule else draw.get("fixed_noise", 0.0) or method.get("noise", 0.0)
    words += [f"noise {noise:g}" if noise else "no noise"]
    words += ["fresh sets"] if draw.get("fresh_each_step") else []
    words += ["fixed noise"] if draw.get("fixed_noise") else []
    words += [f"sets of {draw['set_size']}"] if draw.get("set_size") else []
    words += ["moments of an encoder"] if method.get("moments") == "encoder" else []
    words += ["rotations"] if "rotation" in str(method.get("flow")) else []
    return ", ".join(words)


def _words_of_mixture(options: dict[str, Any]) -> list[str]:
    words = ["both" if len(options.get("augmented_latents", (0, 1))) == 2 else "one"]
    if options.get("augmentation_std") == "varying":
        words.append(f"std varying by {options.get('std_ratio', 3.0):g}")
    return words + (["rotated"] if options.get("rotation_degrees") else [])


def numbers(run: Run, on: str = "") -> dict[str, float]:
    """The run's scores on a dataset by the metric's name, whatever the strand."""
    return {
        score["metric"].rpartition(":")[2]: score["value"]
        for score in run.scores()
        if score.get("on", "") == on
    }


def grouped(runs: list[Run]) -> dict[str, list[Run]]:
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(setting_of(run), []).append(run)
    return groups


def trial_of(run: Run) -> int | None:
    """The trial of the mixture; None for other data."""
    origin = run.settings["data"]["origin"]
    return origin["options"].get("data_seed", 0) if origin["name"] == "mixture" else None


def chosen_restarts(runs: list[Run], root: Path | None) -> list[Run]:
    """Of every trial with several seeds the run whose dimensions are most consistent with those of the others."""
    by_trial: dict[int | None, list[Run]] = {}
    for run in runs:
        by_trial.setdefault(trial_of(run), []).append(run)
    return [
        group[consistency([informative_codes(run, root) for run in group]).best]
        for trial, group in by_trial.items()
        if trial is not None and len(group) > 1
    ]


def informative_codes(run: Run, root: Path | None) -> np.ndarray:
    model, dataset = opened(run, root)
    z = model.encode(dataset.observe(torch.arange(min(2000, len(dataset))) * (len(dataset) // 2000 or 1)))
    return z[:, list(model.strands["informative"])].numpy()


def lines(runs: list[Run], root: Path | None = None) -> list[dict[str, Any]]:
    """One entry a setting and a dataset: of each score the mean, the std, and the least and the largest value."""
    found = []
    for name, group in grouped(runs).items():
        chosen = chosen_restarts(group, root)
        for title, part in {name: group, f"{name}, chosen by consistency": chosen}.items():
            datasets = dict.fromkeys(score.get("on", "") for run in part for score in run.scores())
            found += [_line(f"{title} [{on}]" if on else title, part, on) for on in datasets]
    return found


def _line(title: str, runs: list[Run], on: str) -> dict[str, Any]:
    scores = [numbers(run, on) for run in runs]
    line: dict[str, Any] = {"setting": title, "trials": len(runs)}
    for metric in (*SHOWN, "inversion", "inversion.codes", "reconstruction"):
        values = [score[metric] for score in scores if metric in score]
        if values:
            spread = statistics.stdev(values) if len(values) > 1 else 0.0
            line[metric] = [statistics.fmean(values), spread, min(values), max(values)]
    line["seconds"] = statistics.fmean(run.history()[-1]["seconds"] for run in runs)
    return line


def markdown(found: list[dict[str, Any]]) -> str:
    heading = [
        *(
            "setting",
            "trials",
            "R²",
            "worst",
            "MCC",
            "worst",
            "dimensions before the knee",
            "least drop there",
        ),
        *("above the noise", "rank", "variance of the log-ratio", "inverse, worst error", "seconds"),
    ]
    rows = [heading, ["---"] * len(heading)]
    for line in found:

        def cell(metric: str, form: str, line: dict[str, Any] = line) -> str:
            return form.format(*line[metric]) if metric in line else ""

        rows.append(
            [
                *(line["setting"], str(line["trials"])),
                *(cell("latent_r2", "{0:.4f} ± {1:.4f}"), cell("latent_r2", "{2:.4f}")),
                *(cell("latent_mcc", "{0:.4f} ± {1:.4f}"), cell("latent_mcc", "{2:.4f}")),
                *(cell("spectrum", "{2:.0f} to {3:.0f}"), cell("spectrum.drop", "{2:.1f}×")),
                cell("above_noise", "{2:.0f} to {3:.0f}"),
                *(cell("std_rank", "{2:.0f} to {3:.0f}"), cell("std_rank.min_ratio", "{0:.3f}")),
                *(cell("inversion", "{3:.1e}"), f"{line['seconds']:.0f}"),
            ]
        )
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def opened(run: Run, root: Path | None) -> tuple[Model, Dataset]:
    """The run's model, its strands found, and its data."""
    model, dataset = load(run.folder, device="cpu"), training_dataset(run, root)
    if "informative" not in model.strands and hasattr(model.method, "discover"):
        run_post_training(model.method, dataset)
    return model, dataset


def mixture_figures(runs: list[Run], out: Path, root: Path | None) -> None:
    """Fig. 1: of each setting the best and the worst trial, on the ground truth of the trial that was worst."""
    for name, group in grouped(runs).items():
        ranked = sorted(group, key=lambda run: numbers(run)["latent_r2"])
        for title, run in {"best": ranked[-1], "worst": ranked[0]}.items():
            model, dataset = opened(run, root)
            rows = torch.arange(len(dataset))
            assert dataset.latents is not None and dataset.combinations is not None
            observed = dataset.observe(rows)
            given = dataset.combinations if model.method.conditions_on == "labels" else None
            z, latents = (
                model.encode(observed, condition=given).numpy(),
                dataset.latents.informative(rows).numpy(),
            )
            mcc = latent_mcc(z, latents)
            found = Recovered(z, mcc.codes, latent_r2(z, latents).score, mcc.score, spectrum(z))
            chart = recovery_chart(
                observed.numpy(),
                latents,
                dataset.combinations.numpy(),
                {f"found, {title} of {len(group)}": found},
            )
            (out / f"mixture-{_file(name)}-{title}.png").write_bytes(file_bytes(chart, "png"))
    turned = {name: group[0] for name, group in grouped(runs).items() if name.startswith("both, ")}
    if turned:
        chart = rotation_chart({name: rotation(run, root) for name, run in turned.items()})
        (out / "mixture-rotation.png").write_bytes(file_bytes(chart, "png"))


@torch.no_grad()
def rotation(run: Run, root: Path | None) -> tuple[list[float], list[float]]:
    """The loss on fresh sets when the two widest codes are whitened, turned and scaled back, by angle in degrees."""
    model, dataset = opened(run, root)
    sets = SetDraw(fresh_each_step=True, set_size=101)(
        dataset, 2000, Generator().manual_seed(0), torch.tensor(0)
    ).x[:, 1:]
    z = model.method.encode(sets.flatten(0, 1)).unflatten(0, sets.shape[:2])
    wide = z[:, :, model.method.std.argsort(descending=True)[:2]].double()  # type: ignore[union-attr]
    within = torch.stack([torch.cov(codes.t()) for codes in wide]).mean(0)
    whiten = torch.linalg.cholesky(torch.linalg.inv(within))
    white = (wide - wide.mean((0, 1))) @ whiten
    angles = [float(angle) for angle in range(0, 181, 5)]
    losses = []
    for angle in map(math.radians, angles):
        turn = torch.tensor([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
        codes = white @ turn.double()
        losses.append(float(factorial_nll(codes, *set_moments(codes, floor=1e-4))))
    best = losses.index(min(losses))
    return angles, losses[best:] + losses[1 : best + 1]


def digit_figures(runs: list[Run], out: Path, root: Path | None) -> None:
    """Fig. 3 once; of the first seed of each setting Fig. 2, Fig. 4 and Figs. 5 to 10."""
    for setting, group in grouped(runs).items():
        run, name = min(group, key=lambda run: run.seed), _file(setting)
        model, dataset = opened(run, root)
        test, _ = evaluation_dataset(run, root, split="test")
        (out / "digits-augmented.png").write_bytes(png_bytes(augmented_samples(dataset).sheet()))
        x = dataset.observe(dataset.sample_indices(4096, Generator().manual_seed(0)))
        first = spectrum(
            x.flatten(1).numpy() + 0.01 * np.random.default_rng(0).standard_normal((len(x), x[0].numel()))
        )
        trained = spectrum(model.encode(x).numpy())
        chart = spectrum_chart({"at first": first, "trained": trained})
        (out / f"digits-{name}-spectrum.png").write_bytes(file_bytes(chart, "png"))
        (out / f"digits-{name}-variables.png").write_bytes(png_bytes(variables(model, test).sheet()))
        means = class_means(model, test)
        for index, code in enumerate(trained.order[:20].tolist(), start=1):
            sheet = variable(model, means, code).sheet()
            (out / f"digits-{name}-variable-{index:02d}.png").write_bytes(png_bytes(sheet))


def _file(name: str) -> str:
    return "-".join("".join(letter if letter.isalnum() or letter == "." else " " for letter in name).split())


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
    found = lines(runs, arguments.root)
    print(json.dumps(found, indent=2) if arguments.json else markdown(found))
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        mixtures = [run for run in runs if run.data_name == "mixture"]
        mixture_figures(mixtures, arguments.out, arguments.root)
        digit_figures([run for run in runs if run not in mixtures], arguments.out, arguments.root)


if __name__ == "__main__":
    main()
