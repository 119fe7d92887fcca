"""The model card: what the model is, how to use it, and how good it is, in Markdown."""

import html
import inspect
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from unbraid.data.licences import HERE
from unbraid.export.package import Package
from unbraid.methods.base import Method
from unbraid.naming import summary

ALONE = ("onnx", "torchscript")  # files that need no Unbraid, whose encoder names all its outputs


def card(package: Package, described: Mapping[str, Any], snippet: str, *, difference: float) -> str:
    """The README.md that lies beside the files.

    Args:
        package: What was exported.
        described: Its config.json.
        snippet: Python that loads the files.
        difference: The largest one between the files and the original, as checked.
    """
    method, data = described["method"]["name"], described["data"]
    sections = [
        f"# {plain(method)} on {plain(data['name'])}",
        _about(package.model.method),
        "## Use it",
        f"```python\n{snippet.strip()}\n```",
        _interface(described),
        "## Strands",
        _strands(described),
        "## Scores",
        _scores(described["scores"]),
        "## Data",
        _data(data),
        "## Training",
        _training(described),
        "## Licence",
        _licence(data["licence"]),
        f"Written by `unbraid export --to {described['to']}`. The files were read back and compared with the model "
        f"they came from, on batches of several sizes: the largest difference was {difference:.1g}.",
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def front_matter(described: Mapping[str, Any]) -> str:
    """The lines by which the Hugging Face Hub sorts models, as YAML."""
    method, data = described["method"]["name"], described["data"]
    own = data["licence"] == HERE
    images = len(data["shape"]) == 3
    entries: dict[str, Any] = {
        "library_name": "unbraid",
        "license": "mit" if own else "other",
        **({} if own else {"license_name": "see-the-card", "license_link": "README.md"}),
        "tags": ["unbraid", "disentanglement", "representation-learning", method],
        "pipeline_tag": "image-feature-extraction" if images else "feature-extraction",
    }
    if described["scores"]:
        metrics = [
            {"type": score["metric"], "value": score["value"], "name": _said_with(score)}
            for score in described["scores"]
        ]
        result = {
            "task": {"type": entries["pipeline_tag"]},
            "dataset": {"name": data["name"], "type": data["name"]},
            "metrics": metrics,
        }
        entries["model-index"] = [{"name": f"{method} on {data['name']}", "results": [result]}]
    lines = [f"{name}: {json.dumps(value, ensure_ascii=True)}" for name, value in entries.items()]
    return "\n".join(["---", *lines, "---", "", ""])


def plain(text: object) -> str:
    """Text that neither Markdown nor HTML reads as anything else."""
    escaped = html.escape(str(text), quote=False)
    for sign in "\\`*_[]|":
        escaped = escaped.replace(sign, f"\\{sign}")
    return " ".join(escaped.split())


def _about(method: Method) -> str:
    lines = summary(type(method)), summary(inspect.getmodule(type(method)))
    return "\n\n".join(plain(line) for line in lines if line)


def _interface(described: Mapping[str, Any]) -> str:
    taken = [f"- `{name}`: {plain(said)}" for name, said in described["input"].items()]
    given = ["- `codes`: the mean code, float32, all of its dimensions"]
    if described["to"] in ALONE:
        strands = [name for name in described["outputs"] if name not in ("codes", "logits")]
        given += [f"- `{name}`: a strand of it" for name in strands]
        given += ["- `logits`: one for each class"] if "logits" in described["outputs"] else []
    images = len(described["data"]["shape"]) == 3
    layout = "height, width, channels" if described["to"] in ALONE else "channels, height, width"
    made = f"images (n, {layout}) in [0, 1]" if images else "rows in the same units"
    back = f"The decoder takes `codes`{' and `given`' if 'given' in described['input'] else ''} and gives {made}."
    return "\n".join(
        [
            "The encoder takes",
            "",
            *taken,
            "",
            "and gives",
            "",
            *given,
            "",
            back if described["decoder"] else "The method learns no decoder.",
        ]
    )


def _strands(described: Mapping[str, Any]) -> str:
    rows = [
        (f"`{name}`", len(indices), _ranges(indices), "yes" if name == described["default_strand"] else "")
        for name, indices in described["strands"].items()
    ]
    return _table(("strand", "dimensions", "of the code", "default"), rows)


def _scores(scores: Sequence[Mapping[str, Any]]) -> str:
    if not scores:
        return "It was not scored before it was exported."
    rows = [
        (
            plain(score["metric"]),
            f"{score['value']:.4f}",
            plain(score["protocol"] or "-"),
            score["n"],
            score["n_test"] or "-",
            score["seed"],
            plain(score.get("on", "the training data")),
        )
        for score in scores
    ]
    return _table(("metric", "value", "protocol", "n", "n tested on", "seed", "on"), rows)


def _data(data: Mapping[str, Any]) -> str:
    shape = "×".join(map(str, data["shape"]))
    lines = [f"{plain(data['name'])}: {data['observations']:,} observations of {shape}."]
    if data["factors"]:
        said = ", ".join(f"{plain(name)} {size}" for name, size in data["factors"].items())
        lines.append(f"Factors, with their number of values: {said}.")
    if "columns" in data:
        lines.append(f"Columns, in this order: {', '.join(map(plain, data['columns']['names']))}.")
    return "\n\n".join(lines)


def _training(described: Mapping[str, Any]) -> str:
    training = described["training"]
    said = f"{training['steps']:,} steps of {training['batch']} observations, seed {training['seed']}."
    versions = ", ".join(f"{plain(name)} {plain(value)}" for name, value in described["versions"].items())
    command = described["command"]
    shown = f"```sh\n{command}\n```" if command.startswith("unbraid ") else plain(command)
    return "\n\n".join([said, shown, f"Versions: {versions}."])


def _licence(of_data: str) -> str:
    said = f"The data: {of_data}." if of_data else "The data: Unbraid does not know its licence."
    return f"Unbraid, which trained and reads the model: MIT. {said}"


def _said_with(score: Mapping[str, Any]) -> str:
    """A score's name with all that it depends on."""
    parts = [score["protocol"], f"n={score['n']}", f"seed {score['seed']}", score.get("on", "")]
    return f"{score['metric']} ({', '.join(part for part in parts if part)})"


def _ranges(indices: Sequence[int]) -> str:
    """0 to 5, 8: runs of numbers by their ends."""
    runs: list[list[int]] = []
    for index in indices:
        if runs and index == runs[-1][1] + 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    shown = [str(first) if first == last else f"{first} to {last}" for first, last in runs]
    return ", ".join(shown[:12]) + (", …" if len(shown) > 12 else "")


def _table(heading: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    lines = [list(heading)]
    lines += [["---"] * len(lines[0]), *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
