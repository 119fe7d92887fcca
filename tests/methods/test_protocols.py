"""What methods can do, by their protocols, src/unbraid/methods/protocols.py."""

import pytest

from tests.tiny import METHODS, make
from unbraid.methods import (
    HasBackgroundCodes,
    HasFeatureStrands,
    HasLikelihood,
    HasPosterior,
    Method,
    Predicts,
)
from unbraid.methods.autoencoder import Autoencoder
from unbraid.methods.contrast_autoencoder import ContrastAutoencoder
from unbraid.methods.predictor import Predictor


@pytest.mark.parametrize("cls", METHODS, ids=lambda cls: cls.name())
def test_methods_satisfy_the_protocols_of_what_they_define(cls: type[Method]) -> None:
    method = make(cls)
    assert isinstance(method, Predicts) == isinstance(method, Predictor)
    assert isinstance(method, HasBackgroundCodes) or not isinstance(method, ContrastAutoencoder)
    assert isinstance(method, HasPosterior) or not isinstance(method, Autoencoder)
    assert isinstance(method, HasLikelihood) == (
        hasattr(method, "likelihood") and hasattr(method, "decode_parameters")
    )
    assert isinstance(method, HasFeatureStrands) == (cls.name() in ("factor-vae", "intervention"))


def test_a_method_without_a_decoder_has_no_likelihood() -> None:
    cnn = next(cls for cls in METHODS if cls.name() == "cnn")
    assert not isinstance(make(cnn), HasLikelihood | HasPosterior | HasFeatureStrands | HasBackgroundCodes)
