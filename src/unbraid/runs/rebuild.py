"""A run's method, built again from the recorded settings."""

import warnings
from collections.abc import Mapping
from typing import Any

from torch import nn

from unbraid.custom_code import digest, known, require_known
from unbraid.methods import BuildSpec, Method, method_class, method_classes
from unbraid.nn import is_custom_architecture
from unbraid.runs.exported_model import ExportedModel
from unbraid.runs.folder import Run
from unbraid.settings import from_json


def rebuild_method(
    stored: Run | ExportedModel,
    cls: type[Method] | None = None,
    networks: Mapping[str, nn.Module] | None = None,
) -> Method:
    """The method with new weights.

    Args:
        stored: The run, or the exported model.
        cls: The method's class. Default: by the recorded name, among the methods of Unbraid, of installed packages, and
            your own classes that were named before.
        networks: Networks by argument name, which replace the recorded ones.
    """
    cls = cls or method_of(stored)
    given = dict(networks or {})
    recorded = {
        name: value for name, value in stored.settings["method"]["arguments"].items() if name not in given
    }
    custom = {name for name, value in recorded.items() if _has_custom_network(value)}
    arguments = {name: from_json(value) for name, value in recorded.items() if name not in custom}
    architecture = (stored.plan or {"options": {"network": {}}})["options"]["network"].get("architecture")
    if custom and is_custom_architecture(architecture):
        require_known(architecture, option="--architecture", owner=str(stored.folder))
        given |= _networks(cls, stored, custom, arguments | given)
    for name in custom - given.keys():
        from_json(recorded[name])  # raises: the network has to be passed
    return cls(**arguments, **given)


def method_of(stored: Run | ExportedModel) -> type[Method]:
    """The class of a run's method. Your own class has to be named before: a run folder never makes code run."""
    settings = stored.settings["method"]
    name, code = settings["name"], settings.get("code")
    if code is None or name in method_classes():
        return method_class(name)
    if (cls := known(code)) is None:
        try:
            cls = method_class(name)  # of an installed package
        except ValueError:
            cls = require_known(code, option="--method", owner=str(stored.folder))  # raises
    if settings.get("source") not in (None, digest(cls)):
        warnings.warn(
            f"{code} has changed since {stored.folder} was trained. Its results may differ from those of the training.",
            stacklevel=3,
        )
    return cls


def _networks(
    cls: type[Method], stored: Run | ExportedModel, names: set[str], arguments: Mapping[str, Any]
) -> dict[str, nn.Module]:
    """The networks that your own architecture builds for the sizes of the run."""
    assert stored.plan is not None
    data, network = stored.settings["data"], stored.plan["options"]["network"]
    spec = BuildSpec(
        tuple(data["shape"]),
        data["observations"],
        arguments.get("classes", 0),
        tuple(arguments.get("nuisances") or ()),
        network.get("latent_dim", 0),
        network["architecture"],
    )
    built = cls.default_arguments(spec, names, arguments)
    return {name: built[name] for name in names if name in built}


def _has_custom_network(value: Any) -> bool:
    """Whether a recorded argument is, or contains, a network that does not record its arguments."""
    if not isinstance(value, dict):
        return False
    return "custom" in value or any(map(_has_custom_network, value.values()))
