"""What the sources of result pages call: tables, numbers and paired differences of the committed rows.

`docs/build_results.py` builds the pages. A file of rows has one row per score (columns `metric` or `score`, and
`value`) or one column per metric; a column `seed` makes several rows one cell. The results.csv of a study is a file of
rows: its settings, which are JSON, count as columns.
"""

import csv
import functools
import importlib
import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

from scipy import stats

from unbraid.recipes import read_recipe, recipe_names
from unbraid.settings import lookup
from unbraid.studies import compare_methods

NO_ROWS = "> These numbers have no committed rows yet; they will be measured again."
MISSING = "–"
UNBROKEN = "\N{NO-BREAK SPACE}"  # so that narrow tables break between numbers
Where = Mapping[str, Any]  # values of columns; a list allows several
Column = str | Mapping[str, Any]  # a metric, or a metric with further columns, `digits` and `published`


def functions(results: Path) -> dict[str, Callable[..., Any]]:
    """What a source can call, reading from this folder."""
    bound: dict[str, Callable[..., Any]] = {
        function.__name__: functools.partial(function, results)
        for function in (
            table,
            value,
            paired,
            paired_table,
            correlation,
            rows_table,
            published,
            published_table,
            steps,
        )
    }
    return bound | {"no_rows": lambda: NO_ROWS}


@functools.cache
def read_csv(path: Path) -> tuple[dict[str, str], ...]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = tuple(csv.DictReader(file))
    if not all(row.get("settings", "").startswith("{") for row in rows):
        return rows
    settings = [{name: as_text(one) for name, one in json.loads(row["settings"]).items()} for row in rows]
    empty = dict.fromkeys((name for one in settings for name in one), "")
    return tuple({**empty, **one, **row} for one, row in zip(settings, rows, strict=True))


def as_text(setting: Any) -> str:
    """A setting of a plan as a source writes it: 40.0, pos_x,scale, adam:0.0001."""
    if isinstance(setting, list):
        return ",".join(map(as_text, setting))
    return setting["spec"] if isinstance(setting, dict) and "spec" in setting else str(setting)


def matching(results: Path, file: str, where: Where) -> list[dict[str, str]]:
    """The rows with these values of columns."""
    rows = read_csv(results / "rows" / file)
    for column in where:
        lookup(f"column of {file}", column, dict.fromkeys(rows[0]))
    allowed = {column: set(map(str, as_list(value))) for column, value in where.items()}
    indices = []
    for column, values in allowed.items():
        having = indices_by_value(results / "rows" / file, column)
        indices.append({index for value in values for index in having.get(value, ())})
    return [rows[index] for index in sorted(set.intersection(*indices))] if indices else list(rows)


@functools.cache
def indices_by_value(path: Path, column: str) -> dict[str, list[int]]:
    """Which rows of a file have each value of a column."""
    indices: dict[str, list[int]] = {}
    for index, row in enumerate(read_csv(path)):
        indices.setdefault(row[column], []).append(index)
    return indices


def scores(results: Path, file: str, metric: str, where: Where) -> dict[int, float]:
    """One score per seed: of a file with one row per score, or with one column per metric."""
    columns = read_csv(results / "rows" / file)[0]
    column = metric
    if "value" in columns:
        where, column = {**where, "score" if "score" in columns else "metric": metric}, "value"
    found: dict[int, float] = {}
    for row in matching(results, file, where):
        if row[column]:
            seed = int(row.get("seed", "0"))
            if seed in found:
                raise ValueError(
                    f"{file} has several rows of seed {seed} for {dict(where)}. Name more columns."
                )
            found[seed] = float(row[column])
    return dict(sorted(found.items()))


def table(
    results: Path,
    file: str,
    lines: Mapping[str, Where],
    columns: Mapping[str, Column],
    *,
    first: str = "method",
    where: Where | None = None,
    published: str = "",
    digits: int = 3,
    scale: float = 1.0,
    std: bool = True,
    published_digits: int | None = None,
) -> str:
    """A table of means ± standard deviations over seeds, with the number of seeds n.

    Args:
        file: File of rows.
        lines: What each line shows; `published` is the method, and its settings, in the published table, and `file`
            another file.
        columns: What each column shows: a metric, or a dictionary with `metric` and further columns of the rows. It
            may have `digits`; `shift`, which is added to each value; `published`, the dataset and settings in the
            published table; and `published_metric`, if the metric has another name there.
        first: Heading of the lines.
        where: What all cells have in common.
        published: Recipe, or table of published.csv; its values follow in brackets.
        digits: Decimals.
        scale: Factor of all measured and published values, 100 for per cent.
        std: Whether to show standard deviations.
        published_digits: Decimals of published values; default: as many as of measured ones.
    """
    body = []
    for label, line in lines.items():
        in_rows, source, method = dict(line), line.get("file", file), line.get("published")
        for name in ("file", "published"):
            in_rows.pop(name, None)
        cells, counts = [], []
        for column in columns.values():
            selection = {"metric": column} if isinstance(column, str) else dict(column)
            metric, data = selection.pop("metric"), selection.pop("published", None)
            shift = selection.pop("shift", 0.0)
            printed = selection.pop("published_metric", metric)
            decimals = selection.pop("digits", digits)
            values = scores(results, source, metric, {**(where or {}), **selection, **in_rows})
            shifted = [value + shift for value in values.values()]
            text = mean_std(shifted, decimals, scale, std=std)
            shown = decimals if published_digits is None else published_digits
            if published and method and data is not None:
                number = look_up(results, published, (*as_list(method), *as_list(data), printed))
                text += "" if number is None else f" ({decimal(number * scale, shown)})"
            cells.append(text)
            counts.append(len(values))
        if not any(counts):
            raise ValueError(f"{source} has no rows for the line {label!r}: {in_rows}.")
        n = max(counts)
        cells = [
            f"{cell}, n = {count}" if 0 < count < n else cell
            for cell, count in zip(cells, counts, strict=True)
        ]
        body.append([label, *cells, str(n)])
    return markdown([first, *columns, "n"], body)


def value(
    results: Path,
    file: str,
    metric: str,
    /,
    *,
    show: str = "mean ± std",
    digits: int = 3,
    scale: float = 1.0,
    **where: object,
) -> str:
    """One number of the rows: `show` is mean ± std, mean, std, min, max, n, or seeds (the value of each)."""
    values = [value * scale for value in scores(results, file, metric, where).values()]
    if not values:
        raise ValueError(f"{file} has no rows of {metric} for {where}.")
    forms: dict[str, Callable[[], str]] = {
        "mean ± std": lambda: mean_std(values, digits),
        "mean": lambda: decimal(statistics.fmean(values), digits),
        "std": lambda: decimal(statistics.stdev(values), digits),
        "min": lambda: decimal(min(values), digits),
        "max": lambda: decimal(max(values), digits),
        "n": lambda: str(len(values)),
        "seeds": lambda: listed([decimal(value, digits) for value in values]),
    }
    return lookup("form", show, forms)()


def paired(
    results: Path,
    file: str,
    metric: str,
    first: Where,
    second: Where,
    /,
    *,
    digits: int = 3,
    scale: float = 1.0,
    **where: object,
) -> str:
    """The mean of first - second over common seeds with its 95 % interval by Student's t."""
    records = [
        {
            **{"data": file, "on": "", "method": name, "settings": "{}", "protocol": ""},
            **{"metric": metric, "seed": seed, "value": value * scale, "higher_is_better": None},
        }
        for name, selection in (("first", first), ("second", second))
        for seed, value in scores(results, file, metric, {**where, **selection}).items()
    ]
    [found] = compare_methods(records, metric=metric, method="first")
    if found.low is None or found.high is None:
        return decimal(found.difference, digits)
    limits = f"[{decimal(found.low, digits)},{UNBROKEN}{decimal(found.high, digits)}]"
    return f"{decimal(found.difference, digits)} {limits}"


def paired_table(
    results: Path,
    file: str,
    one: Where,
    others: Mapping[str, Where],
    columns: Mapping[str, Column],
    *,
    first: str = "compared with",
    where: Where | None = None,
    digits: int = 3,
    scale: float = 1.0,
) -> str:
    """How far one method is above each other, paired by seed: a line per other method, a column per metric."""
    body = []
    for label, other in others.items():
        cells, n = [], 0
        for column in columns.values():
            selection = {"metric": column} if isinstance(column, str) else dict(column)
            metric, decimals = selection.pop("metric"), selection.pop("digits", digits)
            common = {**(where or {}), **selection}
            cells.append(paired(results, file, metric, one, other, digits=decimals, scale=scale, **common))
            seeds = (scores(results, file, metric, {**common, **which}).keys() for which in (one, other))
            n = max(n, len(set.intersection(*map(set, seeds))))
        body.append([label, *cells, str(n)])
    return markdown([first, *columns, "n"], body)


def correlation(
    results: Path, file: str, first: str, second: str, /, *, lower_is_better: bool = False, **where: object
) -> str:
    """Spearman's ρ of two metrics over models, with its p-value; the first is negated if lower is better."""
    pairs = both(results, file, first, second, where)
    rho, p = stats.spearmanr(
        [-one if lower_is_better else one for one, _ in pairs], [two for _, two in pairs]
    )
    return f"{decimal(float(rho), 2)} ({decimal(float(p), 3) if p < 0.0995 else decimal(float(p), 2)})"  # type: ignore[arg-type]


def both(results: Path, file: str, first: str, second: str, where: Where) -> list[tuple[float, float]]:
    """The values of two metrics of each model that has both."""
    columns = read_csv(results / "rows" / file)[0]
    if "value" not in columns:
        return [(float(row[first]), float(row[second])) for row in matching(results, file, where)]
    name = "score" if "score" in columns else "metric"
    models: dict[tuple[str, ...], dict[str, float]] = {}
    for row in matching(results, file, {**where, name: [first, second]}):
        key = tuple(text for column, text in row.items() if column not in (name, "value"))
        models.setdefault(key, {})[row[name]] = float(row["value"])
    return [(model[first], model[second]) for model in models.values() if len(model) == 2]


def rows_table(
    results: Path,
    file: str,
    columns: Mapping[str, str],
    *,
    settings: Sequence[str] = (),
    where: Where | None = None,
    digits: int = 3,
) -> str:
    """A file of rows as it is: one line per row, one column per heading; `settings` are columns not to round."""

    def cell(column: str, text: str) -> str:
        try:
            return text if column in settings or text.isdecimal() else decimal(float(text), digits)
        except ValueError:
            return text

    found = matching(results, file, where or {})
    return markdown([*columns], [[cell(name, row[name]) for name in columns.values()] for row in found])


def published(results: Path, source: str, *key: str, digits: int = 3, scale: float = 1.0) -> str:
    """One published value of a recipe, or of a table of published.csv."""
    number = look_up(results, source, key)
    if number is None:
        raise ValueError(f"{source} has no published value for {key}.")
    return decimal(number * scale, digits)


def published_table(results: Path, name: str, metrics: Mapping[str, str], *, digits: int = 3) -> str:
    """A table of published.csv: one line per method, its source, and whether the values were read there."""
    lines: dict[tuple[str, str, str], dict[str, str]] = {}
    for row in read_csv(results / "published.csv"):
        if row["table"] == name:
            method = " ".join(filter(None, (row["method"], row["setting"])))
            lines.setdefault((method, row["source"], row["checked"]), {})[row["metric"]] = row["value"]
    body = [
        [
            *(
                method,
                *(decimal(float(cells[m]), digits) if m in cells else MISSING for m in metrics.values()),
            ),
            *(source, checked),
        ]
        for (method, source, checked), cells in lines.items()
    ]
    return markdown(["method", *metrics, "source", "checked"], body)


def steps(results: Path, recipe: str, scale: str = "paper", /, **options: object) -> str:
    """The training steps of the plans of a recipe with these options; `method` and `data` count as options."""
    counts = set()
    for plan in read_recipe(recipe, scale).runs:
        has = {**plan.options, "method": plan.method_name, "data": plan.data}
        if "steps" in has and all(has.get(name) == option for name, option in options.items()):
            counts.add(int(has["steps"]))
    [count] = counts
    return f"{count:,}"


def look_up(results: Path, source: str, key: Sequence[str]) -> float | None:
    """A published value of a recipe, or of a table of published.csv, by method, data, setting and metric."""
    wanted = sorted(filter(None, key))
    if "/" in source:
        values = importlib.import_module(lookup("recipe", source, recipe_names())).PUBLISHED
        return next((number for names, number in values.items() if sorted(names) == wanted), None)
    for row in read_csv(results / "published.csv"):
        names = filter(None, (row["method"], row["data"], row["setting"], row["metric"]))
        if row["table"] == source and sorted(names) == wanted:
            return float(row["value"])
    return None


def mean_std(values: Sequence[float], digits: int, scale: float = 1.0, *, std: bool = True) -> str:
    if not values:
        return MISSING
    mean = decimal(statistics.fmean(values) * scale, digits)
    if not std or len(values) < 2:
        return mean
    return f"{mean}{UNBROKEN}±{UNBROKEN}{decimal(statistics.stdev(values) * scale, digits)}"


def decimal(number: float, digits: int) -> str:
    """The number with so many decimals, halves rounded up, and a minus sign that is longer than a hyphen."""
    text = str(Decimal(str(number)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))
    return text.removeprefix("-") if not float(text) else text.replace("-", "−")


def listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def as_list(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def markdown(headings: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    lines = [[heading.strip() for heading in headings], ["---"] * len(headings), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
