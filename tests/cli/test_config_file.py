"""`--config`: a plan as words of the command line, src/unbraid/cli/config_file.py."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import SPRITES, CommandLine
from unbraid.cli.config_file import config_words
from unbraid.runs import Run


def plan(tmp_path: Path, **changes: Any) -> str:
    content = {"method": "beta-vae", "data": "sprites", "options": {"beta": 2.0}} | changes
    (tmp_path / "plan.json").write_text(json.dumps(content))
    return str(tmp_path / "plan.json")


def test_options_by_owner_or_by_name_become_words(tmp_path: Path) -> None:
    options = {
        "method": {"beta": 2.0, "likelihood": {"spec": "bernoulli"}},
        "data": {"antialias": False, "correlate": ["scale", "pos_x"]},
        "training": {"lr": None, "steps": 3},
        "data.image_size": 32,
    }
    assert config_words(["--config", plan(tmp_path, options=options), "--out", "x"]) == [
        *("beta-vae", "--data", "sprites", "--method.beta", "2.0", "--method.likelihood", "bernoulli"),
        *("--data.no-antialias", "--data.correlate", "scale,pos_x", "--training.steps", "3"),
        *("--data.image-size", "32", "--out", "x"),
    ]


def test_a_new_process_reads_likelihoods_schedules_and_optimizers(tmp_path: Path) -> None:
    """`--config` is the first word that it reads, when nothing has imported them."""
    options = {
        "method": {"likelihood": {"spec": "normal:1.0"}, "beta_schedule": {"spec": "linear:0:1:9"}},
        "training": {"optimizer": {"spec": "sgd:0.1"}},
    }
    script = (
        "import sys; from unbraid.cli.config_file import config_words; print(*config_words(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", script, "--config", plan(tmp_path, options=options)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split()[3:] == [
        *("--method.likelihood", "normal", "--method.beta-schedule", "linear:0.0:1.0:9"),
        *("--training.optimizer", "sgd:0.1"),
    ]


def test_without_a_file_nothing_changes() -> None:
    assert config_words(["vae", "--out", "x"]) == ["vae", "--out", "x"]


def test_mistakes_get_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"There is no file nowhere\.json\. Pass a plan as JSON"):
        config_words(["--config", "nowhere.json"])
    with pytest.raises(
        ValueError, match=r"plan\.json: There is no key of a plan 'optionen'; did you mean options"
    ):
        config_words(["--config", plan(tmp_path, optionen={})])
    with pytest.raises(ValueError, match=r"is not a plan: a plan has the keys method, data and options"):
        (tmp_path / "list.json").write_text("[1]")
        config_words([f"--config={tmp_path / 'list.json'}"])
    with pytest.raises(ValueError, match="is a plan of beta-vae, and the command names vae"):
        config_words(["vae", "--config", plan(tmp_path)])


@pytest.mark.parametrize(
    ("changes", "option"),
    [
        ({"method": "own.py:VAE"}, "unbraid train"),
        ({"data": "own.py:VAE"}, "--data"),
        ({"draw": "own.py:VAE"}, "--draw"),
        ({"options": {"network": {"architecture": "own.py:VAE"}}}, "--architecture"),
        ({"options": {"arch": "own.py:VAE"}}, "--architecture"),
        ({"options": {"network.architecture": "own.py:VAE"}}, "--architecture"),
        ({"options": {"data": {"background": "own.py:VAE"}}}, "--background"),
    ],
)
def test_a_file_never_names_code(tmp_path: Path, changes: dict[str, Any], option: str) -> None:
    config = plan(tmp_path, **changes)
    with pytest.raises(
        ValueError, match=rf"your own code, own\.py:VAE, .* too: {option} PATH/own\.py:VAE\.$"
    ):
        config_words(["--config", config])
    typed = ["lab/own.py:VAE"] if option == "unbraid train" else [option, "lab/own.py:VAE"]
    words = config_words([*typed, "--config", config])
    assert "own.py:VAE" not in words and "lab/own.py:VAE" in words


def test_a_typed_option_of_another_owner_replaces_nothing(tmp_path: Path) -> None:
    config = plan(tmp_path, options={"network": {"architecture": "overlay:conv"}, "data": {"noise": 0.1}})
    words = config_words(["--config", config, "--data.noise", "0.2", "--data", "digits"])
    assert words == [
        *("beta-vae", "--network.architecture", "overlay:conv", "--data.noise", "0.1"),
        *("--data.noise", "0.2", "--data", "digits"),
    ]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"options": [1]}, "options must be an object"),
        ({"draw": 3}, "draw must be a name"),
        ({"method": 3}, "method and data must be names"),
        ({"options": {"fixed_factors": ["--draw=own.py:X"]}}, "must not start with two dashes"),
    ],
)
def test_values_of_another_form_get_one_sentence(
    tmp_path: Path, changes: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        config_words(["--config", plan(tmp_path, **changes)])


def test_the_plan_of_a_run_trains_the_same_run_again(unbraid: CommandLine, tmp_path: Path) -> None:
    unbraid("train", "beta-vae", *SPRITES, "--beta", 3, "--quiet", "--out", tmp_path / "a")
    config = ("--config", tmp_path / "a" / "plan.json", "--device", "cpu", "--quiet")
    assert unbraid("train", *config, "--out", tmp_path / "b").code == 0
    assert unbraid("train", "beta-vae", *config, "--beta", 5, "--out", tmp_path / "c").code == 0
    a, b, c = (Run(tmp_path / name) for name in "abc")
    assert a.identity == b.identity != c.identity
    assert c.settings["method"]["arguments"]["beta"] == 5.0
    assert (tmp_path / "a" / "model.safetensors").read_bytes() == (
        tmp_path / "b" / "model.safetensors"
    ).read_bytes()
    unknown = unbraid(
        "train", "--config", plan(tmp_path, options={"method": {"gamma": 1}}), "--out", tmp_path / "d"
    )
    assert "There is no option of the method beta-vae 'gamma'" in unknown.sentence
