"""What scripts in benchmarks/ decide by themselves."""

import csv
import hashlib
import importlib.util
import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from unbraid.data.sprites import sprites
from unbraid.optimizers import Adam
from unbraid.report import flows
from unbraid.runs import Run
from unbraid.schedules import Linear
from unbraid.studies.aggregate import evaluation_key
from unbraid.studies.plan import Plan, replace


def script(name: str) -> ModuleType:
    """A script as a module."""
    path = Path(__file__).parents[1] / "benchmarks" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def finished(plan: Plan, data: str = "grassy-mnist", **arguments: Any) -> tuple[Plan, Any]:
    run = SimpleNamespace(method_name=plan.method, data_name=data, finished=True, plan=plan)
    run.seed, run.settings = plan.options["seed"], {"method": {"arguments": arguments}}
    return plan, run


def _score(metric: str, value: float, on: str = "") -> dict[str, Any]:
    score = {"metric": metric, "value": value, "higher_is_better": True, "protocol": ""}
    score |= {"n": 10, "n_test": 0, "seed": 0, "seconds": 0.1}
    return score | ({"on": on} if on else {})


def test_figures_of_contrast_are_named_by_what_tells_runs_apart() -> None:
    """With and without an overlay decoder, more steps, other thresholds: each is drawn, of the first seed."""
    plan = Plan(
        "principled-contrast", "grassy-mnist", {"steps": 10, "lr_schedule": Linear(1.0, 0.0, 10), "seed": 1}
    )
    plans = [
        *(plan, replace(plan, seed=0)),
        replace(plan, architecture="overlay:mlp", seed=0),
        replace(plan, steps=20, lr_schedule=Linear(1.0, 0.0, 20), seed=0),
    ]
    done = [finished(each, lambda_z=1.0) for each in plans]
    done.append(finished(replace(plan, lambda_z=0.0), lambda_z=0.0))
    done.append(finished(replace(plan, threshold=0.4), "grassy-mnist-nonlinear", lambda_z=1.0))
    found = script("contrast_figures").labeled(done)
    assert {name: run.plan for name, run in found.items()} == {
        "principled-contrast-eq-8-steps-10-grassy-mnist": plans[1],
        "principled-contrast-eq-8-steps-10-architecture-overlay-mlp-grassy-mnist": plans[2],
        "principled-contrast-eq-8-steps-20-grassy-mnist": plans[3],
        "principled-contrast-eq-7-grassy-mnist": done[4][0],
        "principled-contrast-eq-8-grassy-mnist-nonlinear": done[5][0],
    }


def test_the_walk_of_one_batch_passes_few_files() -> None:
    """In a process of its own, because a profile hook slows down everything. docs/architecture.md tells the walk."""
    path = Path(__file__).parents[1] / "benchmarks" / "walk.py"
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True)
    *lines, total = done.stdout.splitlines()
    files = [line.partition(":")[0] for line in lines if ".py: " in line]
    assert total.startswith(f"{len(files)} files, ") and len(files) <= 32
    stations = [
        "cli/train.py",
        "data/registry.py",
        "training/train.py",
        "training/loop.py",
        "training/step.py",
    ]
    assert [file for file in files if file in stations] == stations
    assert {"methods/beta_vae.py", "runs/folder.py"} <= set(files)


def test_as_many_models_as_asked_are_spread_over_the_ranking() -> None:
    spread = script("metric_robustness").spread
    assert spread(range(20), 12) == [0, 2, 3, 5, 7, 9, 10, 12, 14, 16, 17, 19]
    assert spread(range(5), 12) == [0, 1, 2, 3, 4]


def test_numbers_on_pages_come_from_their_script() -> None:
    """The first of the committed rows of codes without structure, measured again."""
    numbers = script("page_numbers")
    *key, value = next(iter(numbers.noise()))
    rows = list(csv.DictReader(numbers.ROWS.read_text().splitlines()))
    (row,) = (row for row in rows if [row[name] for name in numbers.COLUMNS[:-1]] == [*map(str, key)])
    assert abs(float(row["value"]) - value) < 1e-3
    assert {row["study"] for row in rows} == {
        *("translator", "translator, 50 steps", "transport", "clustering", "generators")
    }


class StoredRun(Run):
    """A run with these scores."""

    seed, data_name, finished = 3, "sprites", True  # type: ignore[assignment]

    def __init__(self, folder: Path, scores: list[dict[str, Any]], *, finished: bool) -> None:
        self.folder, self.finished, self.entries = folder, finished, scores  # type: ignore[misc]

    def scores(self, steps: int | None = None) -> list[dict[str, Any]]:
        return self.entries


def test_rows_of_a_study_carry_their_provenance(tmp_path: Path) -> None:
    """Of each score with the plan's evaluation: commit, recipe, plan, chosen options, seed, samples, weights' hash."""
    rows = script("study_rows")
    plan = Plan("vae", "sprites", {"image_size": 32, "seed": 3, "steps": 5}, evaluation={"num_samples": 7})
    weights = hashlib.sha256(b"weights").hexdigest()
    (tmp_path / "finished.json").write_text(json.dumps({"step": 5, "steps": 5, "sha256": weights}))
    entry = {"metric": "kl", "value": 1 / 3, "protocol": "p", "n": 7, "evaluation": evaluation_key(plan)}
    scores = [entry, entry | {"metric": "mig", "evaluation": "of another plan"}]
    run = StoredRun(tmp_path, scores, finished=True)
    unfinished = StoredRun(tmp_path / "nowhere", scores, finished=False)
    study = SimpleNamespace(recipe="mine", scale="short", finished=[(plan, run), (plan, unfinished)])
    found = rows.study_rows(study, commit="abc", options=("steps", "beta"))
    rows.write_rows(tmp_path / "rows.csv", found, ("steps", "beta"))
    assert (tmp_path / "rows.csv").read_text().splitlines() == [
        "commit,recipe,scale,plan,method,data,steps,beta,seed,metric,value,protocol,n,weights",
        f"abc,mine,short,{plan.identity},vae,sprites,5,,3,kl,0.333333,p,7,{weights[:12]}",
    ]


def test_a_mouse_is_wrong_in_the_cluster_of_the_other_genotype() -> None:
    """Whatever the clusters are called; the third mouse has one of two measurements there."""
    shares = script("mouse_rows").wrong_shares
    names, labels = ["a", "a", "b", "b", "c", "c"], np.array([0, 0, 1, 1, 1, 1])
    clusters = np.array([0, 0, 1, 1, 1, 0])
    for named in (clusters, 1 - clusters):
        assert shares(named, labels, names) == {"a": 0.0, "b": 0.0, "c": 0.5}


def test_mice_are_those_of_the_dataset(tmp_path: Path) -> None:
    folder = tmp_path / "mouse-protein"
    folder.mkdir()
    lines = ["MouseID,P1,P2,Genotype,Treatment,Behavior,class"]
    for mouse, treatment, behavior in (
        ("1", "Saline", "S/C"),
        ("2", "Memantine", "S/C"),
        ("J3", "Saline", "S/C"),
    ):
        lines += [f"{mouse}_{row},{row}.5,0.1,Control,{treatment},{behavior},c" for row in (1, 2)]
    lines += ["4_1,0.5,0.7,Control,Saline,C/S,c"]
    (folder / "Data_Cortex_Nuclear.csv").write_text("\n".join(lines))
    assert script("mouse_rows").mice(tmp_path) == ["1", "1", "J3", "J3"]


def test_a_study_of_augmented_gin_is_summed_up_by_setting_and_by_the_chosen_seed(tmp_path: Path) -> None:
    augmented_gin = script("augmented_gin")
    options = {
        "steps": 2,
        "batch_size": 20,
        "set_size": 3,
        "augmentation_std": "varying",
        "rotation_degrees": 45.0,
    }
    base = Plan("augmented-gin", "mixture", options)
    runs = []
    for index, change in enumerate(
        ({"seed": 0}, {"seed": 1}, {"seed": 0, "architecture": "mlp-rotations", "std_ratio": 10.0})
    ):
        run = replace(base, **change).run(tmp_path / str(index), device="cpu", quiet=True)
        run.add_scores([_score("codes:latent_mcc", 0.5 + 0.1 * index)])
        runs.append(run)
    found = {line["setting"]: line for line in augmented_gin.lines(runs)}
    name = "both, std varying by 3, rotated, noise 0.01, sets of 3"
    assert set(found) == {
        name,
        f"{name}, chosen by consistency",
        "both, std varying by 10, rotated, noise 0.01, sets of 3, rotations",
    }
    assert found[name]["trials"] == 2 and found[name]["latent_mcc"][2:] == [0.5, 0.6]
    assert found[f"{name}, chosen by consistency"]["trials"] == 1
    assert "| both, std varying by 10" in augmented_gin.markdown(list(found.values()))


def test_digits_have_a_sheet_for_each_variable_and_a_line_for_each_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    augmented_gin = script("augmented_gin")
    monkeypatch.setattr(augmented_gin, "variable", partial(flows.variable, values=(-1.0, 1.0)))
    monkeypatch.setattr(flows, "SAMPLE", 500)
    monkeypatch.setattr(flows, "ROWS", 3)
    options = {"digits": "bundled", "steps": 1, "batch_size": 2, "noise": 0.0, "fixed_noise": 0.01, "seed": 0}
    options |= {"optimizer": Adam(3e-4)}
    run = Plan("augmented-gin", "digits", options).run(tmp_path / "run", device="cpu", quiet=True)
    run.add_scores([_score("codes:spectrum", 5.0), _score("codes:spectrum", 7.0, on="digits --split test")])
    name = "augmented-gin, 1 steps, lr 0.0003, noise 0.01, fixed noise"
    found = {line["setting"]: line["spectrum"][0] for line in augmented_gin.lines([run])}
    assert found == {name: 5.0, f"{name} [digits --split test]": 7.0}
    augmented_gin.digit_figures([run], tmp_path, None)
    assert len(list(tmp_path.glob("digits-augmented-gin-*-variable-*.png"))) == 20
    assert len(list(tmp_path.glob("digits-*.png"))) == 23


def test_the_benchmark_of_speed_steps_a_stack_as_a_population_does() -> None:
    """On a CPU: two models of several players, each with its own noise and batches."""
    dataset = sprites(image_size=32)
    step = script("gpu_speed").stacked_stepper("factor-vae", dataset, 4, 2, device="cpu")
    totals = [{name: terms.total for name, terms in step().items()} for _ in range(2)]
    assert totals[0].keys() == {"autoencoder", "critic"}
    assert totals[0]["autoencoder"].shape == (2,) and totals[0]["autoencoder"].unique().numel() == 2
    assert not totals[0]["autoencoder"].equal(totals[1]["autoencoder"])
