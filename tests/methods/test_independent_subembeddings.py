"""Independent subembeddings, src/unbraid/methods/independent_subembeddings.py."""

import functools
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.testing import assert_close

from tests.tiny import batch_for, loss, make
from unbraid.data import ViewDraw
from unbraid.data.mnist_stl10 import mnist_stl10
from unbraid.methods import HasPostTraining, IndependentSubembeddings, SubInfoMax
from unbraid.methods.base import build_method
from unbraid.objectives import (
    correlation,
    dependence,
    find_independent_directions,
    supcon_loss,
    unit_subembeddings,
)
from unbraid.runs.model import load
from unbraid.training.train import train

BATCH = batch_for(IndependentSubembeddings)


def method_with(**settings: Any) -> IndependentSubembeddings:
    none = {"lambda_correlation": 0.0, "lambda_dependence": 0.0, "embedding_dim": 8}
    return make(IndependentSubembeddings, **(none | settings))


def test_one_infomax_is_applied_to_subembeddings_of_equal_length() -> None:
    method = method_with()
    z = method.features_and_embedding(torch.cat([BATCH.x1, BATCH.x2]))[1]
    for part in z.chunk(2, 1):
        assert_close(part.norm(dim=1), torch.full((16,), 0.5**0.5, dtype=torch.float64))
    labels = torch.cat([BATCH.labels, BATCH.labels])
    assert_close(loss(method, BATCH).total, supcon_loss(z, labels, temperature=0.5))
    assert len(method.head.heads) == 2


@pytest.mark.parametrize(("name", "function"), [("correlation", correlation), ("dependence", dependence)])
@pytest.mark.parametrize("on_features", [False, True])
def test_a_regularizer_is_over_all_views_of_the_batch(name: str, function: Any, on_features: bool) -> None:
    """A sum of λ R and InfoMax; R on the strands of z, or of r, each of length 1."""
    settings: dict[str, Any] = {"regularize_features": (name,) if on_features else ()}
    found = loss(method := method_with(**{f"lambda_{name}": 2.0}, **settings), BATCH)
    r, z = method.features_and_embedding(torch.cat([BATCH.x1, BATCH.x2]))
    assert_close(found.by_name[name], function(unit_subembeddings(r if on_features else z, 2)))
    assert_close(found.total, found.by_name["infomax"] + 2 * found.by_name[name])
    heads = [[*head.parameters()] for head in method.head.heads]
    parameters = [*method.encoder.parameters(), *(weight for head in heads for weight in head)]
    gradients = torch.autograd.grad(found.by_name[name], parameters, allow_unused=True)
    reached = [gradient is not None and bool(gradient.any()) for gradient in gradients]
    encoder = len([*method.encoder.parameters()])
    assert all(reached[:encoder]) and all(reached[encoder:]) != on_features


def test_directions_are_computed_after_the_last_step_and_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, they are the first dimensions of every subembedding; a loaded run has the computed ones."""
    soon = functools.partial(find_independent_directions, restarts=1, steps=5)
    monkeypatch.setattr("unbraid.methods.independent_subembeddings.find_independent_directions", soon)
    dataset = mnist_stl10(digits="bundled", backgrounds="textures", pairs=400, image_size=32)
    options = {"embedding_dim": 16, "independent_directions": 3, "architecture": "conv"}
    method = build_method(IndependentSubembeddings, dataset.shape, n=len(dataset), **options)
    x = dataset.observe(torch.arange(40))
    method.eval()
    z = method.features_and_embedding(x)[1]
    first = [0, 1, 2, 8, 9, 10]
    assert_close(method.encode(x)[:, method.strands["z"]], z[:, first])
    method.on_train_end_samples = 400  # type: ignore[misc]
    run = train(method, dataset, out=tmp_path / "run", steps=2, batch_size=8, device="cpu", quiet=True)
    assert method.strands.size == 256 + 6 and len(method.strands["z1"]) == 3
    codes = method.encode(x)
    assert not torch.allclose(codes[:, method.strands["z"]], method.features_and_embedding(x)[1][:, first])
    assert_close(load(run.folder, device="cpu").method.encode(x), codes)


def test_directions_need_joint_labels_and_dimensions() -> None:
    for wrong in (
        {"positives": "view-pair"},
        {"independent_directions": 5},
        {"independent_directions": -1},
        {"num_subembeddings": 1},
    ):
        with pytest.raises(
            ValueError, match="independent-directions requires --positives label, at least 2 subembeddings"
        ):
            method_with(**({"independent_directions": 2} | wrong))


def test_more_directions_than_joint_labels_are_refused_before_training() -> None:
    """Two factors of ten values have a hundred joint labels."""
    dataset = mnist_stl10(digits="bundled", backgrounds="textures", pairs=400, image_size=32)
    method = method_with(independent_directions=4)
    labels = ViewDraw().num_labels(dataset)
    method.check_training(dataset, ViewDraw(), 8)
    method.independent_directions = labels
    with pytest.raises(ValueError, match=f"needs views with at least {2 * labels + 1} different labels"):
        method.check_training(dataset, ViewDraw(), 8)
    method_with().check_training(dataset, ViewDraw(), 8)


def test_only_this_method_of_subembeddings_has_a_post_training_hook() -> None:
    assert isinstance(method_with(), HasPostTraining) and not isinstance(make(SubInfoMax), HasPostTraining)
