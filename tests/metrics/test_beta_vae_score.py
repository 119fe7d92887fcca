"""The β-VAE score, src/unbraid/metrics/beta_vae_score.py."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from torch.testing import assert_close

from unbraid.metrics import BetaVAEScore, beta_vae_score

SIZES = (3, 4, 5)
GRID = np.indices(SIZES).reshape(3, -1).T.astype(float)


def score(codes: np.ndarray, protocol: str = "grid", **options: object) -> BetaVAEScore:
    options = {"differences": 400, "test_differences": 200} | options
    rng = np.random.default_rng(0)
    return beta_vae_score(codes, SIZES, rng=rng, protocol=protocol, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("protocol", ["disentanglement_lib", "infogan_cr", "grid"])
@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]])
def test_identity_permuted_and_signed(protocol: str, order: list[int]) -> None:
    result = score(GRID[:, order] * np.array([-1.0, 2.0, 1.5]), protocol)
    assert result.score == 1.0
    for code, factor in enumerate(order):
        assert result.mean_difference[factor, code] == 0


def test_dead_duplicated_and_constant_codes() -> None:
    assert score(np.column_stack([GRID, np.ones(60)])).score == 1.0
    assert score(np.column_stack([GRID, GRID])).score == 1.0
    assert_close(score(np.ones((60, 2)), test_differences=3000).score, 1 / 3, rtol=0, atol=0.06)


def test_a_rotation_is_seen_through() -> None:
    """The score's known weakness: a turned pair of codes still differs by factor, and a line tells."""
    square = np.indices((8, 8)).reshape(2, -1).T.astype(float)
    turn = np.array([[0.9, 0.3], [-0.3, 0.9]])
    options = {"protocol": "grid", "differences": 500, "test_differences": 500}
    turned = beta_vae_score(square @ turn, (8, 8), rng=np.random.default_rng(0), **options)  # type: ignore[arg-type]
    assert turned.score > 0.99


def test_random_codes_know_nothing_of_large_spaces() -> None:
    codes = np.random.default_rng(1).standard_normal((900, 5))
    rng = np.random.default_rng(0)
    result = beta_vae_score(
        codes, (30, 30), rng=rng, protocol="grid", differences=1000, test_differences=1000
    )
    assert result.score < 0.7


def slow_score(codes: np.ndarray, count: int, pairs: int, rng: np.random.Generator) -> float:
    """Difference by difference, from the grid of codes."""
    shaped = codes.reshape(*SIZES, -1)
    features, shared = [], []
    for _ in range(2 * count):
        factor = int(rng.integers(3))
        one, other = ([rng.integers(0, s, pairs) for s in SIZES] for _ in range(2))
        other[factor] = one[factor]
        features.append(np.abs(shaped[tuple(one)] - shaped[tuple(other)]).mean(axis=0))
        shared.append(factor)
    model = LogisticRegression(max_iter=1000).fit(features[:count], shared[:count])
    return float(model.score(features[count:], shared[count:]))


@pytest.mark.parametrize("protocol", ["disentanglement_lib", "grid"])
def test_equals_a_slow_rewriting(protocol: str) -> None:
    rng = np.random.default_rng(4)
    codes = GRID @ rng.standard_normal((3, 3)) + 0.5 * rng.standard_normal((60, 3))
    slow = slow_score(codes, 2000, 4, np.random.default_rng(1))
    fast = score(codes, protocol, differences=4000, test_differences=8000, pairs=4)
    assert 0.5 < slow < 0.95
    assert_close(fast.score, slow, rtol=0, atol=0.04)  # 3.5 standard errors of the slow one


def test_function_and_table_agree_and_images_are_encoded_once() -> None:
    for protocol in ("disentanglement_lib", "infogan_cr", "grid"):
        rngs = [np.random.default_rng(2) for _ in range(2)]
        options = {"protocol": protocol, "differences": 50, "test_differences": 20}
        called = beta_vae_score(lambda f: f.astype(float), SIZES, rng=rngs[0], **options)  # type: ignore[arg-type]
        looked_up = beta_vae_score(GRID, SIZES, rng=rngs[1], **options)  # type: ignore[arg-type]
        assert called.encoded == 60
        assert looked_up.encoded == 0
        assert_close(called.mean_difference, looked_up.mean_difference)


def test_the_protocol_sets_the_sizes() -> None:
    result = beta_vae_score(GRID, SIZES, rng=np.random.default_rng(0), protocol="infogan_cr")
    assert (result.n_differences, result.n_test_differences, result.pairs) == (500, 0, 50)
    assert result.score == result.train_score


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"protocol": "x"}, "protocol must be one of"),
        ({"differences": 0}, "differences >= 1"),
        ({"differences": 1}, "all share the same factor"),
    ],
)
def test_mistakes_get_one_sentence(options: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        beta_vae_score(GRID, SIZES, rng=np.random.default_rng(0), **options)
