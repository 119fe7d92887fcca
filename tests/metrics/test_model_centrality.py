"""ModelCentrality, src/unbraid/metrics/model_centrality.py."""

import numpy as np
import pytest
from torch.testing import assert_close

from unbraid.metrics import cross_votes, model_centrality


def test_by_hand() -> None:
    """Symmetrised: (0,1) 0.7, (0,2) 0.3, (1,2) 0.6. Means: 0.5, 0.65, 0.45. The diagonal is not read."""
    agreement = np.array([[9.0, 0.8, 0.2], [0.6, 9.0, 0.5], [0.4, 0.7, -9.0]])
    result = model_centrality(agreement)
    assert_close(result.per_model, np.array([0.5, 0.65, 0.45]))
    assert_close(result.score, 0.65)
    assert result.best == 1


def test_votes_find_the_model_that_mixes() -> None:
    """Two models agree up to order and sign, with a dead code; the third turns every code by 45°."""
    turn = np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2)
    turned = np.kron(np.eye(2), turn)
    generate = [lambda c: c, lambda c: -c[:, ::-1], lambda c: c @ turned]
    represent = [
        lambda x: np.column_stack([x, np.zeros(len(x))]),
        lambda x: -x[:, ::-1],
        lambda x: x @ turned.T,
    ]
    for prior in ("uniform", "normal"):
        agreement = cross_votes(
            generate, represent, latent_dim=4, rng=np.random.default_rng(0), groups=200, size=50, prior=prior
        )
        assert_close(agreement[0, 1], np.float64(1.0))
        assert_close(agreement[1, 0], np.float64(1.0))
        assert agreement[:2, 2].max() < 0.85
        assert agreement[2, :2].max() < 0.85
        assert model_centrality(agreement).best != 2


def test_a_dead_encoder_agrees_with_nobody() -> None:
    same, dead = (lambda c: c), (lambda x: np.zeros((len(x), 2)))
    agreement = cross_votes([same, same], [same, dead], latent_dim=2, rng=np.random.default_rng(0), groups=20)
    assert agreement[0, 1] == 0.0


def test_bad_input_gets_one_sentence() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="agreement must be square"):
        model_centrality(np.ones((3, 2)))
    with pytest.raises(ValueError, match="at least two samples; got 1"):
        model_centrality(np.ones((1, 1)))
    with pytest.raises(ValueError, match="got 1 and 2"):
        cross_votes([lambda c: c], [lambda x: x] * 2, latent_dim=2, rng=rng)
    with pytest.raises(ValueError, match="prior must be one of uniform, normal"):
        cross_votes([lambda c: c] * 2, [lambda x: x] * 2, latent_dim=2, rng=rng, prior="cauchy")
