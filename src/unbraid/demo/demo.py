"""The demo: trains the five systems and their baselines and writes one page of results."""

import os
import sys
import time
from pathlib import Path

from unbraid.demo.page import write_demo_page
from unbraid.demo.sections import AFTER, OPENING, TITLE, demo_sections
from unbraid.progress import duration, progress
from unbraid.recipes import Recipe
from unbraid.recipes.demo import DemoEntry, DemoPair, demo_pairs
from unbraid.runs import Run
from unbraid.studies import Plan, replace, study

MAX_WORKERS = 4  # each is a process with its own copy of PyTorch


def demo(
    out: Path | str = "demo",
    *,
    quiet: bool = False,
    workers: int | None = None,
    max_steps: int | None = None,
    max_samples: int | None = None,
) -> Path:
    """Trains five systems and their baselines on data that needs no download, and writes `index.html`.

    An interrupted demo resumes. Finished runs are reused.

    Args:
        out: Folder for the runs, the explorers and the page.
        quiet: Hide progress.
        workers: Number of worker processes; default: one per core, at most four.
        max_steps: Maximum number of training steps per run, to shorten the demo.
        max_samples: Maximum number of observations to evaluate on, to shorten the demo.
    """
    out, started = Path(out), time.monotonic()
    pairs = {key: _limited_pair(pair, max_steps, max_samples) for key, pair in demo_pairs().items()}
    plans = [*(pair.system.plan for pair in pairs.values()), *(pair.baseline.plan for pair in pairs.values())]
    workers = min(MAX_WORKERS, os.cpu_count() or 1) if workers is None else workers
    _print(
        f"1/3  Training {len(pairs)} systems and {len(pairs)} baselines (about 5 min on 2 CPU cores).", quiet
    )
    recipe = Recipe("unbraid.demo.demo", TITLE, tuple(plans), {})
    result = study(recipe, out, device="cpu", workers=workers, quiet=quiet)
    if result.failures:
        failure = result.failures[0]
        raise ValueError(f"A run of the demo failed. {failure['error']} ({failure['plan']})")
    runs = {plan.folder_name: Run(out / "runs" / plan.folder_name) for plan in plans}
    _print("2/3  Writing an explorer for each system.", quiet)
    explorers = _explorers(
        {key: runs[pair.system.plan.folder_name] for key, pair in pairs.items()}, out, quiet
    )
    _print("3/3  Drawing the figures and writing the page.", quiet)
    sections = demo_sections(pairs, lambda plan: runs[plan.folder_name], explorers)
    page = write_demo_page(sections, out / "index.html", title=TITLE, paragraphs=OPENING, after=AFTER)
    _print(f"Done in {duration(time.monotonic() - started)}: {page}", quiet)
    return page


def _explorers(runs: dict[str, Run], out: Path, quiet: bool) -> dict[str, str]:
    """Writes the explorer of each run and returns their paths, relative to the page."""
    from unbraid.explore import write_explorer

    paths = {key: f"explorers/{key}.html" for key in runs}
    with progress("explorers", len(runs), quiet=quiet, unit="pages") as bar:
        for number, (key, run) in enumerate(runs.items(), start=1):
            write_explorer(run, out / paths[key])
            bar.show(number, {})
    return paths


def _limited_pair(pair: DemoPair, steps: int | None, samples: int | None) -> DemoPair:
    """The pair with at most these steps and samples."""
    return DemoPair(*(DemoEntry(_limited(entry.plan, steps, samples), entry.metric) for entry in pair))


def _limited(plan: Plan, steps: int | None, samples: int | None) -> Plan:
    if steps is not None:
        plan = replace(plan, steps=min(steps, plan.options["steps"]))
    if samples is not None:
        sizes = {"num_samples": samples}
        if plan.evaluation.get("num_test_samples"):
            sizes["num_test_samples"] = samples
        plan = replace(plan, evaluation={**plan.evaluation, **sizes})
    return plan


def _print(sentence: str, quiet: bool) -> None:
    if not quiet:
        print(sentence, file=sys.stderr, flush=True)
