"""Which folders a study may use, src/unbraid/studies/study_folder.py."""

import json
from pathlib import Path

import pytest

from tests.small_study import BASE
from unbraid.recipes import Recipe
from unbraid.studies.plan import Plan, replace
from unbraid.studies.results import open_study, write_results
from unbraid.studies.study import study
from unbraid.studies.study_folder import check_folder

SEEDS = tuple(replace(BASE, seed=seed) for seed in range(3))


def recipe(*plans: Plan, name: str = "mine.py", scale: str = "quick") -> Recipe:
    return Recipe(name, "", plans or SEEDS, {}, scale)


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """The content and the time of every file."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_folder_with_other_things_is_refused_and_nothing_in_it_touched(tmp_path: Path) -> None:
    (tmp_path / "results.csv").write_text("my,own\n1,2\n")
    (tmp_path / "runs").mkdir()
    before = contents(tmp_path)
    with pytest.raises(ValueError, match=r"is not empty and is not a study folder: it contains results\.csv"):
        study(recipe(), tmp_path, device="cpu", quiet=True)
    assert contents(tmp_path) == before
    with pytest.raises(ValueError, match=r"results\.csv is a file"):
        study(recipe(), tmp_path / "results.csv", device="cpu", quiet=True)


def test_a_study_may_use_an_empty_folder_and_one_with_runs_only(tmp_path: Path) -> None:
    check_folder(tmp_path / "new", recipe())
    for name in ("runs", "logs", ".cache"):
        check_folder(tmp_path, recipe())
        (tmp_path / name).mkdir()
    check_folder(tmp_path, recipe())


def test_another_study_is_refused_unless_all_its_runs_belong_to_this_one(tmp_path: Path) -> None:
    write_results(tmp_path, recipe(*SEEDS[:2]), [], [])
    for plan in SEEDS[:2]:
        (tmp_path / "runs" / plan.folder_name).mkdir(parents=True)
    for fitting in (
        recipe(SEEDS[2]),
        recipe(name="elsewhere/mine.py"),
        recipe(name="other.py"),
        recipe(scale="paper"),
    ):
        check_folder(tmp_path, fitting)
    before = contents(tmp_path)
    for other in (recipe(*SEEDS[1:], name="other.py"), recipe(SEEDS[0], scale="paper")):
        with pytest.raises(
            ValueError, match=r"another study, mine\.py at scale quick, and 1 of its runs are not in"
        ):
            study(other, tmp_path, device="cpu", quiet=True)
    assert contents(tmp_path) == before


def test_a_study_is_known_by_its_folder_before_its_first_run_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        assert open_study(tmp_path / "study").num_plans == 3
        raise KeyboardInterrupt

    monkeypatch.setattr("unbraid.studies.plan.Plan.run", stop)
    with pytest.raises(KeyboardInterrupt):
        study(recipe(), tmp_path / "study", device="cpu", quiet=True)
    with pytest.raises(ValueError, match="another study"):
        (tmp_path / "study" / "runs" / SEEDS[0].folder_name).mkdir(parents=True)
        check_folder(tmp_path / "study", recipe(SEEDS[1], name="other.py"))


def test_a_damaged_description_says_how_to_keep_the_runs(tmp_path: Path) -> None:
    for text in ("{", json.dumps({"format": 7})):
        (tmp_path / "study.json").write_text(text)
        with pytest.raises(
            ValueError, match="move its folder `runs` to a new folder and run `unbraid study` there"
        ):
            check_folder(tmp_path, recipe())
