"""`unbraid score`: metrics of codes from another tool."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unbraid.cli.console import AsJSON, EvaluationSeed, ProtocolName, print_scores
from unbraid.cli.evaluate import selected_metrics

if TYPE_CHECKING:
    import numpy as np


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

    from unbraid.evaluation import Arrays, score

    if not 0 <= test_fraction < 1:
        raise ValueError(f"The test fraction must be at least 0 and below 1; got {test_fraction}.")
    table, values = _read(codes, "codes"), _read(factors, "factors")
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


def _read(path: Path, member: str) -> "np.ndarray":
    """The array of an .npy, or the member of an .npz; an only member may have any name."""
    import numpy as np

    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist: give an .npz or .npy file with the {member}.")
    try:
        stored = np.load(path, allow_pickle=False)
        if isinstance(stored, np.ndarray):
            return stored
        with stored:
            names = stored.files
            if member not in names and len(names) != 1:
                raise ValueError(f"it needs an array `{member}`, and has {', '.join(names) or 'nothing'}")
            return stored[member if member in names else names[0]]
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"{path} cannot be read: {error}.") from None
