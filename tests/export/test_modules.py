"""Encoders and decoders with preprocessing, src/unbraid/export/modules.py."""

import pytest
import torch
from torch.testing import assert_close

from tests.tiny import CODES, METHODS, SHAPE, make, roles
from unbraid.data.columns import ColumnScaler
from unbraid.export.modules import Decoder, Encoder, condition_columns, output_names
from unbraid.methods import CNN, GIN, VAE, VFAE, InfoGAN, PrincipledContrast, has_decoder
from unbraid.methods.base import Method
from unbraid.nn import MLPDecoder, MLPEncoder
from unbraid.objectives import Normal


@pytest.mark.parametrize("cls", METHODS, ids=lambda cls: cls.name())
def test_outputs_are_those_of_the_method(cls: type[Method]) -> None:
    method = make(cls).float().eval()
    pixels = torch.randint(0, 256, (3, 3, 3, 1), dtype=torch.uint8)
    condition = method.condition_from(*roles(3))
    outputs = Encoder(method, SHAPE)(pixels, condition)
    codes = method.encode(pixels.permute(0, 3, 1, 2) / 255, condition)
    assert tuple(outputs) == output_names(method)
    assert_close(outputs["codes"], codes)
    if has_decoder(method):
        decoded = Decoder(method, SHAPE)(codes, condition)
        assert decoded.shape == (3, 3, 3, 1) and decoded.min() >= 0 and decoded.max() <= 1
        assert_close(decoded, method.decode(codes, condition).clamp(0, 1).permute(0, 2, 3, 1))


def test_strands_are_named() -> None:
    assert output_names(make(VAE)) == ("codes",)
    assert output_names(make(PrincipledContrast)) == ("codes", "common", "salient")
    assert output_names(make(CNN)) == ("codes", "logits")
    assert output_names(make(InfoGAN)) == ("codes", "noise")  # its strand `codes` is left out
    method = make(PrincipledContrast).float()
    outputs = Encoder(method, SHAPE)(torch.zeros(2, 3, 3, 1, dtype=torch.uint8))
    assert_close(torch.cat([outputs["common"], outputs["salient"]], 1), outputs["codes"])


def test_missing_values_become_what_they_became_in_training() -> None:
    method = VAE(MLPEncoder((2,), CODES), MLPDecoder(CODES, (2,)), likelihood=Normal()).eval()
    columns = ColumnScaler(("a", "b"), (100.0, 7.0), (10.0, 2.0), fill=(110.0, 7.0))
    rows = torch.tensor([[float("nan"), 9.0]], dtype=torch.float64)
    assert_close(Encoder(method, (2,), columns)(rows)["codes"], method.encode(torch.tensor([[1.0, 1.0]])))


def test_rows_are_in_the_units_of_their_table() -> None:
    method = VAE(MLPEncoder((2,), CODES), MLPDecoder(CODES, (2,)), likelihood=Normal()).eval()
    columns = ColumnScaler(("a", "b"), (100.0, 1e9), (10.0, 1e3))
    rows = torch.tensor([[110.0, 1e9], [90.0, 1e9 + 2e3]], dtype=torch.float64)  # needs float64
    codes = Encoder(method, (2,), columns)(rows)["codes"]
    assert_close(codes, method.encode(torch.tensor([[1.0, 0.0], [-1.0, 2.0]])))
    decoded, plain = Decoder(method, (2,), columns)(codes), method.decode(codes).double()
    assert_close(decoded, plain * torch.tensor([10.0, 1e3]) + torch.tensor([100.0, 1e9]))


class Nameless(VAE):
    """A conditional method of a user without the numbers of values."""

    conditions_on = "nuisances"


def test_columns_of_conditions() -> None:
    with pytest.raises(ValueError, match="Nameless conditions on nuisances, so its constructor must have"):
        condition_columns(make(Nameless))
    assert condition_columns(make(VAE)) is None and condition_columns(make(GIN)) is None
    assert condition_columns(make(VFAE)) == 2
