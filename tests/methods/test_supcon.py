"""SupCon against SimCLR and by hand, src/unbraid/methods/supcon.py."""

import math

import torch
from torch.testing import assert_close

from tests.tiny import batch_for, loss, make
from unbraid.methods import SimCLR, SupCon


def test_with_a_label_for_each_pair_it_is_simclr() -> None:
    batch = batch_for(SupCon)._replace(labels=torch.arange(8))
    supcon, simclr = make(SupCon, temperature=0.2), make(SimCLR, temperature=0.2)
    assert_close(loss(supcon, batch).total, loss(simclr, batch).total)


def test_by_a_slow_rewriting() -> None:
    method, batch = make(SupCon, temperature=0.4), batch_for(SupCon)
    z = method.features_and_embedding(torch.cat([batch.x1, batch.x2]))[1].tolist()
    labels, total = batch.labels.tolist() * 2, 0.0
    s = [[math.exp(sum(a * b for a, b in zip(u, v, strict=True)) / 0.4) for v in z] for u in z]
    for i in range(16):
        positives = [p for p in range(16) if p != i and labels[p] == labels[i]]
        below = sum(s[i][a] for a in range(16) if a != i)
        total -= sum(math.log(s[i][p] / below) for p in positives) / len(positives) / 16
    assert_close(loss(method, batch).total.item(), total)
