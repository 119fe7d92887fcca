"""What a dataset returns for its rows, src/unbraid/data/dataset.py."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from tests.data.small_datasets import GRID as SPACE
from tests.data.small_datasets import generator, grid, table
from unbraid.data.dataset import Dataset
from unbraid.data.registry import DATASETS, open_dataset
from unbraid.data.renderer import GENERATED


class Painter:
    """Paints the values of the factors into the first two pixels."""

    shape = (1, 2, 2)

    def __call__(self, values: Tensor) -> Tensor:
        pixels = torch.zeros(len(values), 4, dtype=torch.uint8)
        pixels[:, :2] = values.to(torch.uint8)
        return pixels.view(-1, 1, 2, 2)


def test_counts_are_those_for_which_a_method_is_built() -> None:
    assert table().counts == {"n": 7, "classes": 3, "nuisances": ()}
    assert grid(nuisances=("b", "a")).counts == {"n": 6, "classes": 0, "nuisances": (3, 2)}


def test_images_come_out_between_zero_and_one() -> None:
    assert_close(grid().observe(torch.tensor([5, 0, 2]))[:, 0, 0, 0], torch.tensor([1.0, 0.0, 0.4]))


def test_rows_come_out_as_they_are() -> None:
    dataset = Dataset(torch.tensor([[-3.0, 9.0]]), name="rows", max_value=1)
    assert_close(dataset.observe(torch.tensor([0, 0])), torch.tensor([[-3.0, 9.0]] * 2))
    assert not dataset.images
    assert dataset.shape == (2,)
    assert dataset.factors(torch.tensor([0])) is None
    assert dataset.labels_and_nuisances(None) == (None, None)


def test_images_stored_channels_last_come_out_contiguous() -> None:
    stored = torch.randint(256, (4, 5, 5, 3), dtype=torch.uint8, generator=generator())
    dataset = Dataset(stored.permute(0, 3, 1, 2), name="last")
    seen = dataset.observe(torch.tensor([2, 1]))
    assert seen.is_contiguous()
    assert_close(seen, stored[[2, 1]].permute(0, 3, 1, 2) / 255)


def test_a_renderer_paints_the_factors_of_each_row() -> None:
    dataset = Dataset(Painter(), name="painted", factor_space=SPACE, max_value=1)
    rows = torch.arange(6)
    assert_close(dataset.observe(rows).flatten(1)[:, :2], SPACE.values(rows).float())
    assert dataset.nbytes == 0


def test_a_renderer_with_combinations_paints_those() -> None:
    combinations = torch.tensor([5, 1, 1, 3])
    dataset = Dataset(Painter(), name="painted", factor_space=SPACE, max_value=1, combinations=combinations)
    assert len(dataset) == 4
    assert_close(dataset.observe(torch.arange(4)).flatten(1)[:, :2].long(), SPACE.values(combinations))
    kept, held_out = dataset.split(0.5, generator())
    assert sorted(kept.combinations.tolist() + held_out.combinations.tolist()) == [1, 1, 3, 5]


def test_roles_are_columns_of_the_factors() -> None:
    dataset = grid(label="b", nuisances=("a", "b"))
    factors = dataset.factors(torch.tensor([5, 1]))
    labels, nuisances = dataset.labels_and_nuisances(factors)
    assert_close(labels, torch.tensor([2, 1]))
    assert_close(nuisances, torch.tensor([[1, 2], [0, 1]]))


def test_a_table_keeps_only_combinations_that_it_shows() -> None:
    assert table().factor_space.support.tolist() == [0, 2, 4, 5]


def test_indices_of_combinations_on_a_grid_are_the_combinations() -> None:
    assert grid().indices_of(torch.tensor([3, 1]), generator()).tolist() == [3, 1]


def test_another_distribution_on_a_grid_draws_within_it() -> None:
    dataset = grid().with_factor_distribution(lambda space: space.only(a=[1]))
    assert set(dataset.sample_indices(100, generator()).tolist()) == {3, 4, 5}
    assert len(dataset) == 3


def test_indices_are_the_rows_that_can_be_sampled() -> None:
    assert table().indices().tolist() == list(range(7))
    assert table().with_factor_distribution(lambda space: space.only(b=[0])).indices().tolist() == [1, 4]
    assert grid().indices().tolist() == list(range(6))
    assert grid().with_factor_distribution(lambda space: space.only(a=[1])).indices().tolist() == [3, 4, 5]
    assert Dataset(torch.zeros(3, 2), name="rows").indices().tolist() == [0, 1, 2]


def test_a_renderer_with_tensors_moves_with_the_dataset() -> None:
    class Stored(Painter):
        nbytes = 12
        moved = False

        def to(self, device: object) -> "Stored":
            self.moved = True
            return self

    dataset = Dataset(Stored(), name="stored", factor_space=SPACE)
    assert dataset.nbytes == 12
    assert not dataset.to("cpu", observations=False).source.moved and dataset.to("cpu").source.moved


def test_moving_changes_nothing_on_the_same_device() -> None:
    moved = table().to("cpu")
    assert_close(moved.sample_indices(20, generator()), table().sample_indices(20, generator()))
    assert moved.label == "b"


@pytest.mark.parametrize(
    ("mistake", "sentence"),
    [
        (lambda: Dataset(Painter(), name="painted"), "needs a factor space"),
        (
            lambda: Dataset(torch.zeros(5, 1, 2, 2), name="five", factor_space=SPACE),
            "five has 5 observations",
        ),
        (lambda: Dataset(torch.zeros(2, 3), name="x", combinations=torch.tensor([0, 1])), "no factor space"),
        (lambda: grid(label="c"), "grid has no factor 'c'"),
        (lambda: grid(instance="c"), "grid has no factor 'c' to be a label, a nuisance, an instance"),
        (lambda: table().instance_index, "table has no rows that show the same instance"),
        (lambda: grid(nuisances=("d",)), "grid has no factor 'd'"),
        (
            lambda: Dataset(torch.zeros(2, 3), name="x").with_factor_distribution(lambda space: space),
            "no known factors",
        ),
        (lambda: Dataset(torch.zeros(2, 3), name="x").split(0.0, generator()), "between 0 and 1"),
    ],
)
def test_mistakes_get_one_sentence(mistake, sentence: str) -> None:  # noqa: ANN001
    with pytest.raises(ValueError, match=sentence):
        mistake()


def beside(target: int = 10, background: int = 6, shape: tuple[int, ...] = (1, 4, 4)) -> Dataset:
    """Pictures that hold their row's number, with a background that goes on counting from 100."""
    x = torch.arange(target, dtype=torch.uint8).view(-1, 1, 1, 1).expand(-1, 1, 4, 4).contiguous()
    y = (100 + torch.arange(background)).to(torch.uint8).view(-1, 1, 1, 1).expand(-1, *shape).contiguous()
    return Dataset(x, name="target", max_value=1, background=Dataset(y, name="background", max_value=1))


def test_a_background_goes_where_its_target_goes() -> None:
    data = beside().to("cpu", observations=False)
    assert data.background is not None and len(data.background) == 6
    assert data.nbytes == 16 * 16
    assert data.description()["background"]["observations"] == 6
    alone = Dataset(torch.zeros(3, 2), name="rows", max_value=1)
    assert "background" not in alone.description()


def test_a_background_of_another_shape_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"one shape; target has \(1, 4, 4\) and background \(3, 4, 4\): resize"
    ):
        beside(shape=(3, 4, 4))
    rows, wide = (Dataset(torch.zeros(4, columns), name="rows", max_value=1) for columns in (2, 3))
    with pytest.raises(ValueError, match="give images for both, or rows for both"):
        beside().with_background(rows)
    with pytest.raises(ValueError, match="give both the same columns"):
        rows.with_background(wide)


def test_a_background_is_taken_without_its_own_background() -> None:
    data = beside()
    other = data.with_background(beside(7, 3))
    assert other.background is not None and len(other.background) == 7
    assert other.background.background is None and data.background is not None


def test_a_distribution_that_leaves_rows_out_shortens_a_table() -> None:
    dataset = table().with_factor_distribution(
        lambda space: space.weighted(torch.tensor([3.0, 1.0, 0.0]), "b")
    )
    assert len(dataset) == 5 and dataset.num_rows == 7
    assert dataset.indices_of(torch.tensor([0, 4]), generator())[0] in (1, 4)


def test_license_and_unordered_factors_are_kept_and_recorded() -> None:
    data = grid(label="a", unordered=("b",), license="CC BY 4.0")
    assert data.unordered == ("a", "b") and data.license == "CC BY 4.0"
    kept, held_out = data.split(0.5, generator())
    others: list[Dataset] = [
        *(kept, held_out, data.subset(torch.tensor([0, 1])) if data.combinations is not None else data),
        data.to("cpu"),
        data.resampled(9, generator()),
        data.with_background(grid(license="MIT")),
        data.with_factor_distribution(lambda space: space.only(a=[0])),
        data.replace(name="renamed", label=None),
    ]
    for other in others:
        assert (other.unordered, other.license) == (("a", "b"), "CC BY 4.0")
    with_background = others[-3].description()
    assert with_background["license"] == "CC BY 4.0" and with_background["background"]["license"] == "MIT"
    assert with_background["unordered"] == ["a", "b"]
    plain = grid().description()
    assert plain["license"] == "" and plain["unordered"] == []
    assert plain["fingerprint"] == data.description()["fingerprint"]
    with pytest.raises(
        ValueError, match="has no factor 'color' to be a label, a nuisance, an instance or unordered"
    ):
        grid(unordered=("color",))


UNORDERED = {
    "sprites": ("shape",),
    "rooms": ("shape", "floor_hue", "wall_hue", "object_hue"),
    "digits": ("digit",),
    "colored-mnist": ("digit", "background", "ink"),
    "rotation-colored-mnist": ("digit", "background", "ink", "angle"),
    "hue-mnist": ("digit", "hue"),
    "grassy-mnist": ("digit",),
    "mnist-stl10": ("digit", "background"),
    "credit": ("paid", "district"),
    "hidden-groups": ("group",),
    "mixture": ("component",),
    "faces": ("label",),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "mnist-stl10": {"pairs": 10, "backgrounds": "textures"},
    "grassy-mnist": {"grass": "painted", "patches": 20, "per_digit": 2},
    "faces": {"per_class": 2, "plain": 2},
}
WITHOUT_FILES = [name for name, entry in DATASETS.items() if entry.source is None or entry.fallback]


@pytest.mark.parametrize("name", WITHOUT_FILES)
def test_datasets_that_need_no_files_state_their_license_and_their_unordered_factors(name: str) -> None:
    is_digits = DATASETS[name].source is not None
    options = OPTIONS.get(name, {}) | ({"digits": "bundled"} if is_digits else {})
    data = open_dataset(name, **options)
    assert name not in UNORDERED or data.unordered == UNORDERED[name]
    assert data.license == (
        "scikit-learn's digits, from the UCI repository: CC BY 4.0" if is_digits else GENERATED
    )
    if data.background is not None:
        assert data.background.license == GENERATED


def test_unordered_factors_are_those_of_datasets_that_need_no_files() -> None:
    assert UNORDERED.keys() <= set(WITHOUT_FILES)
