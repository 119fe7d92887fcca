"""Device memory of many models at once, with their data.

    python benchmarks/population_memory.py [--data dsprites] [--models 50] [--steps 500] [--streams]

Trains as many β-VAEs of 64×64 images as asked for, all on the device together, as a stack or on streams, and prints the
most memory that was reserved on it, the data set included.
"""

import argparse
import tempfile
import time

import torch

from unbraid.runs.folder import Run
from unbraid.studies.plan import Plan
from unbraid.training.population import train_population


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default="dsprites")
    parser.add_argument("--models", type=int, default=50)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--streams", action="store_true", help="one stream a model, in place of a stack")
    arguments = parser.parse_args()
    plans = [
        Plan("beta-vae", arguments.data, {"steps": arguments.steps, "batch_size": 64, "seed": seed})
        for seed in range(arguments.models)
    ]
    free, whole = torch.cuda.mem_get_info()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as out:
        runs = train_population(
            plans,
            out,
            max_concurrent=arguments.models,
            device="cuda",
            stack=not arguments.streams,
            quiet=True,
        )
    seconds = time.perf_counter() - began
    failed = [run for run in runs if not isinstance(run, Run)]
    if failed:
        raise SystemExit(f"{len(failed)} of {len(runs)} failed: {failed[0]}")
    reserved, allocated = torch.cuda.max_memory_reserved(), torch.cuda.max_memory_allocated()
    print(
        f"{arguments.models} models and {arguments.data}: {reserved / 2**30:.1f} GiB reserved at most, of which "
        f"{allocated / 2**30:.1f} in use; {(whole - free) / 2**30:.1f} of {whole / 2**30:.0f} GiB taken before; "
        f"{arguments.models * arguments.steps / seconds:,.0f} model-steps/s with starting and recording"
    )


if __name__ == "__main__":
    main()
