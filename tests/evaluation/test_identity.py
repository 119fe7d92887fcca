"""The identity of a score, src/unbraid/evaluation/identity.py."""

import functools
from typing import Any

import numpy as np
import torch

from tests.tiny import SHAPE, make
from unbraid.data import Dataset
from unbraid.evaluation.identity import score_identities
from unbraid.methods.beta_vae import BetaVAE


def spread(codes: np.ndarray, *, power: float = 1.0) -> float:
    return float(np.abs(codes).mean() ** power)


def test_whatever_changes_a_score_changes_its_identity() -> None:
    method = make(BetaVAE).float()
    images = torch.randint(0, 256, (9, *SHAPE), dtype=torch.uint8)
    dataset, other = (Dataset(rows, name="noise") for rows in (images, images.flip(0)))

    def identities(data: Dataset = dataset, **options: Any) -> list[str]:
        metrics = ["mig", "codes:mig", spread, functools.partial(spread, power=2.0)]
        return score_identities(method, data, metrics, **options)

    first = identities()
    assert first == identities() and len({*first}) == 4
    assert identities(num_samples=10_000, num_test_samples=5_000) == first  # the protocol's
    changes: list[list[str]] = [
        identities(other),
        identities(test_dataset=other),
        identities(seed=1),
        identities(num_samples=9),
        identities(num_test_samples=9),
        identities(protocol="fast"),
    ]
    with torch.no_grad():
        next(method.parameters()).add_(1e-3)
    changes.append(identities())
    assert len({identity for each in (first, *changes) for identity in each}) == 4 * (1 + len(changes))
