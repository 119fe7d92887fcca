"""The FactorVAE score, src/unbraid/metrics/factor_vae_score.py."""

import numpy as np
import pytest
from torch.testing import assert_close

from unbraid.metrics import FactorVAEScore, factor_vae_score

SIZES = (3, 4, 5)
GRID = np.indices(SIZES).reshape(3, -1).T.astype(float)


def score(codes: np.ndarray, protocol: str = "grid", **options: object) -> FactorVAEScore:
    options = {"votes": 400, "test_votes": 200, "size": 32} | options
    rng = np.random.default_rng(0)
    return factor_vae_score(codes, SIZES, rng=rng, protocol=protocol, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("protocol", ["disentanglement_lib", "infogan_cr", "grid"])
@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]])
def test_identity_permuted_and_signed(protocol: str, order: list[int]) -> None:
    result = score(GRID[:, order] * np.array([-1.0, 2.0, 0.5]), protocol)
    assert result.score == 1.0
    for code, factor in enumerate(order):
        assert result.votes[code, factor] == result.votes[code].sum() > 0


@pytest.mark.parametrize("protocol", ["disentanglement_lib", "infogan_cr", "grid"])
def test_a_dead_code_does_not_vote(protocol: str) -> None:
    """Without pruning the dead code wins every vote, and the score falls to that of the commonest factor."""
    result = score(np.column_stack([GRID, np.full(len(GRID), 0.1)]), protocol)
    assert result.score == 1.0
    assert result.active.tolist() == [True, True, True, False]
    assert result.votes[3].sum() == 0


def test_a_code_that_hardly_moves_votes_only_when_told() -> None:
    quiet = np.column_stack([GRID, 0.01 * GRID[:, 0]])
    assert score(quiet).active.tolist() == [True, True, True, False]
    assert score(quiet, min_std=0.0).active.all()


def test_constant_codes_score_nothing() -> None:
    result = score(np.ones((60, 4)))
    assert (result.score, result.train_score) == (0.0, 0.0)
    assert not result.active.any()


def test_duplicated_codes_lose_nothing() -> None:
    assert score(np.column_stack([GRID, GRID])).score == 1.0


def test_random_codes_are_near_chance() -> None:
    codes = np.random.default_rng(1).standard_normal((60, 5))
    assert score(codes, votes=4000, test_votes=4000).score < 0.55


def test_rotation_costs() -> None:
    square = np.indices((8, 8)).reshape(2, -1).T.astype(float)
    turn = np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2)
    options = {"rng": np.random.default_rng(0), "protocol": "grid", "votes": 1000, "test_votes": 1000}
    straight = factor_vae_score(square, (8, 8), **options)  # type: ignore[arg-type]
    turned = factor_vae_score(square @ turn, (8, 8), **options)  # type: ignore[arg-type]
    assert straight.score == 1.0
    assert turned.score < 0.6


def test_one_code_can_name_one_factor() -> None:
    result = score(GRID[:, :1], votes=3000, test_votes=3000)
    assert_close(result.score, 1 / 3, rtol=0, atol=0.05)


def slow_score(codes: np.ndarray, votes: int, size: int, rng: np.random.Generator) -> float:
    """Vote by vote, from the grid of codes, scored on fresh votes."""
    shaped = codes.reshape(*SIZES, -1)
    variance = codes.var(axis=0, ddof=1)

    def vote() -> tuple[int, int]:
        factor = int(rng.integers(3))
        picks = [rng.integers(0, s, size) for s in SIZES]
        picks[factor][:] = picks[factor][0]
        return int((shaped[tuple(picks)].var(axis=0, ddof=1) / variance).argmin()), factor

    table = np.zeros((codes.shape[1], 3))
    for _ in range(votes):
        table[vote()] += 1
    guess = table.argmax(axis=1)
    return float(np.mean([guess[code] == factor for code, factor in (vote() for _ in range(votes))]))


@pytest.mark.parametrize("protocol", ["disentanglement_lib", "grid"])
def test_equals_a_slow_rewriting(protocol: str) -> None:
    rng = np.random.default_rng(4)
    codes = GRID @ rng.standard_normal((3, 3)) + 0.5 * rng.standard_normal((60, 3))
    slow = slow_score(codes, 3000, 8, np.random.default_rng(1))
    fast = score(codes, protocol, votes=12_000, test_votes=12_000, size=8, min_std=0.0)
    assert 0.5 < slow < 0.95
    assert_close(fast.score, slow, rtol=0, atol=0.03)  # 3.5 standard errors of the slow one


def test_function_and_table_agree_and_images_are_encoded_once() -> None:
    def represent(factors: np.ndarray) -> np.ndarray:
        return factors.astype(np.float32)

    for protocol in ("disentanglement_lib", "infogan_cr", "grid"):
        rngs = [np.random.default_rng(2) for _ in range(2)]
        options = {"protocol": protocol, "votes": 50, "test_votes": 20}
        called = factor_vae_score(represent, SIZES, rng=rngs[0], **options)  # type: ignore[arg-type]
        looked_up = factor_vae_score(GRID, SIZES, rng=rngs[1], **options)  # type: ignore[arg-type]
        assert called.encoded == 60
        assert looked_up.encoded == 0
        assert_close(called.votes, looked_up.votes)
        assert_close(called.score, looked_up.score)


def test_the_protocol_sets_the_sizes() -> None:
    result = factor_vae_score(GRID, SIZES, rng=np.random.default_rng(0))
    assert (result.n_votes, result.n_test_votes, result.size) == (10_000, 5_000, 64)
    assert result.votes.sum() == 10_000
    other = factor_vae_score(GRID, SIZES, rng=np.random.default_rng(0), protocol="infogan_cr")
    assert (other.n_votes, other.n_test_votes, other.size) == (500, 0, 100)
    assert other.score == other.train_score


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"protocol": "x"}, "protocol must be one of"),
        ({"votes": 0}, "votes >= 1"),
        ({"size": 1}, "size >= 2"),
    ],
)
def test_mistakes_get_one_sentence(options: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        factor_vae_score(GRID, SIZES, rng=np.random.default_rng(0), **options)
