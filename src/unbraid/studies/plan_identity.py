"""The identity of a plan: a hash that two plans share exactly if they describe the same run.

The identity counts the options that differ from the value with which they were introduced (`introduced.json`). A new
option therefore leaves the identity of older runs as it was, and a changed default gives a new identity. Your own code
counts with a hash of its source.
"""

import functools
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unbraid import custom_code
from unbraid.data import constructor, dataset_entry, draw_class
from unbraid.methods import method_class
from unbraid.nn import is_custom_architecture
from unbraid.settings import identity, to_json

TABLE = Path(__file__).with_name("introduced.json")


def plan_identity(method: str, data: str, draw: str | None, options: Mapping[str, Mapping[str, Any]]) -> str:
    """The identity of a run with these names and with these values of all its options."""
    counted: dict[str, Any] = {}
    for owner, values in options.items():
        introduced = introduced_values().get(owner_key(owner, method, data, draw), {})
        for name, value in values.items():
            if name not in introduced or to_json(value) != introduced[name]:
                counted[f"{owner}.{name}"] = _identity_of_value(name, value)
    settings = {"method": _identity_of_method(method), "data": _identity_of_data(data), "options": counted}
    if draw is not None:
        settings["draw"] = _identity_of_code(draw)
    return identity(to_json(settings))


@functools.cache
def introduced_values() -> dict[str, dict[str, Any]]:
    """The value with which each option of Unbraid was introduced, by owner and name, as JSON."""
    return json.loads(TABLE.read_text(encoding="utf-8"))


def owner_key(owner: str, method: str, data: str, draw: str | None = None) -> str:
    """The key of an owner in the table: `method beta-vae`, `data sprites`, `draw PairDraw`, `network` or `training`."""
    if owner == "method":
        return f"method {method}"
    if owner == "draw":
        return f"draw {draw or default_draw_name(method)}"
    if owner == "data":
        entry = dataset_entry(data)
        return f"data {data if entry is not None else constructor(data).__name__}"
    return owner


def default_draw_name(method: str) -> str:
    return draw_class(method_class(method).batch_type).__name__


def _identity_of_method(name: str) -> Any:
    cls = method_class(name)
    return name if cls.__module__.startswith("unbraid.") else _identity_of_code(name, cls)


def _identity_of_data(name_or_path: str) -> Any:
    entry = dataset_entry(name_or_path)
    if entry is None:
        return content_digest(name_or_path)
    if entry.constructor.__module__.startswith("unbraid."):
        return name_or_path
    return _identity_of_code(name_or_path, entry.constructor)


def _identity_of_value(name: str, value: Any) -> Any:
    if name == "background" and isinstance(value, str):
        return _identity_of_data(value)
    return _identity_of_code(value) if name == "architecture" and is_custom_architecture(value) else value


def _identity_of_code(name: str, code: Any = None) -> dict[str, Any]:
    """Your own code or an installed package's: its name, and a hash of its source."""
    code = custom_code.known(name) if code is None else code
    return {"name": custom_code.plain_name(name), "source": custom_code.digest(code)}


def content_digest(path: str) -> dict[str, Any]:
    """Identifies your files: the hash of a file's content, or the names and sizes of a folder's files."""
    if (target := Path(path).expanduser()).is_dir():
        files = sorted(file for file in target.rglob("*") if file.is_file())
        return {"files": [[str(file.relative_to(target)), file.stat().st_size] for file in files]}
    if not target.is_file():
        return {"missing": str(target)}
    with target.open("rb") as file:
        return {"sha256": hashlib.file_digest(file, "sha256").hexdigest()}
