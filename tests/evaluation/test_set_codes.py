"""Codes of sets of augmentations, src/unbraid/evaluation/set_codes.py."""

import pytest
import torch
from torch.testing import assert_close

from tests.tiny import CODES, SHAPE, make
from unbraid.data import Dataset, FactorSpace
from unbraid.evaluation import set_codes
from unbraid.evaluation.arrays import NotAvailable
from unbraid.evaluation.sample import Sample
from unbraid.methods import BetaVAE

SPACE = FactorSpace({"a": 3, "b": 4})


def sample() -> Sample:
    images = torch.randint(
        0, 256, (12, *SHAPE), dtype=torch.uint8, generator=torch.Generator().manual_seed(0)
    )
    torch.manual_seed(0)
    return Sample(make(BetaVAE).float(), Dataset(images, name="noise", factor_space=SPACE), size=12, seed=0)


def test_sets_are_the_same_in_every_batch_of_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = sample().all_set_codes
    assert whole.ndim == 3 and len(whole) == 12 and whole.shape[2] == CODES
    assert whole.std(axis=1).min() > 0  # the members of a set differ
    monkeypatch.setattr("unbraid.evaluation.sample.batch_size", lambda shape, device: 5)
    assert_close(sample().all_set_codes, whole, rtol=1e-5, atol=1e-6)
    assert_close(sample().set_codes, whole, rtol=1e-5, atol=1e-6)


def test_large_samples_are_drawn_in_batches_of_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(set_codes, "SETS_PER_BATCH", 4)
    monkeypatch.setattr(set_codes, "MAX_SETS", 8)
    assert len(sample().all_set_codes) == 8


def test_rows_have_no_augmentations() -> None:
    rows = Dataset(torch.zeros(5, 3), name="rows")
    with pytest.raises(NotAvailable, match="sets of augmentations"):
        _ = Sample(make(BetaVAE).float(), rows, size=5, seed=0).set_codes
