"""Scores of one small sample, as they were before encoding and trees became faster; they stay equal to 1e-9."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from unbraid import metrics

SIZES = (3, 4, 6)


def sample() -> tuple[np.ndarray, np.ndarray]:
    """900 codes of three factors: one dimension each, two mixtures, and a dimension with tied values."""
    rng = np.random.default_rng(7)
    factors = np.stack([rng.integers(size, size=900) for size in SIZES], axis=1)
    clean = factors - (np.array(SIZES) - 1) / 2
    noise = rng.standard_normal((900, 5))
    mixed = np.stack([clean[:, 0] + clean[:, 1], np.tanh(clean[:, 2] - clean[:, 1])], axis=1)
    codes = np.column_stack([clean + 0.4 * noise[:, :3], mixed + 0.2 * noise[:, 3:], np.round(noise[:, 0])])
    return codes, factors


def scores() -> dict[str, Callable[[], Any]]:
    codes, factors = sample()
    train = codes[:600], factors[:600]
    tested = {"test_codes": codes[600:], "test_factors": factors[600:]}
    table = np.random.default_rng(3).standard_normal((72, 4))
    table[:, :3] += 2 * np.indices(SIZES).reshape(3, -1).T
    votes = {"votes": 300, "test_votes": 200, "size": 16}
    differences = {"differences": 300, "test_differences": 200, "pairs": 8}
    return {
        "mig": lambda: metrics.mig(*train),
        "modularity": lambda: metrics.modularity(*train),
        "irs": lambda: metrics.irs(*train),
        "sap": lambda: metrics.sap(*train, **tested),
        "explicitness": lambda: metrics.explicitness(*train, **tested),
        "dci": lambda: metrics.dci(*train, **tested, rng=np.random.default_rng(1)),
        "dci, histogram": lambda: metrics.dci(*train, **tested, protocol="histogram"),
        "factor_vae_score": lambda: metrics.factor_vae_score(
            table, SIZES, rng=np.random.default_rng(2), **votes
        ),
        "beta_vae_score": lambda: metrics.beta_vae_score(
            table, SIZES, rng=np.random.default_rng(2), **differences
        ),
    }


FROZEN: dict[str, dict[str, float]] = {
    "mig": {"score": 0.4085910095904787, "rmig": 0.5888693586343046, "jemmig": 0.4035619928303546},
    "modularity": {"score": 0.9238269586882359},
    "irs": {"score": 0.5288939139285197, "quantile": 0.99},
    "sap": {"score": 0.15999999999999998},
    "explicitness": {
        "score": 0.9940453638599606,
        "train_score": 0.9954835916781493,
        "normalized": 0.9880907277199211,
    },
    "dci": {
        "score": 0.8265315379403473,
        "completeness": 0.6806122232088975,
        "informativeness": 0.9044444444444445,
        "train_informativeness": 1.0,
    },
    "dci, histogram": {
        "score": 0.8015460858158618,
        "completeness": 0.6689202962430969,
        "informativeness": 0.9066666666666666,
        "train_informativeness": 0.9933333333333333,
    },
    "factor_vae_score": {"score": 0.99, "train_score": 0.9833333333333333},
    "beta_vae_score": {"score": 0.99, "train_score": 0.98},
}


@pytest.mark.parametrize("name", list(FROZEN))
def test_a_score_is_as_before(name: str) -> None:
    result = scores()[name]()
    found = {field: value for field, value in result._asdict().items() if isinstance(value, float)}
    assert found == pytest.approx(FROZEN[name], abs=1e-9, rel=0)


def test_every_score_is_frozen() -> None:
    assert scores().keys() == FROZEN.keys()
