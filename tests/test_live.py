"""What a person sees of a study, src/unbraid/live.py."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from unbraid.live import Glimpse, Live, Quiet, Table, glimpse, live, short_names
from unbraid.plan import Plan, replace
from unbraid.work import Failure

PLAN = Plan("beta-vae", "sprites", {"steps": 100})
PLANS = {name: replace(PLAN, seed=seed) for seed, name in enumerate(("a", "b", "c", "d"))}


def begin(folder: Path, step: int, seconds: float) -> None:
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"training": {"steps": 100}}))
    lines = [{"step": 1, "seconds": 0.1, "loss": 9.0}, {"step": step, "seconds": seconds, "loss": 3.5}]
    (folder / "history.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"step": 9')


def test_a_glimpse_reads_the_last_whole_line(tmp_path: Path) -> None:
    assert glimpse(tmp_path / "a") is None
    begin(tmp_path / "a", 40, 20.0)
    assert glimpse(tmp_path / "a") == Glimpse(40, 100, 2.0, 3.5)
    assert Glimpse(40, 100, 2.0, 3.5).left == 30.0
    (tmp_path / "a" / "history.jsonl").write_text("")
    assert glimpse(tmp_path / "a") is None


def test_sentences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begin(tmp_path / "c", 40, 20.0)
    with Live(PLANS, tmp_path, known=2) as display:
        assert display.sentence() == "2 of 6 runs done, 1 under way" and display.left() is None
        display.end("a", None)
        display.end("b", Failure("b", "unbraid train b", "ValueError: no", ""))
        assert display.sentence().startswith("3 of 6 runs done, 1 failed, 1 under way; ")
        display.show()
        display.show()  # too soon for another line
        for name in ("c", "d"):
            display.end(name, None)
        assert display.sentence() == "5 of 6 runs done, 1 failed"
    shown = capsys.readouterr().err.splitlines()
    assert shown[0] == "  failed: unbraid train b: ValueError: no" and len(shown) == 2


def test_the_time_left_counts_parts_of_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of four runs one was at 40 of 100 steps when the study began. After 10 s it has ended and another is at 40: 1.0
    of the 3.6 that were left, so 26 s remain."""
    now = iter([100.0, 110.0])
    begin(tmp_path / "c", 40, 20.0)
    monkeypatch.setattr("unbraid.live.time.monotonic", lambda: next(now))
    display = Quiet(PLANS, tmp_path, known=0)
    assert display.left() is None
    display.end("c", None)
    begin(tmp_path / "d", 40, 4.0)
    assert display.left() == pytest.approx(26.0)


def test_the_table_has_a_line_for_each_run_under_way(tmp_path: Path) -> None:
    begin(tmp_path / "c", 40, 20.0)
    with Table(PLANS, tmp_path, known=0) as display:
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


def test_short_names_say_what_differs() -> None:
    other = Plan("vae", "sprites", {"steps": 100, "seed": 0, "size": 32})
    assert short_names({"a": PLANS["a"], "b": PLANS["b"], "c": other}) == {
        "a": "beta-vae sprites --seed 0",
        "b": "beta-vae sprites --seed 1",
        "c": "vae sprites --seed 0 --size 32",
    }


def test_which_display(tmp_path: Path) -> None:
    assert type(live(PLANS, tmp_path, known=0, quiet=True)) is Quiet
    assert type(live(PLANS, tmp_path, known=0, quiet=False)) is Live  # tests have no terminal
