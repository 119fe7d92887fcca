"""A code of features, src/unbraid/methods/feature_autoencoder.py."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from tests.tiny import batch_for, make
from unbraid.methods import Intervention
from unbraid.methods.base import build_method
from unbraid.nn import DeterministicEncoder, MLPDecoder, MLPEncoder


def test_features_of_several_dimensions_are_strands() -> None:
    method = make(Intervention, num_features=2, feature_dim=3)
    assert dict(method.strands) == {"codes": tuple(range(6)), "z0": (0, 1, 2), "z1": (3, 4, 5)}
    assert method.feature_strands == ("z0", "z1") and method.strands.default == "codes"
    assert make(Intervention).feature_strands == ()
    with pytest.raises(ValueError, match="There is no strand 'z2'"):
        method.strands["z2"]
    with pytest.raises(ValueError, match="There is no dimension 6; the code has dimensions 0 to 5"):
        method.strands[6]


def test_one_feature_per_image_is_picked_and_all_equally_often() -> None:
    method = make(Intervention, num_features=2, feature_dim=2)
    torch.manual_seed(0)
    mask = method.sample_feature_mask(torch.zeros(400, 4)).view(400, 2, 2)
    assert torch.equal(mask[..., 0], mask[..., 1]) and (mask[..., 0].sum(1) == 1).all()
    assert 150 < int(mask[:, 0, 0].sum()) < 250
    picked = method.pick_feature(torch.tensor([[0.2, 0.7], [0.9, 0.1]]))
    assert picked.tolist() == [[False, False, True, True], [True, True, False, False]]


def test_the_validation_loss_is_the_reconstruction() -> None:
    method, batch = make(Intervention), batch_for(Intervention)
    nll = method.likelihood.nll(method.decode_parameters(method.encode(batch.x)), batch.x)
    assert_close(method.validation_loss(batch).total, nll)


def test_bad_sizes_are_refused() -> None:
    encoder, decoder = DeterministicEncoder(MLPEncoder((4,), 5, hidden=())), MLPDecoder(5, (4,), hidden=())
    heads = nn.Identity(), nn.Identity()
    with pytest.raises(
        ValueError, match=r"strands have 6 dimensions in total, and the encoder has 5\. .* or an encoder of 6"
    ):
        Intervention(encoder, decoder, *heads, num_features=3, feature_dim=2)
    with pytest.raises(ValueError, match=r"attribute `latent_dim`.*Linear has none"):
        Intervention(nn.Linear(4, 6), decoder, *heads, num_features=3, feature_dim=2)
    six = MLPEncoder((4,), 6, hidden=())
    with pytest.raises(ValueError, match=r"of 6 dimensions, and the decoder takes 5\. Pass a decoder of 6"):
        Intervention(DeterministicEncoder(six), decoder, *heads, num_features=3, feature_dim=2)
    with pytest.raises(ValueError, match=r"num_features must be at least 2.*num_features=1"):
        build_method(Intervention, (4,), n=1, architecture="mlp", num_features=1)
