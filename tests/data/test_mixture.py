"""Two latents behind ten columns, src/unbraid/data/mixture.py."""

import pytest
import torch
from torch import Generator
from torch.testing import assert_close

from unbraid.data.mixture import mixture


def test_sizes_and_spreads_are_the_paper_s() -> None:
    dataset = mixture()
    assert len(dataset) == 10_000 and dataset.shape == (10,) and dataset.counts["classes"] == 5
    latents = dataset.latents
    assert latents is not None
    counts = torch.bincount(dataset.combinations)  # type: ignore[arg-type]
    assert counts.tolist() == [2000] * 5
    assert_close(latents.values[:, 2:].std(0), torch.full((8,), 0.01), rtol=0.05, atol=0)
    for component in latents.informative(torch.arange(10_000)).view(5, 2000, 2):
        assert (component.mean(0).abs() < 5.3).all()
        assert (component.std(0) > 0.45).all() and (component.std(0) < 3.2).all()


def test_rows_are_what_the_network_makes_of_the_latents() -> None:
    dataset = mixture(data_seed=3)
    assert dataset.latents is not None
    assert_close(dataset.latents.network(dataset.latents.values[:5]), dataset.observe(torch.arange(5)))
    inverse = dataset.latents.network.inverse(dataset.observe(torch.arange(5)))  # type: ignore[operator]
    assert_close(inverse, dataset.latents.values[:5], rtol=0, atol=1e-4)


def test_a_trial_is_always_the_same_and_no_other() -> None:
    torch.manual_seed(1)
    first = mixture(data_seed=1)
    torch.manual_seed(2)
    assert_close(mixture(data_seed=1).source, first.source, rtol=0, atol=0)
    assert not torch.equal(mixture(data_seed=2).source, first.source)  # type: ignore[arg-type]


def test_a_trial_is_the_same_with_any_number_of_threads() -> None:
    threads, made = torch.get_num_threads(), []
    try:
        for count in (1, 2, 4):
            torch.set_num_threads(count)
            made.append(mixture(rotation_degrees=45.0).description()["fingerprint"])
            assert torch.get_num_threads() == count
    finally:
        torch.set_num_threads(threads)
    assert len(set(made)) == 1


def test_making_one_leaves_the_default_generator_alone() -> None:
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    mixture()
    assert_close(torch.rand(3), expected, rtol=0, atol=0)


def test_standard_deviations_vary_only_on_request() -> None:
    assert mixture().latents.stds.unique().tolist() == [1.0]  # type: ignore[union-attr]
    spreads = mixture(augmentation_std="varying").latents.stds  # type: ignore[union-attr]
    assert spreads.shape == (10_000, 2) and spreads.min() >= 1 / 3 and spreads.max() <= 1
    assert torch.corrcoef(spreads.t())[0, 1].abs() < 0.05
    assert (
        mixture().description()["fingerprint"]
        != mixture(augmentation_std="varying").description()["fingerprint"]
    )


def test_wider_standard_deviations_have_a_larger_ratio() -> None:
    wide = mixture(augmentation_std="varying", std_ratio=10.0).latents.stds  # type: ignore[union-attr]
    assert 0.1 <= wide.min() < 0.11 and 0.99 < wide.max() <= 1
    narrow = mixture(augmentation_std="varying", std_ratio=1.0).latents.stds  # type: ignore[union-attr]
    assert narrow.unique().tolist() == [1.0]
    for ratio in (0.5, float("inf")):
        with pytest.raises(ValueError, match="std_ratio must be at least 1 and finite; got"):
            mixture(std_ratio=ratio)


def test_a_split_keeps_each_row_with_its_latents() -> None:
    part, _ = mixture().split(0.5, Generator().manual_seed(0))
    assert part.latents is not None
    assert_close(part.latents.network(part.latents.values[:5]), part.observe(torch.arange(5)))


def test_latents_that_do_not_exist_are_refused() -> None:
    for along in ((10,), (-1,), (0, 0), ()):
        with pytest.raises(ValueError, match="must be different latents from 0 to 9; got"):
            mixture(augmented_latents=along)


def test_a_turn_turns_what_the_network_sees_and_not_the_latents() -> None:
    straight, turned = mixture().latents, mixture(rotation_degrees=30.0).latents
    assert straight is not None and turned is not None
    rows = torch.arange(100)
    assert_close(turned.informative(rows), straight.informative(rows), rtol=0, atol=1e-5)
    radius = straight.values[rows, :2].norm(dim=1)
    assert_close(turned.values[rows, :2].norm(dim=1), radius, rtol=0, atol=1e-5)
    assert not torch.allclose(turned.values[rows, :2], straight.values[rows, :2], atol=0.1)
    moved = mixture(rotation_degrees=30.0, augmented_latents=(1,)).latents
    assert moved is not None
    assert_close(moved.directions[0, :2], torch.tensor([-0.5, 3**0.5 / 2]))
