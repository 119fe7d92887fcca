"""Trains plans of a recipe as a population for a limited time, and packs the finished runs.

For a GPU with little time: a killed campaign continues from its checkpoints, and what is finished is packed
without checkpoints, so that it can be evaluated elsewhere:

    python -m benchmarks.campaign principled-contrast/table1 --scale paper --keep data=grassy-mnist --minutes 9 \
        --out build/campaign --pack build/archives
    cat build/archives/runs.tar.gz.* | tar -xz -C studies/table1/runs
    unbraid study principled-contrast/table1 --scale paper --out studies/table1

Plans are trained in the order of their seeds, so that a table is complete with fewer seeds if the time is over.
"""

import argparse
import io
import os
import signal
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from unbraid.nn import use_kernels
from unbraid.recipes import read_recipe
from unbraid.runs import Run
from unbraid.studies import Plan, first_seeds, replace
from unbraid.training import train_population

PART_BYTES = 15_000_000
PREPARATION_STEPS = 5


def chosen_plans(args: argparse.Namespace) -> list[Plan]:
    """The plans of the recipe with the given values of options, by seed."""
    plans = list(read_recipe(args.recipe, args.scale).runs)
    for condition in args.keep:
        name, values = condition.split("=")
        plans = [plan for plan in plans if str(_value(plan, name)) in values.split(",")]
    plans = list(first_seeds(plans, args.seeds))
    unique = {plan.folder_name: plan for plan in plans}
    return sorted(unique.values(), key=lambda plan: int(plan.options.get("seed", 0)))


def _value(plan: Plan, name: str) -> object:
    value = getattr(plan, name) if name in ("method", "data") else plan.options.get(name)
    return "-".join(map(str, value)) or "none" if isinstance(value, tuple) else value


def compile_ahead(args: argparse.Namespace, plans: Sequence[Plan]) -> None:
    """Compiles the losses of every method in a process of its own, at once; the population then reads the cache."""
    methods = list(dict.fromkeys(plan.method for plan in plans))
    command = [sys.executable, "-m", "benchmarks.campaign", *sys.argv[1:], "--compile-only"]
    processes = {method: subprocess.Popen([*command, method]) for method in methods}
    deadline = time.monotonic() + 60 * args.compile_minutes
    for method, process in processes.items():
        try:
            process.wait(max(1.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            print(f"{method} was not compiled in time", flush=True)


def compile_only(args: argparse.Namespace, plans: Sequence[Plan], method: str) -> None:
    """Trains a few steps of all plans of a method: what differs between them decides what is compiled."""
    start = time.monotonic()
    scratch = Path(args.out) / f"compile-{method}"
    plans = [plan for plan in plans if plan.method == method]
    data = plans[0].explicit_options("data")
    short = [
        replace(plan, steps=PREPARATION_STEPS) for plan in plans if plan.explicit_options("data") == data
    ]
    outcomes = train_population(
        short, scratch, max_concurrent=1, root=args.data_root, compile=True, quiet=True
    )
    errors = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    print(f"compiled {method} in {time.monotonic() - start:.0f} s", *errors[:1], flush=True)


def report_progress(plans: Sequence[Plan], out: Path, seconds: float) -> None:
    """Prints the rate of all models together every so many seconds."""
    before, then = None, time.monotonic()
    while True:
        steps = [_last_step(out / plan.folder_name / "history.jsonl") for plan in plans]
        now = time.monotonic()
        if before is not None:
            rate = (sum(steps) - before) / (now - then)
            print(
                f"{time.strftime('%H:%M:%S')} {sum(steps):,} model-steps, {rate:,.0f}/s",
                [s // 1000 for s in steps],
                flush=True,
            )
        before, then = sum(steps), now
        time.sleep(seconds)


def _last_step(history: Path) -> int:
    if not history.exists():
        return 0
    with history.open("rb") as file:
        file.seek(max(0, history.stat().st_size - 2000))
        lines = file.read().splitlines()
    for line in reversed(lines):
        if line.startswith(b'{"step": ') and line.endswith(b"}"):
            return int(line[len(b'{"step": ') :].split(b",")[0])
    return 0


def pack(plans: Sequence[Plan], out: Path, archives: Path) -> None:
    """Writes the finished runs that were not packed before, without their checkpoints, into parts of one archive."""
    packed = out / "packed.txt"
    known = set(packed.read_text().split()) if packed.exists() else set()
    finished = [
        plan.folder_name
        for plan in plans
        if plan.folder_name not in known
        and (out / plan.folder_name / "finished.json").exists()
        and Run(out / plan.folder_name).finished
    ]
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz", compresslevel=1) as archive:
        for file in (file for name in finished for file in _files(out / name)):
            archive.add(file, arcname=str(file.relative_to(out)))
    archives.mkdir(parents=True, exist_ok=True)
    parts = range(0, len(content.getbuffer()) if finished else 0, PART_BYTES)
    for number, start in enumerate(parts):
        (archives / f"runs.tar.gz.{number:02}").write_bytes(content.getbuffer()[start : start + PART_BYTES])
    with packed.open("a") as file:
        file.writelines(f"{name}\n" for name in finished)
    print(f"packed {len(finished)} finished runs in {len(parts)} parts", flush=True)


def _files(folder: Path) -> Iterator[Path]:
    return (
        path for path in sorted(folder.iterdir()) if path.is_file() and not path.name.startswith("checkpoint")
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("recipe")
    parser.add_argument("--scale", default="paper")
    parser.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="NAME=VALUE,VALUE",
        help="only plans with one of these values; of several words joined by -, such as correlate=pos_x-scale",
    )
    parser.add_argument("--seeds", type=int, help="only the first so many seeds of each setting")
    parser.add_argument("--out", default="build/campaign")
    parser.add_argument("--pack", default="build/archives")
    parser.add_argument("--data-root", default=os.environ.get("UNBRAID_DATA"))
    parser.add_argument("--population", type=int, default=8)
    parser.add_argument("--minutes", type=float, default=9.0, help="training stops after this time")
    parser.add_argument(
        "--compile", action="store_true", help="compile losses, each method ahead and in parallel"
    )
    parser.add_argument("--kernels", action="store_true", help="convolutions by our own kernels")
    parser.add_argument("--stack", action="store_true", help="train plans of one kind as one stack")
    parser.add_argument("--compile-minutes", type=float, default=2.5)
    parser.add_argument("--compile-only", metavar="METHOD", help=argparse.SUPPRESS)
    parser.add_argument("--dry-run", action="store_true", help="print the plans")
    args = parser.parse_args()
    start, plans, out = time.monotonic(), chosen_plans(args), Path(args.out)
    if args.dry_run:
        print(*plans, sep="\n")
        return
    torch.set_num_threads(1)
    if args.kernels:
        use_kernels(torch.device("cuda"))
    if args.compile_only:
        compile_only(args, plans, args.compile_only)
        return
    unfinished = [plan for plan in plans if not (out / plan.folder_name / "finished.json").exists()]
    print(f"{len(unfinished)} of {len(plans)} plans are to be trained", flush=True)
    if args.compile and unfinished:
        compile_ahead(args, unfinished)
    threading.Thread(target=report_progress, args=(plans, out, 20.0), daemon=True).start()
    seconds = 60 * args.minutes - (time.monotonic() - start)
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.daemon = True
    timer.start()
    try:
        outcomes = train_population(
            unfinished,
            out,
            max_concurrent=args.population,
            root=args.data_root,
            resume=True,
            quiet=True,
            checkpoint_seconds=1e6,
            log_every=100,
            compile=args.compile,
            stack=args.stack,
        )
        for plan, outcome in zip(unfinished, outcomes, strict=True):
            if isinstance(outcome, Exception):
                print(f"{plan.folder_name}: {outcome}", flush=True)
    except KeyboardInterrupt:
        print("stopped at the time limit", flush=True)
    timer.cancel()
    pack(plans, out, Path(args.pack))
    print(f"{time.monotonic() - start:.0f} s in all", flush=True)


if __name__ == "__main__":
    main()
