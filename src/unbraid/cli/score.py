"""`unbraid score`: metrics of codes from another tool."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from unbraid.cli.console import AsJSON, EvaluationSeed, ProtocolName, print_scores
from unbraid.cli.evaluate import selected_metrics


def score(
    codes: Annotated[
        Path, typer.Argument(metavar="CODES.npz", help="Codes of shape (n, d), as .npz or .npy.")
    ],
    factors: Annotated[
        Path, typer.Argument(metavar="FACTORS.npz", help="Factors of shape (n, k), as .npz or .npy.")
    ],
    metrics: Annotated[
        str,
        typer.Option(
            help="Metrics, separated by commas (see unbraid list metrics); FILE.py:FUNCTION for your own; all: every "
            "applicable one."
        ),
    ] = "all",
    protocol: ProtocolName = "fast",
    test_fraction: Annotated[
        float, typer.Option(help="Fraction of the rows held out for testing predictors.")
    ] = 1 / 3,
    seed: EvaluationSeed = 0,
    as_json: AsJSON = False,
) -> None:
    """Compute metrics for codes from another tool."""
    scores = score_files(
        codes,
        factors,
        metrics.split(","),
        protocol=protocol,
        test_fraction=test_fraction,
        seed=seed,
        quiet=as_json,
    )
    print_scores(scores, as_json)


def score_files(
    codes: Path, factors: Path, metrics: Sequence[str], *, test_fraction: float, seed: int, **options: Any
) -> list[dict[str, Any]]:
    """The scores of the codes in a file; the seed decides which rows test the predictors."""
    import numpy as np

    from unbraid.data import read_array
    from unbraid.evaluation import Arrays, score

    if not 0 <= test_fraction < 1:
        raise ValueError(f"The test fraction must be at least 0 and below 1; got {test_fraction}.")
    table, values = read_array(codes, "codes"), read_array(factors, "factors")
    for path, array in ((codes, table), (factors, values)):
        if array.ndim == 0:
            raise ValueError(f"{path} holds a single number: save one row per observation.")
    if len(table) != len(values):
        raise ValueError(
            f"{codes} has {len(table)} rows and {factors} {len(values)}: they must match row by row."
        )
    values = values[:, None] if values.ndim == 1 else values
    order = np.random.default_rng(seed).permutation(len(table))
    count = round(test_fraction * len(table))
    train, test = (
        Arrays(table[rows], values[rows], values[rows, 0] if values.shape[1] == 1 else None)
        for rows in (order[count:], order[:count])
    )
    names, skip_missing = selected_metrics(metrics)
    return score(train, test if count else None, names, seed=seed, skip_missing=skip_missing, **options)
