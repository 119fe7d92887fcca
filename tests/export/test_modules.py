"""Encoders and decoders that stand alone, src/unbraid/export/modules.py."""

import pytest
import torch
from torch.testing import assert_close

from tests.tiny import CODES, METHODS, SHAPE, make, roles
from unbraid.data.columns import Columns
from unbraid.export.modules import Decoder, Encoder, given_columns, has_decoder, output_names
from unbraid.methods import CNN, GIN, VAE, VFAE, InfoGAN, PrincipledContrast
from unbraid.methods.base import Method
from unbraid.nn import MLPDecoder, MLPEncoder
from unbraid.objectives import Normal


@pytest.mark.parametrize("cls", METHODS, ids=lambda cls: cls.name())
def test_every_method_is_what_it_was(cls: type[Method]) -> None:
    method = make(cls).float().eval()
    pixels = torch.randint(0, 256, (3, 3, 3, 1), dtype=torch.uint8)
    given = method.given(*roles(3))
    found = Encoder(method, SHAPE)(pixels, given)
    codes = method.encode(pixels.permute(0, 3, 1, 2) / 255, given)
    assert tuple(found) == output_names(method)
    assert_close(found["codes"], codes)
    if has_decoder(method):
        made = Decoder(method, SHAPE)(codes, given)
        assert made.shape == (3, 3, 3, 1) and made.min() >= 0 and made.max() <= 1
        assert_close(made, method.decode(codes, given).clamp(0, 1).permute(0, 2, 3, 1))


def test_strands_have_their_names() -> None:
    assert output_names(make(VAE)) == ("codes",)
    assert output_names(make(PrincipledContrast)) == ("codes", "common", "salient")
    assert output_names(make(CNN)) == ("codes", "logits")
    assert output_names(make(InfoGAN)) == ("codes", "noise")  # whose codes are a part of all
    method = make(PrincipledContrast).float()
    found = Encoder(method, SHAPE)(torch.zeros(2, 3, 3, 1, dtype=torch.uint8))
    assert_close(torch.cat([found["common"], found["salient"]], 1), found["codes"])


def test_rows_come_in_the_units_of_their_table() -> None:
    method = VAE(MLPEncoder((2,), CODES), MLPDecoder(CODES, (2,)), likelihood=Normal()).eval()
    columns = Columns(("a", "b"), (100.0, 1e9), (10.0, 1e3))
    rows = torch.tensor([[110.0, 1e9], [90.0, 1e9 + 2e3]], dtype=torch.float64)  # too large for float32
    codes = Encoder(method, (2,), columns)(rows)["codes"]
    assert_close(codes, method.encode(torch.tensor([[1.0, 0.0], [-1.0, 2.0]])))
    made, plain = Decoder(method, (2,), columns)(codes), method.decode(codes).double()
    assert_close(made, plain * torch.tensor([10.0, 1e3]) + torch.tensor([100.0, 1e9]))


def test_what_methods_are_given() -> None:
    assert given_columns(make(VAE)) is None and given_columns(make(GIN)) is None
    assert given_columns(make(VFAE)) == 2
