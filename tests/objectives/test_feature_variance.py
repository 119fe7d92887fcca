"""What setting a feature changes, src/unbraid/objectives/feature_variance.py."""

import torch
from torch.testing import assert_close

from unbraid.objectives import count_active, total_variance, variance_share_per_feature, variance_shares


def test_the_variance_is_summed_over_pixels() -> None:
    x = torch.randn(50, 2, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64) + 7
    assert_close(total_variance(x), x.var(0, correction=0).sum())


def test_independent_values_of_a_pixel_make_its_share() -> None:
    """Two pixels of variance 9 and 1, each a feature: squared changes are 18 and 2 on average."""
    changes = torch.tensor([18.0, 2.0], dtype=torch.float64)
    assert_close(
        variance_shares(changes, torch.tensor(10.0, dtype=torch.float64)), changes.new_tensor([0.9, 0.1])
    )


def test_features_are_counted_by_what_they_change() -> None:
    """Pixels of equal variance, set one by one; the third changes a tenth as much, a hundredth of a third."""
    draw = torch.Generator().manual_seed(0)
    x, other = (torch.randn(3000, 3, generator=draw, dtype=torch.float64) for _ in range(2))
    chosen = torch.eye(3, dtype=torch.bool).repeat(1000, 1)
    change = torch.where(chosen, other - x, 0) * torch.tensor([1.0, 1.0, 0.1], dtype=torch.float64)
    shares = variance_share_per_feature(chosen, change, x)
    assert_close(shares, torch.tensor([1 / 3, 1 / 3, 1 / 300], dtype=torch.float64), rtol=0.1, atol=0)
    assert count_active(shares) == 2
    assert count_active(variance_share_per_feature(chosen, 2 * change, x)) == 3


def test_a_feature_that_is_never_set_makes_nothing() -> None:
    chosen = torch.tensor([[True, False]]).repeat(4, 1)
    x = torch.eye(4)
    assert variance_share_per_feature(chosen, x, x).tolist()[1] == 0
