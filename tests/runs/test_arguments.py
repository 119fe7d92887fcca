"""Recorded arguments and the constructors that get them, src/unbraid/runs/arguments.py."""

import re
from typing import Any

import pytest

from unbraid.methods import CAI, BetaVAE
from unbraid.nn import ConvEncoder, MLPEncoder, RowFlow
from unbraid.objectives import Bernoulli
from unbraid.optimizers import Adam
from unbraid.runs.arguments import require_arguments

SIZES: dict[str, Any] = {"shape": (1, 8, 8), "latent_dim": 2}
ENCODER = MLPEncoder(**SIZES)
PARTS: dict[str, Any] = {"encoder": ENCODER, "decoder": ENCODER}


class Own:
    """A class of the tests, whose annotations bind nobody."""

    def __init__(self, size: int) -> None:
        self.size = size


@pytest.mark.parametrize(
    ("cls", "arguments"),
    [
        (MLPEncoder, SIZES | {"hidden": (4, 4)}),
        (BetaVAE, PARTS | {"beta": 4, "likelihood": Bernoulli()}),  # a whole number is a real one
        (RowFlow, {"shape": (6,), "clamp": 1.5, "identity": False}),
        (Own, {"size": "large", "more": None}),
    ],
)
def test_arguments_that_fit_pass(cls: type, arguments: dict[str, Any]) -> None:
    require_arguments(cls, arguments)


@pytest.mark.parametrize(
    ("cls", "arguments", "sentence"),
    [
        (MLPEncoder, {"shape": (1, 8, 8)}, "MLPEncoder needs the argument 'latent_dim'."),
        (MLPEncoder, SIZES | {"depth": 3}, "MLPEncoder has no argument 'depth'."),
        (
            MLPEncoder,
            SIZES | {"latent_dim": 2.0},
            "latent_dim of MLPEncoder must be of type int, and is 2.0.",
        ),
        (MLPEncoder, SIZES | {"latent_dim": 10**30}, "must be of type int, and is 1000000"),
        (MLPEncoder, SIZES | {"hidden": ("4",)}, "must be of type tuple[int, ...], and is ('4',)."),
        (MLPEncoder, SIZES | {"activation": ["relu"]}, "activation of MLPEncoder must be of type"),
        (
            ConvEncoder,
            {"shape": (1, 64), "latent_dim": 2},
            "must be of type tuple[int, int, int], and is (1, 64).",
        ),
        (BetaVAE, PARTS | {"beta": True}, "beta of BetaVAE must be of type float, and is True."),
        (BetaVAE, PARTS | {"beta": float("nan")}, "beta of BetaVAE must be of type float, and is nan."),
        (BetaVAE, PARTS | {"likelihood": Adam()}, "likelihood of BetaVAE must be of type Likelihood"),
        (BetaVAE, PARTS | {"encoder": {}}, "encoder of BetaVAE must be of type Module, and is {}."),
        (CAI, {}, "CAI needs the argument 'encoder'."),
    ],
)
def test_arguments_that_do_not_fit_are_named(cls: type, arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        require_arguments(cls, arguments)
