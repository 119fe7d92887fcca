"""Streams of random numbers, src/unbraid/seeds.py."""

import torch

from unbraid.seeds import derive_seed


def test_streams_differ_by_seed_and_purpose_and_are_seeds_torch_takes() -> None:
    found = {
        derive_seed(seed, purpose) for seed in range(50) for purpose in ("weights", "data", "noise", "split")
    }
    assert len(found) == 200
    assert all(torch.Generator().manual_seed(seed) for seed in found)
