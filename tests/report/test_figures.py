"""Figures of a model, src/unbraid/report/figures.py."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from tests.tiny import SHAPE, make
from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.methods import CNN, VFAE, BetaVAE
from unbraid.metrics import kl_per_dim
from unbraid.report.figures import (
    Activity,
    activity,
    conditions,
    examples,
    reconstructions,
    swaps,
    traversals,
)
from unbraid.runs.model import Model
from unbraid.strands import Strands


def test_examples_are_the_same_every_time(dataset: Dataset) -> None:
    assert_close(examples(dataset, 5), examples(dataset, 5))
    assert not torch.equal(examples(dataset, 5), examples(dataset, 5, seed=1))


def test_originals_stand_above_their_reconstructions(model: Model, dataset: Dataset) -> None:
    original, decoded = reconstructions(model, dataset, count=4).rows
    assert_close(original.images, examples(dataset, 4))
    assert_close(decoded.images, model.reconstruct(original.images))


def test_activity_is_the_kl_of_each_code(model: Model, dataset: Dataset) -> None:
    x = examples(dataset, 64)
    with torch.no_grad():
        mean, logvar = model.method.posterior(x)  # type: ignore[operator]
    assert_close(activity(model, x).amounts, kl_per_dim(mean.numpy(), logvar.numpy()).per_dim)


def test_codes_without_a_posterior_are_ranked_by_variance() -> None:
    method = make(CNN).float()
    model, x = Model(method, SHAPE), torch.rand(64, *SHAPE, generator=torch.Generator().manual_seed(0))
    assert activity(model, x).unit == "variance"
    assert_close(activity(model, x).amounts, method.encode(x).detach().numpy().var(0))


def test_the_busiest_codes_come_first_and_the_idle_ones_not_at_all() -> None:
    busy = Activity(np.array([0.5, 0.0, 2.0]), "nats")
    assert (busy.order, busy.active) == ([2, 0, 1], [2, 0])
    assert Activity(np.zeros(3), "nats").active == [0]
    assert busy.describe(2) == "KL 2.00"


def test_a_traversal_moves_one_code_and_holds_the_others(model: Model, dataset: Dataset) -> None:
    figure = traversals(model, dataset, dims=(2, 0), images=(0, 1), values=(-1.0, 1.5))
    assert figure.columns == ("−1", "1.5")
    assert [row.label for row in figure.rows] == ["dimension 2", "dimension 2", "dimension 0", "dimension 0"]
    codes = model.encode(examples(dataset, 512)[1:2])
    codes[0, 0] = 1.5
    assert_close(figure.rows[3].images[1:], model.decode(codes))


def test_a_traversal_says_which_codes_it_leaves_out(model: Model, dataset: Dataset) -> None:
    figure = traversals(model, dataset)
    shown = {row.label for row in figure.rows}
    assert len(shown) == len(activity(model, examples(dataset, 512)).active)
    assert ("not shown" in figure.caption) == (len(shown) < model.strands.size)


def test_a_swap_takes_one_strand_of_the_second_image(
    model: Model, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model.method, "_strands", Strands.from_sizes(common=3, salient=1))
    figure = swaps(model, dataset, count=3)
    assert [row.label for row in figure.rows] == ["a", "b", "common of b", "salient of b"]
    a, b = model.encode(figure.rows[0].images), model.encode(figure.rows[1].images)
    assert_close(figure.rows[3].images, model.decode(torch.cat([a[:, :3], b[:, 3:]], 1)))


def test_a_code_that_is_all_one_strand_is_swapped_code_by_code(model: Model, dataset: Dataset) -> None:
    labels = [row.label for row in swaps(model, dataset).rows]
    assert labels[2].startswith("dimension ")


def test_a_figure_becomes_one_sheet(model: Model, dataset: Dataset) -> None:
    sheet = reconstructions(model, dataset, count=4).sheet()
    assert sheet.width > 4 * 64 and sheet.height > 2 * 64


def test_a_conditional_method_is_given_the_nuisances_of_its_examples() -> None:
    space = FactorSpace({"label": 3, "b": 2, "c": 3})
    images = torch.randint(0, 256, (18, *SHAPE), dtype=torch.uint8)
    data = Dataset(images, name="noise", factor_space=space, label="label", nuisances=("b", "c"))
    model = Model(make(VFAE).float(), SHAPE)
    given = conditions(model, data, 6)
    assert given is not None and conditions(Model(make(BetaVAE), SHAPE), data, 6) is None
    model.method.nuisances.record_values(given)  # type: ignore[operator]
    x = examples(data, 6)
    assert_close(reconstructions(model, data, count=6).rows[1].images, model.reconstruct(x, condition=given))
    swapped = swaps(model, data, strands=["z1"], count=3).rows[2].images
    some, values = examples(data, 512)[:6], conditions(model, data, 512)
    assert values is not None
    expected, _ = model.swap(some[:3], some[3:], "z1", conditions=(values[:3], values[3:6]))
    assert_close(swapped, expected)
