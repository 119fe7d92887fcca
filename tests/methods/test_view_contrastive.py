"""The base of contrastive methods, src/unbraid/methods/view_contrastive.py."""

import pytest
import torch
from torch.testing import assert_close

from tests.tiny import SHAPE, batch_for, images, make
from unbraid.methods import IndependentSubembeddings, SimCLR, SubInfoMax, SupCon, SupervisedSubembeddings
from unbraid.methods.base import build_method
from unbraid.methods.view_contrastive import equal_strands, same_label, same_pair
from unbraid.nn import MLPEncoder, MLPFeatures, Projection, ResNet

EVERY = pytest.mark.parametrize("cls", [SimCLR, SupCon, SubInfoMax, IndependentSubembeddings])


@EVERY
def test_the_code_is_r_and_z_with_their_strands(cls: type[SimCLR]) -> None:
    method = make(cls).eval()
    assert {name: len(strand) for name, strand in method.strands.items()} == {
        **{"r": 16, "r0": 8, "r1": 8},
        **{"z": 4, "z0": 2, "z1": 2},
    }
    assert method.strands.default == "z" and method.strands["z0"] == (16, 17)
    codes = method.encode(images())
    assert_close(method.strands.take(codes, "r"), method.encoder(images()))


def test_any_number_of_strands() -> None:
    assert equal_strands("z", 4, 6, 3) == {
        **{"z": range(4, 10), "z0": range(4, 6)},
        **{"z1": range(6, 8), "z2": range(8, 10)},
    }
    encoder = MLPFeatures(SHAPE, hidden=(12,))
    method = build_method(
        IndependentSubembeddings,
        SHAPE,
        n=9,
        encoder=encoder,
        num_subembeddings=3,
        embedding_dim=6,
        lambda_dependence=1.0,
    )
    batch = type(batch_for(SubInfoMax))(
        *(field.float() if field.is_floating_point() else field for field in batch_for(SubInfoMax))
    )
    assert set(method.strands) == {"r", "r0", "r1", "r2", "z", "z0", "z1", "z2"}
    assert set(method.loss(batch).by_name) == {"infomax", "dependence"}


def test_both_views_go_through_one_forward() -> None:
    """So batch statistics are of both, and rows are the pairs."""
    method, batch = make(SimCLR), batch_for(SimCLR)
    r, z = method.views(batch)
    both = method.features_and_embedding(torch.cat([batch.x1, batch.x2]))
    assert_close(r, torch.stack(both[0].chunk(2), 1))
    assert_close(z[:, 1], both[1][8:])


def test_architectures_by_name() -> None:
    method = build_method(SimCLR, (3, 64, 64), n=9, architecture="resnet-18")
    assert isinstance(method.encoder, ResNet) and method.encoder.features == 512
    assert (
        isinstance(method.head, Projection) and len(method.head.heads) == 1 and method.head.latent_dim == 128
    )
    assert len(build_method(SubInfoMax, (3, 32, 32), n=9).head.heads) == 2
    assert len(build_method(SubInfoMax, (3, 32, 32), n=9, pipeline="unified").head.heads) == 1


def test_which_views_belong_together() -> None:
    batch = batch_for(SimCLR, 3)
    pairs = same_pair(batch)
    assert_close(pairs.double(), torch.block_diag(*[torch.ones(2, 2)] * 3).double())
    labels = same_label(torch.tensor([4, 7, 4]))
    assert labels[0].tolist() == [True, True, False, False, True, True]
    each = same_label(torch.tensor([0, 1]), torch.tensor([1, 1]))  # first views 0 and 1, second views 1 and 1
    assert each[0].tolist() == [True, False, False, False] and each[1].tolist() == [False, True, True, True]


@EVERY
def test_bad_settings_are_refused(cls: type[SimCLR]) -> None:
    with pytest.raises(ValueError, match="must divide the 5 dimensions of the embedding; got 2"):
        make(cls, embedding_dim=5)
    with pytest.raises(ValueError, match="must divide the 16 dimensions of the features; got 3"):
        make(cls, embedding_dim=6, num_subembeddings=3)
    with pytest.raises(ValueError, match="of the embedding; got 0"):
        make(cls, num_subembeddings=0)
    with pytest.raises(
        ValueError, match="temperature must be positive, because similarities are divided by it"
    ):
        make(cls, temperature=0.0)
    with pytest.raises(ValueError, match="latent_dim = embedding_dim = 4; it has 6"):
        make(cls, head=Projection(16, 6))
    with pytest.raises(ValueError, match="requires an attribute `features`"):
        make(cls, encoder=MLPEncoder(SHAPE, 4))


@pytest.mark.parametrize("cls", [SimCLR, SupCon, SubInfoMax, SupervisedSubembeddings])
def test_a_batch_of_one_is_refused(cls: type[SimCLR]) -> None:
    with pytest.raises(ValueError, match="at least two pairs; got 1"):
        make(cls).loss(batch_for(cls, 1))


@pytest.mark.parametrize("cls", [SupCon, SubInfoMax])
def test_labels_are_required(cls: type[SupCon]) -> None:
    with pytest.raises(ValueError, match="requires labels, and the batch has none"):
        make(cls).loss(batch_for(cls)._replace(labels=None))
