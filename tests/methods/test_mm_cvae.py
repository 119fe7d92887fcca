"""Limits and slopes of the MM-cVAE, src/unbraid/methods/mm_cvae.py."""

import torch
from torch.testing import assert_close

from tests.tiny import images, loss, make
from unbraid.methods import ContrastVAE, MMcVAE
from unbraid.types import ContrastBatch

BATCH = ContrastBatch(images(seed=1), images(seed=2))


def test_without_both_weights_it_is_the_contrast_vae() -> None:
    bare = loss(make(MMcVAE, lambda_match=0.0, lambda_zero=0.0), BATCH)
    assert_close(bare.total, loss(make(ContrastVAE, beta=1.0), BATCH).total)


def test_each_weight_adds_its_discrepancy_once() -> None:
    low = loss(make(MMcVAE, lambda_match=1.0, lambda_zero=1.0), BATCH)
    for name, term in (("lambda_match", "match"), ("lambda_zero", "zero_salient")):
        high = loss(make(MMcVAE, **({"lambda_match": 1.0, "lambda_zero": 1.0} | {name: 2.0})), BATCH)
        assert_close(high.total - low.total, low.by_name[term])


def test_the_discrepancies_by_kernels_written_out() -> None:
    """Thirteen kernels exp(-γ‖a - b‖²), γ from 1e-6 to 1e6, every code with every code."""
    method = make(MMcVAE)
    parts = loss(method, BATCH).by_name
    torch.manual_seed(2)
    evidence = method.elbo_terms(BATCH)

    def kernel(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return sum(torch.exp(-(10.0**power) * torch.cdist(a, b) ** 2) for power in range(-6, 7)).mean()  # type: ignore[union-attr]

    def discrepancy(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return kernel(a, a) + kernel(b, b) - 2 * kernel(a, b)

    s_b = evidence.c_y[:, 2:]
    assert_close(parts["match"], discrepancy(evidence.c_x[:, :2], evidence.c_y[:, :2]), rtol=1e-5, atol=1e-6)
    assert_close(parts["zero_salient"], discrepancy(s_b, torch.zeros_like(s_b)), rtol=1e-5, atol=1e-6)
