"""Each half with labels of its own, src/unbraid/methods/supervised_subembeddings.py."""

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from tests.tiny import SHAPE, batch_for, images, loss, make
from unbraid.methods import SupervisedSubembeddings
from unbraid.nn import MLPFeatures
from unbraid.objectives import supcon_loss


def test_each_half_is_trained_with_its_factor() -> None:
    method, batch = make(SupervisedSubembeddings), batch_for(SupervisedSubembeddings)
    r = method.encode(torch.cat([batch.x1, batch.x2]))
    labels = torch.cat([batch.factors, batch.factors2])
    expected = [
        supcon_loss(F.normalize(half, dim=1), labels[:, k], temperature=0.1)
        for k, half in enumerate(r.chunk(2, 1))
    ]
    terms = loss(method, batch)
    assert_close(terms.by_name, {"infomax0": expected[0], "infomax1": expected[1]})
    assert_close(terms.total, expected[0] + expected[1])


def test_standardized_features_are_contrasted_and_not_shown() -> None:
    """A direction that all features share changes nothing then, and everything otherwise."""
    batch = batch_for(SupervisedSubembeddings)
    shift = torch.linspace(1, 5, 16)
    for standardized in (True, False):
        method = make(SupervisedSubembeddings, standardize_features=standardized).train()
        before, encode = loss(method, batch).total, method.encode
        method.encode = lambda x, given=None, encode=encode: encode(x, given) + shift  # type: ignore[method-assign]
        assert torch.allclose(loss(method, batch).total, before) == standardized
        x = images()
        assert_close(encode(x), method.encoder(x))


def test_each_view_has_its_own_factor_value() -> None:
    """A third strand uses the third factor, in which the views of a pair differ."""
    encoder = MLPFeatures(SHAPE, hidden=(12,))
    method = make(SupervisedSubembeddings, encoder=encoder, num_subembeddings=3)
    batch = batch_for(SupervisedSubembeddings)
    swapped = batch._replace(factors2=batch.factors)
    parts, others = loss(method, batch).by_name, loss(method, swapped).by_name
    assert_close(parts["infomax0"], others["infomax0"])
    assert parts["infomax2"] != others["infomax2"]


def test_the_code_is_r_as_the_encoder_puts_it_out() -> None:
    method, x = make(SupervisedSubembeddings), images()
    assert_close(method.encode(x), method.encoder(x))
    assert dict(method.strands) == {"r": (*range(16),), "r0": (*range(8),), "r1": (*range(8, 16),)}


def test_factors_are_required() -> None:
    batch = batch_for(SupervisedSubembeddings)
    with pytest.raises(ValueError, match="requires the values of 2 factors, and the batch has 0"):
        make(SupervisedSubembeddings).loss(batch._replace(factors=None))
    with pytest.raises(ValueError, match=r"and the batch has 1\. Use a dataset with factors"):
        make(SupervisedSubembeddings).loss(batch._replace(factors=batch.factors[:, :1]))
