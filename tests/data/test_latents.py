"""True latents, src/unbraid/data/latents.py."""

import torch
from torch import nn
from torch.testing import assert_close

from unbraid.data.latents import Latents


def doubling() -> nn.Module:
    layer = nn.Linear(3, 3, bias=False)
    layer.weight.data = 2 * torch.eye(3)
    return layer


def latents() -> Latents:
    values = torch.arange(12.0).view(4, 3)
    directions = torch.eye(3)[[2, 0]]
    spreads = torch.tensor([[1.0, 10.0]]).expand(4, 2)
    return Latents(values, doubling(), torch.eye(3)[:2], directions, spreads)


def test_informative_latents_are_along_their_axes() -> None:
    assert latents().informative(torch.tensor([2, 0])).tolist() == [[6.0, 7.0], [0.0, 1.0]]


def test_a_row_is_moved_along_the_directions_by_its_spreads() -> None:
    """Row 1 is (3, 4, 5); steps (1, 2) move latent 2 by 1 and latent 0 by 20; the network doubles."""
    steps = torch.tensor([[[1.0, 2.0], [0.0, 0.0]]])
    assert latents().augmented(torch.tensor([1]), steps).tolist() == [[[46.0, 8.0, 12.0], [6.0, 8.0, 10.0]]]


def test_a_subset_keeps_the_latents_of_its_rows() -> None:
    part = latents().subset(torch.tensor([3, 1]))
    assert_close(part.values, latents().values[[3, 1]])
    assert len(part.stds) == 2


def test_a_move_to_another_device_leaves_the_network_of_the_first() -> None:
    here = latents()
    there = here.to("meta")
    assert there.values.is_meta and next(there.network.parameters()).is_meta
    assert not next(here.network.parameters()).is_meta
    assert here.to("cpu") is here
