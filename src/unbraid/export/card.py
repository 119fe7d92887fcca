"""The model card in Markdown: what the model is, how to use it, and its scores."""

import inspect
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from unbraid.data import GENERATED
from unbraid.display import code_markdown
from unbraid.display import escape_markdown as plain
from unbraid.export.bundle import ExportBundle
from unbraid.methods import Method
from unbraid.options import first_sentence

STANDALONE = ("onnx", "torchscript")  # formats that work without Unbraid and have named outputs


def card(bundle: ExportBundle, description: Mapping[str, Any], snippet: str, *, difference: float) -> str:
    """The README.md of an export.

    Args:
        bundle: Exported model.
        description: Contents of config.json.
        snippet: Python that loads the files.
        difference: Largest difference between the files and the model.
    """
    method, data = description["method"]["name"], description["data"]
    sections = [
        f"# {plain(method)} on {plain(data['name'])}",
        _about(bundle.model.method),
        "## Usage",
        f"```python\n{snippet.strip()}\n```",
        _interface(description),
        "## Strands",
        _strands(description),
        "## Scores",
        _scores(description["scores"]),
        "## Data",
        _data(data),
        "## Training",
        _training(description),
        "## License",
        _license(data["license"]),
        f"Written by `unbraid export --format {description['export_format']}`. The files were loaded again and "
        f"compared with the model on batches of several sizes. The largest difference was {difference:.1g}.",
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def front_matter(description: Mapping[str, Any]) -> str:
    """The YAML front matter that the Hugging Face Hub reads."""
    method, data = description["method"]["name"], description["data"]
    generated = data["license"] == GENERATED
    images = len(data["shape"]) == 3
    entries: dict[str, Any] = {
        "library_name": "unbraid",
        "license": "mit" if generated else "other",
        **({} if generated else {"license_name": "see-the-card", "license_link": "README.md"}),
        "tags": ["unbraid", "disentanglement", "representation-learning", method],
        "pipeline_tag": "image-feature-extraction" if images else "feature-extraction",
    }
    if description["scores"]:
        metrics = [
            {"type": score["metric"], "value": score["value"], "name": _with_conditions(score)}
            for score in description["scores"]
        ]
        result = {
            "task": {"type": entries["pipeline_tag"]},
            "dataset": {"name": data["name"], "type": data["name"]},
            "metrics": metrics,
        }
        entries["model-index"] = [{"name": f"{method} on {data['name']}", "results": [result]}]
    lines = [f"{name}: {json.dumps(value, ensure_ascii=True)}" for name, value in entries.items()]
    return "\n".join(["---", *lines, "---", "", ""])


def _about(method: Method) -> str:
    lines = first_sentence(type(method)), first_sentence(inspect.getmodule(type(method)))
    return "\n\n".join(plain(line) for line in lines if line)


def _interface(description: Mapping[str, Any]) -> str:
    standalone = description["export_format"] in STANDALONE
    inputs = [f"- {code_markdown(name)}: {plain(text)}" for name, text in description["input"].items()]
    outputs = ["- `codes`: the mean code, float32, all dimensions"]
    if standalone:
        strands = [name for name in description["outputs"] if name not in ("codes", "logits")]
        outputs += [f"- {code_markdown(name)}: a strand of the code" for name in strands]
        outputs += ["- `logits`: one per class"] if "logits" in description["outputs"] else []
    lines = ["Inputs of the encoder:", "", *inputs, "", "Outputs of the encoder:", "", *outputs, ""]
    return "\n".join([*lines, _decoder(description, standalone)])


def _decoder(description: Mapping[str, Any], standalone: bool) -> str:
    if not description["decoder"]:
        return "The method has no decoder."
    images = len(description["data"]["shape"]) == 3
    layout = "height, width, channels" if standalone else "channels, height, width"
    observations = f"images (n, {layout}) in [0, 1]" if images else "rows in the units of the input"
    inputs = "`codes` and `condition`" if "condition" in description["input"] else "`codes`"
    return f"The decoder takes {inputs} and returns {observations}."


def _strands(description: Mapping[str, Any]) -> str:
    rows = [
        (
            code_markdown(name),
            len(indices),
            _ranges(indices),
            "yes" if name == description["default_strand"] else "",
        )
        for name, indices in description["strands"].items()
    ]
    return _table(("strand", "size", "dimensions", "default"), rows)


def _scores(scores: Sequence[Mapping[str, Any]]) -> str:
    if not scores:
        return "The run had no scores when it was exported."
    rows = [
        (
            plain(score["metric"]),
            f"{score['value']:.4f}",
            plain(score["protocol"] or "-"),
            score["n"],
            score["n_test"] or "-",
            score["seed"],
            plain(score.get("on", "training data")),
        )
        for score in scores
    ]
    return _table(("metric", "value", "protocol", "n", "n test", "seed", "dataset"), rows)


def _data(data: Mapping[str, Any]) -> str:
    shape = "×".join(map(str, data["shape"]))
    lines = [f"{plain(data['name'])}: {data['observations']:,} observations of {shape}."]
    if data["factors"]:
        factors = ", ".join(f"{plain(name)} ({size})" for name, size in data["factors"].items())
        lines.append(f"Factors (number of values): {factors}.")
    if data.get("columns") is not None:
        lines.append(f"Columns in this order: {', '.join(map(plain, data['columns']['names']))}.")
    return "\n\n".join(lines)


def _training(description: Mapping[str, Any]) -> str:
    training = description["training"]
    summary = (
        f"{training['steps']:,} steps with a batch size of {training['batch_size']}, seed {training['seed']}."
    )
    versions = ", ".join(f"{plain(name)} {plain(value)}" for name, value in description["versions"].items())
    command = description["command"]
    shown = f"```sh\n{command}\n```" if command.startswith("unbraid ") else plain(command)
    return "\n\n".join([summary, shown, f"Versions: {versions}."])


def _license(data_license: str) -> str:
    data = f"Data: {plain(data_license)}." if data_license else "Data: the license is unknown to Unbraid."
    return f"Unbraid, with which the model was trained: MIT. {data}"


def _with_conditions(score: Mapping[str, Any]) -> str:
    """The metric with protocol, sample size, seed and dataset."""
    parts = [score["protocol"], f"n={score['n']}", f"seed {score['seed']}", score.get("on", "")]
    return f"{score['metric']} ({', '.join(part for part in parts if part)})"


def _ranges(indices: Sequence[int]) -> str:
    """Consecutive indices as ranges: 0 to 5, 8."""
    ranges: list[list[int]] = []
    for index in indices:
        if ranges and index == ranges[-1][1] + 1:
            ranges[-1][1] = index
        else:
            ranges.append([index, index])
    shown = [str(first) if first == last else f"{first} to {last}" for first, last in ranges]
    return ", ".join(shown[:12]) + (", …" if len(shown) > 12 else "")


def _table(heading: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    lines = [list(heading)]
    lines += [["---"] * len(lines[0]), *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
