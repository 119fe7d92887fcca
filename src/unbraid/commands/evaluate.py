"""`unbraid evaluate` and `unbraid score`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.data.catalogue import constructor
from unbraid.evaluate import available_metrics, evaluate, score
from unbraid.model import load
from unbraid.naming import choose
from unbraid.options import options_of
from unbraid.reopen import dataset_beside, dataset_of
from unbraid.runs import Run
from unbraid.samples import Arrays

# The command's own options, so that a misspelt one is answered with the nearest.
OWN: dict[str, Any] = dict.fromkeys(
    ("metrics", "protocol", "samples", "test_samples", "seed", "data", "root", "device", "json")
)


def evaluate_run(
    folder: Path,
    metrics: Sequence[str],
    *,
    data: str | None = None,
    words: Sequence[str] = (),
    test_part: str | None = None,
    root: Path | None,
    device: str,
    **how: Any,
) -> list[dict[str, Any]]:
    """Scores a run folder and keeps the scores in it.

    `data` is another dataset than the one trained on, `words` are options of the dataset as the command line has
    them, and `test_part` is the part of it that predictors are tested on.
    """
    run, said = Run(folder), {}
    if data is None and not words:
        dataset = dataset_of(run, root)
    else:
        origin = run.settings["data"]["origin"]
        name = data or ("" if origin is None else origin["name"])
        options = dataset_options(name, words) if name else {}
        dataset, said["on"] = dataset_beside(run, root, data=data, **options)
    if test_part is not None:
        how["test_dataset"], said["on"] = dataset_beside(run, root, part=test_part)
    method = load(folder, device=device).method
    chosen, everything = _chosen(metrics)
    scores = [entry | said for entry in evaluate(method, dataset, chosen, skip_missing=everything, **how)]
    run.add_scores(scores)
    return scores


def dataset_options(data: str, words: Sequence[str]) -> dict[str, Any]:
    """The options of a dataset from words of the command line: `--part test`, `--size=32`, `--no-antialias`."""
    allowed, found, rest = options_of(constructor(data), leave_out=("root", "path")), {}, list(words)
    while rest:
        word, equals, value = rest.pop(0).partition("=")
        if not word.startswith("--"):
            raise ValueError(f"{word!r} is no option: options of the dataset are written --name value.")
        name = word[2:].replace("-", "_")
        if name.startswith("no_") and name not in allowed and name[3:] in allowed:
            found[name[3:]] = False
            continue
        option = choose(f"option of evaluate or of {data}", name, OWN | allowed)
        if option.kind is bool and not equals:
            found[name] = True
            continue
        if not equals:
            if not rest:
                raise ValueError(f"{word} needs a value.")
            value = rest.pop(0)
        found[name] = option.parse(value)
    return found


def score_files(
    codes: Path, factors: Path, metrics: Sequence[str], *, test_fraction: float, seed: int, **how: Any
) -> list[dict[str, Any]]:
    """Scores codes from any other tool; a part of the rows, drawn by the seed, tests the predictors."""
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
    parts = [
        Arrays(table[rows], values[rows], values[rows, 0] if values.shape[1] == 1 else None)
        for rows in (order[count:], order[:count])
    ]
    chosen, everything = _chosen(metrics)
    test = parts[1] if count else None
    return score(parts[0], test, chosen, seed=seed, skip_missing=everything, **how)


def _chosen(metrics: Sequence[str]) -> tuple[list[str], bool]:
    """The metrics by name, and whether those that cannot be computed here are left out; of none, a usual few."""
    if not metrics:
        return ["reconstruction", "kl"], True
    return (list(available_metrics()), True) if list(metrics) == ["all"] else (list(metrics), False)


def _read(path: Path, member: str) -> np.ndarray:
    """An array of an .npy, or the member of an .npz; its only member may have any name."""
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
