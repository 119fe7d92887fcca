"""`unbraid study`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unbraid.cli.console import AsJSON, DataRoot, Device, print_json
from unbraid.cli.output import out_folder
from unbraid.progress import Stopped, signal_number

if TYPE_CHECKING:
    from unbraid.studies import Recipe, StudyResult


Population = Annotated[int, typer.Option(help="Number of runs trained concurrently per GPU.", metavar="N")]
Workers = Annotated[
    int,
    typer.Option(
        help="Number of worker processes on this machine; GPUs are divided among them.",
        metavar="N",
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        help="Number of CPU threads per run, whatever the workers; weights depend on it in their last bits. Default: "
        "that of the study in the folder, otherwise 1.",
        metavar="N",
        show_default=False,
    ),
]
Seeds = Annotated[
    int | None,
    typer.Option(
        help="Number of seeds per setting (default: all of the recipe).", metavar="N", show_default=False
    ),
]
Rows = Annotated[
    list[Path] | None,
    typer.Option(
        help="Rows of earlier studies, such as their results.csv: a plan with a row of every metric is not run, and "
        "its rows are in the table. Repeatable.",
        metavar="FILE.csv",
        show_default=False,
    ),
]
RayAddress = Annotated[
    str | None, typer.Option(help="Ray cluster to run on: HOST:PORT, or auto.", metavar="ADDRESS")
]


def study(
    recipe: Annotated[
        str, typer.Argument(metavar="RECIPE|FILE.py", help="Recipe, or a Python file that lists plans.")
    ],
    scale: Annotated[
        str, typer.Option(help="Size of the study: quick, paper, or for some recipes short.")
    ] = "quick",
    out: Annotated[Path | None, out_folder("Study folder. Default: runs/RECIPE-SCALE.")] = None,
    data_root: DataRoot = None,
    device: Device = "auto",
    eval_device: Annotated[
        str | None,
        typer.Option(
            help="Device for evaluation (default: the training device, or the CPU where others would train on that GPU "
            "meanwhile)."
        ),
    ] = None,
    skip_eval: Annotated[
        bool, typer.Option("--skip-eval", help="Train only; evaluate when the study is started again.")
    ] = False,
    skip_training: Annotated[
        bool, typer.Option("--skip-training", help="Evaluate the runs that are trained; train none.")
    ] = False,
    seeds: Seeds = None,
    rows: Rows = None,
    population: Population = 1,
    workers: Workers = 1,
    threads: Threads = None,
    ray_address: RayAddress = None,
    cpus_per_run: Annotated[float, typer.Option(help="CPU cores per run on the Ray cluster.")] = 1.0,
    gpus_per_run: Annotated[float, typer.Option(help="GPUs per run on the Ray cluster.")] = 0.0,
    as_json: AsJSON = False,
) -> None:
    """Train and evaluate all runs of a recipe and write a results table."""
    from unbraid.recipes import read_recipe
    from unbraid.studies import study as run_study

    plans = read_recipe(recipe, scale)
    folder = out or Path("runs") / f"{recipe.removesuffix('.py').replace('/', '-')}-{scale}"
    try:
        result = run_study(
            plans,
            folder,
            root=data_root,
            device=device,
            eval_device=eval_device,
            skip_eval=skip_eval,
            skip_training=skip_training,
            seeds=seeds,
            rows=rows or (),
            population=population,
            workers=workers,
            threads=threads,
            ray_address=ray_address,
            cpus_per_run=cpus_per_run,
            gpus_per_run=gpus_per_run,
            quiet=as_json,
        )
    except KeyboardInterrupt as interrupt:
        message = "The study was stopped. Run the same command again to continue."
        raise Stopped(message, signal_number(interrupt)) from None
    _print_result(result, plans, as_json)


def _print_result(result: "StudyResult", recipe: "Recipe", as_json: bool) -> None:
    """Prints the table and the runs that failed; exit code 1 if any did."""
    from unbraid.studies import markdown

    if as_json:
        print_json([row._asdict() for row in result.rows])
    else:
        print(markdown(result.rows, recipe.published))
        print(f"Written to {result.folder}.")
    if not result.failures:
        return
    print(f"unbraid: {len(result.failures)} of {len(recipe.runs)} runs failed:", file=sys.stderr)
    for failure in result.failures:
        print(f"  {failure['plan']}: {failure['error']}", file=sys.stderr)
    print(f"Errors are in {result.folder / 'failures.json'}.", file=sys.stderr)
    raise typer.Exit(1)
