"""Many models at once, src/unbraid/population.py."""

from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from unbraid.plan import Plan, replace
from unbraid.population import train_population, varying_numbers
from unbraid.runs import Run

pytestmark = pytest.mark.filterwarnings("ignore")  # the compiler's own
cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="models share a CUDA device only")
PLAN = Plan("beta-vae", "sprites", {"size": 32, "codes": 3, "steps": 60, "batch": 16, "seed": 0})


def plans() -> list[Plan]:
    return [replace(PLAN, seed=seed, beta=beta) for seed in (0, 1) for beta in (1.0, 4.0)]


def test_every_plan_gets_a_run_of_its_own(tmp_path: Path) -> None:
    few = [replace(plan, steps=2) for plan in plans()[:2]]
    runs = train_population(few, tmp_path, device="cpu", quiet=True)
    assert [run.folder.name for run in runs if isinstance(run, Run)] == [plan.folder for plan in few]
    assert all(isinstance(run, Run) and run.finished for run in runs)


def test_one_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    wrong = replace(PLAN, steps=2, optimiser=None, clip=-1.0)
    right, told = replace(PLAN, steps=2), []
    failed, run = train_population(
        [wrong, right], tmp_path, device="cpu", ended=lambda *end: told.append(end), quiet=True
    )
    assert isinstance(failed, ValueError) and isinstance(run, Run)
    assert told == [(wrong, failed), (right, run)]


def test_two_plans_for_one_run_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="same run: give them different seeds"):
        train_population([PLAN, PLAN], tmp_path)
    with pytest.raises(ValueError, match="at_once=0"):
        train_population([PLAN], tmp_path, at_once=0)


def test_numbers_vary_within_a_method() -> None:
    others = [*plans(), Plan("beta-tcvae", "sprites", {"steps": 60, "beta": 9.0})]
    assert varying_numbers(PLAN, others) == {"beta"}
    assert varying_numbers(others[-1], others) == frozenset()


@cuda
def test_a_member_ends_as_its_solo_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.cudnn, "deterministic", True)
    together = train_population(
        plans(), tmp_path / "all", device="cuda", at_once=3, compiled=False, quiet=True
    )
    for plan, member in zip(plans(), together, strict=True):
        assert isinstance(member, Run), member
        alone = plan.run(tmp_path / "alone" / plan.folder, device="cuda", compiled=False, quiet=True)
        assert member.settings == alone.settings
        assert_close(member.weights(), alone.weights(), rtol=1e-4, atol=1e-5)


@cuda
def test_a_compiled_member_follows_its_solo_run(tmp_path: Path) -> None:
    together = train_population(plans(), tmp_path / "all", device="cuda", compiled=True, quiet=True)
    for plan, member in zip(plans(), together, strict=True):
        assert isinstance(member, Run), member
        alone = plan.run(tmp_path / "alone" / plan.folder, device="cuda", compiled=False, quiet=True)
        losses = [[line["loss"] for line in run.history()] for run in (member, alone)]
        assert_close(torch.tensor(losses[0]), torch.tensor(losses[1]), rtol=2e-3, atol=1e-2)


@cuda
def test_a_stopped_population_goes_on(tmp_path: Path) -> None:
    short = [replace(plan, steps=20) for plan in plans()]
    train_population(short, tmp_path, device="cuda", quiet=True)
    again = train_population(short, tmp_path, device="cuda", resume=True, quiet=True)
    assert all(isinstance(run, Run) and run.finished for run in again)
