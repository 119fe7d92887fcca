"""Eq. 3 and nothing else, src/unbraid/methods/contrast_vae.py."""

import torch
from torch.testing import assert_close

from tests.tiny import images, loss, make
from unbraid.methods import ContrastVAE
from unbraid.types import ContrastBatch

BATCH = ContrastBatch(images(seed=1), images(seed=2))


def test_the_loss_is_the_sum_of_its_terms() -> None:
    terms = loss(make(ContrastVAE, beta=1.0), BATCH)
    total, parts = terms.total, terms.by_name
    assert_close(total, sum(parts.values()))
    assert set(parts) == {"nll", "nll_background", "kl", "kl_background"}


def test_raising_beta_by_one_adds_both_divergences_once() -> None:
    low, high = (loss(make(ContrastVAE, beta=beta), BATCH) for beta in (2.0, 3.0))
    assert_close(high.total - low.total, low.by_name["kl"] + low.by_name["kl_background"])


def test_salient_codes_of_the_background_do_not_count() -> None:
    """The shortcoming that the paper corrects: Eq. 3 does not constrain them."""
    method = make(ContrastVAE)
    changed = make(ContrastVAE)
    with torch.no_grad():
        for head in (method.encoder.heads, changed.encoder.heads):  # type: ignore[union-attr]
            head.weight.zero_()  # type: ignore[union-attr]
        changed.encoder.heads.bias[[2, 3]] += 5.0  # type: ignore[union-attr, index]
    parts, other = loss(method, BATCH).by_name, loss(changed, BATCH).by_name
    assert_close(parts["nll_background"], other["nll_background"])
    assert_close(parts["kl_background"], other["kl_background"])
    assert parts["kl"] < other["kl"]
