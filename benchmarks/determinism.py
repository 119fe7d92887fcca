"""What `--deterministic` gives and costs on one GPU: equal weights twice and after a resume, and its steps per second.

    python -m benchmarks.determinism [--device cuda] [--steps 600] [--rows FILE]

Every method is trained twice undisturbed, and once stopped in the middle and continued, with and without the option.
The option must be known before CUDA starts, so these are processes of their own. Two runs are equal if their weights
are, bit for bit. Runs without the option show whether it is needed.
"""

import argparse
import csv
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from unbraid.distributed import choose_device
from unbraid.progress import Stopped
from unbraid.runs import Run
from unbraid.studies import Plan
from unbraid.training import TrainConfig
from unbraid.training.config import LoopConfig
from unbraid.training.loop import Trainer
from unbraid.training.process import deterministic_kernels
from unbraid.training.train import open_trainer

TURN = 50
PLANS = {
    "beta-vae": Plan("beta-vae", "sprites", {"batch_size": 64}),
    "factor-vae": Plan("factor-vae", "sprites", {"batch_size": 64}),
    "recon-contrast": Plan("recon-contrast", "colored-digits", {"batch_size": 64, "digits": "bundled"}),
    "principled-contrast": Plan(
        "principled-contrast", "grassy-mnist", {"batch_size": 64, "digits": "bundled", "grass": "painted"}
    ),
}
COLUMNS = ("method", "kernels", "equal twice", "equal after a resume", "steps per second")


def opened(plan: Plan, folder: Path, steps: int, device: str, deterministic: bool, resume: bool) -> Trainer:
    dataset = plan.dataset()
    options = plan.training() | {"steps": steps, "deterministic": deterministic}
    trainer = open_trainer(
        plan.build(dataset),
        dataset,
        choose_device(device),
        TrainConfig(**options),
        LoopConfig(quiet=True, compile=False, checkpoint_seconds=1e6),
        out=folder,
        draw=plan.build_draw(),
        resume=resume,
    )
    assert isinstance(trainer, Trainer)
    return trainer


def trained(trainer: Trainer, stop: Callable[[], bool] = lambda: False) -> tuple[Run, float]:
    """The finished run, and the steps per second of its last half."""
    marks: dict[int, float] = {}
    try:
        for _ in trainer.steps(stop, turn=TURN):
            if trainer.device.type == "cuda":
                torch.cuda.synchronize()
            marks[trainer.state.step] = time.perf_counter()
        run, last = trainer.finish(), max(marks)
        half = min(marks, key=lambda step: abs(step - trainer.config.steps // 2))
        return run, (last - half) / (marks[last] - marks[half])
    finally:
        trainer.close()


def stopped_and_continued(plan: Plan, folder: Path, steps: int, device: str, deterministic: bool) -> Run:
    """The run of a training that was stopped in the middle, as by Ctrl-C, and continued."""
    trainer = opened(plan, folder, steps, device, deterministic, resume=False)
    try:
        trained(trainer, lambda: trainer.state.step >= steps // 2)
    except Stopped:
        pass
    else:
        raise RuntimeError(f"the training in {folder} was not stopped")
    return trained(opened(plan, folder, steps, device, deterministic, resume=True))[0]


def equal(first: Run, second: Run) -> str:
    weights, others = first.weights(), second.weights()
    same = weights.keys() == others.keys() and all(
        torch.equal(weights[name], others[name]) for name in weights
    )
    return "yes" if same else "no"


def measure(name: str, steps: int, device: str, deterministic: bool) -> dict[str, Any]:
    plan, folder = PLANS[name], Path(tempfile.mkdtemp())
    with deterministic_kernels(deterministic, choose_device(device)):
        (first, _), (second, speed) = (
            trained(opened(plan, folder / str(number), steps, device, deterministic, resume=False))
            for number in range(2)
        )
        resumed = stopped_and_continued(plan, folder / "resumed", steps, device, deterministic)
    kernels = "deterministic" if deterministic else "any"
    return dict(
        zip(
            COLUMNS, (name, kernels, equal(first, second), equal(first, resumed), f"{speed:.0f}"), strict=True
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--steps", type=int, default=600, help="at least 200")
    parser.add_argument("--methods", default=",".join(PLANS))
    parser.add_argument("--rows", type=Path, help="file of rows to write")
    parser.add_argument("--kernels", choices=("deterministic", "any"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.kernels:
        writer = csv.DictWriter(sys.stdout, COLUMNS)
        for name in args.methods.split(","):
            writer.writerow(measure(name, args.steps, args.device, args.kernels == "deterministic"))
            sys.stdout.flush()
        return
    lines = [",".join(COLUMNS)]
    for kernels in ("deterministic", "any"):
        command = [sys.executable, "-m", "benchmarks.determinism", *sys.argv[1:], "--kernels", kernels]
        result = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        lines += result.stdout.splitlines()
    print(*lines, sep="\n")
    if args.rows:
        args.rows.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
