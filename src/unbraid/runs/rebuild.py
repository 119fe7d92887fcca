"""A run's method, built again from the recorded settings, and its weights.

A run folder may come from anybody. Networks are therefore compared with the weights while they are built, before their
memory is used.
"""

import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import (
    register_module_buffer_registration_hook,
    register_module_parameter_registration_hook,
)
from torch.overrides import TorchFunctionMode

from unbraid.custom_code import CodeNotNamed, digest, known, require_known
from unbraid.methods import BuildSpec, Method, method_class, method_classes
from unbraid.nn import is_custom_architecture
from unbraid.runs.arguments import require_arguments
from unbraid.runs.exported_model import ExportedModel
from unbraid.runs.folder import Run
from unbraid.settings import from_json

SPARE_TENSORS, SPARE_NUMBERS = 1_000, 10_000_000  # that a constructor may register beside the weights
NOTHING = ("missing", None)
INITIALIZERS = (nn.init.kaiming_uniform_, nn.init.kaiming_normal_, nn.init.uniform_, nn.init.normal_)


def trained_method(
    stored: Run | ExportedModel,
    which: str | int = "last",
    cls: type[Method] | None = None,
    networks: Mapping[str, nn.Module] | None = None,
) -> Method:
    """The method with its trained weights; raises ValueError if settings and weights do not fit each other.

    Args:
        stored: The run, or the exported model.
        which: The weights: last, best, or a step.
        cls: The method's class, see `rebuild_method`.
        networks: Networks by argument name, see `rebuild_method`.
    """
    weights = stored.weights(which)
    with _limited(weights):
        try:
            with _NoRandomWeights():
                method = rebuild_method(stored, cls, networks)
        except ValueError:  # of a constructor that computes with its random weights, or of damaged settings
            method = rebuild_method(stored, cls, networks)
    state = method.state_dict()
    _require_same_shapes(state, weights, stored)
    with torch.no_grad():
        for name, tensor in state.items():
            tensor.copy_(weights[name])
    return method


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
    try:
        arguments = {
            name: from_json(value, require_arguments)
            for name, value in recorded.items()
            if name not in custom
        }
    except CodeNotNamed:
        raise
    except Exception as error:
        raise _not_built(stored, error) from error
    plan = stored.plan if custom else None
    architecture = None if plan is None else plan["options"]["network"].get("architecture")
    if architecture is not None and is_custom_architecture(architecture):
        require_known(architecture, option="--architecture", owner=str(stored.folder))
        given |= _networks(cls, stored, custom, arguments | given)
    for name in custom - given.keys():
        from_json(recorded[name])  # raises: the network has to be passed
    try:
        require_arguments(cls, arguments | given)
        return cls(**arguments, **given)
    except Exception as error:  # of a constructor that gets settings from a file
        raise _not_built(stored, error) from error


def _not_built(stored: Run | ExportedModel, error: Exception) -> ValueError:
    kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
    reason = next(iter(str(error).strip().splitlines()), "").rstrip(".")
    return ValueError(
        f"The method {stored.method_name} cannot be built from the settings in {stored.folder} ({kind}{reason}). "
        "Restore them from a copy."
    )


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


class _NoRandomWeights(TorchFunctionMode):
    """Leaves out the random initialization of weights, which takes longer than reading the trained ones."""

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func in INITIALIZERS and kwargs.get("generator") is None:
            return args[0] if args else kwargs["tensor"]
        return func(*args, **kwargs)


@contextmanager
def _limited(weights: Mapping[str, Tensor]) -> Iterator[None]:
    """Stops the building of networks that are far larger than the weights. Tensors use no memory until filled."""
    spare_tensors = SPARE_TENSORS + 4 * len(weights)
    spare_numbers = SPARE_NUMBERS + 4 * sum(tensor.numel() for tensor in weights.values())
    thread = threading.get_ident()  # the hooks are those of all threads

    def count(module: nn.Module, name: str, tensor: Tensor | None) -> None:
        nonlocal spare_tensors, spare_numbers
        if tensor is not None and threading.get_ident() == thread:
            spare_tensors, spare_numbers = spare_tensors - 1, spare_numbers - tensor.numel()
            if min(spare_tensors, spare_numbers) < 0:
                raise ValueError("its networks are far larger than the trained weights.")

    hooks = (
        register_module_parameter_registration_hook(count),
        register_module_buffer_registration_hook(count),
    )
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _require_same_shapes(
    state: Mapping[str, Tensor], weights: Mapping[str, Tensor], stored: Run | ExportedModel
) -> None:
    """Raises unless the trained weights have the names, shapes and kinds of numbers of the method's own."""
    described, expected = _described(weights), _described(state)
    if described == expected:
        return
    name = next(name for name in [*state, *weights] if described.get(name) != expected.get(name))
    (of_weights, shape), (of_method, method_shape) = described.get(name, NOTHING), expected.get(name, NOTHING)
    raise ValueError(
        f"The weights in {stored.folder} do not fit its settings: {name} has the shape {shape} ({of_weights}) in "
        f"the weights and {method_shape} ({of_method}) in the settings. Restore the folder from a copy."
    )


def _described(tensors: Mapping[str, Tensor]) -> dict[str, tuple[str, tuple[int, ...] | None]]:
    """Kind of numbers and shape of each tensor."""
    return {
        name: ("real" if tensor.is_floating_point() else str(tensor.dtype), tuple(tensor.shape))
        for name, tensor in tensors.items()
    }
