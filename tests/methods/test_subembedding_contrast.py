"""The base of contrastive methods on subembeddings, src/unbraid/methods/subembedding_contrast.py."""

from typing import Any

import pytest
import torch
from torch.testing import assert_close

from tests.tiny import batch_for, loss, make
from unbraid.methods import IndependentSubembeddings, SubInfoMax
from unbraid.methods.subembedding_contrast import SubembeddingContrast
from unbraid.types import Terms, ViewBatch

SETTINGS: dict[type[SubembeddingContrast], dict[str, Any]] = {
    SubInfoMax: {"lambda_orthogonality": 0.0, "lambda_hessian": 0.0},
    IndependentSubembeddings: {"lambda_correlation": 0.0, "lambda_dependence": 0.0},
}
both_methods = pytest.mark.parametrize("cls", SETTINGS, ids=lambda cls: cls.name())


def method_with(cls: type[SubembeddingContrast], **settings: Any) -> SubembeddingContrast:
    return make(cls, **(SETTINGS[cls] | {"embedding_dim": 8} | settings))


def terms(method: SubembeddingContrast, batch: ViewBatch | None = None) -> Terms:
    return loss(method, batch_for(SubInfoMax) if batch is None else batch)


@both_methods
def test_positives_by_view_pair_and_by_label(cls: type[SubembeddingContrast]) -> None:
    apart = batch_for(SubInfoMax)._replace(labels=torch.arange(8))
    pairs = method_with(cls, positives="view-pair")
    assert_close(terms(pairs, apart).total, terms(method_with(cls), apart).total)
    alike = batch_for(SubInfoMax)._replace(labels=torch.zeros(8, dtype=torch.long))
    assert_close(terms(pairs, alike).total, terms(pairs, apart).total)  # labels are not read


@both_methods
def test_view_pair_masked_ignores_negatives_with_the_same_label(cls: type[SubembeddingContrast]) -> None:
    """All of one label: no negative is left, and finding the only other view costs nothing."""
    alike = batch_for(SubInfoMax)._replace(labels=torch.zeros(8, dtype=torch.long))
    masked = method_with(cls, positives="view-pair-masked")
    assert_close(terms(masked, alike).total.item(), 0.0)
    apart = batch_for(SubInfoMax)._replace(labels=torch.arange(8))
    assert_close(terms(masked, apart).total, terms(method_with(cls, positives="view-pair"), apart).total)
    mixed = batch_for(SubInfoMax)
    assert 0 < terms(masked, mixed).total < terms(method_with(cls, positives="view-pair"), mixed).total


@both_methods
def test_bad_settings_are_refused(cls: type[SubembeddingContrast]) -> None:
    with pytest.raises(ValueError, match=r"regularize-features must list regularizers among .*got 'entropy'"):
        method_with(cls, regularize_features=("entropy",))
    with pytest.raises(ValueError, match="requires at least 2 subembeddings; got 1"):
        method_with(cls, num_subembeddings=1, **dict.fromkeys(SETTINGS[cls], 0.1))
    assert set(terms(method_with(cls, num_subembeddings=1)).by_name) == {"infomax"}


@both_methods
def test_regularizers_combine(cls: type[SubembeddingContrast]) -> None:
    """Eq. 3: each regularizer is added with its weight, and logged without it."""
    weights = dict(zip(SETTINGS[cls], (0.1, 0.01), strict=True))
    found = terms(method_with(cls, **weights))
    total = found.by_name["infomax"]
    for name, weight in weights.items():
        total = total + weight * found.by_name[name.removeprefix("lambda_")]
    assert_close(found.total, total)
