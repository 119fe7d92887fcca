"""Progress of a running study, src/unbraid/studies/status.py."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from unbraid.studies.jobs import Failure
from unbraid.studies.plan import Plan, replace
from unbraid.studies.status import (
    NoStatus,
    RunProgress,
    StatusLines,
    StatusTable,
    make_status,
    read_progress,
    short_names,
)

PLAN = Plan("beta-vae", "sprites", {"steps": 100})
PLANS = {name: replace(PLAN, seed=seed) for seed, name in enumerate(("a", "b", "c", "d"))}


def begin(folder: Path, step: int, seconds: float) -> None:
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"training": {"steps": 100}}))
    lines = [{"step": 1, "seconds": 0.1, "loss": 9.0}, {"step": step, "seconds": seconds, "loss": 3.5}]
    (folder / "history.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"step": 9')


def test_progress_is_read_from_the_last_complete_line(tmp_path: Path) -> None:
    assert read_progress(tmp_path / "a") is None
    begin(tmp_path / "a", 40, 20.0)
    assert read_progress(tmp_path / "a") == RunProgress(40, 100, 2.0, 3.5)
    assert RunProgress(40, 100, 2.0, 3.5).seconds_left == 30.0
    (tmp_path / "a" / "history.jsonl").write_text("")
    assert read_progress(tmp_path / "a") is None


def test_sentences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begin(tmp_path / "c", 40, 20.0)
    with StatusLines(PLANS, tmp_path, known=2) as display:
        assert display.sentence() == "2 of 6 runs done, 1 running" and display.seconds_left() is None
        display.end("a", None)
        display.end("b", Failure("b", "unbraid train b", "ValueError: no", ""))
        assert display.sentence().startswith("3 of 6 runs done, 1 failed, 1 running; ")
        display.show()
        display.show()  # too soon for another line
        for name in ("c", "d"):
            display.end(name, None)
        assert display.sentence() == "5 of 6 runs done, 1 failed"
    shown = capsys.readouterr().err.splitlines()
    assert shown[0] == "  failed: unbraid train b: ValueError: no" and len(shown) == 2


def test_the_remaining_time_counts_fractions_of_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of four runs one was at 40 of 100 steps when the study began. After 10 s it has ended and another is at 40: 1.0
    of the 3.6 that were left, so 26 s remain."""
    now = iter([100.0, 110.0])
    begin(tmp_path / "c", 40, 20.0)
    monkeypatch.setattr("unbraid.studies.status.time.monotonic", lambda: next(now))
    display = NoStatus(PLANS, tmp_path, known=0)
    assert display.seconds_left() is None
    display.end("c", None)
    begin(tmp_path / "d", 40, 4.0)
    assert display.seconds_left() == pytest.approx(26.0)


def test_the_table_has_a_line_per_running_run(tmp_path: Path) -> None:
    begin(tmp_path / "c", 40, 20.0)
    with StatusTable(PLANS, tmp_path, known=0) as display:
        display.end("a", None)
        display.end("b", Failure("b", "unbraid train b", "ValueError: no [bold]such[/bold]", ""))
        display.show()
        console = Console(width=120, record=True, file=io.StringIO())
        console.print(display._table())
        for name in ("c", "d"):
            display.end(name, None)
    text = console.export_text()
    assert "beta-vae sprites --seed 2" in text and "40/100" in text and "30 s" in text
    assert "done" in text and "no [bold]such[/bold]" in text  # shown as it is


def test_short_names_contain_the_varying_options() -> None:
    other = Plan("vae", "sprites", {"steps": 100, "seed": 0, "image_size": 32})
    assert short_names({"a": PLANS["a"], "b": PLANS["b"], "c": other}) == {
        "a": "beta-vae sprites --seed 0",
        "b": "beta-vae sprites --seed 1",
        "c": "vae sprites --seed 0 --image-size 32",
    }


def test_the_display_depends_on_where_standard_error_goes(tmp_path: Path) -> None:
    assert type(make_status(PLANS, tmp_path, known=0, quiet=True)) is NoStatus
    assert type(make_status(PLANS, tmp_path, known=0, quiet=False)) is StatusLines  # tests have no terminal
