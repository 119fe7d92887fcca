"""Pairs, src/unbraid/data/pair_draw.py."""

import math
from typing import Any

import pytest
import torch
from scipy.stats import chisquare
from torch import Tensor
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode

from tests.data.small_datasets import NUMBERS as SPACE
from tests.data.small_datasets import generator
from tests.data.small_datasets import numbers as dataset
from unbraid.data import pair_draw
from unbraid.data.colored_digits import colored_mnist, rotation_colored_mnist
from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.pair_draw import PairDraw
from unbraid.data.rooms import rooms
from unbraid.schedules import Linear, StepDecay
from unbraid.types import PairBatch


@pytest.fixture
def few_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proposes fewer partners per row, whose weights are then exact to within 1 %."""
    monkeypatch.setattr(pair_draw, "CANDIDATES", 128)


def draw(rule: str, size: int = 4_000, *, data: Dataset | None = None, **settings: object) -> PairBatch:
    pairs = PairDraw(rule, **settings)
    data = dataset() if data is None else data
    pairs.check(data)
    return pairs(data, size, generator(), torch.tensor(0))


def differences(batch: PairBatch) -> Tensor:
    return batch.factors != batch.factors2


def even(counts: Tensor) -> bool:
    return chisquare(counts.double().numpy()).pvalue > 1e-3


def test_observations_of_a_pair_show_its_factors() -> None:
    batch = draw("exactly", data=dataset(label="c"))
    assert_close(batch.x1[:, 0].long(), SPACE.index(batch.factors))
    assert_close(batch.x2[:, 0].long(), SPACE.index(batch.factors2))
    assert_close(batch.labels, batch.factors[:, 2])


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_exactly_k_factors_take_another_value(k: int) -> None:
    batch = draw("exactly", k=k)
    changed = differences(batch)
    assert_close(changed.sum(1), torch.full((4_000,), k))
    assert_close(batch.k, torch.full((4_000,), k))
    assert not changed[:, 3].any()  # the factor with one value
    if k < 4:
        assert even(changed.sum(0)[[0, 1, 2, 4]])


def test_exactly_draws_every_other_value_equally_often() -> None:
    batch = draw("exactly", 20_000, k=1)
    changed = differences(batch)[:, 4]
    step = (batch.factors2[changed, 4] - batch.factors[changed, 4]) % 5
    counts = torch.bincount(step, minlength=5)
    assert counts[0] == 0
    assert even(counts[1:])


def test_k_of_zero_is_drawn_from_one_to_one_less_than_can_change() -> None:
    batch = draw("exactly", 6_000)
    assert_close(differences(batch).sum(1), batch.k)
    assert even(torch.bincount(batch.k)[1:])
    assert batch.k.max() == 3


def test_at_most_k_may_redraw_the_old_value() -> None:
    batch = draw("at-most", 40_000, k=4)
    changed = differences(batch)
    assert_close(batch.k, torch.full((40_000,), 4))
    assert bool((changed.sum(1) <= 4).all())
    for column, size in [(0, 2), (1, 3), (2, 4), (4, 5)]:
        redrawn = int(changed[:, column].sum())
        assert (
            chisquare([redrawn, 40_000 - redrawn], [40_000 * (size - 1) / size, 40_000 / size]).pvalue > 1e-3
        )


def test_the_library_rule_redraws_one_factor_or_k() -> None:
    batch = draw("disentanglement-lib", 8_000, k=3)
    assert set(batch.k.tolist()) == {1, 3}
    assert even(torch.bincount(batch.k, minlength=4)[[1, 3]])
    assert bool((differences(batch).sum(1) <= batch.k).all())


@pytest.mark.parametrize("rule", ["exactly", "at-most", "disentanglement-lib"])
def test_fixed_factors_stay(rule: str) -> None:
    batch = draw(rule, k=2, fixed_factors=("b", "d"))
    assert not differences(batch)[:, [1, 3, 4]].any()
    assert differences(batch)[:, [0, 2]].any(0).all()


def test_the_first_of_a_pair_is_drawn_as_a_sample() -> None:
    batch = draw("exactly", 12_000)
    assert even(torch.bincount(SPACE.index(batch.factors), minlength=SPACE.num_combinations))
    assert even(torch.bincount(SPACE.index(batch.factors2), minlength=SPACE.num_combinations))


def test_partners_stay_within_a_restricted_support() -> None:
    space = SPACE.without(c=[3]).only(d=[0, 2])
    batch = draw("exactly", data=dataset(space), k=2)
    assert bool((space.weight(space.index(batch.factors2)) > 0).all())
    assert_close(differences(batch).sum(1), batch.k)
    assert_close(batch.k, torch.full((4_000,), 2))


def test_partners_in_a_product_of_values_take_each_other_value_equally_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    space = SPACE.only(c=[0, 3, 2], d=[1, 4])
    monkeypatch.setattr(FactorSpace, "weight", None)  # no search among candidates
    batch = draw("exactly", 12_000, data=dataset(space), k=1, fixed_factors=("a", "d"))
    changed = differences(batch)[:, 2]
    steps = torch.bincount(batch.factors[changed, 2] * 4 + batch.factors2[changed, 2], minlength=16)
    occurring = [4 * a + b for a in (0, 2, 3) for b in (0, 2, 3) if a != b]
    assert even(steps[occurring]) and steps.sum() == steps[occurring].sum()
    assert draw("at-most", data=dataset(space), k=2).factors2[:, 4].unique().tolist() == [1, 4]


def test_a_factor_of_which_one_value_occurs_cannot_change() -> None:
    space = SPACE.only(c=[1])
    assert not differences(draw("exactly", data=dataset(space), k=3))[:, 2].any()
    with pytest.raises(ValueError, match="can change 1 to 3 factors; got k=4"):
        PairDraw(k=4).check(dataset(space))


def test_the_class_stays_when_it_must() -> None:
    batch = draw("exactly", data=dataset(label="c"), k=3, same_class=True)
    assert_close(batch.labels, batch.labels2)
    assert_close(differences(batch).sum(1), batch.k)
    free = draw("exactly", data=dataset(label="c"), k=3)
    assert (free.labels != free.labels2).any()
    assert_close(free.labels2, free.factors2[:, 2])
    with pytest.raises(ValueError, match="numbers has no class labels"):
        PairDraw(same_class=True).check(dataset())
    with pytest.raises(ValueError, match="1 to 3 factors; got k=4"):
        PairDraw(k=4, same_class=True).check(dataset(label="c"))


def test_an_instance_of_a_grid_stays() -> None:
    assert not differences(draw("exactly", data=dataset(instance="b"), k=2))[:, 1].any()


def test_rows_of_one_instance_are_pairs_and_k_is_counted() -> None:
    space = FactorSpace({"thing": 3, "a": 2, "b": 2})
    values = torch.tensor([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 0, 0], [2, 1, 0], [2, 1, 1], [2, 0, 1]])
    table = Dataset(
        torch.arange(7.0)[:, None],
        name="things",
        max_value=1,
        factor_space=space,
        combinations=space.index(values),
        label="a",
        instance="thing",
    )
    batch = draw("exactly", 600, data=table)
    assert (batch.factors[:, 0] == batch.factors2[:, 0]).all()
    assert (batch.x1 != batch.x2).all()
    assert_close(values[batch.x2[:, 0].long()], batch.factors2)
    assert_close(batch.k, differences(batch).sum(1))
    with pytest.raises(ValueError, match="show the same thing differ in their a"):
        PairDraw(same_class=True).check(table)


def test_hidden_nuisances_do_not_count() -> None:
    """Rows of an instance may differ in hidden nuisances; on a grid these stay equal."""
    space = FactorSpace({"thing": 2, "known": 2, "hidden": 2})
    values = torch.tensor(
        [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 1, 1]]
    )  # k is 0 for the first instance, 1 for the other
    roles: dict[str, Any] = {"instance": "thing", "hidden_nuisances": ("hidden",)}
    rows = torch.arange(4.0)[:, None]
    things = Dataset(
        rows, name="t", max_value=1, factor_space=space, combinations=space.index(values), **roles
    )
    batch = draw("exactly", 100, data=things)
    assert batch.factors is not None
    assert_close(batch.k, batch.factors[:, 0])
    assert differences(batch)[:, 2].all()
    grid = dataset(hidden_nuisances=("b",))
    assert not differences(draw("exactly", data=grid, k=3))[:, 1].any()
    with pytest.raises(ValueError, match="can change 1 to 3 factors; got k=4"):
        PairDraw(k=4).check(grid)


def test_partners_on_a_ridge_follow_its_weights(few_candidates: None) -> None:
    # With everything else fixed, the partner's c is a fresh draw given a: p(c | a) up to a factor.
    space = FactorSpace({"a": 2, "c": 4}).correlated("a", "c", sigma=0.3)
    batch = draw("at-most", 30_000, data=dataset(space), k=1, fixed_factors=("a",))
    first = batch.factors[:, 0] == 0
    counts = torch.bincount(batch.factors2[first, 1], minlength=4).double()
    weights = space.weight(torch.arange(4))
    assert_close(counts / counts.sum(), weights / weights.sum(), atol=0.02, rtol=0)


def test_a_weighted_distribution_does_not_change_how_often_each_k_is_drawn(few_candidates: None) -> None:
    batch = draw("exactly", 6_000, data=dataset(SPACE.correlated("c", "d", sigma=0.3)))
    assert_close(differences(batch).sum(1), batch.k)
    assert even(torch.bincount(batch.k)[1:])


def test_pairs_of_a_table_with_several_rows_a_combination() -> None:
    space = FactorSpace({"a": 2, "b": 3})
    combinations = torch.tensor([0, 0, 1, 3, 3, 3, 5])
    table = Dataset(
        torch.arange(7.0)[:, None], name="table", max_value=1, factor_space=space, combinations=combinations
    )
    batch = draw("exactly", data=table, k=1)
    shown = combinations[batch.x2[:, 0].long()]
    assert_close(shown, space.index(batch.factors2))
    assert_close(differences(batch).sum(1), batch.k)
    assert set(batch.x2[:, 0].long().tolist()) == set(range(7))


def test_the_same_generator_gives_the_same_batch() -> None:
    for a, b in zip(draw("exactly"), draw("exactly"), strict=True):
        assert (a is None and b is None) or torch.equal(a, b)


@pytest.mark.parametrize(
    ("mistake", "sentence"),
    [
        (lambda: PairDraw().check(Dataset(torch.zeros(2, 3), name="rows")), "rows has no known factors"),
        (lambda: PairDraw(k=5).check(dataset()), "can change 1 to 4 factors; got k=5"),
        (lambda: PairDraw(k=-1).check(dataset()), "got k=-1"),
        (lambda: PairDraw(fixed_factors=("e",)).check(dataset()), "no factor 'e'"),
        (lambda: PairDraw(fixed_factors=("a", "b", "c", "d")).check(dataset()), "1 to 0 factors"),
        (
            lambda: PairDraw(k_schedule=Linear(1.0, 9.0, 10)).check(dataset()),
            "can change 1 to 4 factors; got linear:1.0:9.0:10, which goes from 1 to 9",
        ),
        (lambda: PairDraw(k_schedule=Linear(5.0, 1.0, 10)).check(dataset()), "which goes from 5 to 1"),
        (lambda: PairDraw(k_schedule=Linear(0.0, 3.0, 10)).check(dataset()), "which goes from 0 to 3"),
        (
            lambda: PairDraw(k_schedule=Linear(1.0, math.nan, 10)).check(dataset()),
            "which goes from nan to nan",
        ),
        (lambda: PairDraw(k_schedule=StepDecay(4.0, 0.5, 10)).check(dataset()), "which goes from 4 to 0"),
    ],
)
def test_mistakes_get_one_sentence(mistake, sentence: str) -> None:  # noqa: ANN001
    with pytest.raises(ValueError, match=sentence):
        mistake()


def test_a_support_without_partners_is_refused(few_candidates: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_draw, "ROUNDS", 3)
    space = FactorSpace({"a": 2, "b": 2}).restricted_to(torch.tensor([0, 3]))
    with pytest.raises(ValueError, match="no partner"):
        draw("exactly", 100, data=dataset(space), k=1)


def test_the_warm_up_by_difficulty_follows_the_step() -> None:
    pairs = PairDraw(k_schedule=Linear(1.0, 3.0, 10))
    pairs.check(dataset())
    for step, k in ((0, 1), (5, 2), (10, 3), (99, 3)):
        batch = pairs(dataset(), 200, generator(), torch.tensor(step))
        assert batch.factors is not None and batch.factors2 is not None
        assert batch.k.unique().tolist() == [k]
        assert ((batch.factors != batch.factors2).sum(1) == k).all()
    with pytest.raises(ValueError, match=r"given twice, k=1 and linear:1\.0:3\.0:10"):
        PairDraw(k=1, k_schedule=Linear(1.0, 3.0, 10)).check(dataset())


def test_pairs_found_by_trial_cannot_be_part_of_a_cuda_graph() -> None:
    assert PairDraw().cuda_graph_unsupported(dataset()) is None
    few = dataset().with_factor_distribution(
        lambda space: space.restricted_to(torch.tensor([0, 1, 5, 7, 11]))
    )
    assert "found by trial" in (PairDraw().cuda_graph_unsupported(few) or "")


class NoWaiting(TorchDispatchMode):
    """Fails on what makes a device wait for the host, or gives shapes that depend on values."""

    WAITS = (
        torch.ops.aten._local_scalar_dense.default,
        torch.ops.aten.nonzero.default,
        torch.ops.aten.masked_select.default,
        torch.ops.aten._unique2.default,
    )

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        assert func not in self.WAITS, f"a draw waits: {func}"
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    "data",
    [
        dataset(label="c"),
        dataset(SPACE.only(c=[0, 2], d=[1, 3, 4]), label="c"),
        colored_mnist(digits="bundled"),
        rotation_colored_mnist(digits="bundled"),
        rooms(image_size=8, split="train"),
    ],
    ids=["grid", "product", "colored", "turned", "rooms"],
)
@pytest.mark.parametrize("settings", [{}, {"k": 1}, {"partner": "other-instance"}], ids=str)
def test_pairs_are_drawn_without_waiting(data: Dataset, settings: dict[str, Any]) -> None:
    if "partner" in settings and data.instance is None:
        pytest.skip("a dataset without instances")
    pairs = PairDraw(same_class=True, **settings)
    pairs.check(data)
    data, step = data.to("cpu"), torch.tensor(0)
    pairs(data, 8, generator(), step)  # what is worked out once, is
    with NoWaiting():
        pairs(data, 8, generator(), step)
