"""Encoders without a spread, src/unbraid/nn/deterministic_encoder.py."""

import json

import pytest
import torch
from torch.testing import assert_close

from unbraid.nn import ConcatEncoder, ConvEncoder, DeterministicEncoder, MLPEncoder
from unbraid.settings import from_json, to_json


def test_the_layers_are_the_encoders_but_the_last() -> None:
    encoder = MLPEncoder((3,), 2, hidden=(4,))
    features, x = DeterministicEncoder(encoder), torch.randn(5, 3)
    head = features.head[0]
    assert_close(features(x), encoder.trunk(x) @ head.weight.T + head.bias)  # type: ignore[operator]
    assert sum(parameter.numel() for parameter in features.parameters()) == 3 * 4 + 4 + 4 * 2 + 2


def test_endings() -> None:
    x = torch.randn(50, 3)
    relu, tanh = (
        DeterministicEncoder(MLPEncoder((3,), 2, hidden=()), ending=ending)(10 * x)
        for ending in ("relu", "tanh")
    )
    assert relu.min() == 0 and relu.max() > 1
    assert tanh.abs().max() <= 1 and tanh.min() < 0


@pytest.mark.parametrize("side", [28, 64])
def test_images(side: int) -> None:
    features = DeterministicEncoder(ConvEncoder((3, side, side), 6), ending="relu")
    assert features(torch.rand(2, 3, side, side)).shape == (2, 6)
    with pytest.raises(ValueError, match=r"requires observations of shape \(3, .*got \(1, 32, 32\)"):
        features(torch.rand(2, 1, 32, 32))


@pytest.mark.parametrize(
    "encoder",
    [
        ConvEncoder((1, 28, 28), 3, variant="burgess"),
        ConcatEncoder(ConvEncoder((1, 28, 28), 2, standardized=True), MLPEncoder((1, 28, 28), 3)),
    ],
    ids=["one", "two"],
)
def test_they_are_rebuilt_from_their_description(encoder: ConvEncoder | ConcatEncoder) -> None:
    features = DeterministicEncoder(encoder, ending="tanh")
    again = from_json(json.loads(json.dumps(to_json(features))))
    again.load_state_dict(features.state_dict())
    x = torch.rand(2, 1, 28, 28)
    assert_close(again(x), features(x))


def test_concatenated_encoders_have_a_head_each() -> None:
    """The first code does not see a brighter image, because its layers are those of the first encoder."""
    first, second = ConvEncoder((1, 28, 28), 2, standardized=True), ConvEncoder((1, 28, 28), 3)
    features = DeterministicEncoder(ConcatEncoder(first, second), ending="relu")
    x = torch.rand(4, 1, 28, 28)
    change = (features(x + 0.5) - features(x)).abs()
    assert features.latent_dim == 5 and features(x).shape == (4, 5) and features(x).min() == 0
    assert change[:, :2].max() < 1e-5
