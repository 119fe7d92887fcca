"""Parameters of estimators, src/unbraid/estimators/parameters.py."""

import inspect

import numpy as np
import pytest

from unbraid.estimators import AnnealedVAE, BetaVAE, ContrastivePCA, PrincipledContrast
from unbraid.estimators.parameters import optimiser_of, parameters_of, settings_of, value_of
from unbraid.methods import AnnealedVAE as Annealed
from unbraid.optimisers import Adam
from unbraid.schedules import Linear


def test_the_methods_own_come_first() -> None:
    names = list(BetaVAE().get_params())
    assert {"beta", "likelihood", "codes", "architecture", "steps", "batch", "random_state"} <= {*names}
    assert parameters_of(BetaVAE.method)[0].name == "beta"
    assert next(iter(inspect.signature(BetaVAE).parameters)) == "beta"
    assert BetaVAE().beta == 4.0 and repr(BetaVAE(beta=2)) == "BetaVAE(beta=2)"


def test_what_a_method_lacks_is_no_parameter() -> None:
    assert "codes" not in PrincipledContrast().get_params()
    assert not {"codes", "steps", "batch", "architecture"} & ContrastivePCA().get_params().keys()


def test_defaults_are_plain() -> None:
    assert AnnealedVAE().capacity == "linear:0.0:25.0:100000" and AnnealedVAE().likelihood == "auto"


def test_the_documentation_names_all() -> None:
    text = BetaVAE.__doc__ or ""
    assert text.startswith("The VAE in which the KL") and "    beta: " in text and "    steps: " in text


def test_values_of_their_kind() -> None:
    options = settings_of(Annealed)
    assert isinstance(value_of(options["gamma"], np.int64(3)), float)
    assert value_of(options["capacity"], "linear:0:5:10") == Linear(0.0, 5.0, 10)
    assert value_of(options["capacity"], None) is None
    codes = settings_of(PrincipledContrast.method)["common"]
    assert type(value_of(codes, np.int64(3))) is int
    with pytest.raises(ValueError, match="--capacity"):
        value_of(options["capacity"], "nonsense")


def test_optimisers() -> None:
    assert optimiser_of("adam:0.01") == Adam(0.01) and optimiser_of(None) is None
    assert optimiser_of(Adam(0.1)) == Adam(0.1)
