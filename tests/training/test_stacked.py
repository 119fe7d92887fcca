"""Stacked trainings, src/unbraid/training/stacked.py, by way of populations on a CPU."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
from torch import Generator
from torch.testing import assert_close

import unbraid.training.population
from unbraid.methods import BetaVAE
from unbraid.objectives import Normal
from unbraid.progress import Stopped
from unbraid.runs.folder import Run
from unbraid.schedules import Linear
from unbraid.studies.plan import Plan, replace
from unbraid.training.cuda_graph import CaptureError
from unbraid.training.loop import Trainer
from unbraid.training.population import train_population
from unbraid.training.stacked import StackedTraining
from unbraid.types import Batch, Terms

STEPS = 6
OPTIONS = {"image_size": 32, "steps": STEPS, "batch_size": 8, "seed": 0}
PLANS = {
    "beta-vae": Plan("beta-vae", "sprites", OPTIONS),
    "factor-vae": Plan("factor-vae", "sprites", OPTIONS),
    "ada-gvae": Plan("ada-gvae", "sprites", OPTIONS),
    "contrast-vae": Plan(
        "contrast-vae",
        "hidden-groups",
        {"steps": STEPS, "batch_size": 8, "seed": 0, "likelihood": Normal(1.0), "architecture": "mlp"},
    ),
}
NUMBERS = {"beta-vae": "beta", "factor-vae": "gamma", "ada-gvae": "beta"}


@pytest.fixture(autouse=True)
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the stacks that were made."""
    made: list[int] = []

    class Noted(StackedTraining):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            made.append(len(self))

    monkeypatch.setattr(unbraid.training.population, "StackedTraining", Noted)
    return made


def members(name: str = "beta-vae", count: int = 3, **changes: Any) -> list[Plan]:
    """Plans of one kind, with other seeds and numbers."""
    numbers = {NUMBERS[name]: 1.0} if name in NUMBERS else {}
    plans = [replace(PLANS[name], seed=seed, **changes) for seed in range(count)]
    return [
        replace(plan, **{key: value + 3.0 * n for key, value in numbers.items()})
        for n, plan in enumerate(plans)
    ]


def together(plans: list[Plan], folder: Path, **options: Any) -> list[Any]:
    return train_population(
        plans, folder, device="cpu", stack=True, **{"quiet": True, "log_every": 1} | options
    )


def alone(plan: Plan, folder: Path, **options: Any) -> Run:
    return plan.run(folder, device="cpu", quiet=True, log_every=1, **options)


def assert_same(member: Any, solo: Run) -> None:
    """The same run but for the last digits: settings, terms of every step, weights."""
    assert isinstance(member, Run), member
    assert member.settings == solo.settings and member.finished
    lines = [
        [{k: v for k, v in line.items() if k != "seconds"} for line in run.history()]
        for run in (member, solo)
    ]
    assert len(lines[0]) == len(lines[1])
    for one, other in zip(*lines, strict=True):
        assert one == pytest.approx(other, rel=1e-4, abs=1e-4)
    assert_close(member.weights(), solo.weights(), rtol=1e-3, atol=2e-4)  # Adam's first steps are ±lr


@contextmanager
def stopping(monkeypatch: pytest.MonkeyPatch, after: int) -> Iterator[None]:
    """A signal arrives after so many steps of a stack."""

    @contextmanager
    def requested() -> Iterator[Callable[[], bool]]:
        asked = iter(range(10**6))
        yield lambda: next(asked) >= after - 1

    with monkeypatch.context() as patched:
        patched.setattr(unbraid.training.population, "stop_requested", requested)
        with pytest.raises(Stopped):
            yield


@pytest.mark.parametrize("name", PLANS)
def test_a_member_ends_as_its_solo_run(name: str, tmp_path: Path, sizes: list[int]) -> None:
    plans = members(name)
    for plan, run in zip(plans, together(plans, tmp_path / "all"), strict=True):
        assert_same(run, alone(plan, tmp_path / "alone" / plan.folder_name))
    assert sizes == [3]


def test_everything_that_a_training_does_besides_steps_is_done_for_each(tmp_path: Path) -> None:
    """Validation on a split of its own, kept weights, clipped gradients and learning rates by step."""
    changes = {
        "val_fraction": 0.2,
        "val_every": 2,
        "keep_weights": (3,),
        "grad_clip": 1.0,
        "lr_schedule": "linear:1:0.1:6",
    }

    plans = members(**changes | {"lr_schedule": Linear(1.0, 0.1, STEPS)})
    for plan, run in zip(plans, together(plans, tmp_path / "all"), strict=True):
        solo = alone(plan, tmp_path / "alone" / plan.folder_name)
        assert_same(run, solo)
        assert [line["step"] for line in run.history() if "validation" in line] == [2, 4, 6]
        assert_close(run.weights(3), solo.weights(3), rtol=1e-3, atol=2e-4)


def test_a_stopped_stack_goes_on_and_so_does_one_of_its_members(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sizes: list[int]
) -> None:
    plans, folder = members("factor-vae"), tmp_path / "all"
    with stopping(monkeypatch, after=3):
        together(plans, folder)
    assert not any((folder / plan.folder_name / "finished.json").exists() for plan in plans)
    single = alone(plans[0], folder / plans[0].folder_name, resume=True)
    runs = together(plans, folder, resume=True)
    assert sizes == [3, 2]
    assert runs[0].folder == single.folder
    for plan, run in zip(plans, runs, strict=True):
        assert_same(run, alone(plan, tmp_path / "alone" / plan.folder_name))


def test_a_run_that_began_alone_goes_on_in_a_stack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sizes: list[int]
) -> None:
    """With members at other steps in a stack of their own."""
    plans, folder = members(count=4), tmp_path / "all"
    with stopping(monkeypatch, after=3):
        together(plans[:2], folder)
    runs = together(plans, folder, resume=True)
    assert sizes == [2, 2, 2]
    for plan, run in zip(plans, runs, strict=True):
        assert_same(run, alone(plan, tmp_path / "alone" / plan.folder_name))


def test_a_member_that_becomes_infinite_ends_alone(tmp_path: Path, sizes: list[int]) -> None:
    plans = members()
    plans[1] = replace(plans[1], beta=1e39)
    ended: list[Plan] = []
    runs = together(plans, tmp_path / "all", on_end=lambda plan, outcome: ended.append(plan))
    assert isinstance(runs[1], FloatingPointError) and "at step 1" in str(runs[1])
    assert ended == [plans[1], plans[0], plans[2]]  # as soon as it is noticed
    for number in (0, 2):
        assert_same(runs[number], alone(plans[number], tmp_path / "alone" / plans[number].folder_name))
    assert sizes == [3]


def test_a_member_whose_folder_is_taken_does_not_stop_the_others(tmp_path: Path, sizes: list[int]) -> None:
    plans = members()
    taken = tmp_path / plans[2].folder_name
    taken.mkdir()
    (taken / "notes.txt").write_text("mine")
    runs = together(plans, tmp_path)
    assert isinstance(runs[2], ValueError) and runs[0].finished and runs[1].finished and sizes == [2]


def test_a_loss_that_cannot_be_stacked_trains_by_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sizes: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    whole = BetaVAE.loss

    def loss(self: BetaVAE, batch: Batch) -> Terms:
        terms = whole(self, batch)
        assert float(terms.total.detach()) > 0
        return terms

    monkeypatch.setattr(BetaVAE, "loss", loss)
    plans = members()
    runs = together(plans, tmp_path / "all", quiet=False)
    assert not sizes
    assert "3 models train on streams and not as a stack: RuntimeError: vmap" in capsys.readouterr().err
    for plan, run in zip(plans, runs, strict=True):
        assert_same(run, alone(plan, tmp_path / "alone" / plan.folder_name))


def test_patience_ends_a_member_before_the_others(tmp_path: Path) -> None:
    """Its weights are those of the step at which it ended."""
    changes = {"val_fraction": 0.2, "val_every": 1, "patience": 1, "lr": 0.01, "steps": 12}
    plans = members(**changes)
    runs = together(plans, tmp_path / "all")
    steps = [run.history()[-1]["step"] for run in runs]
    assert len(set(steps)) > 1 and min(steps) < 12
    for plan, run in zip(plans, runs, strict=True):
        solo = alone(plan, tmp_path / "alone" / plan.folder_name)
        assert run.history()[-1]["step"] == solo.history()[-1]["step"]
        assert_close(run.weights(), solo.weights(), rtol=1e-2, atol=1e-2)


def test_a_group_has_at_most_as_many_members_as_train_at_a_time(tmp_path: Path, sizes: list[int]) -> None:
    runs = together(members(count=5, steps=2), tmp_path, max_concurrent=2)
    assert sizes == [2, 2] and all(run.finished for run in runs)  # and one alone


@pytest.mark.parametrize("log_every", [7, 50])
def test_steps_at_once_end_before_what_is_due(
    log_every: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {"val_fraction": 0.2, "val_every": 12, "keep_weights": (15,)}
    plans = members("factor-vae", count=2, steps=23, batch_size=4, architecture="mlp-small", **kept)
    counts: list[int] = []
    take = StackedTraining._take

    def noted(self: StackedTraining, count: int) -> dict[str, Terms]:
        counts.append(count)
        return take(self, count)

    monkeypatch.setattr(StackedTraining, "_take", noted)
    runs = together(plans, tmp_path / "all", log_every=log_every)
    assert sum(counts) == 23 and (set(counts) == {1} if log_every == 7 else counts.count(10) == 1)
    for plan, run in zip(plans, runs, strict=True):
        solo = plan.run(tmp_path / "alone" / plan.folder_name, device="cpu", quiet=True, log_every=log_every)
        assert [line["step"] for line in run.history()] == [line["step"] for line in solo.history()]
        assert_close(run.weights(15), solo.weights(15), rtol=1e-2, atol=3e-3)
        losses = [[line["loss"] for line in each.history()] for each in (run, solo)]
        assert losses[0] == pytest.approx(losses[1], rel=1e-3)


class FakeGraph:
    """A step that is not captured, or says at its third call that it cannot be."""

    made: ClassVar[list["FakeGraph"]] = []
    fails = False

    def __init__(self, step: Callable[[], Any], device: torch.device, generators: list[Generator]) -> None:
        self.step, self.generators, self.keys = step, generators, list[Any]()
        self.made.append(self)

    def __call__(self, key: Any = ()) -> Any:
        self.keys.append(key)
        if self.fails and len(self.keys) == 3:
            raise CaptureError("it asks the host")
        return self.step()


@pytest.mark.parametrize("fails", [False, True], ids=["captured", "refused"])
def test_steps_are_captured_with_the_generators_of_all_members(
    fails: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By a stand-in for CUDA graphs. A stack that cannot be captured goes on without a graph."""
    with monkeypatch.context() as patched:
        patched.setattr(Trainer, "_uses_graph", lambda self: True)
        patched.setattr(FakeGraph, "made", made := [])
        patched.setattr(FakeGraph, "fails", fails)
        for module in ("loop", "stacked"):
            patched.setattr(f"unbraid.training.{module}.CUDAGraphStep", FakeGraph)
        plans = members(count=2)
        runs = together(plans, tmp_path / "all")
    (stacked,) = [graph for graph in made if graph.keys]
    assert len(stacked.generators) == 4 and len(stacked.keys) == (3 if fails else STEPS)
    assert (
        "2 stacked models do not run as a CUDA graph: it asks the host" in capsys.readouterr().err
    ) is fails
    for plan, run in zip(plans, runs, strict=True):
        assert_same(run, alone(plan, tmp_path / "alone" / plan.folder_name))
