"""iVAE's prior for each label, src/unbraid/methods/ivae.py."""

import pytest
import torch
from torch.testing import assert_close

from tests.tiny import CLASSES, CODES, N, batch_for, images, loss, make, roles
from unbraid.methods.base import build_method
from unbraid.methods.ivae import IVAE
from unbraid.objectives import kl_to_standard_normal
from unbraid.types import Batch, Gaussian


def test_with_one_prior_for_all_labels_it_is_the_vae() -> None:
    """All priors start as N(0, I)."""
    method, batch = make(IVAE), batch_for(IVAE)
    q = method.posterior(batch.x, batch.labels)
    assert_close(loss(method, batch).by_name["kl"], kl_to_standard_normal(q))


def test_the_divergence_is_to_the_prior_of_the_label() -> None:
    """When each prior is the posterior of its only observation, there is none."""
    method = make(IVAE)
    x, labels = images(CLASSES), torch.arange(CLASSES)
    q = method.posterior(x, labels)
    with torch.no_grad():
        method.mean.copy_(q.mean)
        method.logvar.copy_(q.logvar)
    assert_close(loss(method, Batch(x, labels)).by_name["kl"].item(), 0.0, rtol=0, atol=1e-12)
    swapped = loss(method, Batch(x, labels.roll(1))).by_name["kl"]
    assert swapped > 0.01


def test_the_label_changes_the_code_and_none_is_the_zero_vector() -> None:
    method, (labels, _) = make(IVAE), roles()
    with_label, without = method.encode(images(), labels), method.encode(images())
    assert not torch.equal(with_label, without)
    assert_close(without, method.encode(images(), torch.full_like(labels, CLASSES)))  # one that is unknown
    assert isinstance(method.posterior(images(), labels), Gaussian)
    assert_close(method.condition_from(*roles()), labels)


def test_new_codes_come_from_the_priors() -> None:
    method = make(IVAE)
    with torch.no_grad():
        method.mean.copy_(torch.arange(CLASSES)[:, None].double() * 100)
        method.logvar.fill_(-20)
    codes = method.sample_prior(200)
    assert codes.shape == (200, CODES)
    assert set((codes / 100).round().unique().tolist()) == {0.0, 1.0, 2.0}


def test_missing_labels_are_an_error() -> None:
    with pytest.raises(
        ValueError, match=r"2 classes as its auxiliary variable; got 0\. Use a dataset with labels"
    ):
        build_method(IVAE, (6,), n=N, architecture="mlp")
    with pytest.raises(ValueError, match="requires labels, and the batch has none"):
        make(IVAE).loss(Batch(images()))
