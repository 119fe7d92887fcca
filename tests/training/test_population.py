"""Populations, src/unbraid/training/population.py."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.testing import assert_close

from unbraid.progress import Stopped
from unbraid.runs.folder import Run
from unbraid.studies.plan import Plan, replace
from unbraid.training.config import LoopConfig
from unbraid.training.loop import Trainer
from unbraid.training.population import _Population, train_population, varying_scalars

pytestmark = pytest.mark.filterwarnings("ignore")  # the compiler's own
cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="models share a CUDA device only")
PLAN = Plan(
    "beta-vae", "sprites", {"image_size": 32, "latent_dim": 3, "steps": 60, "batch_size": 16, "seed": 0}
)


def plans() -> list[Plan]:
    return [replace(PLAN, seed=seed, beta=beta) for seed in (0, 1) for beta in (1.0, 4.0)]


class FakeTrainer(Trainer):
    """A training of a few turns that writes down when it gets one."""

    def __init__(self, name: str, turns: int, log: list[str], *, fails: bool = False) -> None:
        self.name, self.turns, self.log, self.fails = name, turns, log, fails
        self.closed = False

    def steps(self, stop_requested: Callable[[], bool], *, turn: int | float = 0) -> Iterator[None]:
        for _ in range(self.turns):
            if self.fails:
                raise FloatingPointError(f"{self.name} broke")
            self.log.append(self.name)
            yield
            if stop_requested():
                self.log.append(f"{self.name} saved")
                raise Stopped

    def close(self) -> None:
        self.closed = True

    def finish(self) -> Run:
        run = Run.__new__(Run)
        run.folder = Path(self.name)
        return run


def population(trainers: list[Any]) -> _Population:
    plans = [PLAN] * len(trainers)
    made = _Population(plans, [Path()] * len(plans), None, torch.device("cpu"), False, LoopConfig(quiet=True))
    made.open = lambda number: trainers[number]  # type: ignore[method-assign]
    return made


def test_trainings_take_turns_and_the_others_wait_for_one_to_end() -> None:
    log: list[str] = []
    finished = FakeTrainer("finished before", 0, log).finish()
    trainers = [
        FakeTrainer("a", 2, log),
        FakeTrainer("b", 3, log),
        finished,
        FakeTrainer("c", 1, log),
    ]
    ended: dict[int, Any] = {}
    population(trainers).train(2, ended.__setitem__)
    assert log == ["a", "b", "a", "b", "c", "b"]  # c begins when a has ended
    folders = {number: str(run.folder) for number, run in ended.items()}
    assert folders == {0: "a", 1: "b", 2: "finished before", 3: "c"}


def test_a_training_that_fails_does_not_stop_the_others() -> None:
    log: list[str] = []
    ended: dict[int, Any] = {}
    trainers = [FakeTrainer("a", 2, log, fails=True), FakeTrainer("b", 2, log)]
    population(trainers).train(2, ended.__setitem__)
    assert all(trainer.closed for trainer in trainers)
    assert isinstance(ended[0], FloatingPointError) and ended[1].folder == Path("b") and log == ["b", "b"]


def test_a_stop_lets_every_training_save() -> None:
    log: list[str] = []
    trainers = [FakeTrainer(name, 5, log) for name in "ab"]
    turns = trainers[0].steps
    trainers[0].steps = lambda stop, turn=0: turns(lambda: len(log) > 3, turn=turn)  # type: ignore[method-assign]
    others = trainers[1].steps
    trainers[1].steps = lambda stop, turn=0: others(lambda: len(log) > 3, turn=turn)  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        population(trainers).train(2, lambda number, outcome: None)
    assert log[-2:] == ["a saved", "b saved"]
    assert all(trainer.closed for trainer in trainers)


def test_every_plan_gets_a_run_of_its_own(tmp_path: Path) -> None:
    few = [replace(plan, steps=2) for plan in plans()[:2]]
    runs = train_population(few, tmp_path, device="cpu", quiet=True)
    assert [run.folder.name for run in runs if isinstance(run, Run)] == [plan.folder_name for plan in few]
    assert all(isinstance(run, Run) and run.finished for run in runs)


def test_one_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    wrong = replace(PLAN, steps=2, optimizer=None, grad_clip=-1.0)
    right, told = replace(PLAN, steps=2), []
    failed, run = train_population(
        [wrong, right], tmp_path, device="cpu", on_end=lambda *end: told.append(end), quiet=True
    )
    assert isinstance(failed, ValueError) and isinstance(run, Run)
    assert told == [(wrong, failed), (right, run)]


def test_two_plans_for_one_run_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="same run: give them different seeds"):
        train_population([PLAN, PLAN], tmp_path)
    with pytest.raises(ValueError, match="no --logger"):
        train_population([PLAN], tmp_path, logger="tensorboard")
    with pytest.raises(ValueError, match="max_concurrent must be at least 1 model; got 0"):
        train_population([PLAN], tmp_path, max_concurrent=0)


def test_numbers_vary_within_a_method() -> None:
    others = [*plans(), Plan("beta-tcvae", "sprites", {"steps": 60, "beta": 9.0})]
    assert varying_scalars(PLAN, others) == {"beta"}
    assert varying_scalars(others[-1], others) == frozenset()


@cuda
def test_a_member_ends_as_its_solo_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.cudnn, "deterministic", True)
    together = train_population(
        plans(), tmp_path / "all", device="cuda", max_concurrent=3, compile=False, stack=False, quiet=True
    )
    for plan, member in zip(plans(), together, strict=True):
        assert isinstance(member, Run), member
        alone = plan.run(tmp_path / "alone" / plan.folder_name, device="cuda", compiled=False, quiet=True)
        assert member.settings == alone.settings
        assert_close(member.weights(), alone.weights(), rtol=1e-4, atol=1e-5)


@cuda
@pytest.mark.parametrize("compile", [False, True], ids=["captured", "compiled"])
@pytest.mark.parametrize("stack", [False, True], ids=["streams", "stack"])
def test_a_member_follows_its_solo_run(stack: bool, compile: bool, tmp_path: Path) -> None:
    together = train_population(
        plans(), tmp_path / "all", device="cuda", stack=stack, compile=compile, quiet=True
    )
    for plan, member in zip(plans(), together, strict=True):
        assert isinstance(member, Run), member
        alone = plan.run(tmp_path / "alone" / plan.folder_name, device="cuda", compiled=False, quiet=True)
        losses = [[line["loss"] for line in run.history()] for run in (member, alone)]
        assert_close(torch.tensor(losses[0]), torch.tensor(losses[1]), rtol=2e-3, atol=1e-2)


@cuda
@pytest.mark.parametrize("method", ["factor-vae", "ada-gvae", "principled-contrast"])
def test_plans_of_one_kind_are_stacked(
    method: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = {} if method == "principled-contrast" else {"image_size": 32}
    plan = Plan(
        method, "sprites" if data else "grassy-mnist", {**data, "steps": 40, "batch_size": 16, "seed": 0}
    )
    together = train_population(
        [replace(plan, seed=seed) for seed in range(3)], tmp_path, device="cuda", stack=True
    )
    assert all(isinstance(run, Run) and run.finished for run in together)
    assert "not as a stack" not in capsys.readouterr().err


@cuda
def test_a_stopped_population_goes_on(tmp_path: Path) -> None:
    short = [replace(plan, steps=20) for plan in plans()]
    train_population(short, tmp_path, device="cuda", quiet=True)
    again = train_population(short, tmp_path, device="cuda", resume=True, quiet=True)
    assert all(isinstance(run, Run) and run.finished for run in again)
