"""The command line that trains a run again, from the run's settings."""

import contextlib
import shlex
from typing import Any

import torch

from unbraid.data.draws import DRAWS
from unbraid.methods.assemble import assemble, filled
from unbraid.model import method_class
from unbraid.nn import ARCHITECTURES, networks
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
    built = _architecture(method["arguments"], tuple(data["shape"]))
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


def _architecture(arguments: dict[str, Any], shape: tuple[int, ...]) -> dict[str, Any]:
    """The names under which `assemble` builds these networks."""
    parts = {name: arguments[name] for name in ("encoder", "decoder") if arguments.get(name) is not None}
    if not parts:
        return {}
    if any("network" not in part for part in parts.values()):
        raise ValueError("its networks are not Unbraid's own")
    codes = int(next(iter(parts.values()))["arguments"]["codes"])
    for name in ARCHITECTURES:
        with contextlib.suppress(ValueError), torch.device("meta"):  # not every one fits every shape
            encoder, decoder = networks(name, shape, codes)
            pair: dict[str, Any] = {"encoder": encoder, "decoder": decoder}
            if all(describe(pair[part]) == described for part, described in parts.items()):
                return {"codes": codes, "architecture": name}
    raise ValueError("its networks have settings of their own")
