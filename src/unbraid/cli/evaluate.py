"""`unbraid evaluate`."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unbraid.cli.console import (
    AsJSON,
    DataRoot,
    Device,
    EvaluationSeed,
    ProtocolName,
    RunFolder,
    print_scores,
)
from unbraid.cli.custom_code import takes_custom_code, use_references
from unbraid.cli.spelling import canonical
from unbraid.progress import Stopped, signal_number

if TYPE_CHECKING:
    from unbraid.data import Dataset
    from unbraid.runs import Run

# The options of the command itself, so that a misspelled one is answered with the nearest name.
OPTIONS: dict[str, Any] = dict.fromkeys(
    (
        *("metrics", "protocol", "num_samples", "num_test_samples", "test_split"),
        *("seed", "data", "data_root", "device", "processes", "recompute", "json"),
    )
)

DatasetWords = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="--OPTION VALUE",
        help="Options of the dataset, e.g. --split test. Default: those of the training.",
    ),
]
Metrics = Annotated[
    str | None,
    typer.Option(
        help="Metrics, separated by commas (see unbraid list metrics); strand:NAME for one strand; FILE.py:FUNCTION "
        "for your own; all: every applicable one. Default: reconstruction, kl, and what the report shows."
    ),
]


@takes_custom_code("method", "architecture")
def evaluate(
    run: RunFolder,
    words: DatasetWords = None,
    metrics: Metrics = None,
    protocol: ProtocolName = "disentanglement_lib",
    num_samples: Annotated[
        int | None, typer.Option(help="Observations to evaluate on (0: all; default: from the protocol).")
    ] = None,
    num_test_samples: Annotated[
        int | None, typer.Option(help="Observations to test predictors on (default: from the protocol).")
    ] = None,
    test_split: Annotated[
        str | None,
        typer.Option(
            help="Split of the dataset to test predictors on, e.g. test. Default: the evaluated one."
        ),
    ] = None,
    seed: EvaluationSeed = 0,
    data: Annotated[
        str | None,
        typer.Option(
            help="Dataset to evaluate on, or your own code of the training dataset. Default: the training dataset."
        ),
    ] = None,
    data_root: DataRoot = None,
    device: Device = "auto",
    processes: Annotated[
        int | None,
        typer.Option(
            help="Number of processes for scores that several cores compute faster, at most one per core (default: one "
            "per core).",
            metavar="N",
            show_default=False,
        ),
    ] = None,
    recompute: Annotated[
        bool,
        typer.Option("--recompute", help="Compute metrics again that the run has for the same settings."),
    ] = False,
    as_json: AsJSON = False,
) -> None:
    """Compute metrics for a run and save each in its folder at once."""
    scores = evaluate_run(
        run,
        metrics.split(",") if metrics else (),
        data=data,
        words=words or (),
        protocol=protocol,
        num_samples=num_samples,
        num_test_samples=num_test_samples,
        test_split=test_split,
        seed=seed,
        root=data_root,
        device=device,
        processes=processes,
        recompute=recompute,
        quiet=as_json,
    )
    print_scores(scores, as_json)


def evaluate_run(
    folder: Path,
    metrics: Sequence[str],
    *,
    data: str | None = None,
    words: Sequence[str] = (),
    test_split: str | None = None,
    root: Path | None,
    device: str,
    processes: int | None = None,
    recompute: bool = False,
    quiet: bool = True,
    **options: Any,
) -> list[dict[str, Any]]:
    """Computes scores of a run and saves each metric's in its folder as soon as they are known.

    Scores that the run has for the same weights, data and settings are kept, unless `recompute` is true. `data` is a
    dataset other than the training dataset, `words` are options of the dataset as on the command line, `test_split` is
    the split that predictors are tested on, and `options` are further arguments of `evaluate`.
    """
    from unbraid.evaluation import evaluate, score_identities, score_name
    from unbraid.metrics import num_processes
    from unbraid.report import page_metrics
    from unbraid.runs import Run, load

    _check_numbers(**options)
    num_processes(processes)  # raises
    names, skip_missing = selected_metrics(metrics)
    run = Run(folder)
    dataset, options["test_dataset"], labels = _datasets(run, data, words, test_split, root)
    model = load(folder, device=device)
    names += () if metrics else page_metrics(model, dataset)
    hashes = score_identities(model.method, dataset, names, **options)
    identities = {score_name(name): identity for name, identity in zip(names, hashes, strict=True)}
    scores = {} if recompute else _kept_scores(run, identities, labels)
    if scores and not quiet:
        print(
            f"{len(scores)} of {len(identities)} metrics are kept in {folder}; --recompute computes them again.",
            file=sys.stderr,
        )

    def save(entries: list[dict[str, Any]]) -> None:
        metric = entries[0]["metric"]
        scores[metric] = [entry | labels | {"identity": identities[metric]} for entry in entries]
        run.add_scores(scores[metric])

    missing = [name for name in names if score_name(name) not in scores]
    try:
        evaluate(
            model.method,
            dataset,
            missing,
            skip_missing=skip_missing,
            processes=processes,
            quiet=quiet,
            on_scores=save,
            **options,
        )
    except KeyboardInterrupt as interrupt:
        kept = f"{len(scores)} of {len(identities)} metrics are kept in {folder}"
        message = f"{kept}; run the same command again for the others."
        raise Stopped(message, signal_number(interrupt)) from interrupt
    return [entry for metric in identities for entry in scores.get(metric, ())]


def _check_numbers(
    *,
    protocol: str = "disentanglement_lib",
    num_samples: int | None = None,
    num_test_samples: int | None = None,
    seed: int = 0,
) -> None:
    """Raises for impossible sizes and seeds, before the dataset is opened."""
    from unbraid.evaluation import require_seed, sample_sizes

    sample_sizes(protocol, num_samples, num_test_samples)
    require_seed(seed)


def _datasets(
    run: "Run", data: str | None, words: Sequence[str], test_split: str | None, root: Path | None
) -> tuple["Dataset", "Dataset | None", dict[str, str]]:
    """The dataset, that of the test sample, and what the scores record about them."""
    from unbraid.runs import evaluation_dataset, training_dataset

    use_references([data])
    labels, test_dataset = {}, None
    if data is not None and _is_training_data(run, data):
        data = None  # your own code of the training dataset, named again
    if data is None and not words:
        dataset = training_dataset(run, root)
    else:
        origin = run.settings["data"]["origin"]
        name = data or ("" if origin is None else origin["name"])
        dataset_arguments = dataset_options(name, words) if name else {}
        dataset, labels["on"] = evaluation_dataset(run, root, data=data, **dataset_arguments)
    if test_split is not None:
        test_dataset, labels["on"] = evaluation_dataset(run, root, split=test_split)
    return dataset, test_dataset, labels


def _kept_scores(
    run: "Run", identities: Mapping[str, str], labels: Mapping[str, str]
) -> dict[str, list[dict[str, Any]]]:
    """The scores that the run has already, by metric."""
    kept: dict[str, list[dict[str, Any]]] = {}
    metrics = {identity: metric for metric, identity in identities.items()}
    for entry in run.scores():
        metric = metrics.get(entry.get("identity", ""))
        if metric is not None and entry.get("on") == labels.get("on"):
            kept.setdefault(metric, []).append(entry)
    return kept


def _is_training_data(run: "Run", data: str) -> bool:
    """Whether the name refers to the code of the training dataset, which the user names again."""
    from unbraid.custom_code import is_reference, known, reference

    origin = run.settings["data"]["origin"]
    return origin is not None and is_reference(data) and reference(known(data)) == origin["name"]


def dataset_options(data: str, words: Sequence[str]) -> dict[str, Any]:
    """The dataset's options in words such as `--split test`, `--image-size=32` and `--no-antialias`."""
    from unbraid.data import constructor
    from unbraid.options import options_of, reject_negation
    from unbraid.settings import lookup

    allowed, options = options_of(constructor(data), leave_out=("root", "path")), {}
    rest = canonical(words, {f"--{name.replace('_', '-')}" for name in allowed})
    while rest:
        word, equals, value = rest.pop(0).partition("=")
        if not word.startswith("--"):
            raise ValueError(f"{word!r} is no option: options of the dataset are written --name value.")
        name = word[2:].removeprefix("data.").replace("-", "_")
        if name.startswith("no_") and name not in allowed and name[3:] in allowed:
            if not allowed[name[3:]].is_switch:
                reject_negation(word[5:], allowed[name[3:]].form)
            options[name[3:]] = False
            continue
        option = lookup(f"option of evaluate or of {data}", name, OPTIONS | allowed)
        if option.kind is bool and not equals:
            options[name] = True
            continue
        if not equals:
            if not rest:
                raise ValueError(f"{word} needs a value.")
            value = rest.pop(0)
        options[name] = option.parse(value)
    return options


def selected_metrics(metrics: Sequence[str]) -> tuple[list[str], bool]:
    """The metrics' names, and whether to skip those that do not apply: only the defaults and `all` are skipped."""
    from unbraid.evaluation import available_metrics, metric_reference

    if not metrics:
        return ["reconstruction", "kl"], True
    if list(metrics) == ["all"]:
        return list(available_metrics()), True
    return [metric_reference(metric) for metric in metrics], False
