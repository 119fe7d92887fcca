"""Descriptions and what is made of them, src/unbraid/settings.py."""

import copy
import json
from typing import Any

import pytest
import torch
from torch import nn

from unbraid.nn import ConvEncoder, Critic, MLPEncoder
from unbraid.objectives import Bernoulli, Likelihood, Normal
from unbraid.optimisers import SGD, Adam, Optimiser
from unbraid.schedules import Constant, Linear, Schedule
from unbraid.settings import Described, Plain, describe, flatten, rebuild, require_nonnegative


class Sample(Described):
    def __init__(self, a: int, b: float = 2.0, *, c: str = "three") -> None:
        self.sum = a + b


def test_arguments_are_remembered_with_their_defaults() -> None:
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
        Adam(rate=3e-4, decay=0.01),
        SGD(),
        Bernoulli(),
        Normal(0.1),
    ],
)
def test_values_come_back(value: Any) -> None:
    assert rebuild(json.loads(json.dumps(describe(value)))) == value


def test_networks_come_back_with_their_arguments() -> None:
    encoder = MLPEncoder((1, 3, 3), 2, hidden=(5, 6))
    again = rebuild(json.loads(json.dumps(describe(encoder))))
    assert isinstance(again, MLPEncoder) and again.arguments == encoder.arguments


def test_what_cannot_be_described_is_refused() -> None:
    with pytest.raises(ValueError, match="a number, a text or a list"):
        describe(torch.zeros(2))


def test_a_network_of_one_s_own_is_named_and_not_rebuilt() -> None:
    described = describe(nn.Linear(2, 2))
    assert described == {"own": "torch.nn.modules.linear.Linear", "parameters": [[2, 2], [2]]}
    assert describe(nn.Linear(2, 3)) != described  # two networks of one class are not the same run
    with pytest.raises(
        ValueError, match=r"network of its own, torch\.nn\.modules\.linear\.Linear: pass it to load"
    ):
        rebuild(described)


@pytest.mark.parametrize("name", ["Linear", "networks", "ARCHITECTURES", "__builtins__", "os.system"])
def test_only_networks_of_the_package_are_made(name: str) -> None:
    with pytest.raises(ValueError, match="has no network"):
        rebuild({"network": name, "arguments": {}})


def test_plain_values_of_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match=r"'system:1' is none of"):
        rebuild({"plain": "system:1"})


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Schedule, "linear:0:25:100000", Linear(0.0, 25.0, 100_000)),
        (Schedule, "linear:0:25:1e5", Linear(0.0, 25.0, 100_000)),
        (Schedule, "constant:3", Constant(3.0)),
        (Optimiser, "adam", Adam()),
        (Optimiser, "adam:0.001:0.5", Adam(0.001, 0.5)),
        (Likelihood, "normal:2", Normal(2.0)),
    ],
)
def test_written_values(kind: type[Plain], text: str, value: Plain) -> None:
    """Numbers get the type of their field, so that 25 for a float is 25.0."""
    parsed = kind.parse(text)
    assert parsed == value and parsed.__dict__ == value.__dict__
    assert [type(entry) for entry in parsed.__dict__.values()] == [
        type(entry) for entry in value.__dict__.values()
    ]


@pytest.mark.parametrize(
    ("kind", "text", "sentence"),
    [
        (Schedule, "adam", r"'adam' is none of constant:VALUE, linear:START:END:STEPS"),
        (
            Schedule,
            "linear:0:25",
            r"'linear:0:25' should read linear:START:END:STEPS: it has 2 values, and at least 3 are needed$",
        ),
        (Schedule, "linear:0:25:ten", r"should read linear:START:END:STEPS: could not convert"),
        (Schedule, "linear:0:25:1.5", r"1\.5 is not a whole number"),
        (Schedule, "linear:0:25:0", r"needs at least 1 step; got 0"),
        (Schedule, "constant:1:2", r"it has 2 values, and at most 1 are allowed"),
        (Likelihood, "normal:0", r"sigma above 0; got 0"),
    ],
)
def test_misspelt_values_get_one_sentence(kind: type[Plain], text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        kind.parse(text)


def test_nonnegative() -> None:
    require_nonnegative(a=0.0, b=3.0)
    with pytest.raises(ValueError, match=r"b must be a finite number of at least 0; got -3\.0"):
        require_nonnegative(a=0.0, b=-3.0)


def test_arguments_are_no_submodules() -> None:
    """A description must not put weights into the state twice."""
    critic, encoder = Critic(2, width=3, layers=1), ConvEncoder((1, 32, 32), 2)
    assert all("arguments" not in name for network in (critic, encoder) for name in network.state_dict())


def test_settings_are_flattened_to_texts_by_dotted_names() -> None:
    described = {"method": {"beta": 4.0, "rate": {"plain": "linear:0:1"}}, "shape": [1, 32], "none": None}
    assert flatten(described) == {
        "method.beta": "4.0",
        "method.rate": "linear:0:1",
        "shape": "1, 32",
        "none": "None",
    }
