"""Comparison of files with the model, src/unbraid/export/check.py."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from tests.export.conftest import packed
from unbraid.export.bundle import ExportBundle, Outputs, Reader
from unbraid.export.check import SIZES, check
from unbraid.runs.folder import Run


def faithful(
    bundle: ExportBundle, *, wrong: Callable[[np.ndarray], np.ndarray] = lambda codes: codes
) -> Reader:
    @torch.no_grad()
    def encode(*inputs: torch.Tensor) -> Outputs:
        return {name: wrong(values.numpy()) for name, values in bundle.encoder(*inputs).items()}

    @torch.no_grad()
    def decode(*inputs: torch.Tensor) -> np.ndarray:
        assert bundle.decoder is not None
        return bundle.decoder(*inputs).numpy()

    return Reader(encode, None if bundle.decoder is None else decode)


@pytest.mark.parametrize("kind", ["sprites", "tabular", "predicting", "flowing"])
def test_the_model_itself_passes(kind: str, request: pytest.FixtureRequest) -> None:
    bundle = packed(request.getfixturevalue(kind))
    assert check(bundle, faithful(bundle)) < 1e-6


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda codes: codes + 1e-4, "differs from the model"),
        (lambda codes: codes * np.nan, "differs from the model"),
        (lambda codes: codes[:, :1], "has shape"),
        (lambda codes: codes[:1], "has shape"),  # a batch of one
    ],
)
def test_differences_are_refused(
    wrong: Callable[[np.ndarray], np.ndarray], sentence: str, sprites: Run
) -> None:
    bundle = packed(sprites)
    with pytest.raises(ValueError, match=sentence):
        check(bundle, faithful(bundle, wrong=wrong))


def test_missing_outputs_are_refused(sprites: Run, predicting: Run) -> None:
    bundle = packed(sprites)
    with pytest.raises(ValueError, match="lacks the decoder"):
        check(bundle, faithful(bundle)._replace(decode=None))
    other = packed(predicting)
    encode = faithful(other).encode
    with pytest.raises(ValueError, match="lacks logits"):
        check(other, Reader(lambda *inputs: {"codes": encode(*inputs)["codes"]}, None))


def test_other_batch_sizes_than_the_traced_one_are_checked() -> None:
    assert 2 not in SIZES and len(SIZES) > 1
