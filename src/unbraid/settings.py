"""Settings as JSON: an object records the arguments it was constructed with, and is constructed from them again.

Loading settings never runs code that they name. Networks resolve inside `unbraid.nn`, or to code that was named in this
process; schedules, likelihoods and optimizers resolve among the subclasses of `Spec`.
"""

import difflib
import functools
import hashlib
import inspect
import json
import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, ClassVar, TypeVar

from unbraid.custom_code import is_reference, reference, require_known

T = TypeVar("T")
D = TypeVar("D", bound="RecordsArguments")
NETWORKS: dict[str, type["RecordsArguments"]] = {}  # by class name; `unbraid.nn` registers its networks here


class RecordsArguments:
    """Base of classes that record their constructor arguments in `arguments`."""

    arguments: dict[str, Any]

    def __new__(cls: type[D], *args: Any, **kwargs: Any) -> D:
        self = object.__new__(cls)
        bound = _signature(cls).bind_partial(self, *args, **kwargs)
        bound.apply_defaults()
        self.__dict__["arguments"] = {
            name: value for name, value in bound.arguments.items() if name != "self"
        }
        return self


@functools.cache
def _signature(cls: type) -> inspect.Signature:
    return inspect.signature(cls.__init__)


class Spec:
    """Base of frozen dataclasses that are settings themselves, such as a schedule or a likelihood.

    On the command line a spec is its name and its values: `linear:0:25:100000`. The name is `spec_name`, by default
    the class name in lower case; `parse` also takes the names in `also_accept`.
    """

    spec_name: ClassVar[str]
    also_accept: ClassVar[tuple[str, ...]] = ()
    by_name: ClassVar[dict[str, type["Spec"]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.spec_name = vars(cls).get("spec_name", cls.__name__.lower())
        if not cls.__name__.startswith("_"):  # a base class that several share
            for name in (cls.spec_name, *vars(cls).get("also_accept", ())):
                Spec.by_name[name] = cls

    @classmethod
    def parse(cls, text: str) -> "Spec":
        """Parses `name:value:value`; the name must be that of a subclass of this class."""
        name, *values = text.split(":")
        kinds = {
            key: kind for key, kind in Spec.by_name.items() if issubclass(kind, cls) and is_dataclass(kind)
        }
        if name not in kinds:
            usages = dict.fromkeys(_usage(kind) for kind in kinds.values())
            raise ValueError(f"{text!r} must be one of {', '.join(usages)}.")
        kind = kinds[name]
        try:
            types = [field.type for field in fields(kind)]  # type: ignore[arg-type]
            if len(values) > len(types):
                raise ValueError(f"it has {len(values)} values, and at most {len(types)} are allowed")
            required = sum(field.default is MISSING for field in fields(kind))  # type: ignore[arg-type]
            if len(values) < required:
                raise ValueError(f"it has {len(values)} values, and at least {required} are required")
            return kind(*(_number(value, type) for value, type in zip(values, types, strict=False)))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{text!r} must have the form {_usage(kind)}: {error}") from None

    def __str__(self) -> str:
        values = [getattr(self, field.name) for field in fields(self)]  # type: ignore[arg-type]
        return ":".join([self.spec_name, *map(str, values)])

    def short(self) -> str:
        """The shortest text that `parse` turns into this spec, without trailing default values: adam:0.001."""
        text = str(self)
        while ":" in text:
            shorter = text.rpartition(":")[0]
            try:
                if Spec.parse(shorter) != self:
                    return text
            except ValueError:
                return text
            text = shorter
        return text


def _usage(kind: type[Spec]) -> str:
    return ":".join([kind.spec_name, *(field.name.upper() for field in fields(kind))])  # type: ignore[arg-type]


def _number(text: str, kind: Any) -> float | int:
    """A number of a spec; whole numbers may be written like 1e5."""
    if kind is not int or re.fullmatch(WHOLE_NUMBER, text, re.ASCII):
        return parse_number(text, kind)
    number = parse_number(text, float)
    if not float(number).is_integer():
        raise ValueError(f"{text!r} is not a whole number.")
    return parse_number(str(int(number)), int)


WHOLE_NUMBER = r"[+-]?\d+"
NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"


def parse_number(text: str, kind: type[int] | type[float]) -> int | float:
    """The finite number in a text, of decimal digits and for int of 64 bits; Python itself also reads `1_0` and `１`.

    >>> parse_number("1e-3", float), parse_number(" -2", int)
    (0.001, -2)
    >>> parse_number("1_000", int)
    Traceback (most recent call last):
    ValueError: '1_000' is not a whole number.
    """
    text = text.strip()
    if kind is int:
        if not re.fullmatch(WHOLE_NUMBER, text, re.ASCII):
            raise ValueError(f"{text!r} is not a whole number.")
        if len(text.lstrip("+-0")) > 19 or not -(2**63) <= int(text) < 2**63:
            raise ValueError(f"{text} is out of range: a whole number must be from -2^63 to 2^63-1.")
        return int(text)
    is_number = re.fullmatch(NUMBER, text, re.ASCII)
    if is_number and math.isfinite(float(text)):
        return float(text)
    is_infinite = is_number or re.fullmatch(r"[+-]?(nan|inf|infinity)", text, re.IGNORECASE)
    raise ValueError(f"{text!r} is not a {'finite ' if is_infinite else ''}number.")


def to_json(value: Any) -> Any:
    """A setting as JSON data, from which `from_json` builds it again."""
    from torch import nn  # deferred: help needs no torch

    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Spec):
        return {"spec": str(value)}
    if isinstance(value, nn.Module):
        return _network_to_json(value)
    if isinstance(value, Mapping):
        return {str(key): to_json(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(entry) for entry in value]
    if callable(value):
        return reference(value)
    raise ValueError(f"A setting must be a number, a string or a list of these; got {value!r}.")


def _network_to_json(network: Any) -> dict[str, Any]:
    """A network by name and arguments if it records them, otherwise by the shapes of its parameters."""
    name = type(network).__name__
    if NETWORKS.get(name) is not type(network):
        name = reference(type(network))
    if isinstance(network, RecordsArguments) and (name in NETWORKS or is_reference(name)):
        return {"network": name, "arguments": to_json(network.arguments)}
    shapes = [list(parameter.shape) for parameter in network.parameters()]  # type: ignore[attr-defined]
    return {"custom": reference(type(network)), "parameters": shapes}


def from_json(description: Any, check: Callable[[type, dict[str, Any]], None] | None = None) -> Any:
    """The setting that `to_json` wrote; lists become tuples. `check` gets each network and its arguments first."""
    from unbraid.files import require_schema  # deferred: help needs no torch

    if isinstance(description, list):
        return tuple(from_json(entry, check) for entry in description)
    if not isinstance(description, dict):
        return description
    if "spec" in description:
        require_schema(description, {"spec": str}, "a setting")
        return Spec.parse(description["spec"])
    if "network" in description:
        require_schema(description, {"network": str, "arguments": dict}, "the description of a network")
        name, arguments = description["network"], from_json(description["arguments"], check)
        if is_reference(name):
            return require_known(name, option="--architecture")(**arguments)
        if name not in NETWORKS:
            raise ValueError(
                f"unbraid.nn has no network {name!r}. Restore the file, or load it with the version that wrote it."
            )
        if check is not None:
            check(NETWORKS[name], arguments)
        return NETWORKS[name](**arguments)
    if "custom" in description:
        raise ValueError(
            f"The run used a network of your own, {description['custom']}. Pass it to load (in Python), or name the "
            "function that builds it: --architecture FILE.py:NAME."
        )
    return {key: from_json(entry, check) for key, entry in description.items()}


def flatten(description: Any, name: str = "") -> dict[str, str]:
    """JSON settings as one string per setting, keyed by dotted names: `method.arguments.beta`."""
    if isinstance(description, dict) and "spec" not in description:
        return {
            inner: text
            for key, entry in description.items()
            for inner, text in flatten(entry, f"{name}.{key}".lstrip(".")).items()
        }
    if isinstance(description, dict):
        return {name: str(description["spec"])}
    if isinstance(description, list):
        return {name: ", ".join("".join(flatten(entry, "").values()) for entry in description)}
    return {name: str(description)}


def differences(a: Any, b: Any, name: str = "") -> set[str]:
    """The dotted names of the settings that differ."""
    if isinstance(a, dict) and isinstance(b, dict):
        return set().union(
            *(differences(a.get(key), b.get(key), f"{name}.{key}".lstrip(".")) for key in {*a, *b})
        )
    return set() if a == b else {name}


def require_nonnegative(**settings: float) -> None:
    """Raises unless every setting is a finite number of at least 0."""
    for name, value in settings.items():
        if not 0 <= value < math.inf:  # false for NaN too
            raise ValueError(f"{name} must be a finite number of at least 0; got {value}.")


def require_shape(network: Any, x: Any) -> None:
    """Raises unless the observations have the shape that the network was built for."""
    if x.shape[1:] != network.shape:
        raise ValueError(
            f"{type(network).__name__} requires observations of shape {network.shape}; got {tuple(x.shape[1:])}."
        )


def require_images(architecture: str, shape: tuple[int, ...]) -> None:
    """Raises unless the observations are images."""
    if len(shape) != 3:
        raise ValueError(
            f"The architecture {architecture!r} requires images (channels, height, width); the observations have "
            f"shape {shape}. Use 'mlp'."
        )


def lookup(kind: str, name: str, table: Mapping[str, T], *, or_else: str = "") -> T:
    """The entry of that name; the error for an unknown name lists the nearest names, all names and `or_else`.

    >>> lookup("method", "beta-vea", {"beta-vae": 1, "factor-vae": 2})
    Traceback (most recent call last):
    ValueError: There is no method 'beta-vea'; did you mean beta-vae? The choices are beta-vae, factor-vae.
    >>> lookup("method", "BetaVAE", {"beta-vae": 1, "factor-vae": 2})
    Traceback (most recent call last):
    ValueError: There is no method 'BetaVAE'; did you mean beta-vae? The choices are beta-vae, factor-vae.
    >>> lookup("method", "β-VAE", {"vae": 0, "beta-vae": 1})
    Traceback (most recent call last):
    ValueError: There is no method 'β-VAE'; did you mean beta-vae? The choices are vae, beta-vae.
    """
    if name in table:
        return table[name]
    spelled = {_plain(entry): entry for entry in table}
    close = difflib.get_close_matches(_plain(name), spelled, n=3, cutoff=0.6)
    near = [spelled[match] for match in ([_plain(name)] if _plain(name) in spelled else close)]
    hint = f"; did you mean {' or '.join(near)}?" if near else "."
    raise ValueError(
        f"There is no {kind} {name!r}{hint} The choices are {', '.join(table) or 'none'}{or_else}."
    )


def _plain(name: str) -> str:
    """A name as it sounds: `BetaVAE`, `beta_vae`, `beta-vae` and `β-VAE` are one name."""
    spelled = re.sub(r"[α-ωΑ-Ω]", lambda letter: unicodedata.name(letter[0]).split()[-1], name)
    return re.sub(r"[-_ ]", "", spelled).lower()


def identity(settings: Mapping[str, Any]) -> str:
    """A short hash of the settings; equal settings have equal hashes."""
    canonical = json.dumps(settings, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:12]
