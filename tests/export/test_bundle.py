"""Bundles of exported models, src/unbraid/export/bundle.py."""

import torch
from torch.testing import assert_close

from tests.export.conftest import packed
from unbraid.runs.folder import Run


def test_inputs_have_the_form_of_the_model(sprites: Run, tabular: Run) -> None:
    pixels = packed(sprites).inputs(3)
    assert pixels.observations.dtype == torch.uint8 and pixels.observations.shape == (3, 32, 32, 1)
    assert pixels.condition == ()
    rows = packed(tabular).inputs(4)
    assert rows.observations.dtype == torch.float64 and rows.observations.shape == (4, 2)
    assert rows.condition[0].dtype == torch.int64 and rows.condition[0].shape == (4, 1)


def test_the_columns_are_those_of_the_table(tabular: Run, sprites: Run) -> None:
    columns = packed(tabular).model.columns
    assert columns is not None and columns.names == ("age", "income")
    assert_close(columns.mean[0], (31 + 45 + 22 + 60 + 33) / 5)
    assert packed(sprites).model.columns is None


def test_the_decoder_of_a_flow_is_its_inverse(flowing: Run) -> None:
    bundle = packed(flowing)
    inputs = bundle.inputs(4)
    _, decoded = bundle.expected(inputs)
    assert decoded is not None
    assert_close(decoded, inputs.observations, atol=1e-4, rtol=1e-4)
