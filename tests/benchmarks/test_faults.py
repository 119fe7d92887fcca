"""The fault harness: cases, processes, patches, outcomes, tables. benchmarks/faults/"""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from benchmarks.faults import __main__ as harness
from benchmarks.faults import results
from benchmarks.faults.case import Bench, Case, Family, NotHere
from benchmarks.faults.folders import _plant_code
from benchmarks.faults.judge import MARK, DidNotSurvive, Kept
from benchmarks.faults.processes import ROOT, ForkedCommands
from benchmarks.faults.results import Outcome, Results, table, write_docs
from benchmarks.faults.server import Handler, content, serving
from benchmarks.faults.worlds import unsafe_renames


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A bench whose commands are scripts, so that nothing imports torch."""
    return Bench(tmp_path / "bench", ForkedCommands(tmp_path))


def run_script(bench: Bench, script: str, *, limit: float = 20.0) -> None:
    """A command that does what the script does, judged like every other."""
    with Case("scripts", 0, bench) as case:
        here = case.folder / "here"
        here.mkdir()
        (here / "mine.txt").write_text("mine")
        before = Kept.of(here)
        case.call([], here, script=script, limit=limit)
        before.check()
        case.check_files()


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("raise KeyError('weights')", "Traceback"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "died of SIGSEGV"),
        ("import pathlib; pathlib.Path('mine.txt').unlink()", "lost the file mine.txt"),
        ("import pathlib; pathlib.Path('code-ran').touch()", "ran code from a file"),
        ("import pathlib; pathlib.Path('run.json').write_text('NaN')", "wrote here/run.json"),
        ("import sys; sys.exit(3)", "ended with code 3"),
    ],
)
def test_a_command_that_misbehaves_fails_its_case(bench: Bench, script: str, reason: str) -> None:
    run_script(bench, "print('Done.')")
    with pytest.raises(DidNotSurvive) as failure:
        run_script(bench, script)
    assert reason in failure.value.reason


def test_a_command_that_hangs_is_killed_with_what_it_started(bench: Bench, tmp_path: Path) -> None:
    script = "import os, subprocess, time; p = subprocess.Popen(['sleep', '600']); "
    script += f"open({str(tmp_path / 'pid')!r}, 'w').write(str(p.pid)); time.sleep(600)"
    with pytest.raises(DidNotSurvive, match="did not end within its limit"):
        run_script(bench, script, limit=1.0)
    child = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 10  # a killed process may need a moment to disappear
    while (alive := is_alive(child)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def attempt(case: Case) -> None:
    """A case that writes down what its seed decides."""
    number = case.rng.random()
    case.tried = str(number)
    if number < 0.3:
        raise DidNotSurvive("is below 0.3")
    if number > 0.9:
        raise NotHere("is above 0.9")
    if number > 0.8:
        raise KeyError("a fault of the harness")


@pytest.fixture
def families(monkeypatch: pytest.MonkeyPatch) -> tuple[Family, ...]:
    """Two families without processes."""
    found = (Family("odd", "odd numbers", (3, 20, 40), attempt), Family("even", "more", (2, 4, 6), attempt))
    monkeypatch.setattr(harness, "FAMILIES", found)
    monkeypatch.setattr(ForkedCommands, "__enter__", lambda self: self)
    monkeypatch.setattr(ForkedCommands, "__exit__", lambda self, *_: None)
    monkeypatch.setattr(results, "commit", lambda: "abc")
    return found


def outcomes(path: Path) -> dict[str, Outcome]:
    return Results(path).outcomes


def test_a_case_repeats_from_its_seed_alone(
    families: tuple[Family, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "standard.jsonl"
    code = harness.main(["--results", str(path)])
    tried = outcomes(path)
    assert len(tried) == 24 and code == 1
    states = {outcome.state for outcome in tried.values()}
    assert states == {"survived", "failed", "not here"}
    assert any("KeyError: 'a fault of the harness'" in outcome.reason for outcome in tried.values())
    failed = next(outcome for outcome in tried.values() if outcome.state == "failed")
    assert f"--case {failed.case}" in capsys.readouterr().out
    assert harness.main(["--results", str(path), "--case", failed.case]) == 1
    (again,) = outcomes(tmp_path / "case.jsonl").values()
    assert (again.case, again.tried, again.reason) == (failed.case, failed.tried, failed.reason)
    assert len(outcomes(path)) == 24  # which one case leaves alone
    survived = next(outcome for outcome in tried.values() if outcome.state == "survived")
    assert harness.main(["--results", str(path), "--case", survived.case]) == 0


def test_the_full_harness_goes_on_where_it_was(families: tuple[Family, ...], tmp_path: Path) -> None:
    path = tmp_path / "full.jsonl"
    harness.main(["--full", "--results", str(path), "--family", "even"])
    assert set(outcomes(path)) == {f"even/{number}" for number in range(6)}
    with path.open("a") as file:
        file.write('{"case": "odd/1", "sta')  # killed while it wrote
    lines = path.read_text().count("even/1")
    harness.main(["--full", "--results", str(path)])
    assert len(outcomes(path)) == 46 and path.read_text().count("even/1") == lines
    failed = {outcome.case for outcome in Results(path).failures}
    harness.main(["--full", "--results", str(path), "--again"])
    assert {outcome.case for outcome in Results(path).failures} == failed


def test_no_case_starts_after_the_time(families: tuple[Family, ...], tmp_path: Path) -> None:
    path = tmp_path / "standard.jsonl"
    assert harness.main(["--results", str(path), "--minutes", "1e-9"]) == 0
    assert not outcomes(path)


def test_the_table_and_the_page_count_what_survived(families: tuple[Family, ...], tmp_path: Path) -> None:
    found = Results(tmp_path / "results.jsonl")
    for number, state in enumerate(("survived", "survived", "failed", "not here")):
        found.add(Outcome(f"odd/{number}", state, "", "", "", 1800.0, "abc", f"2026-01-0{number + 1}"))
    rows = [line.strip("| ").split(" | ") for line in table(found, families).splitlines()]
    assert [cell.strip() for cell in rows[2]] == [
        "odd",
        "odd numbers (1 not tried on this machine)",
        "3",
        "2",
        "1",
    ]
    assert [cell.strip() for cell in rows[-1]][2:] == ["3", "2", "1"]
    page = tmp_path / "page.md"
    page.write_text(f"Before.\n\n{results.START}\nold\n{results.END}\n\nAfter.\n")
    for _ in range(2):
        write_docs(found, families, "full", page)
    text = page.read_text()
    assert text.startswith("Before.\n") and text.endswith("\nAfter.\n") and "old" not in text
    assert "The full harness, 2026-01-01 to 2026-01-04, on " in text and "2.0 hours of cases" in text
    assert text.count("| odd numbers ") == 1
    page.write_text("No place.")
    with pytest.raises(ValueError, match="lacks <!-- table: start -->"):
        write_docs(found, families, "full", page)


def test_the_harness_is_as_large_as_promised() -> None:
    counts = {family.name: family.counts for family in harness.FAMILIES}
    assert [counts[name][1:] for name in ("commands", "folders", "kills", "disks", "requests")] == [
        *((200, 2_000), (100, 1_000), (20, 200), (5, 30), (1_000, 10_000))
    ]
    assert all(short <= standard <= full for short, standard, full in counts.values())


def in_patched_process(patch: str, script: str, folder: Path) -> int:
    """The exit code of a script that has called a patch."""
    program = f"from benchmarks.faults import patches\npatches.{patch}\n{script}"
    return subprocess.run([sys.executable, "-c", program], cwd=ROOT, env={**os.environ}).returncode


@pytest.mark.parametrize("number", [0, 2])
def test_a_process_dies_at_the_change_of_a_file_that_was_chosen(tmp_path: Path, number: int) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    script = f"""
import os
for name in "abc":
    open({str(tmp_path)!r} + "/" + name, "w").close()
    open({str(inside)!r} + "/" + name, "w").close()
os.rename({str(inside)!r} + "/a", {str(inside)!r} + "/d")
"""
    count = tmp_path / "count"
    patch = f"die_at_change({str(inside)!r}, {number}, {str(count)!r})"
    code = in_patched_process(patch, script, tmp_path)
    left = sorted(path.name for path in inside.iterdir())
    if number:
        assert (code, left, count.read_text()) == (-signal.SIGKILL, ["a"], "2")
    else:
        assert (code, left, count.read_text()) == (0, ["b", "c", "d"], "4")


def test_syncs_are_recorded_and_missing_ones_found(tmp_path: Path) -> None:
    script = f"""
import os
from pathlib import Path
from unittest.mock import patch
folder = Path({str(tmp_path)!r})
def write(name, sync, sync_folder):
    with open(folder / "part", "w") as file:
        file.write(name)
        file.flush()
        if sync:
            os.fsync(file.fileno())
    os.replace(folder / "part", folder / name)
    if sync_folder:
        handle = os.open(folder, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)
write("safe", True, True)
write("late", True, False)
"""
    log = tmp_path / "log"
    assert in_patched_process(f"record_syncs({str(log)!r})", script, tmp_path) == 0
    events: list[list[str]] = [json.loads(line) for line in log.read_text().splitlines()]
    assert unsafe_renames(events, tmp_path) == ["late: its folder was not synced after the rename"]
    without = [event for event in events if event != ["sync", str(tmp_path / "part")]]
    assert sum("content was not synced" in line for line in unsafe_renames(without, tmp_path)) == 2
    assert not unsafe_renames(without, tmp_path / "elsewhere")


def test_the_clock_goes_back(tmp_path: Path) -> None:
    script = "import time; times = [time.time() for _ in range(100)]; "
    script += "raise SystemExit(0 if sorted(times) != times and 0 <= time.monotonic() < 60 else 1)"
    assert in_patched_process("clock(0)", script, tmp_path) == 0


def test_the_local_server_sends_ranges_and_nonsense(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    address = f"http://127.0.0.1:{serving()}"
    with urllib.request.urlopen(f"{address}/file.npz") as answer:
        assert answer.read() == content()
        tag = answer.headers["ETag"]
    for condition, start in ((tag, 1000), ('"other"', 0)):
        wanted = urllib.request.Request(
            f"{address}/file.npz", headers={"Range": "bytes=1000-", "If-Range": condition}
        )
        with urllib.request.urlopen(wanted) as answer:
            assert answer.status == (206 if start else 200) and answer.read() == content()[start:]
    monkeypatch.setitem(Handler.now, "mirror", "login")  # what an address does may change
    for name in ("login", "mirror"):
        with urllib.request.urlopen(f"{address}/{name}") as answer:
            assert answer.status == 200 and answer.read().startswith(b"<!DOCTYPE html>")
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(f"{address}/nothing")


def test_planted_code_would_leave_its_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If it was imported: otherwise the judge would see nothing."""
    import random

    run = tmp_path / "run"
    run.mkdir()
    (run / "run.json").write_text(json.dumps({"method": {"name": "vae"}}))
    seen: set[Any] = set()
    for seed in range(30):
        did = _plant_code(run, random.Random(seed))
        seen.add(did.rpartition(" as ")[2])
    assert {"method", "model.safetensors"} <= seen
    monkeypatch.chdir(tmp_path)
    exec((run / "evil.py").read_text(), {})
    assert (tmp_path / MARK).exists()
