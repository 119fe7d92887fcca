"""Other spellings of options, values and commands, src/unbraid/cli/aliases.py."""

from pathlib import Path

import pytest

from tests.commandline import SPRITES, CommandLine
from unbraid.cli.aliases import OPTIONS, canonical, canonical_option
from unbraid.runs import Run

KNOWN = {
    *OPTIONS.values(),
    "--color-jitter",
    "--optimizer",
    "--no-standardize",
    "--metrics",
    "--precision",
    "--by",
}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (["--codes", "3", "-b", "8"], ["--latent-dim", "3", "--batch-size", "8"]),
        (["--output-dir=x", "--part", "test"], ["--out=x", "--split", "test"]),
        (["--colour-jitter", "0.1", "--no-standardise"], ["--color-jitter", "0.1", "--no-standardize"]),
        (["--optimiser", "adam:0.01"], ["--optimizer", "adam:0.01"]),
        (["--precision", "bfloat16"], ["--precision", "bf16"]),
        (["--by=difficulty"], ["--by=translation-difficulty"]),
        (["--by", "udr"], ["--by", "udr"]),
        (
            ["--metrics", "mig,salient:leak,undone,active_codes,leak.worst"],
            [
                "--metrics",
                "mig,salient:factor_probe,intervention_reversibility,active_dims,factor_probe.worst",
            ],
        ),
        (["--metrics", "leaky,a:leakage"], ["--metrics", "leaky,a:leakage"]),
        (["--lr-scheduler", "linear:1:0:9"], ["--lr-schedule", "linear:1:0:9"]),
        (["leak", "--out", "undone"], ["leak", "--out", "undone"]),
        (["a", "--", "--codes"], ["a", "--", "--codes"]),
    ],
)
def test_other_spellings_are_replaced(written: list[str], meant: list[str]) -> None:
    assert canonical(written, KNOWN) == meant


def test_an_option_that_the_command_has_keeps_its_name() -> None:
    assert canonical_option("--part", {"--part", "--split"}) == "--part"
    assert canonical_option("--codes", {"--out"}) == "--codes"


def test_every_other_spelling_trains(unbraid: CommandLine, tmp_path: Path) -> None:
    other = {"--latent-dim": "--z-dim", "--batch-size": "--batch"}
    words = [other.get(str(word), word) for word in SPRITES]
    words += [
        "--arch",
        "mlp",
        "--max-grad-norm",
        1,
        "--lr-scheduler",
        "drop:1:0.1:5",
        "--optimiser",
        "adam:0.01",
    ]
    answer = unbraid("train", "vae", *words, "--precision", "bfloat16", "-o", tmp_path / "run", "--quiet")
    assert answer.code == 0, answer
    training = Run(tmp_path / "run").settings["training"]
    assert training["precision"] == "bf16" and training["batch_size"] == 4 and training["grad_clip"] == 1.0
    assert training["lr_schedule"]["spec"].startswith("step:1")


def test_other_spellings_in_other_commands(unbraid: CommandLine, trained: Path, tmp_path: Path) -> None:
    assert unbraid("data", "get", "sprites").code == 0
    assert unbraid("evaluate", trained, "--metrics", "active_codes", "-n", 20).out.startswith("active_dims ")
    assert unbraid("export", trained, "--to", "safetensors", "--output", tmp_path / "out").code == 0


def test_every_spelling_stands_for_an_option_that_exists(unbraid: CommandLine) -> None:
    shown = "".join(
        unbraid(*words, "--help").out
        for words in (
            ["train", "vae", "--data", "rotation-colored-mnist"],
            ["evaluate"],
            ["export"],
            ["select"],
        )
    )
    for name in OPTIONS.values():
        assert f"  {name} " in shown, name


def test_other_spellings_are_not_in_the_help(unbraid: CommandLine) -> None:
    shown = unbraid("train", "vae", "--data", "sprites", "--help").out
    assert not any(f"{name} " in shown for name in OPTIONS)
    assert " get " not in unbraid("data", "--help").out
