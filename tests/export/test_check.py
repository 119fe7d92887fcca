"""Files that differ are found, src/unbraid/export/check.py."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from tests.export.conftest import packed
from unbraid.export.check import SIZES, check
from unbraid.export.package import Outputs, Package, Reader
from unbraid.runs import Run


def faithful(package: Package, *, wrong: Callable[[np.ndarray], np.ndarray] = lambda codes: codes) -> Reader:
    @torch.no_grad()
    def encode(*inputs: torch.Tensor) -> Outputs:
        return {name: wrong(values.numpy()) for name, values in package.encoder(*inputs).items()}

    @torch.no_grad()
    def decode(*inputs: torch.Tensor) -> np.ndarray:
        assert package.decoder is not None
        return package.decoder(*inputs).numpy()

    return Reader(encode, None if package.decoder is None else decode)


@pytest.mark.parametrize("kind", ["pictured", "tabular", "predicting", "flowing"])
def test_the_model_itself_passes(kind: str, request: pytest.FixtureRequest) -> None:
    package = packed(request.getfixturevalue(kind))
    assert check(package, faithful(package)) < 1e-6


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda codes: codes + 1e-4, "differs from the model"),
        (lambda codes: codes * np.nan, "differs from the model"),
        (lambda codes: codes[:, :1], "has the shape"),
        (lambda codes: codes[:1], "has the shape"),  # a batch of one alone
    ],
)
def test_what_differs_is_refused(
    wrong: Callable[[np.ndarray], np.ndarray], sentence: str, pictured: Run
) -> None:
    package = packed(pictured)
    with pytest.raises(ValueError, match=sentence):
        check(package, faithful(package, wrong=wrong))


def test_what_lacks_is_refused(pictured: Run, predicting: Run) -> None:
    package = packed(pictured)
    with pytest.raises(ValueError, match="lacks the decoder"):
        check(package, faithful(package)._replace(decode=None))
    other = packed(predicting)
    encode = faithful(other).encode
    with pytest.raises(ValueError, match="lacks logits"):
        check(other, Reader(lambda *inputs: {"codes": encode(*inputs)["codes"]}, None))


def test_batches_of_other_sizes_are_tried() -> None:
    assert 2 not in SIZES and len(SIZES) > 1
