"""The command line that reproduces a run, from the run's settings."""

import contextlib
import shlex
from typing import Any

import torch

from unbraid.data import DRAWS
from unbraid.methods import DATASET_SIZES, BuildSpec, Method, build_method, built_arguments, method_class
from unbraid.nn import ARCHITECTURES, BACKBONES, OverlayDecoder, overlay_architectures
from unbraid.options import options_of, to_cli_args
from unbraid.runs import Run
from unbraid.settings import from_json, to_json
from unbraid.training import TrainConfig

ALWAYS = ("steps", "batch_size", "seed")  # written even at their defaults


def command_of(run: Run, out: str = "RUN") -> str:
    """The command that reproduces the run. Options at their defaults are left out, except steps, batch size and seed.

    Raises:
        ValueError: The run depends on an object that a command line cannot describe.
    """
    method, data, draw = (run.settings[part] for part in ("method", "data", "draw"))
    if data["origin"] is None:
        raise ValueError(f"the dataset {data['name']} was created in Python")
    cls = method_class(run.method_name)
    arguments = {
        name: value for name, value in method["arguments"].items() if name not in built_arguments(cls)
    }
    built = _architecture(cls, method["arguments"], tuple(data["shape"]))
    defaults = {
        name: to_json(option.default)
        for constructor in (cls, build_method, DRAWS[cls.batch_type], TrainConfig)
        for name, option in options_of(constructor).items()
    }
    settings = {**arguments, **built, **draw["arguments"], **run.settings["training"]}
    chosen = {
        name: value for name, value in settings.items() if name in ALWAYS or value != defaults.get(name)
    }
    words = ["unbraid", "train", run.method_name, "--data", data["origin"]["name"]]
    for name, value in {**data["origin"]["options"], **chosen}.items():
        words += to_cli_args(name, from_json(value))
    if run.settings.get("init_from"):
        words += ["--init-from", f"RUN-{run.settings['init_from']}"]
    return shlex.join([*words, "--out", out])


def _architecture(cls: type[Method], arguments: dict[str, Any], shape: tuple[int, ...]) -> dict[str, Any]:
    """The options with which `build_method` builds these networks."""
    networks = [
        name for name in built_arguments(cls) if name not in DATASET_SIZES and arguments.get(name) is not None
    ]
    parts = {name: arguments[name] for name in networks}
    if not parts:
        return {}
    if any("network" not in part for part in parts.values()):
        raise ValueError("its networks are not part of Unbraid")
    settings = {name: from_json(value) for name, value in arguments.items() if name not in parts}
    codes, classes = (_find(parts, name) for name in ("latent_dim", "classes"))
    nuisances = settings.get("nuisances") or ()
    overlay = parts.get("decoder", {}).get("network") == OverlayDecoder.__name__
    for name in overlay_architectures() if overlay else dict.fromkeys([*ARCHITECTURES, *BACKBONES]):
        with (
            contextlib.suppress(ValueError),
            torch.device("meta"),
        ):  # some architectures do not fit the method or the shape
            spec = BuildSpec(shape, 1, classes, nuisances, codes, name)
            built = cls.default_arguments(spec, parts.keys(), settings)
            if all(to_json(built[part]) == described for part, described in parts.items()):
                return {"architecture": name} | ({} if cls.has_own_code_size else {"latent_dim": codes})
    raise ValueError("its networks have custom settings")


def _find(described: Any, name: str) -> int:
    """The first integer with this name within a description, otherwise 0."""
    if not isinstance(described, dict):
        return 0
    if isinstance(described.get(name), int):
        return described[name]
    return next((found for entry in described.values() if (found := _find(entry, name))), 0)
