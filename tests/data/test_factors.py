"""Identities and distributions of factor spaces, src/unbraid/data/factors.py."""

import math

import pytest
import torch
from scipy.stats import chisquare
from torch import Tensor
from torch.testing import assert_close

from unbraid.data import factors as factors_module
from unbraid.data.factors import FactorSpace, fingerprint

SPACE = FactorSpace({"a": 3, "b": 4, "c": 5})


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def fits(drawn: Tensor, expected: Tensor) -> bool:
    """Whether counts of drawn numbers agree with the expected shares, by chi-square at one in a thousand."""
    counts = torch.bincount(drawn, minlength=len(expected)).double()
    assert not bool(counts[expected == 0].any())
    counts, expected = counts[expected > 0], expected[expected > 0].double()
    return chisquare(counts.numpy(), (expected / expected.sum() * counts.sum()).numpy()).pvalue > 1e-3


def test_numbers_and_values_are_inverse_and_the_last_factor_runs_fastest() -> None:
    numbers = torch.arange(60)
    values = SPACE.values(numbers)
    assert_close(SPACE.index(values), numbers)
    by_hand = [[a, b, c] for a in range(3) for b in range(4) for c in range(5)]
    assert_close(values, torch.tensor(by_hand))


def test_uniform_draws_are_uniform() -> None:
    assert fits(SPACE.draw(20_000, generator()), torch.ones(60))


def test_only_and_without_are_complements_in_one_factor() -> None:
    kept, rest = SPACE.only(b=[1, 3]), SPACE.without(b=[1, 3])
    assert len(kept) == len(rest) == 30
    assert_close(torch.cat([kept.support, rest.support]).sort().values, torch.arange(60))
    assert set(kept.values(kept.draw(500, generator()))[:, 1].tolist()) == {1, 3}
    assert set(rest.values(rest.draw(500, generator()))[:, 1].tolist()) == {0, 2}


def test_without_two_factors_leaves_out_every_combination_that_has_either() -> None:
    assert len(SPACE.without(a=[0], b=[0])) == 2 * 3 * 5
    assert len(SPACE.only(a=[0], b=[0])) == 5


def test_restrictions_compose_and_draws_stay_uniform_on_the_support() -> None:
    space = SPACE.only(a=[0, 2]).without(c=[4])
    expected = torch.zeros(60)
    expected[space.support] = 1
    assert len(space) == 2 * 4 * 4
    assert fits(space.draw(20_000, generator()), expected)


def test_among_keeps_the_given_combinations() -> None:
    space = SPACE.restricted_to(torch.tensor([7, 3, 3, 59]))
    assert space.support.tolist() == [3, 7, 59]
    assert SPACE.restricted_to(torch.arange(60)) is SPACE


def test_the_ridge_has_the_weight_of_the_formula() -> None:
    space = SPACE.correlated("a", "c", sigma=0.3)
    values = SPACE.values(torch.arange(60)).double()
    expected = torch.exp(-((values[:, 0] / 2 - values[:, 2] / 4) ** 2) / (2 * 0.3**2))
    assert_close(space.weight(torch.arange(60)), expected)
    assert fits(space.draw(40_000, generator()), expected)


def test_a_wide_ridge_is_uniform() -> None:
    assert_close(
        SPACE.correlated("a", "b", sigma=1e4).weight(torch.arange(60)), torch.ones(60, dtype=torch.float64)
    )


def test_a_table_is_the_joint_distribution() -> None:
    table = torch.tensor([[1.0, 0.0, 2.0, 0.0], [0.0, 3.0, 0.0, 0.0], [1.0, 1.0, 0.0, 2.0]])
    space = SPACE.weighted(table, "a", "b")
    expected = table[:, :, None].expand(3, 4, 5).flatten().double()
    assert_close(space.weight(torch.arange(60)), expected)
    assert fits(space.draw(40_000, generator()), expected)


def test_a_table_of_all_factors_needs_no_names_and_combines_with_a_restriction() -> None:
    table = torch.rand(3, 4, 5, generator=generator(), dtype=torch.float64)
    space = SPACE.weighted(table).only(a=[1])
    expected = torch.zeros(3, 4, 5, dtype=torch.float64)
    expected[1] = table[1]
    assert_close(space.weight(torch.arange(60)), expected.flatten())
    assert fits(space.draw(40_000, generator()), expected.flatten())


@pytest.mark.parametrize("weights", [[-1.0, 2.0], [math.inf, 1.0], [math.nan, 1.0]])
def test_weights_are_finite_and_not_below_zero(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="must be finite and at least 0"):
        FactorSpace({"a": 2}, weights=torch.tensor(weights))


def test_weights_multiply() -> None:
    twice = SPACE.correlated("a", "b", sigma=0.5).correlated("a", "b", sigma=0.5)
    once = SPACE.correlated("a", "b", sigma=0.5)
    assert_close(twice.weight(torch.arange(60)), once.weight(torch.arange(60)) ** 2)


def test_an_unsorted_support_is_put_in_order_with_its_weights() -> None:
    space = FactorSpace(
        {"a": 4}, support=torch.tensor([3, 0]), weights=torch.tensor([3.0, 1.0], dtype=torch.float64)
    )
    assert_close(space.weight(torch.arange(4)), torch.tensor([1.0, 0, 0, 3], dtype=torch.float64))


def test_a_split_shares_nothing_and_loses_nothing() -> None:
    kept, held_out = SPACE.split(0.25, generator())
    assert len(held_out) == 15
    assert_close(torch.cat([kept.support, held_out.support]).sort().values, torch.arange(60))
    again, _ = SPACE.split(0.25, generator())
    assert_close(kept.support, again.support)


def test_a_seed_gives_the_same_draws() -> None:
    space = SPACE.correlated("a", "b")
    assert_close(space.draw(50, generator(3)), space.draw(50, generator(3)))


def test_occurring_values_of_each_factor() -> None:
    space = SPACE.only(a=[2, 0], c=[1])
    assert [values.tolist() for values in space.observed_values] == [[0, 2], [0, 1, 2, 3], [1]]
    assert [values.tolist() for values in space.to("cpu").observed_values] == [[0, 2], [0, 1, 2, 3], [1]]
    assert [len(values) for values in SPACE.observed_values] == [3, 4, 5]


def test_what_is_a_product_of_values() -> None:
    assert SPACE.is_product and SPACE.only(a=[0, 2]).without(c=[3]).is_product
    assert not SPACE.correlated("a", "b").is_product
    assert not SPACE.split(0.5, generator())[0].is_product


def test_values_are_redrawn_among_those_that_occur() -> None:
    space = SPACE.only(a=[2, 0], c=[1])
    values = space.values(space.draw(6_000, generator()))
    u = torch.rand(6_000, 3, generator=generator(1))
    other = space.redraw(values, u, other=True)
    assert (other[:, :2] != values[:, :2]).all() and (other[:, 2] == 1).all()
    assert (space.weight(space.index(other)) > 0).all()
    step = (other[:, 1] - values[:, 1]) % 4
    assert fits(step, torch.tensor([0.0, 1, 1, 1]))
    assert fits(space.redraw(values, u)[:, 0], torch.tensor([1.0, 0, 1]))


def test_sizes_of_the_text() -> None:
    assert repr(SPACE.only(a=[0])) == "FactorSpace(a: 3, b: 4, c: 5; 20 of 60 combinations, uniform)"


@pytest.mark.parametrize(
    ("mistake", "sentence"),
    [
        (lambda: FactorSpace({}), "at least one factor"),
        (lambda: FactorSpace({"a": 0}), "at least one factor"),
        (lambda: SPACE.column("d"), "no factor 'd'; the factors are a, b, c"),
        (lambda: SPACE.only(a=[3]), "takes values 0 to 2"),
        (lambda: SPACE.without(a=[0, 1, 2]), "No combination of factors remains"),
        (lambda: SPACE.correlated("a", "b", sigma=0.0), "above 0"),
        (lambda: SPACE.correlated("a", "b", sigma=math.nan), "must be finite and above 0; got nan"),
        (
            lambda: SPACE.only(a=[0], b=[3]).correlated("a", "b", sigma=1e-3),
            "width σ = 0.001: give a larger σ",
        ),
        (lambda: SPACE.weighted(torch.ones(2, 4), "a", "b"), r"sizes \(3, 4\)"),
        (lambda: SPACE.weighted(torch.full((3,), -1.0), "a"), "entries of at least 0"),
        (lambda: SPACE.weighted(torch.full((3,), torch.nan), "a"), "finite"),
        (lambda: SPACE.only(a=[0]).weighted(torch.tensor([0.0, 1.0, 1.0]), "a"), "weight above 0"),
        (lambda: SPACE.split(1.0, generator()), "between 0 and 1"),
    ],
)
def test_mistakes_get_one_sentence(mistake, sentence: str) -> None:  # noqa: ANN001
    with pytest.raises(ValueError, match=sentence):
        mistake()


HASHED = torch.arange(48, dtype=torch.uint8).view(3, 1, 4, 4)


def test_observations_their_scale_and_every_table_count() -> None:
    other = HASHED.clone()
    other[2, 0, 3, 3] += 1
    table = torch.tensor([0, 1, 2])
    found = {
        fingerprint(HASHED, 255, ()),
        fingerprint(other, 255, ()),
        fingerprint(HASHED, 1, ()),
        fingerprint(HASHED, 255, (table,)),
        fingerprint(HASHED, 255, (table + 1,)),
        fingerprint("a renderer", 255, ()),
        fingerprint("another renderer", 255, ()),
    }
    assert len(found) == 7 and all(len(text) == 16 for text in found)
    assert fingerprint(HASHED, 255, (None, None)) == fingerprint(HASHED.clone(), 255, ())


def test_large_sources_are_hashed_by_a_sample_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factors_module, "FULL_FINGERPRINT_BYTES", 10)
    monkeypatch.setattr(factors_module, "SAMPLED_ROWS", 2)  # the first and the last row
    middle, last = HASHED.clone(), HASHED.clone()
    middle[1] += 1
    last[2] += 1
    assert fingerprint(middle, 255, ()) == fingerprint(HASHED, 255, ()) != fingerprint(last, 255, ())
