"""Contrastive PCA against its eigen-decomposition, src/unbraid/methods/contrastive_pca.py."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from unbraid import load
from unbraid.data.hidden_groups import hidden_groups
from unbraid.methods import ClosedForm, ContrastivePCA, method_classes
from unbraid.methods.base import build_method
from unbraid.methods.contrastive_pca import suggested_alphas
from unbraid.nn import LinearProjection
from unbraid.training.train import train


def rows() -> tuple[torch.Tensor, torch.Tensor]:
    data = hidden_groups(observations=500, columns=12)
    assert data.background is not None
    return data.observe(torch.arange(500)), data.background.observe(torch.arange(500))


@pytest.mark.parametrize("alpha", [0.0, 1.0, 7.5])
def test_directions_are_the_eigenvectors_of_the_difference(alpha: float) -> None:
    x, y = rows()
    method = build_method(ContrastivePCA, (12,), n=500, salient_dim=3, alpha=alpha).double()
    method.fit(x.double(), y.double())
    difference = np.cov(x.double().numpy().T) - alpha * np.cov(y.double().numpy().T)
    values, vectors = np.linalg.eigh(difference)
    v = method.encoder.directions  # type: ignore[union-attr]
    assert_close(v.T @ v, torch.eye(3, dtype=torch.float64))  # type: ignore[union-attr, operator]
    top = torch.from_numpy(vectors[:, ::-1][:, :3].copy())
    assert_close((v.T @ top).abs(), torch.eye(3, dtype=torch.float64))  # type: ignore[union-attr, operator]
    assert_close(v.T @ torch.from_numpy(difference) @ v, torch.from_numpy(np.diag(values[::-1][:3])))  # type: ignore[union-attr, operator]


def test_alpha_zero_is_pca() -> None:
    from sklearn.decomposition import PCA

    x, y = rows()
    method = build_method(ContrastivePCA, (12,), n=500, salient_dim=2, alpha=0.0)
    method.fit(x, y)
    codes, theirs = method.encode(x), torch.from_numpy(PCA(2).fit_transform(x.numpy()))
    assert_close(codes.abs(), theirs.abs(), atol=1e-3, rtol=1e-3)


def test_contrast_finds_the_plane_that_pca_does_not() -> None:
    x, y = rows()
    labels = torch.arange(500) % 4
    spread = {}
    for alpha in (0.0, 2.0):
        method = build_method(ContrastivePCA, (12,), n=500, salient_dim=2, alpha=alpha)
        method.fit(x, y)
        codes = method.encode(x)
        centers = torch.stack([codes[labels == group].mean(0) for group in range(4)])
        spread[alpha] = float(centers.var(0).sum() / codes.var(0).sum())
    assert spread[0.0] < 0.1 and spread[2.0] > 0.8


def test_decoding_gives_the_projection_back() -> None:
    x, y = rows()
    method = build_method(ContrastivePCA, (12,), n=500, salient_dim=12)
    method.fit(x, y)
    assert_close(method.decode(method.encode(x)), x, atol=1e-3, rtol=1e-3)  # all directions: nothing is lost


def test_there_is_nothing_to_train() -> None:
    method = build_method(ContrastivePCA, (12,), n=500)
    assert isinstance(method, ClosedForm) and method.players() == () and not list(method.parameters())
    assert {"encoder.center", "encoder.directions", "step"} == set(method.state_dict())


def test_training_fits_it_once_before_the_first_step(tmp_path: Path) -> None:
    """The run holds the very directions that `fit` finds, for all rows, and loads again."""
    data = hidden_groups(observations=60, columns=12)
    method = build_method(ContrastivePCA, (12,), n=60, salient_dim=2, alpha=2.0)
    train(method, data, out=tmp_path / "run", steps=1, batch_size=8, device="cpu", quiet=True)
    assert data.background is not None
    by_hand = build_method(ContrastivePCA, (12,), n=60, salient_dim=2, alpha=2.0)
    x = data.observe(torch.arange(60))
    by_hand.fit(x, data.background.observe(torch.arange(60)))
    assert_close(load(tmp_path / "run").encode(x), by_hand.encode(x))


def test_there_need_not_be_enough_for_a_batch_but_for_a_covariance(tmp_path: Path) -> None:
    data, how = hidden_groups(observations=6, columns=12), {"steps": 1, "device": "cpu", "quiet": True}
    train(build_method(ContrastivePCA, (12,), n=6), data, out=tmp_path / "run", **how)
    method, x = build_method(ContrastivePCA, (12,), n=6), data.observe(torch.arange(6))
    with pytest.raises(ValueError, match="two observations of target and of background; got 6 and 1"):
        method.fit(x, x[:1])


def test_target_and_background_need_not_be_as_many() -> None:
    x, y = torch.randn(2, 40, 5)
    method = build_method(ContrastivePCA, (5,), n=40)
    method.fit(x, y[:10])
    assert len(suggested_alphas(x, y[:10], count=3)) == 3


def test_suggested_alphas_begin_with_pca_and_grow() -> None:
    x, y = rows()
    found = suggested_alphas(x, y, count=4)
    assert found[0] == 0.0 and found == sorted(found) and len(found) == 4


def test_other_methods_cannot_be_fitted() -> None:
    """`fit` belongs to methods in closed form alone."""
    assert [cls for cls in method_classes().values() if issubclass(cls, ClosedForm)] == [ContrastivePCA]


def test_a_projection_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match="latent_dim = salient_dim = 3; it has 2"):
        ContrastivePCA(LinearProjection((12,), 2), salient_dim=3)
