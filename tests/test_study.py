"""Many runs, one table, src/unbraid/study.py."""

import csv
import importlib
import json
import shutil
from pathlib import Path

import pytest

from unbraid.commands.evaluate import evaluate_run
from unbraid.plan import Plan, replace
from unbraid.recipes import Recipe, read_recipe, recipe_names
from unbraid.recipes.intervention import short_table1, short_table3
from unbraid.results import _published, varying_options
from unbraid.runs import Run
from unbraid.study import study
from unbraid.work import done

BASE = Plan(
    "beta-vae",
    "sprites",
    {"size": 32, "codes": 3, "steps": 2, "batch": 4},
    metrics=("reconstruction", "kl"),
    scoring={"samples": 20},
)
PLANS = tuple(replace(BASE, beta=beta, seed=seed) for beta in (1.0, 4.0) for seed in (0, 1))


def recipe(*plans: Plan) -> Recipe:
    return Recipe("own", "", plans or PLANS, {("beta-vae", "kl"): 12.5})


def test_a_study_gives_one_row_a_score_and_means_over_seeds(tmp_path: Path) -> None:
    result = study(recipe(), tmp_path, device="cpu", quiet=True)
    assert result.failures == []
    with open(tmp_path / "results.csv") as file:
        records = list(csv.DictReader(file))
    kl = [record for record in records if record["metric"] == "kl"]
    assert len(kl) == 4 and {record["seed"] for record in kl} == {"0", "1"}
    rows = [row for row in result.rows if row.metric == "kl"]
    assert [row.settings for row in rows] == [{"beta": 1.0}, {"beta": 4.0}]
    values = [float(record["value"]) for record in kl if '"beta": 1.0' in record["settings"]]
    assert rows[0].mean == pytest.approx(sum(values) / 2)
    assert rows[0].std == pytest.approx(abs(values[0] - values[1]) / 2**0.5)
    assert rows[0].n == 2 and rows[0].published == 12.5
    table = (tmp_path / "table.md").read_text()
    assert "(n=2) [12.5]" in table and "beta 4.0" in table and "published values in brackets" in table


def test_scores_can_be_left_for_later_and_elsewhere(tmp_path: Path) -> None:
    twice = [*PLANS, *(replace(plan, scoring={"samples": 30}) for plan in PLANS)]  # of one run each
    result = study(recipe(*twice), tmp_path / "here", device="cpu", scoring="later", population=2, quiet=True)
    trained = {path: path.read_bytes() for path in tmp_path.glob("here/runs/*/model.safetensors")}
    assert len(trained) == 4 and result.rows == result.failures == []
    assert not list(tmp_path.glob("here/runs/*/scores.json"))
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    result = study(recipe(*twice), tmp_path / "there", device="cpu", quiet=True)
    assert result.failures == [] and {row.n for row in result.rows} == {2} and len(result.rows) == 8
    assert {
        path.parent.name: path.read_bytes() for path in tmp_path.glob("there/runs/*/model.safetensors")
    } == {path.parent.name: weights for path, weights in trained.items()}


def test_finished_runs_are_never_repeated(tmp_path: Path) -> None:
    study(recipe(), tmp_path, device="cpu", quiet=True)
    stamps = {path: path.stat().st_mtime_ns for path in tmp_path.glob("runs/*/*.safetensors")}
    scores = {path: path.stat().st_mtime_ns for path in tmp_path.glob("runs/*/scores.json")}
    assert len(scores) == 4
    study(recipe(), tmp_path, device="cpu", quiet=True)
    assert all(path.stat().st_mtime_ns == before for path, before in (stamps | scores).items())


def test_a_run_that_was_killed_is_finished_and_a_missing_score_added(tmp_path: Path) -> None:
    study(recipe(PLANS[0]), tmp_path, device="cpu", quiet=True)
    (folder,) = (tmp_path / "runs").iterdir()
    (folder / "model.safetensors").unlink()
    (folder / "scores.json").unlink()
    result = study(recipe(PLANS[0]), tmp_path, device="cpu", quiet=True)
    assert Run(folder).finished and result.failures == []
    more = replace(PLANS[0], metrics=("reconstruction", "kl", "active_codes"))
    result = study(recipe(more), tmp_path, device="cpu", quiet=True)
    assert "active_codes" in {row.metric for row in result.rows}


def test_scores_of_another_scoring_neither_count_nor_stand_in(tmp_path: Path) -> None:
    study(recipe(*PLANS[:2]), tmp_path, device="cpu", quiet=True)
    for folder in (tmp_path / "runs").iterdir():
        evaluate_run(folder, ["kl"], root=None, device="cpu", samples=20, seed=5)
    again = study(recipe(*PLANS[:2]), tmp_path, device="cpu", quiet=True)
    assert [row.n for row in again.rows if row.metric == "kl"] == [2]
    larger = study(
        recipe(*(replace(plan, scoring={"samples": 30}) for plan in PLANS[:2])),
        tmp_path,
        device="cpu",
        quiet=True,
    )
    assert [row.n for row in larger.rows if row.metric == "kl"] == [2]
    with open(tmp_path / "results.csv") as file:
        assert {record["n"] for record in csv.DictReader(file)} == {"30"}


def test_a_run_that_fails_is_recorded_and_does_not_stop_the_others(tmp_path: Path) -> None:
    broken = replace(BASE, beta=-1.0)
    result = study(recipe(broken, PLANS[0]), tmp_path, device="cpu", quiet=True)
    assert len(result.failures) == 1 and "beta must be" in result.failures[0]["error"]
    assert {row.metric for row in result.rows} >= {"reconstruction", "kl"}
    recorded = json.loads((tmp_path / "failures.json").read_text())
    assert "Traceback" in recorded[0]["traceback"] and recorded[0]["plan"] == str(broken)


def test_a_study_in_one_process_stops_when_its_device_broke(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.import_module("unbraid.study"), "still_computes", lambda _: False)
    broken = replace(BASE, beta=-1.0)
    result = study(recipe(PLANS[0], broken, PLANS[1]), tmp_path, device="cpu")
    assert [failure["plan"] for failure in result.failures] == [str(broken)]
    assert done(PLANS[0], tmp_path / "runs") and not done(PLANS[1], tmp_path / "runs")
    assert "The CUDA device does nothing more after this error" in capsys.readouterr().err
    monkeypatch.undo()
    study(recipe(PLANS[0], broken, PLANS[1]), tmp_path, device="cpu", quiet=True)
    assert done(PLANS[1], tmp_path / "runs")


def test_a_misspelt_option_is_said_before_the_first_run(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no option of beta-vae on sprites 'betta'"):
        study(recipe(PLANS[0], replace(BASE, betta=1.0)), tmp_path / "study", quiet=True)
    assert not (tmp_path / "study").exists()


def test_a_misspelt_metric_is_said_before_the_first_run(tmp_path: Path) -> None:
    wrong = replace(PLANS[1], metrics=("kl", "codes:migg"))
    with pytest.raises(ValueError, match="no metric 'migg'; did you mean mig"):
        study(recipe(PLANS[0], wrong), tmp_path / "study", quiet=True)
    assert not (tmp_path / "study").exists()


def test_a_misspelt_device_for_scores_is_said_before_the_first_run(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no device 'gpu': choose auto, cpu, cuda or mps, or later to score"):
        study(recipe(PLANS[0]), tmp_path / "study", scoring="gpu", quiet=True)
    assert not (tmp_path / "study").exists()


def test_one_run_asked_for_twice_is_refused_whatever_its_metrics(tmp_path: Path) -> None:
    """It would count twice in every mean; only another scoring makes another row of it."""
    for again in (replace(PLANS[0]), replace(PLANS[0], metrics=("kl",)), replace(PLANS[0], beta=1)):
        with pytest.raises(ValueError, match=r"Two runs of the recipe are the same: unbraid train beta-vae"):
            study(recipe(PLANS[0], again), tmp_path / "study", quiet=True)
    assert not (tmp_path / "study").exists()


def test_a_study_scores_on_another_part_and_shows_further_numbers_that_were_published(tmp_path: Path) -> None:
    plan = Plan(
        "cnn",
        "credit",
        {"observations": 60, "architecture": "mlp", "steps": 2, "batch": 8},
        metrics=("group_accuracy",),
        scoring={"samples": 0, "on": {"part": "test", "observations": 80}},
    )
    published = {
        ("cnn", "credit", "features=8", "group_accuracy.worst"): 0.75,
        ("cnn", "group_accuracy"): 0.5,
    }
    plans = (replace(plan, features=8), replace(plan, features=16))
    result = study(Recipe("own", "", plans, published), tmp_path, device="cpu", quiet=True)
    assert result.failures == []
    found = {(row.settings["features"], row.metric): row.published for row in result.rows}
    assert found[8, "group_accuracy.worst"] == 0.75 and found[16, "group_accuracy.worst"] is None
    assert found[16, "group_accuracy"] == 0.5
    table = (tmp_path / "table.md").read_text()
    assert "group_accuracy.worst" in table and "worst_fine" not in table
    with open(tmp_path / "results.csv") as file:
        records = list(csv.DictReader(file))
    assert {record["on"] for record in records} == {"credit --part test --observations 80"}
    assert {record["n"] for record in records} == {"80"}


@pytest.mark.parametrize("name", sorted(recipe_names()))
@pytest.mark.parametrize("scale", ["quick", "paper"])
def test_every_recipe_lists_runs_whose_options_exist(name: str, scale: str) -> None:
    found = read_recipe(name, scale)
    assert found.summary
    seen = {(plan.method, plan.data): plan for plan in found.runs}
    for plan in seen.values():
        plan.resolved()
    different = {(plan.method, plan.data, str(plan), str(plan.scoring)) for plan in found.runs}
    assert len(different) == len(found.runs)


def test_the_sweep_has_the_papers_size() -> None:
    assert len(read_recipe("vae-family/sweep", "paper").runs) == 8 * 6 * 50
    quick = read_recipe("vae-family/sweep", "quick").runs
    assert {plan.method for plan in quick} >= {"vae", "beta-vae", "annealed-vae", "factor-vae", "ada-ml-vae"}


def test_the_intervention_papers_tables_are_whole() -> None:
    """Six numbers for each of five methods, and one for each of three methods on two laws; some as printed."""
    first, second, third = (read_recipe(f"intervention/table{n}", "paper").published for n in (1, 2, 3))
    assert (len(first), len(second), len(third)) == (30, 30, 6)
    assert first["factor-vae", "dsprites-pos_x-scale", "gamma=40.0", "irs"] == 0.57
    assert first["intervention", "dsprites", "dci"] == 0.76 and first["infogan-cr", "dsprites", "sap"] == 0.58
    assert second["beta-tcvae", "shapes3d-floor_hue-wall_hue", "sap"] == 0.23
    assert third["intervention", "hue-mnist-digit-hue", "sap"] == 0.70


@pytest.mark.parametrize("number", [1, 3])
def test_only_the_papers_form_of_a_short_table_shows_its_numbers(number: int) -> None:
    """Three seeds, both laws; a variant of the intervention autoencoder was not published."""
    recipe = read_recipe(f"intervention/short-table{number}", "paper")
    varying = varying_options(recipe.runs)["intervention"]
    module, steps = short_table1 if number == 1 else short_table3, 10_000
    variants = {name for options in module.variants(steps).values() for name in options}
    assert variants - {"undo", "adversary"} <= varying
    variants -= {"undo", "adversary", "steps"}  # which App. C's own form has too
    shown = {True: 0, False: 0}
    for plan in recipe.runs:
        fewer = {"beta-tcvae": 2_500, "intervention": 7_000 if plan.options.get("settled") else steps}
        assert plan.options["steps"] == fewer.get(plan.method, steps)
        if plan.method == "intervention":
            own = {name: plan.options[name] for name in varying if name in plan.options}
            data = "-".join([plan.data, *plan.options["correlate"]])
            value = _published(recipe.published, plan.method, data, own, "sap")
            assert (value is not None) == (not variants & plan.options.keys())
            shown[value is not None] += 1
    assert shown == {True: 6, False: 12 if number == 3 else 30}


def test_the_contrast_papers_tables_are_whole() -> None:
    """Five numbers for each of four methods on four data sets; seven expressions for each of seven methods."""
    first, second = (read_recipe(f"principled-contrast/table{n}", "paper").published for n in (1, 2))
    assert [sum(value is not None for value in table.values()) for table in (first, second)] == [80, 49]
    assert first["cvae", "celeba", "salient:clustering"] == 0.6001
    assert first["principled-contrast", "grassy-mnist", "lambda_z=1.0", "common:background_distance"] == 4.60
    happy = "class_accuracy.per_class.happy"
    assert second["principled-contrast", "expressions", "lambda_z=0.0", happy] == 0.575


@pytest.mark.parametrize("data", ["celeba", "grassy-mnist"])
def test_what_the_contrast_paper_does_not_have_shows_none_of_its_numbers(data: str) -> None:
    recipe = read_recipe("principled-contrast/table1", "paper")
    varying = varying_options(recipe.runs)
    found: dict[tuple[str, bool], set[bool]] = {}
    for plan in recipe.runs:
        if plan.data == data and plan.options.get("mix", "linear") == "linear":
            own = {name: plan.options[name] for name in varying[plan.method] if name in plan.options}
            value = _published(recipe.published, plan.method, data, own, "salient:clustering")
            found.setdefault((plan.method, "layers" in own), set()).add(value is not None)
    bare = ("cvae", "srb-vae", "principled-contrast")
    assert all(found[method, False] == {True} for method in bare)
    beside = [("contrast-vae", False), ("mm-cvae", False)]
    beside += [(method, True) for method in ("cvae", "contrast-vae", "principled-contrast")]
    assert all(found[row] == {False} for row in beside)


def test_a_file_of_ones_own_is_a_recipe(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        '"""My sweep."""\n'
        "from unbraid import Plan, replace\n"
        'base = Plan("beta-vae", "sprites", {"steps": 2})\n'
        "runs = [replace(base, beta=beta) for beta in (1.0, 2.0)]\n"
    )
    found = read_recipe(str(path))
    assert found.summary == "My sweep." and len(found.runs) == 2
    path.write_text("runs = 3\n")
    with pytest.raises(ValueError, match=r"needs a list or a function `runs` of unbraid\.Plan"):
        read_recipe(str(path))
    path.write_text("import nothing_of_this_name\n")
    with pytest.raises(ValueError, match="cannot be read as a recipe: ModuleNotFoundError"):
        read_recipe(str(path))
    path.write_text("runs = [\n")
    with pytest.raises(ValueError, match=r"cannot be read as a recipe: SyntaxError: '\[' was never closed"):
        read_recipe(str(path))
    path.write_text("def runs(scale):\n    return undefined\n")
    with pytest.raises(ValueError, match="cannot be read as a recipe: NameError: name 'undefined'"):
        read_recipe(str(path))
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read_recipe(str(tmp_path / "nowhere.py"))
    with pytest.raises(ValueError, match="no recipe 'vae-family/swep'; did you mean vae-family/sweep"):
        read_recipe("vae-family/swep")
    with pytest.raises(ValueError, match="no scale 'huge': choose quick or paper"):
        read_recipe("vae-family/sweep", "huge")
