"""Noise that belongs to a row, src/unbraid/data/row_noise.py."""

import torch
from scipy import stats
from torch.testing import assert_close

from unbraid.data.row_noise import row_noise


def test_noise_is_standard_normal_and_independent() -> None:
    noise = row_noise(torch.arange(2000), 50, seed=1)
    assert stats.kstest(noise.flatten().double().numpy(), "norm").pvalue > 0.01
    for other in (noise.roll(1, 0), noise.roll(1, 1), row_noise(torch.arange(2000), 50, seed=2)):
        assert abs(float(torch.corrcoef(torch.stack([noise.flatten(), other.flatten()]))[0, 1])) < 0.01
    assert len(noise.unique()) > 0.98 * noise.numel()


def test_a_row_keeps_its_noise_wherever_it_is_drawn() -> None:
    torch.manual_seed(0)
    noise = row_noise(torch.tensor([7, 2, 7, 10_000_000_000]), 6, seed=3)
    torch.manual_seed(1)
    assert_close(row_noise(torch.tensor([7]), 6, seed=3)[0], noise[2], rtol=0, atol=0)
    assert_close(noise[0], noise[2], rtol=0, atol=0)
    assert noise.isfinite().all() and not torch.equal(noise[1], noise[3])


def test_rows_far_apart_do_not_repeat() -> None:
    """Row numbers beyond 32 bits: the upper word counts, too."""
    near, far = row_noise(torch.tensor([1, 1 + 2**32]), 4, seed=0)
    assert (near - far).abs().min() > 1e-6
