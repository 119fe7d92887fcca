"""Networks to features by name, src/unbraid/nn/extractors.py."""

import json

import pytest
import torch

from unbraid.nn import EXTRACTORS, MLPFeatures, extractor
from unbraid.settings import describe, rebuild


@pytest.mark.parametrize("name", EXTRACTORS)
def test_every_name_makes_a_network_that_says_how_many_features_it_has(name: str) -> None:
    network = extractor(name, (3, 32, 32)).eval()
    with torch.no_grad():
        assert network(torch.rand(2, 3, 32, 32)).shape == (2, network.features)
    again = rebuild(json.loads(json.dumps(describe(network))))
    assert describe(again) == describe(network)


def test_rows_go_through_layers() -> None:
    assert extractor("mlp", (5,))(torch.rand(2, 5)).shape == (2, 256)
    with pytest.raises(ValueError, match=r"'resnet-18' is for images .* use 'mlp'"):
        extractor("resnet-18", (5,))
    with pytest.raises(ValueError, match=r"made for observations \(5,\); got \(6,\)"):
        MLPFeatures((5,))(torch.rand(2, 6))


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="no architecture 'resnet34'; did you mean resnet-34"):
        extractor("resnet34", (3, 64, 64))
