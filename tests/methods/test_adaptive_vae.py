"""What holds for Ada-GVAE and Ada-ML-VAE alike, src/unbraid/methods/adaptive_vae.py."""

import pytest
import torch
from torch.testing import assert_close

from tests.tiny import batch_for, images, loss, make
from unbraid.methods import AdaGVAE, AdaMLVAE, BetaVAE
from unbraid.methods.adaptive_vae import AdaptiveVAE
from unbraid.types import Batch, PairBatch

both = pytest.mark.parametrize("cls", [AdaGVAE, AdaMLVAE])


@both
def test_raising_beta_by_one_adds_one_divergence(cls: type[AdaptiveVAE]) -> None:
    batch = batch_for(cls)
    low, high = (loss(make(cls, beta=beta), batch) for beta in (4.0, 5.0))
    assert_close(high.total - low.total, low.by_name["kl"])


@both
def test_an_image_with_itself_is_the_beta_vae(cls: type[AdaptiveVAE]) -> None:
    """Merging equal posteriors changes nothing; the noise of both halves is that of one joined batch."""
    x, k = images(), torch.ones(8, dtype=torch.long)
    pair = loss(make(cls, beta=3.0), PairBatch(x, x, k))
    alone = loss(make(BetaVAE, beta=3.0), Batch(torch.cat([x, x])))
    assert_close(pair.total, alone.total)


@both
def test_how_many_factors_changed_is_not_used(cls: type[AdaptiveVAE]) -> None:
    method, batch = make(cls), batch_for(cls)
    other = batch._replace(k=batch.k + 3, labels=batch.k, factors=batch.k[:, None])
    assert_close(loss(method, other).total, loss(method, batch).total)
