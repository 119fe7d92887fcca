"""`unbraid evaluate`, src/unbraid/cli/evaluate.py."""

import functools
import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.commandline import CommandLine
from unbraid import metrics
from unbraid.evaluation import Sample
from unbraid.runs import Run


def test_another_split_and_another_dataset_are_scored_too(unbraid: CommandLine, tmp_path: Path) -> None:
    run = tmp_path / "credit"
    words = ["--architecture", "mlp", "--steps", 2, "--batch-size", 8, "--device", "cpu"]
    unbraid("train", "cnn", "--data", "credit", "--observations", 60, *words, "--out", run, "--quiet")
    for words in ([], ["--split", "test"], ["--split=test", "--districts", 3, "--data", "credit"]):
        done = unbraid("evaluate", run, "--metrics", "group_accuracy", "--num-samples", 0, *words)
        assert done.code == 0 and "group_accuracy.worst" in done.out
    scores = json.loads((run / "scores.json").read_text())
    assert [entry.get("on") for entry in scores if entry["metric"] == "group_accuracy"] == [
        None,
        "credit --split test",
        "credit --split test --districts 3",
    ]
    assert [entry["n"] for entry in scores if entry["metric"] == "group_accuracy"] == [60, 60, 4000]


def test_scores_are_printed_and_saved_in_the_run(unbraid: CommandLine, trained: Path) -> None:
    assert Run(trained).finished
    scores = unbraid(
        "evaluate", trained, "--metrics", "reconstruction,kl,mig", "--num-samples", 60, "--json"
    ).json
    assert [score["metric"] for score in scores][:2] == ["reconstruction", "kl"]
    assert {score["metric"] for score in Run(trained).scores()} >= {"reconstruction", "kl", "mig"}
    shown = unbraid("evaluate", trained, "--metrics", "kl", "--num-samples", 60)
    assert shown.out.startswith("kl ") and "(n=60" in shown.out


def test_a_default_metric_that_does_not_apply_is_skipped_and_a_named_one_refused(
    unbraid: CommandLine, tmp_path: Path
) -> None:
    words = ["--image-size", 32, "--steps", 1, "--batch-size", 4, "--device", "cpu", "--quiet"]
    unbraid("train", "infogan", "--data", "sprites", *words, "--out", tmp_path / "gan")
    default = unbraid("evaluate", tmp_path / "gan", "--num-samples", 20, "--json")
    assert [score["metric"] for score in default.json] == ["reconstruction"]
    named = unbraid("evaluate", tmp_path / "gan", "--num-samples", 20, "--metrics", "kl")
    assert named.code == 2 and "needs a posterior, and infogan has none" in named.err


def test_the_default_metrics_are_those_of_the_report(unbraid: CommandLine, tmp_path: Path) -> None:
    words = ["--architecture", "mlp", "--steps", 2, "--batch-size", 8, "--device", "cpu", "--quiet"]
    unbraid("train", "cnn", "--data", "credit", "--observations", 90, *words, "--out", tmp_path / "run")
    assert "Not shown without scores: Linear probes per strand." in page_of(unbraid, tmp_path / "run")
    scores = unbraid("evaluate", tmp_path / "run", "--num-samples", 90, "--json").json
    assert [score["metric"] for score in scores] == ["strand_probes"]
    assert "Linear probes per strand" in (page := page_of(unbraid, tmp_path / "run"))
    assert "Not shown without scores" not in page


def page_of(unbraid: CommandLine, run: Path) -> str:
    unbraid("report", run)
    return (run / "report.html").read_text()


def test_an_unknown_metric(unbraid: CommandLine, trained: Path) -> None:
    assert "no metric 'mgi'; did you mean mig" in unbraid("evaluate", trained, "--metrics", "mgi").sentence


def test_invalid_options(unbraid: CommandLine, trained: Path) -> None:
    too_large = unbraid("evaluate", trained, "--num-samples", 99999999999999999999)
    assert (
        too_large.code == 2 and "Traceback" not in too_large.err and "99999999999999999999" in too_large.err
    )
    for number in (-1, 10**9):
        sentence = unbraid("evaluate", trained, "--num-samples", number).sentence
        assert sentence == f"num_samples must be from 0 (0: all) to 100,000,000; got {number}."
    assert "seed must be from 0 to" in unbraid("evaluate", trained, "--seed", -1).sentence
    sentence = unbraid("evaluate", trained, "--processes", 0).sentence
    assert sentence == "processes must be at least 1; got 0."
    assert "'protocl'; did you mean protocol" in unbraid("evaluate", trained, "--protocl", "fast").sentence
    assert "--image-size needs a value" in unbraid("evaluate", trained, "--image-size").sentence
    assert "'kl' is no option" in unbraid("evaluate", trained, "kl").sentence
    assert (
        "num_test_samples must be from 0 to 100,000,000; got -1"
        in unbraid("evaluate", trained, "--num-test-samples", -1).sentence
    )


def encodings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the samples that are encoded from now on."""
    sizes: list[int] = []
    encode = Sample.map_batches

    def counted(sample: Sample, *arguments: Any, **options: Any) -> np.ndarray:
        sizes.append(sample.size)
        return encode(sample, *arguments, **options)

    monkeypatch.setattr(Sample, "map_batches", counted)
    return sizes


def test_a_metric_without_factors_is_refused_before_the_data_are_encoded(
    unbraid: CommandLine, tmp_path: Path, image_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["--image-size", 32, "--steps", 1, "--batch-size", 2, "--device", "cpu", "--quiet"]
    unbraid("train", "vae", "--data", image_folder, *words, "--out", tmp_path / "run")
    sizes = encodings(monkeypatch)
    answer = unbraid("evaluate", tmp_path / "run", "--metrics", "kl,mig", "--num-samples", 2)
    assert answer.sentence.startswith("The metric mig needs ground-truth factors, and images has none.")
    assert sizes == [] and not (tmp_path / "run" / "scores.json").exists()


@pytest.mark.parametrize(("stop", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_evaluation_keeps_what_was_scored_and_goes_on(
    unbraid: CommandLine, trained: Path, monkeypatch: pytest.MonkeyPatch, stop: signal.Signals, code: int
) -> None:
    command = ("evaluate", trained, "--metrics", "reconstruction,kl,active_dims", "--num-samples", 60)

    def interrupt(*_: object, **__: object) -> None:
        signal.raise_signal(stop)

    before = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # ignored where tests run in the background
    try:
        with monkeypatch.context() as patch:
            patch.setattr(metrics, "active_dims", functools.wraps(metrics.active_dims)(interrupt))
            stopped = unbraid(*command)
    finally:
        signal.signal(signal.SIGINT, before)
    assert stopped.code == code
    kept = f"2 of 3 metrics are kept in {trained}"
    assert f"unbraid: {kept}; run the same command again for the others." in stopped.err
    before = Run(trained).scores()
    assert [entry["metric"] for entry in before] == ["reconstruction", "kl"]
    sizes = encodings(monkeypatch)
    again = unbraid(*command)
    assert again.code == 0 and f"{kept}; --recompute computes them again." in again.err
    assert [line.split()[0] for line in again.out.splitlines()][:3] == ["reconstruction", "kl", "active_dims"]
    assert Run(trained).scores()[:2] == before and sizes  # with their seconds


def test_scores_are_computed_again_when_anything_differs_or_on_request(
    unbraid: CommandLine, trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def num_encoded(*words: object) -> int:
        sizes = encodings(monkeypatch)
        assert unbraid("evaluate", trained, "--metrics", "kl", *words).code == 0
        monkeypatch.undo()
        return len(sizes)

    first = ("--num-samples", 60)
    assert num_encoded(*first) > 0 and num_encoded(*first) == 0
    for other in (
        ("--recompute", *first),
        ("--num-samples", 61),
        ("--seed", 1),
    ):
        assert num_encoded(*other) > 0, other
    assert num_encoded("--protocol", "fast", "--num-samples", 61) > 0
    assert num_encoded(*first) > 0 and num_encoded("--image-size", 32, *first) > 0  # by another name
    run, before = Run(trained), (trained / "scores.json").read_bytes()
    run.finish(
        {name: 0.9 * value if value.is_floating_point() else value for name, value in run.weights().items()},
        2,
    )
    (trained / "scores.json").write_bytes(before)
    assert num_encoded(*first) > 0


def test_an_unfinished_run(unbraid: CommandLine, trained: Path) -> None:
    (trained / "model.safetensors").unlink()
    assert "unfinished" in unbraid("evaluate", trained).sentence


def test_damaged_weights(unbraid: CommandLine, trained: Path) -> None:
    (trained / "model.safetensors").write_bytes(b"junk")
    assert "not a complete safetensors file" in unbraid("evaluate", trained).sentence


def test_a_damaged_setting(unbraid: CommandLine, trained: Path) -> None:
    settings = json.loads((trained / "run.json").read_text())
    settings["method"]["arguments"]["encoder"]["network"] = "os.system"
    (trained / "run.json").write_text(json.dumps(settings))
    assert "os.system" in unbraid("evaluate", trained).sentence
