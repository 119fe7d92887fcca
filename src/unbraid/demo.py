"""The demo: five systems, each beside a plain model, on one page."""

import os
import sys
import time
from pathlib import Path

from unbraid.exhibits import AFTER, OPENING, TITLE, exhibits
from unbraid.plan import Plan, replace
from unbraid.progress import duration, progress
from unbraid.recipes import Recipe
from unbraid.recipes.demo import Contest, Side, contests
from unbraid.report.exhibition import write_exhibition
from unbraid.runs import Run
from unbraid.study import study

MOST_WORKERS = 4  # processes, each with a copy of PyTorch


def demo(
    out: Path | str = "demo",
    *,
    quiet: bool = False,
    workers: int | None = None,
    steps: int | None = None,
    samples: int | None = None,
) -> Path:
    """Trains five systems and their plain models on data that needs no download, and writes `index.html`.

    Runs that an earlier demo finished in the folder are used again; an interrupted one goes on.

    Args:
        out: The folder for the runs, their explorers and the page.
        quiet: Says nothing.
        workers: Processes that train; by default one for each core, four at most.
        steps: The most that each may train, to try the demo out.
        samples: The most observations to score on, for the same.
    """
    out, began = Path(out), time.monotonic()
    shown = {key: _thinned(contest, steps, samples) for key, contest in contests().items()}
    plans = [*(one.ours.plan for one in shown.values()), *(one.plain.plan for one in shown.values())]
    workers = min(MOST_WORKERS, os.cpu_count() or 1) if workers is None else workers
    _say(f"1/3  Training {len(shown)} systems and {len(shown)} plain models, about five minutes.", quiet)
    recipe = Recipe("unbraid.demo", TITLE, tuple(plans), {})
    result = study(recipe, out, device="cpu", workers=workers, quiet=quiet)
    if result.failures:
        failure = result.failures[0]
        raise ValueError(f"A run of the demo failed. {failure['error']} ({failure['plan']})")
    runs = {plan.folder: Run(out / "runs" / plan.folder) for plan in plans}
    _say("2/3  Writing a page to play with for each system.", quiet)
    explorers = _explorers({key: runs[one.ours.plan.folder] for key, one in shown.items()}, out, quiet)
    _say("3/3  Drawing the figures and writing the page.", quiet)
    systems = exhibits(shown, lambda plan: runs[plan.folder], explorers)
    page = write_exhibition(systems, out / "index.html", title=TITLE, paragraphs=OPENING, after=AFTER)
    _say(f"Done in {duration(time.monotonic() - began)}: {page}", quiet)
    return page


def _explorers(runs: dict[str, Run], out: Path, quiet: bool) -> dict[str, str]:
    """Writes the explorer of each run; where each lies, from the page."""
    from unbraid.explore import write_explorer

    places = {key: f"explorers/{key}.html" for key in runs}
    with progress("explorers", len(runs), quiet=quiet, unit="pages") as bar:
        for done, (key, run) in enumerate(runs.items(), start=1):
            write_explorer(run, out / places[key])
            bar.show(done, {})
    return places


def _thinned(contest: Contest, steps: int | None, samples: int | None) -> Contest:
    """The same with no more steps and samples than these."""
    return Contest(*(Side(_thin(side.plan, steps, samples), side.metric) for side in contest))


def _thin(plan: Plan, steps: int | None, samples: int | None) -> Plan:
    if steps is not None:
        plan = replace(plan, steps=min(steps, plan.options["steps"]))
    if samples is not None:
        fewer = {"samples": samples} | ({"test_samples": samples} if plan.scoring.get("test_samples") else {})
        plan = replace(plan, scoring={**plan.scoring, **fewer})
    return plan


def _say(sentence: str, quiet: bool) -> None:
    if not quiet:
        print(sentence, file=sys.stderr, flush=True)
