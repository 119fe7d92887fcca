"""Non-finite losses, src/unbraid/watch.py."""

from pathlib import Path

import pytest
import torch

from unbraid.types import Terms
from unbraid.watch import Watch


def terms(nll: float, kl: float) -> Terms:
    return Terms(torch.tensor(nll + kl), {"nll": torch.tensor(nll), "kl": torch.tensor(kl)})


def test_finite_terms_pass(tmp_path: Path) -> None:
    watch = Watch()
    watch.see(torch.tensor(1), {"model": terms(1.0, 2.0)})
    watch.check(tmp_path)


def test_the_first_bad_step_and_its_terms_are_named(tmp_path: Path) -> None:
    watch = Watch()
    watch.see(torch.tensor(1), {"model": terms(1.0, 2.0)})
    watch.see(torch.tensor(2), {"model": terms(1.0, float("inf"))})
    watch.see(torch.tensor(3), {"model": terms(float("nan"), float("nan"))})
    with pytest.raises(
        FloatingPointError, match=r"step 2: loss, kl of model .* No checkpoint was written yet"
    ):
        watch.check(tmp_path)
    (tmp_path / "checkpoint.safetensors").touch()
    with pytest.raises(FloatingPointError, match=f"last good checkpoint is in {tmp_path}"):
        watch.check(tmp_path)
