"""A researcher's own file, `own.py`, through the whole command line."""

import re
import shutil
import sys
import warnings
from pathlib import Path

import pytest

from benchmarks.faults.processes import ForkedCommands
from tests.commandline import CommandLine
from unbraid import custom_code
from unbraid.runs import Run

OWN = Path(__file__).with_name("own.py")
CODE = ("--method", "own.py:DecorVAE", "--data", "own.py:stripes")
STEPS = ("--steps", 4, "--batch-size", 8, "--latent-dim", 3, "--device", "cpu", "--quiet")
RECIPE = """
from unbraid import Plan

OPTIONS = {"steps": 4, "batch_size": 8, "latent_dim": 3, "data.noise": 0.1}
METRICS = ("own.py:roughness", "mig")
runs = [
    Plan(method, "own.py:stripes", OPTIONS | {"seed": seed}, METRICS, {"num_samples": 96, "num_test_samples": 0})
    for method in ("own.py:DecorVAE", "beta-vae")
    for seed in (0, 1)
]
"""


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that holds the file, in a process that has named no code yet."""
    shutil.copy(OWN, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(custom_code, "_named", {})
    return tmp_path


@pytest.fixture
def forget(monkeypatch: pytest.MonkeyPatch):  # noqa: ANN201
    """Forgets which code was named, as a new process does."""
    return lambda: monkeypatch.setattr(custom_code, "_named", {})


@pytest.fixture
def run(unbraid: CommandLine, workplace: Path, forget) -> Path:  # noqa: ANN001
    words = ("--data", "own.py:stripes", "--data.noise", 0.1, "--gamma", 2, *STEPS, "--out", "run")
    answer = unbraid("train", "own.py:DecorVAE", *words)
    assert answer.code == 0, answer
    forget()
    return workplace / "run"


def test_training_records_the_code_and_the_plan(run: Path) -> None:
    settings, plan = Run(run).settings, Run(run).plan
    assert (settings["method"]["name"], settings["method"]["code"]) == ("DecorVAE", "own.py:DecorVAE")
    assert settings["data"]["origin"] == {"name": "own.py:stripes", "options": {"noise": 0.1}}
    assert plan is not None
    assert (plan["method"], plan["data"]) == ("own.py:DecorVAE", "own.py:stripes")
    assert (plan["options"]["method"], plan["options"]["data"]["noise"]) == (
        {"gamma": 2.0, "noise": 0.0},
        0.1,
    )


def test_every_command_takes_the_code_again(run: Path, unbraid: CommandLine) -> None:
    scores = unbraid(
        *("evaluate", run, *CODE, "--metrics", "own.py:roughness,mig", "--num-samples", 96, "--json")
    ).json
    directions = {score["metric"]: score["higher_is_better"] for score in scores}
    assert (directions["roughness"], directions["mig"]) == (False, True)
    assert unbraid("report", run, *CODE).code == 0
    assert unbraid("explore", run, *CODE, "--no-open").code == 0
    assert unbraid("export", run, *CODE, "--format", "safetensors").code == 0
    shutil.copytree(run.parent / "run", run.parent / "images")  # any folder of images does
    from PIL import Image

    for name in ("a.png", "b.png"):
        Image.new("L", (28, 28), 99).save(run.parent / name)
    images = (run.parent / "a.png", run.parent / "b.png")
    encoded = unbraid("encode", run, *images, "--out", "codes.npz", "--method", "own.py:DecorVAE", "--json")
    assert encoded.json == {"out": "codes.npz", "observations": 2, "dimensions": 3}
    edited = unbraid(
        *("edit", run, *images, "--swap", 1, "--out", "sheet.png", "--method", "own.py:DecorVAE", "--json")
    )
    assert edited.json["rows"] == ["images", "reconstructed", "swap 1"]
    html = (run / "report.html").read_text()
    assert "roughness" in html and "own.py:DecorVAE" in html


def test_an_export_of_own_code_is_loaded_by_naming_it(run: Path, unbraid: CommandLine, forget) -> None:  # noqa: ANN001
    unbraid("export", run, *CODE, "--format", "safetensors", "--out", "exported")
    forget()
    import torch

    from unbraid import load, use

    with pytest.raises(ValueError, match=r"exported uses your own code, own\.py:DecorVAE"):
        load("exported")
    use("own.py:DecorVAE")
    assert load("exported", device="cpu").encode(torch.zeros(1, 28, 28)).shape == (1, 3)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("evaluate",), r"uses your own code, own.py:stripes.*Name the code again: --data own.py:stripes"),
        (("evaluate", "--data", "own.py:stripes"), "own.py:DecorVAE.*--method own.py:DecorVAE"),
        (("report",), "your own code, own.py:"),
        (("explore", "--no-open"), "your own code, own.py:"),
        (("export", "--format", "onnx"), "your own code, own.py:"),
        (("encode", "x.png", "--out", "codes.npz"), "your own code, own.py:DecorVAE"),
    ],
)
def test_a_run_folder_never_makes_code_run(
    run: Path, unbraid: CommandLine, words: tuple[str, ...], sentence: str
) -> None:
    import re

    command, *rest = words
    answer = unbraid(command, run, *rest)
    assert re.search(sentence, answer.sentence), answer.err
    assert "DecorVAE" not in custom_code._named


def test_a_study_beside_ours_bolds_the_lower_value(workplace: Path, unbraid: CommandLine, forget) -> None:  # noqa: ANN001
    (workplace / "recipe.py").write_text(RECIPE)
    answer = unbraid("study", "recipe.py", "--out", "study", "--device", "cpu", "--json")
    assert answer.code == 0, answer
    rows = [row for row in answer.json if row["metric"] == "roughness"]
    assert {row["method"] for row in rows} == {"DecorVAE", "beta-vae"}
    best = min(rows, key=lambda row: row["mean"])["method"]
    table = (workplace / "study" / "table.md").read_text()
    line = next(line for line in table.splitlines() if line.startswith(f"| {best} "))
    assert line.split("|")[3].strip().startswith("**")
    assert [row.split("|")[3].count("**") for row in table.splitlines() if "(n=2)" in row].count(0) == 1
    forget()
    assert unbraid("compare", "study").code == 0
    assert unbraid("report", "study", *CODE).code == 0
    selected = unbraid("select", "study", "--by", "udr", "--num-samples", 50, *CODE, "--json").json
    assert {model["method"] for model in selected["models"]} == {"DecorVAE", "beta-vae"}
    again = unbraid("study", "recipe.py", "--out", "study", "--device", "cpu", "--json")
    assert again.json == answer.json  # finished runs and scores are not repeated


def test_a_study_is_read_without_its_code(workplace: Path, unbraid: CommandLine, forget) -> None:  # noqa: ANN001
    (workplace / "recipe.py").write_text(RECIPE)
    unbraid("study", "recipe.py", "--out", "study", "--device", "cpu", "--json")
    forget()
    for words in (("compare", "study"), ("report", "study", "--print-table", "md"), ("report", "study")):
        assert unbraid(*words).code == 0
        assert not custom_code._named


def test_own_networks_and_draws(workplace: Path, unbraid: CommandLine, forget) -> None:  # noqa: ANN001
    answer = unbraid(
        *("train", "beta-vae", "--data", "own.py:stripes", "--architecture", "own.py:pixel_networks"),
        *("--draw", "own.py:BrightFirst", "--share", 0.5, *STEPS, "--out", "pixels"),
    )
    assert answer.code == 0, answer
    plan = Run(workplace / "pixels").plan
    assert (
        plan is not None
        and plan["draw"] == "own.py:BrightFirst"
        and plan["options"]["draw"] == {"share": 0.5}
    )
    forget()
    data = ("--data", "own.py:stripes", "--metrics", "kl")
    refused = unbraid("evaluate", "pixels", *data)
    assert "--architecture own.py:pixel_networks" in refused.sentence
    score = unbraid(
        "evaluate", "pixels", *data, "--architecture", "own.py:pixel_networks", "--num-samples", 50
    )
    assert score.code == 0, score


def test_bad_input_gets_one_sentence(workplace: Path, unbraid: CommandLine) -> None:
    def refused(*words: object) -> str:
        return unbraid("train", *words, "--steps", 1, "--out", "x").sentence

    stripes = ("--data", "own.py:stripes")
    assert "own.py has no 'Nothing'" in refused("own.py:Nothing", *stripes)
    assert "own.py:NotAMethod is no method" in refused("own.py:NotAMethod", *stripes)
    assert "belongs to the method own.py:DecorVAE and to the dataset own.py:stripes" in refused(
        *("own.py:DecorVAE", *stripes, "--noise", 0.1)
    )
    assert "There is no option of the dataset own.py:stripes 'gamma'" in refused(
        *("own.py:DecorVAE", *stripes, "--data.gamma", 1)
    )
    assert "There is no group of options 'dataset'" in refused(
        "own.py:DecorVAE", *stripes, "--dataset.noise", 1
    )
    assert "There is no file" in refused("nowhere.py:DecorVAE", *stripes)
    assert "own.py:stripes is no method" in refused("own.py:stripes", *stripes)
    assert "The dataset own.py:DecorVAE requires a value of encoder and of decoder." in refused(
        *("vae", "--data", "own.py:DecorVAE")
    )
    assert "own.py:roughness takes codes." in refused("vae", *stripes, "--architecture", "own.py:roughness")
    required = OWN.read_text().replace("gamma: float = 1.0", "gamma: float")
    Path("required.py").write_text(required.replace("share: float = 1.0", "share: float"))
    assert "The method DecorVAE requires a value of gamma." in refused("required.py:DecorVAE", *stripes)
    assert "The draw BrightFirst requires a value of share." in refused(
        *("vae", *stripes, "--draw", "required.py:BrightFirst")
    )
    assert not (workplace / "x").exists()


def test_what_a_metric_cannot_get_is_said_before_training(workplace: Path, unbraid: CommandLine) -> None:
    (workplace / "recipe.py").write_text(RECIPE.replace("own.py:roughness", "own.py:needs_gaze"))
    assert "gaze" in unbraid("study", "recipe.py", "--out", "study", "--device", "cpu").sentence
    (workplace / "labels.py").write_text(RECIPE.replace("own.py:roughness", "clustering"))
    answer = unbraid("study", "labels.py", "--out", "study", "--device", "cpu")
    assert answer.code == 1 and "labels" in answer.err
    assert not any((workplace / "study" / "runs").glob("*/history.jsonl"))


def test_a_plan_is_a_file(run: Path, unbraid: CommandLine, forget) -> None:  # noqa: ANN001
    plan = run / "plan.json"
    refused = unbraid("train", "--config", plan, "--out", "again")
    assert "names your own code, own.py:DecorVAE" in refused.sentence
    words = (
        "train",
        "own.py:DecorVAE",
        "--config",
        plan,
        "--data",
        "own.py:stripes",
        "--device",
        "cpu",
        "--quiet",
    )
    assert unbraid(*words, "--out", "again").code == 0
    assert Run("again").identity == Run(run).identity
    assert unbraid(*words, "--gamma", 3, "--out", "third").code == 0
    assert Run("third").settings["method"]["arguments"]["gamma"] == 3.0
    damaged = run.parent / "plan.json"
    damaged.write_text(plan.read_text().replace('"options"', '"optoins"'))
    assert (
        "There is no key of a plan 'optoins'; did you mean options?"
        in unbraid(*("train", "--config", damaged, "--out", "y")).sentence
    )


def test_a_changed_file_is_said(run: Path, unbraid: CommandLine) -> None:
    file = run.parent / "own.py"
    file.write_text(
        file.read_text()
        .replace("gamma * correlation", "2 * gamma * correlation")
        .replace("self.2 * ", "2 * self.")
    )
    for name in [name for name in sys.modules if name.startswith(custom_code.IMPORTED_FILES)]:
        del sys.modules[name]
    with warnings.catch_warnings():
        warnings.simplefilter("always")  # as outside of the tests, where a warning is no error
        said = unbraid("evaluate", run, *CODE, "--metrics", "kl").err
    assert re.search(r"^unbraid: own\.py:DecorVAE has changed since .*run was trained", said, re.MULTILINE)


def test_the_real_program_in_a_process_of_its_own(workplace: Path, forked: ForkedCommands) -> None:
    words = ["train", "own.py:DecorVAE", "--data", "own.py:stripes", *map(str, STEPS), "--out", "run"]
    ended = forked.start(words, workplace, variables={}, output=workplace / "printed").wait(60)
    assert ended.code == 0, ended.err
    (workplace / "recipe.py").write_text(RECIPE)
    words = ["study", "recipe.py", "--out", "study", "--device", "cpu", "--workers", "2", "--json"]
    ended = forked.start(words, workplace, variables={}, output=workplace / "printed").wait(120)
    assert ended.code == 0, ended.err  # its workers have interpreters of their own
    assert len(list((workplace / "study" / "runs").glob("*/scores.json"))) == 4
