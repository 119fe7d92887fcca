"""The command line: `unbraid …`. Heavy imports happen where they are used, so that help answers at once."""

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from unbraid.commands.train import MethodCommands

app = typer.Typer(
    help="Learn representations whose strands come apart.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
data_app = typer.Typer(help="Check or fetch the files of a dataset.", no_args_is_help=True)
app.add_typer(data_app, name="data")
app.add_typer(
    typer.Typer(
        cls=MethodCommands,
        help="Train a method on a dataset. `unbraid train METHOD --data NAME --help` lists all options.",
        no_args_is_help=True,
        subcommand_metavar="METHOD",
    ),
    name="train",
)

AsJSON = Annotated[bool, typer.Option("--json", help="Print one JSON value and nothing else.")]
Root = Annotated[
    Path | None, typer.Option(help="The data root; else UNBRAID_DATA, else the user's cache folder.")
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")]


@app.command("list")
def list_(
    what: Annotated[str, typer.Argument(metavar="[methods|datasets|metrics|recipes]")] = "",
    as_json: AsJSON = False,
) -> None:
    """List methods, datasets, metrics and recipes."""
    from unbraid.commands.catalogue import catalogue

    found = catalogue(what)
    if as_json:
        _print_json(found)
        return
    for heading, entries in found.items():
        print(f"{heading}:")
        width = max((len(name) for name in entries), default=0)
        for name, summary in entries.items():
            print(f"  {name:<{width}}  {summary}")


Variant = Annotated[
    str | None, typer.Option(help="Which files, where a dataset has several: of mpi3d toy, …")
]


@data_app.command("check")
def data_check(name: str, root: Root = None, variant: Variant = None, as_json: AsJSON = False) -> None:
    """Say whether a dataset is there and whole."""
    from unbraid.data.catalogue import check_dataset

    sentence = check_dataset(name, root, **({"variant": variant} if variant else {}))
    _print_json({"name": name, "whole": True, "sentence": sentence}) if as_json else print(sentence)


@data_app.command("get")
def data_get(name: str, root: Root = None, variant: Variant = None, as_json: AsJSON = False) -> None:
    """Fetch the official file of a dataset, or say what to put where."""
    from unbraid.data.catalogue import get_dataset

    path = get_dataset(name, root, **({"variant": variant} if variant else {}))
    if as_json:
        _print_json({"name": name, "path": None if path is None else str(path)})
    else:
        print(f"{name} is rendered here: nothing to get." if path is None else f"{name} lies in {path}.")


Metrics = Annotated[
    str, typer.Option(help="Names, separated by commas, `strand:name` for one strand; or all that apply.")
]
ProtocolName = Annotated[str, typer.Option(help="disentanglement_lib, infogan_cr or fast.")]
Seed = Annotated[int, typer.Option(help="Of the samples and of metrics that draw.")]


@app.command(context_settings={"ignore_unknown_options": True})
def evaluate(
    run: RunFolder,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="--OPTION VALUE",
            help="Options of the dataset, such as --part test; others are as in training.",
        ),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            help="Names, separated by commas, `strand:name` for one strand; or all that apply; else reconstruction and "
            "kl where they apply."
        ),
    ] = None,
    protocol: ProtocolName = "disentanglement_lib",
    samples: Annotated[
        int | None,
        typer.Option(
            help="Observations to score on, or to train predictors on; 0 for all; else the protocol's."
        ),
    ] = None,
    test_samples: Annotated[
        int | None, typer.Option(help="Observations to test predictors on; else the protocol's.")
    ] = None,
    test_part: Annotated[
        str | None,
        typer.Option(help="The part of the data to test predictors on, such as test; else the same."),
    ] = None,
    seed: Seed = 0,
    data: Annotated[
        str | None, typer.Option(help="Another dataset to score on; else the one trained on.")
    ] = None,
    root: Root = None,
    device: Device = "auto",
    as_json: AsJSON = False,
) -> None:
    """Score a run and keep the scores in its folder."""
    from unbraid.commands.evaluate import evaluate_run

    scores = evaluate_run(
        run,
        metrics.split(",") if metrics else (),
        data=data,
        words=words or (),
        protocol=protocol,
        samples=samples,
        test_samples=test_samples,
        test_part=test_part,
        seed=seed,
        root=root,
        device=device,
        quiet=as_json,
    )
    _print_scores(scores, as_json)


@app.command()
def score(
    codes: Annotated[Path, typer.Argument(metavar="CODES.npz", help="An .npz or .npy with codes (n, d).")],
    factors: Annotated[
        Path, typer.Argument(metavar="FACTORS.npz", help="An .npz or .npy with factors (n, k).")
    ],
    metrics: Metrics = "all",
    protocol: ProtocolName = "fast",
    test_fraction: Annotated[float, typer.Option(help="The part of the rows that tests predictors.")] = 1 / 3,
    seed: Seed = 0,
    as_json: AsJSON = False,
) -> None:
    """Score codes that any other tool has made."""
    from unbraid.commands.evaluate import score_files

    scores = score_files(
        codes,
        factors,
        metrics.split(","),
        protocol=protocol,
        test_fraction=test_fraction,
        seed=seed,
        quiet=as_json,
    )
    _print_scores(scores, as_json)


@app.command()
def study(
    recipe: Annotated[str, typer.Argument(metavar="RECIPE|FILE.py")],
    scale: Annotated[str, typer.Option(help="quick or paper.")] = "quick",
    out: Annotated[
        Path | None, typer.Option(help="The study's folder; runs/RECIPE-SCALE by default.")
    ] = None,
    root: Root = None,
    device: Device = "auto",
    scoring: Annotated[
        str | None,
        typer.Option(metavar="DEVICE|later", help="Where scores are computed, if elsewhere: cpu; or later."),
    ] = None,
    population: Annotated[
        int, typer.Option(help="Runs that are trained at once on a CUDA device.", metavar="N")
    ] = 1,
    workers: Annotated[
        int, typer.Option(help="Processes that do runs, each with its share of cores and GPUs.", metavar="N")
    ] = 1,
    ray: Annotated[
        str | None, typer.Option(help="A Ray cluster that does them: HOST:PORT, or auto.", metavar="ADDRESS")
    ] = None,
    cpus_per_run: Annotated[float, typer.Option(help="Cores a run takes on the cluster.")] = 1.0,
    gpus_per_run: Annotated[float, typer.Option(help="GPUs a run takes on the cluster.")] = 0.0,
    as_json: AsJSON = False,
) -> None:
    """Do every run of a recipe and write one table."""
    from unbraid.recipes import read_recipe
    from unbraid.results import markdown
    from unbraid.study import study as run_study

    plans = read_recipe(recipe, scale)
    folder = out or Path("runs") / f"{recipe.removesuffix('.py').replace('/', '-')}-{scale}"
    try:
        result = run_study(
            plans,
            folder,
            root=root,
            device=device,
            scoring=scoring,
            population=population,
            workers=workers,
            ray=ray,
            cpus_per_run=cpus_per_run,
            gpus_per_run=gpus_per_run,
            quiet=as_json,
        )
    except KeyboardInterrupt:
        print("unbraid: The study was stopped: the same command goes on with it.", file=sys.stderr)
        raise typer.Exit(130) from None
    if as_json:
        _print_json([row._asdict() for row in result.rows])
    else:
        print(markdown(result.rows, plans.published))
        print(f"Written to {result.folder}.")
    if result.failures:
        print(f"unbraid: {len(result.failures)} of {len(plans.runs)} runs failed:", file=sys.stderr)
        for failure in result.failures:
            print(f"  {failure['plan']}: {failure['error']}", file=sys.stderr)
        print(f"Errors are in {result.folder / 'failures.json'}.", file=sys.stderr)
        raise typer.Exit(1)


@app.command()
def encode(
    run: RunFolder,
    images: Annotated[
        list[Path],
        typer.Argument(metavar="IMAGES|FILE.npz", help="Image files, folders, an .npz or an .npy."),
    ],
    out: Annotated[Path, typer.Option(help="The .npz to write: codes, strands, names.")],
    device: Device = "auto",
    as_json: AsJSON = False,
) -> None:
    """Encode one's own images with a trained model."""
    from unbraid.commands.images import encode_images

    summary = encode_images(run, images, out, device=device)
    if as_json:
        _print_json(summary)
    else:
        print(f"{summary['observations']} observations encoded to {summary['codes']} codes in {out}.")


@app.command()
def edit(
    run: RunFolder,
    images: Annotated[list[Path], typer.Argument(metavar="A [B]", help="One image, or two to swap between.")],
    out: Annotated[Path, typer.Option(help="The PNG to write.")],
    swap: Annotated[
        list[str] | None, typer.Option(metavar="STRAND", help="Exchange a strand or code.")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="STRAND=V,…", help="Set a strand or code to values.")
    ] = None,
    zero: Annotated[
        list[str] | None, typer.Option(metavar="STRAND", help="Set a strand or code to zero.")
    ] = None,
    sweep: Annotated[list[str] | None, typer.Option(metavar="CODE", help="Move a code from -2 to 2.")] = None,
    device: Device = "auto",
    as_json: AsJSON = False,
) -> None:
    """Change strands of one's own images and see what comes out."""
    from unbraid.commands.images import edit_images

    rows = edit_images(
        run, images, out, swap=swap or [], set_=set_ or [], zero=zero or [], sweep=sweep or [], device=device
    )
    _print_json({"out": str(out), "rows": rows}) if as_json else print(f"{len(rows)} rows written to {out}.")


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="RUN|STUDY", help="The folder of a run or of a study.")],
    out: Annotated[
        Path | None, typer.Option(help="The HTML file; report.html in the folder by default.")
    ] = None,
    tables: Annotated[
        str | None,
        typer.Option(metavar="md|latex|html", help="Print a study's table in this form, and write no page."),
    ] = None,
    explorers: Annotated[
        bool, typer.Option("--explorers", help="Write and link the explorers of the runs that are shown.")
    ] = False,
    root: Root = None,
    as_json: AsJSON = False,
) -> None:
    """Write one self-contained HTML page about a run or a study."""
    from unbraid.commands.studies import study_table, write_page

    if tables is not None:
        table = study_table(folder, tables)
        _print_json({"table": table}) if as_json else print(table, end="")
        return
    path = write_page(folder, out, root, explorers=explorers)
    _print_json({"out": str(path)}) if as_json else print(f"Written to {path}.")


@app.command()
def export(
    run: RunFolder,
    to: Annotated[str, typer.Option(metavar="FORMAT", help="onnx, torchscript, safetensors or huggingface.")],
    out: Annotated[
        Path | None, typer.Option(help="The folder to write; export-FORMAT in the run folder by default.")
    ] = None,
    weights: Annotated[str, typer.Option(help="model, or best by the validation split.")] = "model",
    root: Root = None,
    as_json: AsJSON = False,
) -> None:
    """Write a trained model for other tools, with a model card, checked against the original."""
    from unbraid.export import export as export_run

    found = export_run(run, to, out, which=weights, root=root)
    if as_json:
        _print_json(found._asdict() | {"folder": str(found.folder)})
    else:
        print(f"Written to {found.folder}: {', '.join(found.files)}.")
        print(f"Read back, they differ from the model by at most {found.difference:.1g}.")


@app.command()
def explore(
    run: RunFolder,
    out: Annotated[
        Path | None, typer.Option(help="The HTML file; explorer.html in the run's folder by default.")
    ] = None,
    examples: Annotated[int, typer.Option(help="Observations to start from.", metavar="N")] = 36,
    open_: Annotated[bool, typer.Option("--open/--no-open", help="Show the page in the browser.")] = True,
    limit: Annotated[float, typer.Option(help="The most that the page may weigh.", metavar="MB")] = 8.0,
    serve: Annotated[
        bool, typer.Option("--serve", help="Decode in Python behind the page, for large models.")
    ] = False,
    port: Annotated[int, typer.Option(help="With --serve: the port; 0 for a free one.")] = 0,
    host: Annotated[str, typer.Option(help="With --serve: where to listen.")] = "127.0.0.1",
    anywhere: Annotated[
        bool, typer.Option("--anywhere", help="With --serve: allow a host that other machines reach.")
    ] = False,
    root: Root = None,
    as_json: AsJSON = False,
) -> None:
    """Write one HTML page to play with a trained model, and open it."""
    from unbraid.commands.explore import explore_run, serve_run

    show = open_ and not as_json
    if serve:
        if out is not None or as_json:
            raise ValueError("--serve writes no file: leave out --out and --json.")
        serve_run(run, host=host, port=port, anywhere=anywhere, examples=examples, root=root, show=show)
        return
    path = explore_run(run, out, examples=examples, limit=limit, root=root, show=show)
    _print_json({"out": str(path)}) if as_json else print(f"Written to {path}.")


@app.command()
def compare(
    folders: Annotated[
        list[Path], typer.Argument(metavar="RUN RUN|STUDY", help="Two run folders, or a study's.")
    ],
    metric: Annotated[
        str | None, typer.Option(help="Of a study: the score to compare by; else all of them.")
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="Of a study: the method to compare others with; else the best.")
    ] = None,
    as_json: AsJSON = False,
) -> None:
    """Set two runs side by side, or the methods of a study seed by seed."""
    from unbraid.commands.studies import comparison, comparison_lines

    found = comparison(folders, metric=metric, method=method)
    _print_json(found) if as_json else print("\n".join(comparison_lines(found)))


@app.command()
def select(
    folder: Annotated[Path, typer.Argument(metavar="STUDY", help="The folder of a study.")],
    by: Annotated[str, typer.Option(help="udr, centrality, translation or difficulty.")] = "udr",
    samples: Annotated[int, typer.Option(help="Observations to encode.")] = 2000,
    seed: Seed = 0,
    root: Root = None,
    device: Device = "auto",
    as_json: AsJSON = False,
) -> None:
    """Rank the models of a study, and its settings over their seeds, without labels, the best first."""
    from unbraid.commands.studies import selection_lines
    from unbraid.select import select as select_models

    found = select_models(folder, by, samples=samples, seed=seed, root=root, device=device, quiet=as_json)
    if as_json:
        rows = {name: [one._asdict() for one in getattr(found, name)] for name in ("choices", "settings")}
        _print_json(found._asdict() | rows)
    else:
        print("\n".join(selection_lines(found)))


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="The folder for runs and page.")] = Path("demo"),
    as_json: AsJSON = False,
) -> None:
    """Train five systems on data that needs no download and write one page that shows them."""
    from unbraid.demo import demo as run_demo

    path = run_demo(out, quiet=as_json)
    _print_json({"out": str(path)}) if as_json else print(f"Open {path} in a browser.")


def _print_scores(scores: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        _print_json(scores)
        return
    width = max([30, *(len(entry["metric"]) for entry in scores)])
    for entry in scores:
        protocol = f", {entry['protocol']}" if entry["protocol"] else ""
        tested = f", tested on {entry['n_test']}" if entry["n_test"] else ""
        sizes = f"n={entry['n']}{tested}{protocol}, {entry['seconds']} s"
        print(f"{entry['metric']:<{width}} {entry['value']:.4f}  ({sizes})")


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False))


def main() -> None:
    """Runs the command line; a mistake in the input is one sentence and exit code 2."""
    try:
        app()
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except (ValueError, OSError, FloatingPointError) as error:
        print(f"unbraid: {error}", file=sys.stderr)
        sys.exit(2)
    except Exception as error:
        if os.environ.get("UNBRAID_DEBUG"):
            raise
        kind = type(error).__name__
        print(f"unbraid: a fault in Unbraid, please report it ({kind}: {error}).", file=sys.stderr)
        print("UNBRAID_DEBUG=1 shows where it happened.", file=sys.stderr)
        sys.exit(1)
