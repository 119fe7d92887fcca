"""DCI, src/unbraid/metrics/dci.py."""

import sys

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestRegressor
from torch.testing import assert_close

from tests.metrics.common_cases import CommonCase
from unbraid.metrics import DCI, dci

COMMON = [
    CommonCase(
        "dci, histogram",
        lambda codes, factors: dci(
            codes, factors, test_codes=codes, test_factors=factors, protocol="histogram"
        ),
        constant=0,
        duplicated=1,
        random=0.02,
        entangled=0.1,
        tolerance=1e-3,
    ),
]


def draw(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    factors = rng.integers(0, [2, 3, 5], (n, 3))
    mixing = np.random.default_rng(9).standard_normal((3, 4))
    return factors @ mixing + 0.4 * rng.standard_normal((n, 4)), factors


def halves(codes: np.ndarray, factors: np.ndarray, protocol: str = "histogram", **options: object) -> DCI:
    half, rng = len(codes) // 2, np.random.default_rng(3)
    train, test = (codes[:half], factors[:half]), (codes[half:], factors[half:])
    return dci(*train, test_codes=test[0], test_factors=test[1], protocol=protocol, rng=rng, **options)  # type: ignore[arg-type]


def slow_scores(importances: np.ndarray) -> tuple[float, float]:
    """Disentanglement and completeness, one code and one factor at a time."""

    def sureness(shares: np.ndarray) -> float:
        if shares.sum() == 0:
            return 0.0
        p = shares / shares.sum()
        return 1 + sum(x * np.log(x) for x in p if x > 0) / np.log(len(p))

    total = importances.sum()
    d = sum(sureness(row) * row.sum() / total for row in importances)
    c = sum(sureness(column) * column.sum() / total for column in importances.T)
    return d, c


def test_classical_equals_scikit_learn() -> None:
    codes, factors = draw(240)
    result = halves(codes, factors, "disentanglement_lib")
    seeds = np.random.default_rng(3).integers(2**31 - 1, size=3)
    importances, accuracy = np.zeros((4, 3)), []
    for k in range(3):
        model = GradientBoostingClassifier(random_state=int(seeds[k]))
        model.fit(codes[:120], factors[:120, k])
        importances[:, k] = np.abs(model.feature_importances_)
        accuracy.append(model.score(codes[120:], factors[120:, k]))
    assert_close(result.importances, importances, rtol=0, atol=1e-9)
    disentanglement, completeness = slow_scores(importances)
    assert_close(result.score, disentanglement, rtol=0, atol=1e-8)
    assert_close(result.completeness, completeness, rtol=0, atol=1e-8)
    assert_close(result.informativeness, float(np.mean(accuracy)), rtol=0, atol=1e-12)
    assert (result.n, result.n_test, result.protocol) == (120, 120, "disentanglement_lib")


PROTOCOLS = ["disentanglement_lib", "histogram", "infogan_cr", "infogan_cr_cv", "infogan_cr_cv_sampled"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_identity_permuted_and_signed(protocol: str) -> None:
    factors = np.tile(np.indices((2, 3)).reshape(2, -1).T, (20, 1))
    codes = -2.0 * factors[:, ::-1]
    options = {"depths": (3, 3)} if protocol == "infogan_cr" else {}
    result = halves(codes, factors, protocol, trees=3, **options)
    assert_close(result.score, 1.0, rtol=0, atol=1e-6)
    assert_close(result.completeness, 1.0, rtol=0, atol=1e-6)
    assert_close(result.informativeness, 1.0)
    assert_close(result.importances, np.array([[0.0, 1.0], [1.0, 0.0]]), rtol=0, atol=1e-6)


@pytest.mark.parametrize("protocol", ["disentanglement_lib", "histogram"])
def test_duplicated_codes_stay_disentangled_and_lose_completeness(protocol: str) -> None:
    """Two equal codes a factor, four codes: at worst they share evenly, C = 1 - log 2 / log 4 = 1/2."""
    factors = np.tile(np.indices((3, 3)).reshape(2, -1).T, (20, 1))
    result = halves(np.column_stack([factors, factors]) * 1.0, factors, protocol)
    assert_close(result.score, 1.0, rtol=0, atol=1e-6)
    assert 0.5 - 1e-9 <= result.completeness < 0.9
    if protocol == "histogram":  # which shares evenly
        assert_close(result.completeness, 0.5, rtol=0, atol=1e-6)


@pytest.mark.parametrize("protocol", ["disentanglement_lib", "histogram"])
def test_dead_codes_change_nothing(protocol: str) -> None:
    factors = np.tile(np.indices((2, 3)).reshape(2, -1).T, (20, 1))
    result = halves(np.column_stack([factors, np.ones(120)]) * 1.0, factors, protocol)
    assert_close(result.score, 1.0, rtol=0, atol=1e-6)
    assert_close(result.importances[2], np.zeros(2))
    constant = halves(np.ones((120, 3)), factors, protocol)
    assert_close(constant.score, 0.0)
    assert_close(constant.completeness, 0.0)


def test_rotation_costs_disentanglement_not_information() -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 4, (2000, 2))
    turn = np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2)
    straight, turned = halves(factors * 1.0, factors), halves(factors @ turn, factors)
    assert turned.score < 0.2 < straight.score
    assert turned.informativeness > 0.95


def test_random_codes() -> None:
    """Nothing to find: 30 random codes for 3 factors spread the noise they fit."""
    _, factors = draw(2000)
    result = halves(np.random.default_rng(1).standard_normal((2000, 6)), factors)
    assert result.score < 0.1
    assert result.informativeness < 0.45  # chance is 1/3 on average


def test_infogan_cr_equals_scikit_learn() -> None:
    codes, factors = draw(300)
    result = dci(
        codes, factors, protocol="infogan_cr", depths=(4, 2, 3), trees=7, rng=np.random.default_rng(3)
    )
    seeds = np.random.default_rng(3).integers(2**31 - 1, size=3)
    scaled = (codes - codes.mean(axis=0)) / codes.std(axis=0)
    importances = np.zeros((4, 3))
    for k, depth in enumerate((4, 2, 3)):
        value = (factors[:, k] - factors[:, k].mean()) / factors[:, k].std()
        model = RandomForestRegressor(7, max_depth=depth, random_state=int(seeds[k])).fit(scaled, value)
        importances[:, k] = model.feature_importances_
    assert_close(result.importances, importances, rtol=0, atol=1e-9)
    p = importances / importances.sum(axis=0)
    plain = 1 + (p * np.log(p + 1e-12)).sum(axis=0) / np.log(4)
    assert_close(result.completeness, float(plain.mean()), rtol=0, atol=1e-8)
    assert result.n == result.n_test == 300


def test_cross_validation_finds_a_depth_that_one_level_cannot() -> None:
    """A factor that is the parity of two signs needs two levels; depth 1 is not among the choices."""
    rng = np.random.default_rng(0)
    signs = rng.integers(0, 2, (200, 2))
    factors = np.column_stack([signs[:, 0] ^ signs[:, 1], signs[:, 0]])
    codes = signs - 0.5 + 0.1 * rng.standard_normal((200, 2))
    result = halves(codes, factors, "infogan_cr_cv", trees=3)
    assert result.informativeness > 0.9


def test_depths_chosen_on_a_sample_score_as_those_chosen_on_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three factors of which two codes each tell something: a quarter of the rows and half of the trees choose."""
    module = sys.modules["unbraid.metrics.dci"]
    monkeypatch.setattr(module, "CV_ROWS", 250)
    monkeypatch.setattr(module, "CV_DEPTHS", range(2, 9))
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 5, (600, 3))
    codes = factors + 0.4 * factors[:, [1, 2, 0]] + 0.3 * rng.standard_normal((600, 3))
    full, sampled = (
        dci(codes, factors, protocol=protocol, rng=np.random.default_rng(0), trees=10)
        for protocol in ("infogan_cr_cv", "infogan_cr_cv_sampled")
    )
    assert sampled.protocol == "infogan_cr_cv_sampled" and 0.2 < full.score < 0.9
    assert_close(sampled.score, full.score, rtol=0, atol=0.03)
    assert_close(sampled.completeness, full.completeness, rtol=0, atol=0.03)
    assert_close(sampled.informativeness, full.informativeness, rtol=0, atol=0.03)


def test_strands_sum_the_importance_of_their_codes() -> None:
    codes, factors = draw(300)
    by_code = halves(codes, factors)
    by_strand = halves(codes, factors, strands={"first": [0, 1], "rest": [2, 3]})
    expected = np.stack([by_code.importances[:2].sum(axis=0), by_code.importances[2:].sum(axis=0)])
    assert_close(by_strand.importances, expected, rtol=0, atol=1e-9)
    assert by_strand.rows == ("first", "rest")
    assert_close(by_strand.score, slow_scores(expected)[0], rtol=0, atol=1e-8)


def test_more_samples_change_the_score() -> None:
    """Documented, and the reason why n is part of the result: the same turned code, more of it."""
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 10, (8000, 2))
    codes = factors @ np.array([[1.0, 0.4], [-0.4, 1.0]])
    few, many = halves(codes[:400], factors[:400]), halves(codes, factors)
    assert abs(many.score - few.score) > 0.02
    assert (few.n, many.n) == (200, 4000)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"protocol": "other"}, "protocol must be one of"),
        ({}, "needs a test sample"),
        ({"protocol": "infogan_cr"}, "is random. Pass rng"),
        ({"protocol": "infogan_cr", "rng": np.random.default_rng(0)}, "one depth for each of 3 factors"),
        ({"protocol": "infogan_cr_cv", "strands": {"a": [0], "b": [0, 1]}}, "must not share columns"),
        ({"protocol": "infogan_cr_cv", "strands": {"a": [0]}}, "at least two strands"),
        ({"protocol": "infogan_cr_cv", "strands": {}}, "at least two strands"),
    ],
)
def test_mistakes_get_one_sentence(options: dict, sentence: str) -> None:
    codes, factors = draw(30)
    with pytest.raises(ValueError, match=sentence):
        dci(codes, factors, **options)


def test_one_code_or_one_factor_cannot_be_compared() -> None:
    codes, factors = draw(30)
    with pytest.raises(ValueError, match="two dimensions and two factors; got 1 and 3"):
        halves(codes[:, :1], factors)
    with pytest.raises(ValueError, match="got 4 and 1"):
        halves(codes, factors[:, :1])
