"""`unbraid train`: options, data and mistakes in them, src/unbraid/cli/train.py."""

import importlib
import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.commandline import SPRITES, CommandLine
from unbraid.files import append_line, read_tensors
from unbraid.runs import Run


def test_latent_dim_is_refused_where_other_options_set_the_code_size(
    unbraid: CommandLine, tmp_path: Path
) -> None:
    answer = unbraid("train", "intervention", *SPRITES, "--out", tmp_path / "run")
    assert (
        answer.code == 2 and "the size of its code is set by --num-features and --feature-dim" in answer.err
    )


def test_help_lists_the_options_of_method_draw_and_dataset(unbraid: CommandLine) -> None:
    answer = unbraid("train", "ada-gvae", "--data", "sprites", "--help")
    assert answer.code == 0
    specific = ("--beta", "--pair-rule", "--fixed-factors", "--antialias")
    for option in (*specific, "--steps", "--architecture", "--resume", "--compile / --no-compile"):
        assert option in answer.out
    assert (
        "--antialias" not in unbraid("train", "ada-gvae", "--help").out
    )  # without --data, no options of a dataset


def test_a_logger_that_is_not_installed(
    unbraid: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    answer = unbraid("train", "beta-vae", *SPRITES, "--out", tmp_path / "run", "--logger", "wandb")
    assert "Install it with `pip install wandb`" in answer.sentence
    assert not (tmp_path / "run").exists()


def test_the_learning_rate_of_the_first_player(unbraid: CommandLine, tmp_path: Path) -> None:
    words = ("--learning-rate", 0.01, "--weight-decay", 0.1)
    assert unbraid("train", "vae", *SPRITES, *words, "--out", tmp_path / "run").code == 0
    training = Run(tmp_path / "run").settings["training"]
    assert training["lr"] == 0.01 and training["weight_decay"] == 0.1


def test_json_is_the_only_output(unbraid: CommandLine, tmp_path: Path) -> None:
    answer = unbraid("train", "vae", *SPRITES, "--out", tmp_path / "run", "--json")
    assert answer.json["step"] == 2 and answer.json["method"] == "vae" and answer.err == ""


def test_options_reach_the_run(unbraid: CommandLine, tmp_path: Path) -> None:
    words = ("--capacity", "linear:0:5:10", "--optimizer", "adam:0.01", "--no-antialias", "--grad-clip", 1.5)
    assert unbraid("train", "annealed-vae", *SPRITES, *words, "--out", tmp_path / "run").code == 0
    settings = Run(tmp_path / "run").settings
    assert settings["method"]["arguments"]["capacity"] == {"spec": "linear:0.0:5.0:10"}
    assert settings["training"]["optimizer"]["spec"].startswith("adam:0.01")
    assert settings["training"]["grad_clip"] == 1.5
    assert settings["data"]["origin"]["options"] == {"image_size": 32, "antialias": False}


def test_a_full_disk_while_checkpointing(
    unbraid: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("train", "beta-vae", *SPRITES, "--out", tmp_path / "run", "--quiet")
    fsync, checkpoints = os.fsync, []

    def full(file: int) -> None:
        checkpoints.extend([file] if "checkpoint" in os.readlink(f"/proc/self/fd/{file}") else [])
        if len(checkpoints) == 2:
            raise OSError(28, "No space left on device")
        fsync(file)

    monkeypatch.setattr(os, "fsync", full)
    sentence = unbraid(*words, "--checkpoint-seconds", 0).sentence
    assert "No space left on device" in sentence and "--resume" in sentence
    assert (tmp_path / "run" / "checkpoint.safetensors").exists()
    monkeypatch.setattr(os, "fsync", fsync)
    assert unbraid(*words, "--resume").code == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_training_with_a_checkpoint_and_its_exit_code(
    number: signal.Signals, unbraid: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("train", "vae", *SPRITES, "--out", tmp_path / "run", "--steps", 9, "--log-every", 2, "--quiet")
    with monkeypatch.context() as patch:
        patch.setattr("unbraid.training.checkpoint.History.add", lambda *line: signal.raise_signal(number))
        answer = unbraid(*words)
    assert answer.code == 128 + number
    assert answer.err == "unbraid: Stopped at step 3 of 9: continue with --resume.\n"
    assert int(read_tensors(tmp_path / "run" / "checkpoint.safetensors")["step"]) == 3
    assert unbraid(*words, "--resume").code == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_before_the_first_step_ends_with_one_sentence(
    number: signal.Signals, unbraid: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = importlib.import_module("unbraid.training.train")  # unbraid.training.train is its function
    monkeypatch.setattr(module, "check_training", lambda *all: signal.raise_signal(number))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        answer = unbraid("train", "vae", *SPRITES, "--out", tmp_path / "run", "--quiet")
    finally:
        signal.signal(signal.SIGINT, before)
    assert answer.code == 128 + number and answer.out == ""
    assert answer.err == "unbraid: Stopped: run the same command again (training with --resume).\n"


def test_a_full_disk_while_logging(
    unbraid: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """/dev/full answers every write as a full disk does."""
    words = ("train", "vae", *SPRITES, "--out", tmp_path / "run", "--quiet", "--log-every", 1)
    with monkeypatch.context() as patch:
        patch.setattr(
            "unbraid.training.checkpoint.append_line", lambda path, line: append_line(Path("/dev/full"), line)
        )
        sentence = unbraid(*words).sentence
    assert "could not be extended (No space left on device)" in sentence and "Errno" not in sentence
    assert unbraid(*words, "--resume").code == 0


def test_a_folder_that_holds_another_run(unbraid: CommandLine, trained: Path) -> None:
    before = (trained / "model.safetensors").read_bytes()
    assert (
        "already contains a finished run" in unbraid("train", "beta-vae", *SPRITES, "--out", trained).sentence
    )
    other = unbraid("train", "beta-vae", *SPRITES, "--beta", 9, "--out", trained, "--resume")
    assert "differs in method.arguments.beta" in other.sentence
    assert (trained / "model.safetensors").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--log-every", 0), "log_every must be at least 1"),
        (("--device", "cpu:foo"), "no device 'cpu:foo'"),
        (("--precision", "float16"), "must be one of float32, bf16"),
        (("--grad-clip", "nan"), "--grad-clip: 'nan' is not a finite number"),
        (("--val-fraction", 0.9999999), "leaves one split empty"),
    ],
)
def test_invalid_values(
    unbraid: CommandLine, tmp_path: Path, words: tuple[object, ...], sentence: str
) -> None:
    answer = unbraid("train", "vae", *SPRITES, "--out", tmp_path / "run", *words)
    assert sentence in answer.sentence
    assert not (tmp_path / "run").exists()


def test_an_unknown_method(unbraid: CommandLine) -> None:
    assert (
        "no method 'beta-vea'; did you mean beta-vae" in unbraid("train", "beta-vea", "--data", "x").sentence
    )


def test_a_negative_weight(unbraid: CommandLine, tmp_path: Path) -> None:
    answer = unbraid("train", "beta-vae", *SPRITES, "--beta", -1, "--out", tmp_path / "run")
    assert "beta must be" in answer.sentence and "-1" in answer.sentence
    assert not (tmp_path / "run").exists()


def test_a_value_that_is_not_a_number(unbraid: CommandLine, tmp_path: Path) -> None:
    answer = unbraid("train", "beta-vae", *SPRITES, "--beta", "four", "--out", tmp_path / "run")
    assert "--beta: 'four' is not a number" in answer.sentence


def test_an_image_size_without_a_network(unbraid: CommandLine, tmp_path: Path) -> None:
    np.savez(tmp_path / "mine.npz", images=np.zeros((10, 37, 37), np.uint8))
    words = ("--data", tmp_path / "mine.npz", "--steps", 1, "--out", tmp_path / "run")
    assert "37" in unbraid("train", "vae", *words).sentence


def test_pairs_on_data_without_factors(unbraid: CommandLine, image_folder: Path, tmp_path: Path) -> None:
    words = ("--data", image_folder, "--image-size", 32, "--steps", 1, "--out", tmp_path / "run")
    assert "no known factors" in unbraid("train", "ada-gvae", *words).sentence
    assert not (tmp_path / "run").exists()


def test_invalid_subembeddings(unbraid: CommandLine, tmp_path: Path) -> None:
    """Sizes that do not divide, a batch of one, an unknown variant, a temperature of zero, too many directions."""
    words = (
        *("--data", "mnist-stl10", "--digits", "bundled", "--pairs", 20),
        *("--image-size", 32, "--backgrounds", "textures", "--steps", 1, "--device", "cpu"),
        *("--out", tmp_path / "run"),
    )

    def error(*more: object, method: str = "subinfomax") -> str:
        return unbraid("train", method, *words, *more).sentence

    assert "must divide the 15 dimensions of the embedding; got 2" in error("--embedding-dim", 15)
    assert "must divide the 256 dimensions of the features; got 3" in error(
        "--embedding-dim", 15, "--num-subembeddings", 3
    )
    assert error("--batch-size", 1) == "batch_size must be at least 2; got 1."
    assert "'dc-xx' must be one of dc-bc, dc-dl, bc-dl" in error("--variant", "dc-xx")
    assert "--temperature must be positive" in error("--temperature", 0)
    ours = "independent-subembeddings"
    many = error("--embedding-dim", 160, "--independent-directions", 60, method=ours)
    assert "at least 121 different labels" in many and "Use a smaller --independent-directions" in many
    assert not (tmp_path / "run").exists()


def test_a_schedule_of_more_factors_than_the_dataset_has(unbraid: CommandLine, tmp_path: Path) -> None:
    words = ("train", "sw-vae", *SPRITES, "--out", tmp_path / "run")
    answer = unbraid(*words, "--k-schedule", "linear:1:9:10")
    assert "sprites can change 1 to 5 factors; got linear:1.0:9.0:10, which goes" in answer.sentence
    assert not (tmp_path / "run").exists()


def test_a_folder_inside_a_file(unbraid: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert (
        "cannot be created" in unbraid("train", "vae", *SPRITES, "--out", tmp_path / "file" / "run").sentence
    )


def test_two_tables_are_target_and_background(unbraid: CommandLine, tmp_path: Path) -> None:
    target, background = tmp_path / "shocked.csv", tmp_path / "plain.csv"
    target.write_text("\ufeffa;b;kind\n1;2;x\n2;3;y\n4;;x\n")
    background.write_text("a;b\n1;2\n2;9\n")
    words = ["train", "principled-contrast", "--data", target, "--background", background, "--label", "kind"]
    words += [
        "--impute",
        "mean",
        "--architecture",
        "mlp-small",
        "--likelihood",
        "normal:1",
        "--batch-size",
        2,
    ]
    answer = unbraid(*words, "--steps", 2, "--device", "cpu", "--out", tmp_path / "run")
    assert answer.code == 0, answer
    scores = unbraid(
        "evaluate", tmp_path / "run", "--metrics", "salient:background_norm", "--num-samples", 0, "--json"
    )
    assert scores.json[0]["n"] == 2


def test_an_unknown_dataset(unbraid: CommandLine, tmp_path: Path) -> None:
    answer = unbraid("train", "vae", "--data", "spritez", "--steps", 1, "--out", tmp_path / "run")
    assert "spritez" in answer.sentence and "sprites" in answer.sentence
    assert not (tmp_path / "run").exists()


def test_a_missing_data_file(unbraid: CommandLine, tmp_path: Path) -> None:
    words = ("--data", "dsprites", "--data-root", tmp_path, "--steps", 1, "--out", tmp_path / "run")
    assert str(tmp_path) in unbraid("train", "vae", *words).sentence
    assert "does not exist" in unbraid("train", "vae", "--data", tmp_path / "no.npz", *words[4:]).sentence


def test_a_truncated_data_file(unbraid: CommandLine, tmp_path: Path) -> None:
    np.savez(tmp_path / "mine.npz", images=np.zeros((100, 32, 32), np.uint8))
    content = (tmp_path / "mine.npz").read_bytes()
    (tmp_path / "mine.npz").write_bytes(content[: len(content) // 2])
    words = ("--data", tmp_path / "mine.npz", "--steps", 1, "--out", tmp_path / "run")
    assert "mine.npz" in unbraid("train", "vae", *words).sentence


@pytest.mark.parametrize(
    ("images", "sentence"),
    [
        (np.zeros((10, 32), object), "mine.npz"),
        (np.zeros(10), "mine needs images"),
        (np.zeros((10, 1, 2, 3, 4)), "mine needs images"),
        (np.full((10, 32, 32), np.nan), "not finite (NaN or ∞), the first in row 0"),
    ],
    ids=["objects", "one dimension", "five dimensions", "NaN pixels"],
)
def test_arrays_that_are_not_images(
    unbraid: CommandLine, tmp_path: Path, images: np.ndarray, sentence: str
) -> None:
    np.savez(tmp_path / "mine.npz", images=images)
    words = ("--data", tmp_path / "mine.npz", "--steps", 1, "--out", tmp_path / "run")
    assert sentence in unbraid("train", "vae", *words).sentence
    assert not (tmp_path / "run").exists()


def test_a_folder_with_a_broken_image(unbraid: CommandLine, image_folder: Path, tmp_path: Path) -> None:
    (image_folder / "broken.png").write_bytes(b"not an image")
    words = (
        *("--data", image_folder, "--image-size", 32, "--steps", 1, "--batch-size", 2),
        *("--out", tmp_path / "run"),
    )
    assert "broken.png" in unbraid("train", "vae", *words).sentence
    assert unbraid("train", "vae", *words, "--skip-broken").code == 0


def test_a_background_that_does_not_fit(unbraid: CommandLine, image_folder: Path, tmp_path: Path) -> None:
    """Other shapes, fewer images than a batch, an empty folder, no background, tables with holes or text."""
    empty, holes, text = tmp_path / "empty", tmp_path / "holes.csv", tmp_path / "text.csv"
    empty.mkdir()
    holes.write_text("a,b\n1,\n2,3\n")
    text.write_text("a,b\n1,x\n2,y\n")
    rows = tmp_path / "rows.csv"
    rows.write_text("\ufeffa,b\n1,2\n2,3\n")  # a byte-order mark is allowed

    def error(data: object, background: object, *more: object) -> str:
        words = ["train", "principled-contrast", "--data", data, *more, "--steps", 2, "--device", "cpu"]
        words += [] if background is None else ["--background", background]
        return unbraid(*words, "--out", tmp_path / "run").sentence

    assert "give images for both, or rows for both" in error(image_folder, rows)
    assert "lower --batch-size" in error(image_folder, image_folder, "--batch-size", 64)
    assert "holds no images" in error(image_folder, empty)
    assert "needs a background dataset, and images has none. Pass --background" in error(image_folder, None)
    table = ("--architecture", "mlp-small", "--likelihood", "normal:1", "--batch-size", 2)
    assert "--impute mean" in error(rows, holes, *table)
    assert "--drop b" in error(text, rows, *table)
    assert "Use a normal likelihood (--likelihood normal:1)" in error(
        rows, rows, "--architecture", "mlp-small"
    )
    assert "lower --batch-size" in error(rows, rows, *table[:-1], 3)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--angles", ""), "The list angles is empty: give at least one angle in degrees."),
        (("--test-angles", ""), "The list test_angles is empty"),
        (("--digit-colors", ""), "The list digit_colors is empty: give at least one color as RRGGBB."),
        (("--background-colors", ""), "The list background_colors is empty"),
        (("--angles", "nan"), "--angles: 'nan' is not a finite number."),
        (("--angles", "10,10"), "The list angles names an angle twice: 10, 10."),
        (
            ("--no-same-class",),
            "because it swaps the class strand. Remove --no-same-class",
        ),
        (("--predictive-dim", 0), "predictive_dim and nuisance_dim must be at least 1"),
    ],
)
def test_invalid_options_of_colored_digits(
    unbraid: CommandLine, tmp_path: Path, words: tuple[object, ...], sentence: str
) -> None:
    data = ("--data", "rotation-colored-mnist", "--digits", "bundled", "--steps", 1, "--device", "cpu")
    assert sentence in unbraid("train", "recon-contrast", *data, "--out", tmp_path, *words).sentence
