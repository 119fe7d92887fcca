"""What methods can do, by their protocols, src/unbraid/methods/protocols.py."""

import inspect
from collections.abc import Iterable
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.tiny import CLASSES, METHODS, NUISANCES, SHAPE, N, make
from unbraid.data import ChecksCUDAGraph, Dataset, Draw, IIDDraw
from unbraid.methods import (
    CNN,
    VAE,
    ChecksTraining,
    ClosedForm,
    ContrastivePCA,
    HasBackgroundCodes,
    HasFeatureStrands,
    HasLikelihood,
    HasPosterior,
    HasPostTraining,
    Intervention,
    Method,
    NeedsSameClass,
    Predicts,
    ReconContrast,
    has_decoder,
    needs_same_class,
)
from unbraid.methods.autoencoder import Autoencoder
from unbraid.methods.contrast_autoencoder import ContrastAutoencoder
from unbraid.methods.flow import FlowMethod
from unbraid.methods.predictor import Predictor
from unbraid.strands import Strands
from unbraid.types import Batch, Codes, Observations, Terms

every_method = pytest.mark.parametrize("cls", METHODS, ids=lambda cls: cls.name())
WITH_FEATURES = ("factor-vae", "intervention", "sequential-intervention")


class Bare(Method[Batch]):
    """A method of a user, with nothing but what a method must have."""

    @property
    def strands(self) -> Strands:
        return Strands.from_sizes(codes=2)

    def loss(self, batch: Batch) -> Terms:
        return Terms(self.encode(batch.x).sum(), {})

    def encode(self, x: Observations, condition: Tensor | None = None) -> Codes:
        return x.flatten(1)[:, :2]


class Able(Bare):
    """A method of a user with further abilities, which derives from no protocol."""

    same_class = True
    on_train_end_uses_draw = False
    on_train_end_samples = 10

    def check_training(self, dataset: Dataset, draw: Draw, batch_size: int) -> None:
        raise ValueError(f"{len(dataset)} of {batch_size}")

    def fit(self, target: Observations, background: object) -> None: ...

    def on_train_end(self, batches: Iterable[Any]) -> None: ...

    def cuda_graph_unsupported(self, dataset: Dataset) -> str | None:
        return "it asks the host"

    def decode(self, codes: Codes, condition: Tensor | None = None) -> Observations:
        return codes


ABILITIES = (ChecksTraining, NeedsSameClass, ClosedForm, HasPostTraining, ChecksCUDAGraph)


def test_a_method_has_the_abilities_whose_members_it_defines() -> None:
    assert all(isinstance(Able(), ability) for ability in ABILITIES)
    assert not any(isinstance(Bare(), ability) for ability in ABILITIES)
    assert has_decoder(Able()) and has_decoder(Able) and not has_decoder(Bare())
    assert needs_same_class(Able) and not needs_same_class(Bare()) and needs_same_class(ReconContrast)


def test_a_method_without_choices_of_its_own() -> None:
    assert (Bare.family, Bare.code_size_options, Bare.conditions_on) == (
        "Other methods",
        ("latent_dim",),
        None,
    )
    assert Bare.condition_from(torch.zeros(1), torch.ones(1, 2)) is None


@every_method
def test_every_method_of_unbraid_names_its_family(cls: type[Method]) -> None:
    assert cls.family != Bare.family and cls.family[0].isupper()


@every_method
def test_options_of_the_code_size_are_options(cls: type[Method]) -> None:
    """Changing one changes the code."""
    options = inspect.signature(cls).parameters.keys() | {"latent_dim", "architecture"}
    assert set(cls.code_size_options) <= options
    for name in {*cls.code_size_options} & inspect.signature(cls).parameters.keys():
        assert inspect.signature(cls).parameters[name].annotation is int


@every_method
def test_conditions_are_labels_or_nuisances(cls: type[Method]) -> None:
    labels, nuisances = torch.zeros(N, dtype=torch.long), torch.zeros(N, 2, dtype=torch.long)
    condition = cls.condition_from(labels, nuisances)
    assert cls.conditions_on in (None, "labels", "nuisances")
    assert condition is {None: None, "labels": labels, "nuisances": nuisances}[cls.conditions_on]
    if cls.conditions_on == "nuisances":
        assert make(cls).arguments["nuisances"] == NUISANCES
    if cls.conditions_on == "labels":
        assert make(cls).arguments["classes"] == CLASSES


@every_method
def test_methods_satisfy_the_protocols_of_what_they_define(cls: type[Method]) -> None:
    method = make(cls)
    assert isinstance(method, Predicts) == isinstance(method, Predictor)
    assert isinstance(method, HasBackgroundCodes) or not isinstance(method, ContrastAutoencoder)
    assert isinstance(method, HasPosterior) or not isinstance(method, Autoencoder)
    assert isinstance(method, HasPostTraining) or not isinstance(method, FlowMethod)
    assert isinstance(method, ClosedForm) == (cls is ContrastivePCA)
    assert isinstance(method, HasLikelihood) == (
        hasattr(method, "likelihood") and hasattr(method, "decode_parameters")
    )
    assert isinstance(method, HasFeatureStrands) == (cls.name() in WITH_FEATURES)


def test_a_method_without_a_decoder_has_no_likelihood() -> None:
    assert not isinstance(make(CNN), HasLikelihood | HasPosterior | HasFeatureStrands | HasBackgroundCodes)
    assert not has_decoder(CNN) and has_decoder(VAE)


def test_a_method_that_needs_two_batches_says_so() -> None:
    method = make(Intervention)
    assert isinstance(method, ChecksTraining)
    few, enough = (Dataset(torch.zeros(size, *SHAPE), name="few", max_value=1) for size in (15, 16))
    method.check_training(enough, IIDDraw(), 8)
    with pytest.raises(ValueError, match="needs 16 observations for 2 batches of 8"):
        method.check_training(few, IIDDraw(), 8)
