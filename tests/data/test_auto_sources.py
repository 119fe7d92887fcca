"""What is found under the data root, src/unbraid/data/auto_sources.py."""

from pathlib import Path

import pytest

from unbraid.data import auto_sources, check_dataset, open_dataset
from unbraid.data.auto_sources import find_once, find_source, find_sources
from unbraid.data.registry import DATASETS, constructor, with_sources
from unbraid.options import options_of
from unbraid.recipes import Recipe
from unbraid.runs import Run, training_dataset
from unbraid.studies import Plan, replace
from unbraid.studies.study import study

PLAN = Plan(
    "vae",
    "hue-mnist",
    {"architecture": "mlp-small", "latent_dim": 2, "steps": 1, "batch_size": 4},
    ("kl",),
    {"num_samples": 5},
)


class Arriving:
    """A data root in which the official files arrive after `looks` looks."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, looks: int) -> None:
        self.looks, self.count = looks, 0
        monkeypatch.setattr("unbraid.data.mnist.FILES", self)

    def is_present(self, root: Path | None = None) -> bool:
        self.count += 1
        return self.count > self.looks


def test_every_option_with_auto_is_decided_here() -> None:
    options = {
        (name, option.name)
        for name in DATASETS
        for option in options_of(constructor(name)).values()
        if option.default == "auto"
    }
    assert {option for _, option in options} == auto_sources.RESOLVERS.keys() and len(options) > 5


@pytest.mark.parametrize("name", ["digits", "hue-mnist", "colored-mnist"])
def test_one_opening_looks_once_and_records_what_it_found(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = Arriving(monkeypatch, looks=1)
    dataset = open_dataset(name, root=tmp_path)
    assert files.count == 1 and "bundled" in dataset.name and "UCI" in dataset.license
    assert dataset.origin == {"name": name, "options": {"digits": "bundled"}}
    files.count = 0
    direct = DATASETS[name].constructor(tmp_path)
    assert files.count == 1 and direct.name == dataset.name and direct.license == dataset.license


def test_target_and_background_are_of_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = Arriving(monkeypatch, looks=1)
    dataset = open_dataset("digits", root=tmp_path, background="digits")
    assert dataset.background is not None
    assert dataset.name == dataset.background.name == "bundled-digits" and files.count == 1


def test_a_check_describes_the_files_that_it_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = Arriving(monkeypatch, looks=1)
    assert "from scikit-learn's bundled digits" in check_dataset("hue-mnist", tmp_path) and files.count == 1


def test_within_a_block_nothing_is_looked_for_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Arriving(monkeypatch, looks=2)
    with find_once():
        assert [find_source("digits", tmp_path) for _ in range(3)] == ["bundled"] * 3
        with find_once({("digits", tmp_path): "mnist"}):  # the outer block has decided
            assert find_source("digits", tmp_path) == "bundled"
    before = find_sources(tmp_path)
    assert {*before.values()} == {"bundled", "textures", "painted"}
    assert find_source("digits", tmp_path) == "mnist"
    with find_once(before):  # in another process
        assert find_source("digits", tmp_path) == "bundled"


def test_options_of_your_own_datasets_are_left_alone(tmp_path: Path) -> None:
    def own(digits: str = "auto") -> None: ...

    assert with_sources(own, {"digits": "auto"}, tmp_path) == {"digits": "auto"}  # type: ignore[arg-type]


def test_all_runs_of_a_study_and_what_is_made_of_them_are_of_the_same_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Arriving(monkeypatch, looks=1)
    plans = tuple(replace(PLAN, seed=seed) for seed in (0, 1))
    study(Recipe("own", "", plans, {}), tmp_path / "study", root=tmp_path, device="cpu", quiet=True)
    runs = [Run(path) for path in (tmp_path / "study" / "runs").iterdir()]
    assert [run.data_name for run in runs] == ["hue-mnist-bundled"] * 2
    assert training_dataset(runs[0], tmp_path).name == "hue-mnist-bundled"
