"""Groups under a larger variation, src/unbraid/data/hidden_groups.py."""

import numpy as np
import pytest
import torch

from unbraid.data.hidden_groups import hidden_groups, true_directions


def test_the_background_has_all_but_the_groups() -> None:
    data = hidden_groups(observations=2000, columns=12, groups=2, loudness=5.0)
    assert data.background is not None
    x, y = (part.observe(torch.arange(2000)).numpy() for part in (data, data.background))
    loud = [np.sort(np.linalg.eigvalsh(np.cov(rows.T)))[::-1] for rows in (x, y)]
    assert (loud[1][:5] > 20).all() and (loud[1][5:] < 2).all()  # five loud directions, and noise
    assert loud[0][5] > 12 and loud[0][6] < 2  # one more, of variance 4² + 1, between the two groups
    labels = data.combinations.numpy()  # type: ignore[union-attr]
    apart = x[labels == 0].mean(0) - x[labels == 1].mean(0)
    loud, plane = true_directions(columns=12)
    assert abs(np.linalg.norm(plane @ apart) - 8) < 0.2 and np.linalg.norm(loud @ apart) < 1.0


def test_the_seed_decides() -> None:
    first, same, other = (hidden_groups(observations=20, group_seed=seed).source for seed in (0, 0, 1))
    assert torch.equal(first, same) and not torch.equal(first, other)  # type: ignore[arg-type]


def test_mistakes_get_one_sentence() -> None:
    with pytest.raises(ValueError, match="at least 8 columns, 2 groups and one row per group"):
        hidden_groups(columns=5)
