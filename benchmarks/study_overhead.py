"""What a study costs beside its runs: the time to recognize finished ones, and the share of short ones.

    python benchmarks/study_overhead.py [--finished 1000] [--runs 4] [--seconds 20]

The first part does one run and copies its folder under the names and seeds of the others, then does the study of all:
nothing is left to do. The second does runs of about as many seconds each, one after the other as plain trainings with
their scores, and then as a study in one process. Both are measured by the wall clock and by the time of the processor,
which other programs disturb less.
"""

import argparse
import json
import shutil
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from unbraid.recipes import Recipe
from unbraid.studies.jobs import JobContext, make_jobs, run_job
from unbraid.studies.plan import Plan, replace
from unbraid.studies.study import study

BASE = Plan(
    "beta-vae", "sprites", {"image_size": 32, "steps": 2, "batch_size": 16}, ("kl",), {"num_samples": 100}
)


def recognized(count: int, folder: Path) -> float:
    """Seconds of a study whose runs are all done."""
    plans = tuple(replace(BASE, seed=seed) for seed in range(count))
    study(Recipe("finished", "", plans[:1], {}), folder, device="cpu", quiet=True)
    first = folder / "runs" / plans[0].folder_name
    settings = json.loads((first / "run.json").read_text())
    for plan in plans[1:]:
        copy = shutil.copytree(first, folder / "runs" / plan.folder_name)
        settings["training"]["seed"] = plan.options["seed"]
        (copy / "run.json").write_text(json.dumps(settings))
    began = time.perf_counter()
    result = study(Recipe("finished", "", plans, {}), folder, device="cpu", quiet=True)
    seconds = time.perf_counter() - began
    assert [row.n for row in result.rows if row.metric == "kl"] == [count]
    return seconds


class Times(NamedTuple):
    """Seconds of runs by themselves, and of the study of as many others."""

    alone: float
    together: float

    def __str__(self) -> str:
        share = self.together / self.alone - 1
        return f"{self.alone:.1f} s by themselves, {self.together:.1f} s as a study, {share:+.1%}"


def overhead(count: int, seconds: float, folder: Path) -> tuple[Times, Times]:
    """By the wall clock and by the processor's time."""

    def plans(steps: int, first: int) -> tuple[Plan, ...]:
        return tuple(replace(BASE, steps=steps, seed=seed) for seed in range(first, first + count))

    path = JobContext(folder / "plain", None, "cpu", 1)
    run_job(make_jobs(plans(20, 0)[:1])[0], path, quiet=True)  # whatever is done once is done by now
    began = time.perf_counter()
    run_job(make_jobs(plans(200, 0)[:1])[0], path, quiet=True)
    steps = round(200 * seconds / (time.perf_counter() - began))
    marks = [(time.perf_counter(), time.process_time())]
    for job in make_jobs(plans(steps, 0)):
        run_job(job, path, quiet=True)
    marks.append((time.perf_counter(), time.process_time()))
    study(Recipe("overhead", "", plans(steps, count), {}), folder / "study", device="cpu", quiet=True)
    marks.append((time.perf_counter(), time.process_time()))
    wall, processor = (
        Times(middle - first, last - middle) for first, middle, last in zip(*marks, strict=True)
    )
    return wall, processor


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--finished", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=20.0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        seconds = recognized(arguments.finished, Path(folder) / "finished")
        print(f"{arguments.finished} finished runs recognized and their tables written in {seconds:.1f} s")
        wall, processor = overhead(arguments.runs, arguments.seconds, Path(folder))
        print(
            f"{arguments.runs} runs of {wall.alone / arguments.runs:.0f} s: {wall}; of the processor's time {processor}"
        )


if __name__ == "__main__":
    main()
