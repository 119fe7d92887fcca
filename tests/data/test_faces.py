"""Drawn faces, src/unbraid/data/faces.py."""

import pytest
import torch

from unbraid.data.faces import faces


@pytest.mark.parametrize(
    ("salient", "names"),
    [("expressions", ("angry", "happy", "sad", "surprise")), ("accessories", ("hat", "glasses"))],
)
def test_faces_of_each_class_against_plain_ones(salient: str, names: tuple[str, ...]) -> None:
    data = faces(show=salient, per_class=15, plain=20, image_size=32)  # type: ignore[arg-type]
    assert data.value_names["label"] == names and data.shape == (1, 32, 32)
    assert data.combinations.bincount().tolist() == [15] * len(names)  # type: ignore[union-attr]
    assert data.background is not None and len(data.background) == 20
    assert data.source.float().std() > 20  # type: ignore[union-attr]


def test_classes_differ_from_plain_faces_where_they_should() -> None:
    """A hat changes the upper third of the picture more than the lower; glasses the middle."""
    data = faces(show="accessories", per_class=200, plain=200, image_size=48)
    assert data.background is not None
    plain = data.background.source.float().std(0)  # type: ignore[union-attr]
    hat, glasses = (data.source[data.combinations == index].float() for index in (0, 1))  # type: ignore[index]
    change = (hat.mean(0) - data.background.source.float().mean(0)).abs()[0]  # type: ignore[union-attr]
    assert change[:16].mean() > 2 * change[32:].mean() and plain.mean() > 0
    change = (glasses.mean(0) - data.background.source.float().mean(0)).abs()[0]  # type: ignore[union-attr]
    assert change[14:26].mean() > 2 * change[36:].mean()


def test_the_seed_decides_and_target_and_background_share_no_faces() -> None:
    first, same, other = (faces(per_class=5, plain=5, face_seed=seed) for seed in (0, 0, 1))
    assert torch.equal(first.source, same.source) and not torch.equal(first.source, other.source)  # type: ignore[arg-type]


def test_mistakes_get_one_sentence() -> None:
    with pytest.raises(ValueError, match="image_size must be at least 28"):
        faces(image_size=20)
