"""Networks to features by name, src/unbraid/nn/backbones.py."""

import json

import pytest
import torch

from unbraid.nn import BACKBONES, MLPFeatures, backbone
from unbraid.settings import from_json, to_json


@pytest.mark.parametrize("name", BACKBONES)
def test_every_backbone_has_its_number_of_features(name: str) -> None:
    network = backbone(name, (3, 32, 32)).eval()
    with torch.no_grad():
        assert network(torch.rand(2, 3, 32, 32)).shape == (2, network.features)
    again = from_json(json.loads(json.dumps(to_json(network))))
    assert to_json(again) == to_json(network)


def test_rows_go_through_layers() -> None:
    assert backbone("mlp", (5,))(torch.rand(2, 5)).shape == (2, 256)
    with pytest.raises(ValueError, match=r"'resnet-18' requires images .* Use 'mlp'"):
        backbone("resnet-18", (5,))
    with pytest.raises(ValueError, match=r"requires observations of shape \(5,\); got \(6,\)"):
        MLPFeatures((5,))(torch.rand(2, 6))


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(ValueError, match="no architecture 'resnet34'; did you mean resnet-34"):
        backbone("resnet34", (3, 64, 64))
