"""SAP, src/unbraid/metrics/sap.py."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC
from torch.testing import assert_close

from tests.metrics.common_cases import CommonCase
from unbraid.metrics import SAP, sap

COMMON = [
    # The SVM of the other protocol is penalized, so that the scale of a code matters.
    CommonCase(
        "sap, continuous",
        lambda codes, factors: sap(
            codes, factors, protocol="infogan_cr", factor_types=["continuous"] * np.shape(factors)[-1]
        ),
        constant=0,
        duplicated=0,
        random=0.02,
        entangled=0.1,
    ),
]


def draw(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    factors = rng.integers(0, [3, 6, 10], (n, 3))
    mixing = np.random.default_rng(9).standard_normal((3, 5))
    return factors @ mixing + 0.5 * rng.standard_normal((n, 5)), factors


def halves(codes: np.ndarray, factors: np.ndarray, **options: object) -> SAP:
    half = len(codes) // 2
    return sap(codes[:half], factors[:half], test_codes=codes[half:], test_factors=factors[half:], **options)  # type: ignore[arg-type]


def test_identity_by_hand() -> None:
    """A line finds the two end values and one between them: 3/v, against 1/v by chance; v = 4, 5, 6."""
    factors = np.indices((4, 5, 6)).reshape(3, -1).T
    result = sap(factors.astype(float), factors, test_codes=factors.astype(float), test_factors=factors)
    assert_close(result.per_factor, np.array([2 / 4, 2 / 5, 2 / 6]))
    assert_close(result.scores.diagonal().copy(), np.array([3 / 4, 3 / 5, 3 / 6]))
    assert result.rows == ("dimension 0", "dimension 1", "dimension 2")


def test_equals_scikit_learn() -> None:
    codes, factors = draw(2400)
    result = halves(codes, factors)
    slow = np.zeros((5, 3))
    for j in range(5):
        for k in range(3):
            model = LinearSVC(C=0.01, class_weight="balanced", dual=False)
            model.fit(codes[:1200, [j]], factors[:1200, k])
            slow[j, k] = model.score(codes[1200:, [j]], factors[1200:, k])
    assert_close(result.scores, slow, rtol=0, atol=2e-3)
    gaps = np.sort(slow, axis=0)[-1] - np.sort(slow, axis=0)[-2]
    assert_close(result.score, float(gaps.mean()), rtol=0, atol=2e-3)
    assert (result.n, result.n_test, result.protocol) == (1200, 1200, "disentanglement_lib")


def test_continuous_is_the_squared_correlation() -> None:
    codes, factors = draw(500)
    result = sap(codes, factors, protocol="infogan_cr", factor_types=["continuous"] * 3)
    for j in range(5):
        for k in range(3):
            covariance = np.cov(codes[:, j], factors[:, k])
            expected = covariance[0, 1] ** 2 / (covariance[0, 0] * covariance[1, 1])
            assert_close(result.scores[j, k], np.float64(expected))


def test_mixed_kinds_treat_each_factor_by_its_own() -> None:
    """A discrete factor told perfectly by the sign of code 0, a continuous one that is code 1."""
    rng = np.random.default_rng(0)
    factors = rng.integers(0, [2, 9], (400, 2))
    codes = np.column_stack([2.0 * factors[:, 0] - 1, -3.0 * factors[:, 1], rng.standard_normal(400)])
    result = sap(codes, factors, protocol="infogan_cr", factor_types=["discrete", "continuous"])
    assert_close(result.scores[0, 0], np.float64(1))
    assert_close(result.scores[1, 1], np.float64(1))
    assert result.score > 0.7
    assert result.factor_types == ("discrete", "continuous")


def test_hues_are_classes() -> None:
    """A dimension per hue, each starting elsewhere in the circle: a line through the indices misses them."""
    rng = np.random.default_rng(0)
    hues = rng.integers(0, 10, (2000, 3))
    codes = (hues + np.array([1, 3, 5])) % 10 + 0.05 * rng.standard_normal(hues.shape)
    types = ("continuous", "discrete")
    numbers, classes = (sap(codes, hues, protocol="infogan_cr", factor_types=[kind] * 3) for kind in types)
    assert numbers.per_factor.min() > 0.07 and numbers.per_factor.max() < 0.27
    assert_close(classes.score, 0.88, rtol=0, atol=0.03)


def test_the_protocol_names_the_number_of_discrete_factors() -> None:
    codes, factors = draw(400)
    mixed = ["discrete", "continuous", "continuous"]
    result = sap(codes, factors, protocol="infogan_cr", factor_types=mixed)
    assert result.protocol == "infogan_cr, 1 of 3 factors discrete"
    assert (
        halves(codes, factors, factor_types=mixed).protocol == "disentanglement_lib, 1 of 3 factors discrete"
    )
    assert halves(codes, factors, factor_types=["discrete"] * 3).protocol == "disentanglement_lib"


def test_strands_are_read_as_a_whole() -> None:
    """A factor that says in which quadrant a pair of codes lies is read off the pair, not off either."""
    rng = np.random.default_rng(0)
    pair = rng.standard_normal((1000, 2))
    quadrant = 2 * (pair[:, 0] > 0) + (pair[:, 1] > 0)
    other = rng.integers(0, 3, 1000)
    codes = np.column_stack([pair, other, rng.standard_normal(1000)])
    factors = np.column_stack([quadrant, other])
    result = halves(codes, factors, strands={"where": [0, 1], "what": [2, 3]})
    assert result.rows == ("where", "what")
    assert result.scores[0, 0] > 0.95
    assert result.scores[1, 1] > 0.95
    assert result.score > 0.5


def test_strands_of_one_code_keep_continuous_scores() -> None:
    codes, factors = draw(300)
    kinds = ["continuous"] * 3
    single = sap(codes, factors, protocol="infogan_cr", factor_types=kinds)
    strands = {f"s{j}": [j] for j in range(5)}
    assert_close(
        sap(codes, factors, protocol="infogan_cr", factor_types=kinds, strands=strands).score, single.score
    )


def test_rotation_halves_the_gap() -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 8, (2000, 2))
    turn = np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2)
    straight = halves(factors.astype(float), factors)
    turned = halves(factors @ turn, factors)
    assert turned.score < 0.05 < straight.score


def test_constant_codes_and_one_dead_code() -> None:
    codes, factors = draw(400)
    assert_close(halves(np.ones((400, 3)), factors).score, 0.0)
    dead = np.column_stack([codes, np.full(400, 7.0)])
    assert_close(halves(dead, factors).score, halves(codes, factors).score)


def test_two_classes_and_values_the_training_sample_never_shows() -> None:
    codes, _ = draw(40)
    factors = np.column_stack([np.arange(40) % 2, np.arange(40)])  # the second: a class for each sample
    result = halves(codes, factors)
    assert_close(result.scores[:, 1], np.zeros(5))
    assert 0 <= result.scores[:, 0].min() <= result.scores[:, 0].max() <= 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"protocol": "other"}, "protocol must be one of"),
        ({}, "needs a test sample"),
        ({"protocol": "infogan_cr"}, "needs the type of each factor"),
        ({"protocol": "infogan_cr", "factor_types": ["discrete"]}, "for each of 3 factors"),
        ({"protocol": "infogan_cr", "factor_types": ["real"] * 3}, "factor_types must be"),
        (
            {"protocol": "infogan_cr", "factor_types": ["continuous"] * 3, "strands": {"a": [0]}},
            "at least two strands",
        ),
        (
            {"protocol": "infogan_cr", "factor_types": ["continuous"] * 3, "strands": {"a": [0], "b": [9]}},
            "within",
        ),
    ],
)
def test_mistakes_get_one_sentence(options: dict, sentence: str) -> None:
    codes, factors = draw(50)
    with pytest.raises(ValueError, match=sentence):
        sap(codes, factors, **options)


def test_one_code_cannot_have_a_gap() -> None:
    codes, factors = draw(50)
    with pytest.raises(ValueError, match="at least two dimensions"):
        halves(codes[:, :1], factors)
