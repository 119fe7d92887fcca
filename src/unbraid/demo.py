"""The demo: two methods on rendered sprites, scored alike, on one page."""

import sys
import time
from pathlib import Path

from unbraid.evaluate import evaluate
from unbraid.model import load
from unbraid.optimisers import Adam
from unbraid.plan import Plan, replace
from unbraid.progress import duration
from unbraid.report import Foreword, write_report
from unbraid.runs import Run

METRICS = ("reconstruction", "kl", "mig", "modularity", "explicitness")
BLIND = Plan(
    "beta-vae",
    "sprites",
    {"size": 32, "beta": 2.0, "steps": 1500, "batch": 64, "seed": 0, "optimiser": Adam(1e-3)},
)
# As many images a step as above, two by two; each pair differs in one factor, and the method is not told which.
PAIRED = replace(BLIND, method="ada-gvae", batch=32, rule="exactly", k=1)

TITLE = "Two ways to learn a code, side by side"


def demo(out: Path | str = "demo", *, quiet: bool = False, steps: int = 1500, samples: int = 5000) -> Path:
    """Trains a β-VAE and an Ada-GVAE on rendered sprites, scores both and writes `index.html`.

    Runs that an earlier demo finished in the folder are used again; an interrupted one goes on.

    Args:
        out: The folder for the runs and the page.
        quiet: Says nothing.
        steps: Of training, for each of the two.
        samples: Images to compute the scores on.
    """
    out, began = Path(out), time.monotonic()
    runs = []
    for place, plan in enumerate((BLIND, PAIRED), start=1):
        plan = replace(plan, steps=steps)
        _say(f"{place}/3  {plan.method}: training on rendered sprites, {steps:,} steps.", quiet)
        run = plan.run(out / plan.method, resume=True, quiet=quiet)  # at once where it is finished
        _score(run, plan, samples, quiet)
        runs.append(run)
    _say("3/3  Drawing the figures and writing the page.", quiet)
    page = write_report(runs, out / "index.html", title=TITLE, foreword=foreword())
    _say(f"Done in {duration(time.monotonic() - began)}: {page}", quiet)
    return page


def _score(run: Run, plan: Plan, samples: int, quiet: bool) -> None:
    """Scores a run unless its weights have these scores already."""
    weights, scores = run.folder / "model.safetensors", run.folder / "scores.json"
    fresh = scores.exists() and scores.stat().st_mtime_ns >= weights.stat().st_mtime_ns
    have = {score["metric"] for score in run.scores() if score["n"] == samples}
    if fresh and have >= set(METRICS):
        _say(f"     {plan.method}: scored before.", quiet)
        return
    _say(f"     {plan.method}: scoring on {samples:,} images.", quiet)
    method = load(run.folder, device="cpu").method
    run.add_scores(
        evaluate(method, plan.dataset(), METRICS, samples=samples, test_samples=samples // 2, quiet=quiet)
    )


def _say(sentence: str, quiet: bool) -> None:
    if not quiet:
        print(sentence, file=sys.stderr, flush=True)


def foreword() -> Foreword:
    """What the page says to a newcomer."""
    return Foreword(
        paragraphs=(
            "Each picture here is a white sprite on black, and five things decide it: its shape, its scale, its "
            "orientation, and where it stands from left to right and from top to bottom. Two models have learned "
            "to write such a picture as ten numbers, its code, and to draw it again from them. Neither was told "
            "what the five things are. The question is whether the numbers come apart: one for each of them.",
            "The β-VAE saw single pictures. It pays for every bit it writes into its code, β times the usual "
            "price, which makes it thrifty, and thrift alone may or may not pull the five apart. The Ada-GVAE "
            "saw pairs of pictures that differ in one of the five, without being told in which. It guesses "
            "which numbers a pair has in common and makes the two pictures share them, and so learns what can "
            "change by itself.",
        ),
        remarks={
            "scores": "Both models were scored on the same pictures. Their networks, β and the number of pictures "
            "they learned from are the same too, so what differs is the pairs. It is one short run of each: enough "
            "to look at, not enough to tell two methods apart for good.",
            "reconstructions": "First, what gets through. A round sprite in the right place and of the right size is "
            "what is left where shape and orientation do not.",
            "traversals": "Then, what each number does. Follow a row from left to right: a number that has come "
            "apart moves the sprite straight across or straight up and down, or changes its size, and does nothing "
            "else. A slanted path is two things in one number.",
            "swaps": "The same in another way: put one number of picture b into the code of picture a.",
            "codes": "And in figures. A row with one strong cell is a number that knows one thing; a column with one "
            "strong cell is a thing that one number knows. From left to right and from top to bottom are pos_x and "
            "pos_y.",
        },
        commands=(
            (
                "A folder of square images is all that a method without labels needs:",
                "unbraid train beta-vae --data my-images/ --steps 20000 --out my-run\nunbraid report my-run",
            ),
            (
                "Pairs are drawn from known factors, which an .npz file holds beside the images (arrays images "
                "and factors):",
                "unbraid train ada-gvae --data my-images.npz --k 1 --steps 20000 --out my-pairs\n"
                "unbraid evaluate my-pairs --metrics reconstruction,kl,mig\n"
                "unbraid report my-pairs",
            ),
            (
                "Then look at single images: swap a code between two of them, or write the codes to a file.",
                "unbraid edit my-run a.png b.png --swap 3 --out sheet.png\n"
                "unbraid encode my-run my-images/ --out codes.npz",
            ),
        ),
    )
