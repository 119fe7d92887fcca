"""The command line that trains a run again, from the run's settings."""

import contextlib
import shlex
from typing import Any

import torch

from unbraid.data.draws import DRAWS
from unbraid.methods.assemble import SIZES, assemble, filled
from unbraid.methods.base import Facts, Method
from unbraid.model import method_class
from unbraid.nn import ARCHITECTURES, EXTRACTORS
from unbraid.options import options_of, written
from unbraid.runs import Run
from unbraid.settings import describe, rebuild
from unbraid.training import Training

ALWAYS = ("steps", "batch", "seed")  # said even where they are the defaults


def command_of(run: Run, out: str = "RUN") -> str:
    """What to type to train the run again; raises with what a command line cannot say.

    Options at their defaults are left out, except steps, batch and seed.
    """
    method, data, draw = (run.settings[part] for part in ("method", "data", "draw"))
    if data["origin"] is None:
        raise ValueError(f"the dataset {data['name']} was made in Python")
    cls = method_class(run.method_name)
    arguments = {name: value for name, value in method["arguments"].items() if name not in filled(cls)}
    built = _architecture(cls, method["arguments"], tuple(data["shape"]))
    defaults = {
        name: describe(option.default)
        for constructor in (cls, assemble, DRAWS[cls.batch], Training)
        for name, option in options_of(constructor).items()
    }
    settings = {**arguments, **built, **draw["arguments"], **run.settings["training"]}
    chosen = {
        name: value for name, value in settings.items() if name in ALWAYS or value != defaults.get(name)
    }
    words = ["unbraid", "train", run.method_name, "--data", data["origin"]["name"]]
    for name, value in {**data["origin"]["options"], **chosen}.items():
        words += written(name, rebuild(value))
    if run.settings.get("start_from"):
        words += ["--from", f"RUN-{run.settings['start_from']}"]
    return shlex.join([*words, "--out", out])


def _architecture(cls: type[Method], arguments: dict[str, Any], shape: tuple[int, ...]) -> dict[str, Any]:
    """The names under which `assemble` builds these networks."""
    networks = [name for name in filled(cls) if name not in SIZES and arguments.get(name) is not None]
    parts = {name: arguments[name] for name in networks}
    if not parts:
        return {}
    if any("network" not in part for part in parts.values()):
        raise ValueError("its networks are not Unbraid's own")
    settings = {name: rebuild(value) for name, value in arguments.items() if name not in parts}
    codes, classes = (_find(parts, name) for name in ("codes", "classes"))
    nuisances = settings.get("nuisances") or ()
    for name in dict.fromkeys([*ARCHITECTURES, *EXTRACTORS]):
        with (
            contextlib.suppress(ValueError),
            torch.device("meta"),
        ):  # not every one fits every method and shape
            facts = Facts(shape, 1, classes, nuisances, codes, name)
            made = cls.parts(facts, parts.keys(), settings)
            if all(describe(made[part]) == described for part, described in parts.items()):
                return {"architecture": name} | ({} if cls.sizes_strands else {"codes": codes})
    raise ValueError("its networks have settings of their own")


def _find(described: Any, name: str) -> int:
    """The first whole number of that name within a description; 0 without one."""
    if not isinstance(described, dict):
        return 0
    if isinstance(described.get(name), int):
        return described[name]
    return next((found for entry in described.values() if (found := _find(entry, name))), 0)
