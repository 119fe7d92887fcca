"""Independent directions of any embedding, src/unbraid/estimators/independent_directions.py."""

import pickle

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.tiny import make
from unbraid.data import Dataset
from unbraid.estimators import IndependentDirections
from unbraid.methods import BetaVAE
from unbraid.metrics import disentanglement_gap
from unbraid.objectives import find_independent_directions
from unbraid.runs.model import Model

SHORT = {"restarts": 1, "steps": 5}


def embeddings(seed: int = 0, *, each: int = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Embeddings of 12 dimensions, the sum of a part per color and a part per shape and of noise; names of the 25
    combinations; and the color and shape of each row."""
    rng = np.random.default_rng(seed)
    factors = np.tile(np.stack(np.divmod(np.arange(25), 5), 1), (each, 1))
    codes = rng.standard_normal((5, 12))[factors[:, 0]] + rng.standard_normal((5, 12))[factors[:, 1]]
    names = np.array([f"kind {name}" for name in rng.permutation(25)])
    return codes + 0.2 * rng.standard_normal(codes.shape), names[factors @ [5, 1]], factors


def test_names_of_combinations_suffice_to_separate_their_factors() -> None:
    """A linear probe of one subembedding predicts the color, of the other the shape; before, both predict both."""
    codes, names, factors = embeddings()
    transform = IndependentDirections(num_directions=4, restarts=3).fit(codes, names)
    halves = {"z0": range(6), "z1": range(6, 12)}
    gaps = [
        disentanglement_gap(
            train, factors[:600], test_codes=test, test_factors=factors[600:], inner_strands=strands
        ).score
        for train, test, strands in (
            (codes[:600], codes[600:], halves),
            (transform.transform(codes[:600]), transform.transform(codes[600:]), dict(transform.strands_)),
        )
    ]
    assert gaps[1] > 0.5 and gaps[1] > gaps[0] + 0.3
    assert transform.dependence_ < 0.1


def test_the_map_is_that_of_the_function() -> None:
    codes, names, _ = embeddings()
    transform = IndependentDirections(num_directions=3, random_state=4, **SHORT).fit(codes, names)
    classes = torch.from_numpy(np.unique(names, return_inverse=True)[1])
    expected = find_independent_directions(
        torch.from_numpy(codes), classes, num_subembeddings=2, directions=3, seed=4, **SHORT
    )
    assert_allclose(transform.transform(codes), (codes - expected.center.numpy()) @ expected.matrix.numpy())
    assert transform.components_.shape == (6, 12) and transform.dependence_ == expected.dependence
    assert {name: list(dims) for name, dims in transform.strands_.items() if name != "codes"} == {
        "z0": [0, 1, 2],
        "z1": [3, 4, 5],
    }


def test_codes_of_any_method_are_transformed() -> None:
    """In a pipeline, in single precision, and after pickling."""
    dataset = Dataset(torch.randint(0, 256, (60, 1, 3, 3), dtype=torch.uint8), name="noise")
    x = dataset.observe(torch.arange(60))
    codes = Model(make(BetaVAE).float(), (1, 3, 3)).encode(x).numpy()
    directions = IndependentDirections(num_directions=2, **SHORT)
    pipeline = make_pipeline(StandardScaler(), clone(directions)).fit(codes, np.arange(60) % 12)
    found = pipeline.transform(codes)
    assert found.shape == (60, 4) and found.dtype == codes.dtype == np.float32
    assert_allclose(pickle.loads(pickle.dumps(pipeline)).transform(codes), found)
    assert pipeline[-1].get_feature_names_out().tolist() == [f"independentdirections{k}" for k in range(4)]


@pytest.mark.parametrize("seed", [None, np.random.RandomState(0)], ids=["new", "state"])
def test_a_seed_may_be_a_random_state(seed: np.random.RandomState | None) -> None:
    codes, names, _ = embeddings(each=10)
    transform = IndependentDirections(num_directions=2, random_state=seed, **SHORT).fit(codes, names)
    assert np.isfinite(transform.components_).all()


def test_what_cannot_be_fitted_is_refused() -> None:
    codes, names, factors = embeddings(each=5)
    with pytest.raises(ValueError, match=r"num_subembeddings must be at least 2 .* got 1 and 10"):
        IndependentDirections(num_subembeddings=1).fit(codes, names)
    with pytest.raises(
        ValueError, match=r"2 subembeddings of 3 directions .* more than 6 classes; got 12 and 5"
    ):
        IndependentDirections(num_directions=3).fit(codes, factors[:, 0])
    with pytest.raises(ValueError, match="requires y to be passed"):
        IndependentDirections().fit(codes, None)
    with pytest.raises(ValueError, match=r"expecting 12 features as input"):
        IndependentDirections(num_directions=2, **SHORT).fit(codes, names).transform(codes[:, :3])
