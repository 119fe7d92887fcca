"""How options are written: short and full names, other spellings, src/unbraid/cli/spelling.py."""

from pathlib import Path

import pytest

from tests.commandline import SPRITES, CommandLine
from unbraid.cli.spelling import OPTIONS, OptionNames, canonical, canonical_option, value_of
from unbraid.options import Namespaces, Option
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
        "--training.max-grad-norm",
        1,
        "--lr-scheduler",
        "drop:1:0.1:5",
        "--optimiser",
        "adam:0.01",
    ]
    answer = unbraid(
        "train", "vae", *words, "--training.precision", "bfloat16", "-o", tmp_path / "run", "--quiet"
    )
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


def names() -> OptionNames:
    def option(name: str, kind: type = float) -> Option:
        return Option(name, kind, None, "")

    owners = {
        "method": {"beta": option("beta"), "noise": option("noise")},
        "data": {
            "noise": option("noise"),
            "image_size": option("image_size"),
            "device": option("device"),
            "antialias": option("antialias", bool),
            "gray": option("gray", bool),
        },
    }
    return OptionNames(
        Namespaces(owners, {"method": "the method m", "data": "the dataset d"}), ("device", "out")
    )


@pytest.mark.parametrize(
    ("owner", "name", "flags"),
    [
        ("method", "beta", ("--beta",)),
        ("method", "noise", ("--method.noise",)),
        ("data", "noise", ("--data.noise",)),
        ("data", "image_size", ("--image-size",)),
        ("data", "device", ("--data.device",)),  # the command has a --device of its own
        ("data", "antialias", ("--antialias", "--no-antialias")),
    ],
)
def test_a_name_is_short_where_one_owner_has_it(owner: str, name: str, flags: tuple[str, ...]) -> None:
    assert names().flags(owner, names().namespaces.owners[owner][name]) == flags


@pytest.mark.parametrize(
    ("word", "shortened"),
    [
        ("--method.beta", "--beta"),
        ("--method.beta=3", "--beta=3"),
        ("--data.image-size", "--image-size"),
        ("--data.no-antialias", "--no-antialias"),
        ("--data.noise", "--data.noise"),
        ("--data.no-grey", "--no-gray"),
        ("--data.device=x", "--data.device=x"),
        ("--device", "--device"),
        ("--unknown", "--unknown"),
        ("0.5", "0.5"),
        ("-h", "-h"),
    ],
)
def test_full_names_are_always_understood(word: str, shortened: str) -> None:
    assert names().shortened(word) == shortened


def test_mistakes_get_one_sentence() -> None:
    with pytest.raises(
        ValueError, match=r"--noise belongs to the method m and to the dataset d\. Write --method\.noise"
    ):
        names().shortened("--noise")
    with pytest.raises(ValueError, match="no option of the dataset d 'beta'"):
        names().shortened("--data.beta")
    with pytest.raises(ValueError, match="no group of options 'dataa'; did you mean data"):
        names().shortened("--dataa.noise")


def test_help_has_one_section_per_owner_in_order_of_use(unbraid: CommandLine) -> None:
    text = unbraid("train", "beta-vae", "--data", "sprites", "--help").out
    headings = [
        line.rstrip(":") for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")
    ]
    order = ["Run", "Method beta-vae", "Training", "Dataset sprites", "Networks", "More options of the run"]
    assert headings == order
    run, method = text.index("--out FOLDER"), text.index("--beta float")
    assert run < method < text.index("--steps int") < text.index("--image-size int") < text.index("--logger")
    assert "[default: on]" in text and "--training.steps" in text


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (["--data", "a"], "a"),
        (["--data=b", "--x"], "b"),
        (["--data"], None),
        (["--database", "c"], None),
        ([], None),
    ],
)
def test_the_value_of_an_option_before_parsing(words: list[str], value: str | None) -> None:
    assert value_of("--data", words) == value


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--no-image-size",), "--image-size takes a whole number; there is no --no-image-size."),
        (
            ("--data.no-image-size",),
            "--data.image-size takes a whole number; there is no --data.no-image-size.",
        ),
        (("--no-beta", 1), "--beta takes a number; there is no --no-beta."),
        (("--no-steps=2",), "--steps takes a whole number; there is no --no-steps."),
        (("--no-quiet",), "--quiet takes no value; there is no --no-quiet."),
        (("--no-devices",), "--devices takes a whole number; there is no --no-devices."),
    ],
)
def test_only_switches_can_be_negated(
    unbraid: CommandLine, tmp_path: Path, words: tuple[object, ...], sentence: str
) -> None:
    assert unbraid("train", "beta-vae", *SPRITES, "--out", tmp_path / "run", *words).sentence == sentence


def test_only_switches_of_other_commands_can_be_negated(unbraid: CommandLine, trained: Path) -> None:
    said = "takes a whole number; there is no --no-"
    assert f"--image-size {said}image-size." in unbraid("evaluate", trained, "--no-image-size").sentence
    assert f"--num-samples {said}num-samples." in unbraid("evaluate", trained, "--no-num-samples").sentence
    assert "--json takes no value" in unbraid("list", "--no-json").sentence


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("evaluate", "run", "--num-samples", "1_0"), "'1_0' is not a whole number."),
        (("evaluate", "run", "--seed", "１"), "'１' is not a whole number."),
        (("evaluate", "run", "--num-samples", 10**20), "is out of range"),
        (("explore", "run", "--max-size-mb", "nan"), "'nan' is not a finite number."),
        (("explore", "run", "--out", ""), "The value is empty."),
        (("evaluate", "", "--metrics", "mig"), "The value is empty."),
        (("evaluate", "run", "--metrics", ""), "The value is empty."),
        (("train", "beta-vae", *SPRITES, "--out", ""), "The value is empty."),
        (("train", "beta-vae", *SPRITES, "--out", "--beta", 2), "A value is missing before --beta."),
        (
            ("train", "beta-vae", "--likelihood", *SPRITES, "--out", "run"),
            "A value is missing before --data.",
        ),
        (("report", "run", "--out", "--json"), "A value is missing before --json."),
        (("train", "beta-vae", *SPRITES, "--out", "run", "--devices", "1_0"), "'1_0' is not a whole number."),
    ],
)
def test_values_of_commands_are_read_strictly(
    unbraid: CommandLine, words: tuple[object, ...], sentence: str
) -> None:
    answer = unbraid(*words)
    assert answer.code == 2 and sentence in answer.err
