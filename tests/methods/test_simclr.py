"""SimCLR by hand, src/unbraid/methods/simclr.py."""

import math

import torch
from torch.nn import functional as F
from torch.testing import assert_close

from tests.tiny import batch_for, loss, make
from unbraid.methods import SimCLR


def test_it_is_the_cross_entropy_of_finding_the_other_view() -> None:
    method, batch = make(SimCLR, temperature=0.3), batch_for(SimCLR)
    z = method.features_and_embedding(torch.cat([batch.x1, batch.x2]))[1]
    assert_close(z.norm(dim=1), torch.ones(16, dtype=torch.float64))
    similarity = (z @ z.T / 0.3).masked_fill(torch.eye(16, dtype=torch.bool), -math.inf)
    other = (torch.arange(16) + 8) % 16
    assert_close(loss(method, batch).total, F.cross_entropy(similarity, other))


def test_labels_are_never_read() -> None:
    method, batch = make(SimCLR), batch_for(SimCLR)
    bare = batch._replace(labels=None, factors=None, factors2=None, nuisances=None)
    assert_close(loss(method, bare).total, loss(method, batch).total, rtol=0, atol=0)


def test_defaults_are_the_paper_s() -> None:
    method = make(SimCLR, embedding_dim=128)
    assert (method.temperature, method.embedding_dim) == (0.5, 128)
