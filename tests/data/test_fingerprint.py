"""Fingerprints of datasets, src/unbraid/data/dataset.py."""

import pytest
import torch

from unbraid.data import dataset as module
from unbraid.data.dataset import fingerprint

IMAGES = torch.arange(48, dtype=torch.uint8).view(3, 1, 4, 4)


def test_observations_their_scale_and_every_table_count() -> None:
    other = IMAGES.clone()
    other[2, 0, 3, 3] += 1
    table = torch.tensor([0, 1, 2])
    found = {
        fingerprint(IMAGES, 255, ()),
        fingerprint(other, 255, ()),
        fingerprint(IMAGES, 1, ()),
        fingerprint(IMAGES, 255, (table,)),
        fingerprint(IMAGES, 255, (table + 1,)),
        fingerprint("a renderer", 255, ()),
        fingerprint("another renderer", 255, ()),
    }
    assert len(found) == 7 and all(len(text) == 16 for text in found)
    assert fingerprint(IMAGES, 255, (None, None)) == fingerprint(IMAGES.clone(), 255, ())


def test_large_sources_are_hashed_by_a_sample_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FULL_FINGERPRINT_BYTES", 10)
    monkeypatch.setattr(module, "SAMPLED_ROWS", 2)  # the first and the last row
    middle, last = IMAGES.clone(), IMAGES.clone()
    middle[1] += 1
    last[2] += 1
    assert fingerprint(middle, 255, ()) == fingerprint(IMAGES, 255, ()) != fingerprint(last, 255, ())
