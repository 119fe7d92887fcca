"""Non-finite losses, src/unbraid/training/nonfinite.py."""

from pathlib import Path

import pytest
import torch

from unbraid.training.nonfinite import NonFiniteDetector
from unbraid.types import Terms


def terms(nll: float, kl: float) -> Terms:
    return Terms(torch.tensor(nll + kl), {"nll": torch.tensor(nll), "kl": torch.tensor(kl)})


def test_finite_terms_pass(tmp_path: Path) -> None:
    watch = NonFiniteDetector()
    watch.record(torch.tensor(1), {"model": terms(1.0, 2.0)})
    watch.raise_if_found(tmp_path)


def test_the_first_bad_step_and_its_terms_are_named(tmp_path: Path) -> None:
    watch = NonFiniteDetector()
    watch.record(torch.tensor(1), {"model": terms(1.0, 2.0)})
    watch.record(torch.tensor(2), {"model": terms(1.0, float("inf"))})
    watch.record(torch.tensor(3), {"model": terms(float("nan"), float("nan"))})
    with pytest.raises(
        FloatingPointError, match=r"loss, kl of model .* at step 2.* There is no checkpoint yet"
    ):
        watch.raise_if_found(tmp_path)
    (tmp_path / "checkpoint.safetensors").touch()
    with pytest.raises(FloatingPointError, match=f"last good checkpoint is in {tmp_path}"):
        watch.raise_if_found(tmp_path)
