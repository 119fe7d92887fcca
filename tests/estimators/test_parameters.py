"""Parameters of estimators, src/unbraid/estimators/parameters.py."""

import inspect

import numpy as np
import pytest

from unbraid.estimators import AnnealedVAE, BetaVAE, ContrastivePCA, PrincipledContrast
from unbraid.estimators.parameters import method_options, parameters_of, parse_optimizer, parse_value
from unbraid.methods import AnnealedVAE as Annealed
from unbraid.optimizers import Adam
from unbraid.schedules import Linear


def test_options_of_the_method_come_first() -> None:
    names = list(BetaVAE().get_params())
    assert {"beta", "likelihood", "latent_dim", "architecture", "steps", "batch_size", "random_state"} <= {
        *names
    }
    assert parameters_of(BetaVAE.method)[0].name == "beta"
    assert next(iter(inspect.signature(BetaVAE).parameters)) == "beta"
    assert BetaVAE().beta == 4.0 and repr(BetaVAE(beta=2)) == "BetaVAE(beta=2)"


def test_only_applicable_parameters_exist() -> None:
    assert "latent_dim" not in PrincipledContrast().get_params()
    assert not {"latent_dim", "steps", "batch_size", "architecture"} & ContrastivePCA().get_params().keys()


def test_defaults_are_plain() -> None:
    assert AnnealedVAE().capacity == "linear:0.0:25.0:100000" and AnnealedVAE().likelihood == "auto"


def test_the_documentation_names_all() -> None:
    text = BetaVAE.__doc__ or ""
    assert (
        text.startswith("VAE in which the KL divergence is weighted.")
        and "    beta: " in text
        and "    steps: " in text
    )


def test_values_take_the_type_of_their_option() -> None:
    options = method_options(Annealed)
    assert isinstance(parse_value(options["gamma"], np.int64(3)), float)
    assert parse_value(options["capacity"], "linear:0:5:10") == Linear(0.0, 5.0, 10)
    assert parse_value(options["capacity"], None) is None
    option = method_options(PrincipledContrast.method)["common_dim"]
    assert type(parse_value(option, np.int64(3))) is int
    with pytest.raises(ValueError, match="--capacity"):
        parse_value(options["capacity"], "nonsense")


def test_optimizers() -> None:
    assert parse_optimizer("adam:0.01") == Adam(0.01) and parse_optimizer(None) is None
    assert parse_optimizer(Adam(0.1)) == Adam(0.1)
