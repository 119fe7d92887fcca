"""Normalization layers as operations, src/unbraid/explore/normalization.py."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from unbraid.explore.trace import trace
from unbraid.methods.beta_vae import BetaVAE
from unbraid.nn import MLPDecoder, MLPEncoder
from unbraid.objectives import Normal

SHAPE = (6, 4, 4)
NORMS = {
    "group": nn.GroupNorm(2, 6),
    "instance": nn.GroupNorm(6, 6, affine=False),
    "layer": nn.GroupNorm(1, 6, eps=0.5),
    "batch": nn.BatchNorm2d(6),
}


@pytest.mark.parametrize("name", NORMS)
def test_a_traced_norm_is_pytorchs(name: str) -> None:
    torch.manual_seed(0)
    norm = NORMS[name]
    with torch.no_grad():
        for tensor in (*norm.parameters(), *norm.buffers()):
            if tensor.is_floating_point():
                tensor.uniform_(0.5, 2)
    decoder = nn.Sequential(MLPDecoder(3, SHAPE, hidden=()), norm)
    method = BetaVAE(MLPEncoder(SHAPE, 3, hidden=()), decoder, likelihood=Normal(1.0)).eval()
    program, codes = trace(method), 3 * torch.randn(1, 3)
    with torch.no_grad():
        assert_close(program.run(codes), method.decode(codes), atol=1e-5, rtol=1e-5)
        assert_close(program.run(codes), norm(method.decoder[0](codes)), atol=1e-5, rtol=1e-5)  # type: ignore[index]
