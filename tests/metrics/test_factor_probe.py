"""What a code gives away, src/unbraid/metrics/factor_probe.py."""

import numpy as np
import pytest
from torch.testing import assert_close

from unbraid.metrics import factor_probe


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_a_factor_in_the_code_leaks_and_another_does_not() -> None:
    factors = rng().integers(0, 3, (3000, 2))
    codes = np.column_stack([np.eye(3)[factors[:, 0]], rng(1).standard_normal(3000)])
    result = factor_probe(codes, factors, rng=rng(), names=("seen", "unseen"))
    assert_close(result.accuracy["seen"], 1.0)
    assert abs(result.accuracy["unseen"] - result.chance["unseen"]) < 0.05
    assert 0.49 < result.score < 0.53
    assert (result.n, result.n_test) == (2000, 1000)


def test_chance_is_the_share_of_the_commonest_value() -> None:
    factors = (rng().random((6000, 1)) < 0.9).astype(int)
    result = factor_probe(rng(1).standard_normal((6000, 2)), factors, rng=rng())
    assert_close(result.chance["factor_0"], 0.9, atol=0.02, rtol=0)
    assert_close(result.accuracy["factor_0"], result.chance["factor_0"], atol=0.01, rtol=0)


def test_no_instance_both_trains_and_tests() -> None:
    """Codes that only tell things apart: seen again they give the factor away, parted they do not."""
    things = np.repeat(np.arange(60), 20)
    factors = rng().integers(0, 2, 60)[things][:, None]
    codes = np.eye(60)[things]
    assert_close(factor_probe(codes, factors, rng=rng()).accuracy["factor_0"], 1.0)
    parted = factor_probe(codes, factors, rng=rng(), instances=things).accuracy["factor_0"]
    assert parted < 0.8


def test_at_most_so_many_samples_are_taken() -> None:
    factors = rng().integers(0, 2, (900, 1))
    result = factor_probe(rng().standard_normal((900, 2)), factors, rng=rng(), max_samples=300)
    assert result.n + result.n_test == 300


def test_mistakes_get_one_sentence() -> None:
    factors, codes = rng().integers(0, 2, (90, 2)), rng().standard_normal((90, 2))
    with pytest.raises(ValueError, match="a name for each of 2 factors; got one"):
        factor_probe(codes, factors, rng=rng(), names=("one",))
    with pytest.raises(ValueError, match="at least 3 instances for a train/test split; got 2"):
        factor_probe(codes, factors, rng=rng(), instances=np.arange(90) % 2)
