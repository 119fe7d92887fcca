"""Settings as JSON and back, src/unbraid/settings.py."""

import copy
import json
from typing import Any

import pytest
import torch
from torch import nn

from unbraid.nn import ConvEncoder, Critic, MLPEncoder
from unbraid.objectives import Bernoulli, Likelihood, Normal
from unbraid.optimizers import SGD, Adam, Optimizer
from unbraid.schedules import Constant, Linear, Schedule
from unbraid.settings import RecordsArguments, Spec, flatten, from_json, lookup, require_nonnegative, to_json


class Sample(RecordsArguments):
    def __init__(self, a: int, b: float = 2.0, *, c: str = "three") -> None:
        self.sum = a + b


def test_arguments_are_recorded_with_their_defaults() -> None:
    assert Sample(1).arguments == {"a": 1, "b": 2.0, "c": "three"}
    assert Sample(1, c="x", b=5.0).arguments == {"a": 1, "b": 5.0, "c": "x"}


def test_a_copy_keeps_its_arguments() -> None:
    sample = copy.deepcopy(Sample(1))
    assert sample.arguments == {"a": 1, "b": 2.0, "c": "three"} and sample.sum == 3.0


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        0.25,
        "text",
        (1, 2.5, "x"),
        {"a": (1, 2), "b": {"c": None}},
        Linear(0.0, 25.0, 100_000),
        Constant(1e-7),
        Adam(lr=3e-4, weight_decay=0.01),
        SGD(),
        Bernoulli(),
        Normal(0.1),
    ],
)
def test_values_survive_json(value: Any) -> None:
    assert from_json(json.loads(json.dumps(to_json(value)))) == value


def test_networks_are_rebuilt_with_their_arguments() -> None:
    encoder = MLPEncoder((1, 3, 3), 2, hidden=(5, 6))
    again = from_json(json.loads(json.dumps(to_json(encoder))))
    assert isinstance(again, MLPEncoder) and again.arguments == encoder.arguments


def test_values_that_json_cannot_hold_are_refused() -> None:
    with pytest.raises(ValueError, match="a number, a string or a list"):
        to_json(torch.zeros(2))


def test_a_custom_network_is_named_but_not_rebuilt() -> None:
    description = to_json(nn.Linear(2, 2))
    assert description == {"custom": "torch.nn.modules.linear:Linear", "parameters": [[2, 2], [2]]}
    assert to_json(nn.Linear(2, 3)) != description  # two networks of one class are not the same run
    with pytest.raises(
        ValueError, match=r"network of your own, torch\.nn\.modules\.linear:Linear\. Pass it to load"
    ):
        from_json(description)


@pytest.mark.parametrize("name", ["Linear", "networks", "ARCHITECTURES", "__builtins__", "os.system"])
def test_only_networks_of_the_package_are_built(name: str) -> None:
    with pytest.raises(ValueError, match="has no network"):
        from_json({"network": name, "arguments": {}})


def test_specs_with_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match=r"'system:1' must be one of"):
        from_json({"spec": "system:1"})


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Schedule, "linear:0:25:100000", Linear(0.0, 25.0, 100_000)),
        (Schedule, "linear:0:25:1e5", Linear(0.0, 25.0, 100_000)),
        (Schedule, "constant:3", Constant(3.0)),
        (Optimizer, "adam", Adam()),
        (Optimizer, "adam:0.001:0.5", Adam(0.001, 0.5)),
        (Likelihood, "normal:2", Normal(2.0)),
    ],
)
def test_specs_are_parsed(kind: type[Spec], text: str, value: Spec) -> None:
    """Numbers take the type of their field: 25 becomes 25.0 in a float field."""
    parsed = kind.parse(text)
    assert parsed == value and parsed.__dict__ == value.__dict__
    assert [type(entry) for entry in parsed.__dict__.values()] == [
        type(entry) for entry in value.__dict__.values()
    ]


@pytest.mark.parametrize(
    ("kind", "text", "sentence"),
    [
        (Schedule, "adam", r"'adam' must be one of constant:VALUE, linear:START:END:STEPS"),
        (
            Schedule,
            "linear:0:25",
            r"'linear:0:25' must have the form linear:START:END:STEPS: it has 2 values, and at least 3 are required$",
        ),
        (Schedule, "linear:0:25:ten", r"must have the form linear:START:END:STEPS: 'ten' is not a number"),
        (Schedule, "linear:0:25:1.5", r"'1\.5' is not a whole number"),
        (Schedule, "linear:0:25:0", r"must last at least 1 step; got 0"),
        (Schedule, "constant:1:2", r"it has 2 values, and at most 1 are allowed"),
        (Likelihood, "normal:0", r"must be above 0; got 0"),
    ],
)
def test_errors_name_the_form_of_a_spec(kind: type[Spec], text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        kind.parse(text)


def test_nonnegative() -> None:
    require_nonnegative(a=0.0, b=3.0)
    with pytest.raises(ValueError, match=r"b must be a finite number of at least 0; got -3\.0"):
        require_nonnegative(a=0.0, b=-3.0)


def test_arguments_are_no_submodules() -> None:
    """Recorded arguments must not add weights to the state twice."""
    critic, encoder = Critic(2, width=3, layers=1), ConvEncoder((1, 32, 32), 2)
    assert all("arguments" not in name for network in (critic, encoder) for name in network.state_dict())


def test_settings_are_flattened_to_dotted_names() -> None:
    description = {
        "method": {"beta": 4.0, "lr_schedule": {"spec": "linear:0:1"}},
        "shape": [1, 32],
        "none": None,
    }
    assert flatten(description) == {
        "method.beta": "4.0",
        "method.lr_schedule": "linear:0:1",
        "shape": "1, 32",
        "none": "None",
    }


def test_a_known_name_gives_its_entry() -> None:
    assert lookup("method", "b", {"a": 1, "b": 2}) == 2


@pytest.mark.parametrize("written", ["BetaVAE", "beta_vae", "β-VAE", "Β-vae"])
def test_names_are_found_however_they_are_written(written: str) -> None:
    with pytest.raises(ValueError, match=r"did you mean beta-vae\?"):
        lookup("method", written, {"vae": 1, "beta-vae": 2})


def test_the_error_for_an_unknown_name_lists_the_nearest_and_all_names() -> None:
    with pytest.raises(ValueError, match=r"no method 'beta-vea'; did you mean beta-vae.*beta-vae, dip-vae-i"):
        lookup("method", "beta-vea", {"beta-vae": 1, "dip-vae-i": 2})


def test_the_error_for_a_name_without_a_near_one_lists_all_names() -> None:
    with pytest.raises(ValueError, match=r"There is no method 'xyz'\. The choices are beta-vae\."):
        lookup("method", "xyz", {"beta-vae": 1})
