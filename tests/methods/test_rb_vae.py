"""The learned reference of the Rb-VAE, src/unbraid/methods/rb_vae.py."""

import torch
from torch.testing import assert_close

from tests.tiny import images, loss, make
from unbraid.methods import ContrastVAE, RbVAE
from unbraid.types import ContrastBatch

BATCH = ContrastBatch(images(seed=1), images(seed=2))


def test_with_a_reference_of_zero_it_is_the_contrast_vae() -> None:
    assert_close(loss(make(RbVAE), BATCH).total, loss(make(ContrastVAE, beta=1.0), BATCH).total)


def test_the_background_is_decoded_with_the_reference() -> None:
    method = make(RbVAE)
    with torch.no_grad():
        method.s_r.copy_(torch.tensor([1.5, -2.0]))
    codes = torch.randn(3, 4, dtype=torch.float64)
    expected = torch.cat([codes[:, :2], torch.tensor([[1.5, -2.0]]).double().expand(3, 2)], 1)
    assert_close(method.background_codes(codes), expected)
    parts, bare = loss(method, BATCH).by_name, loss(make(ContrastVAE), BATCH).by_name
    assert parts["nll_background"] != bare["nll_background"]
    assert_close(parts["nll"], bare["nll"])
