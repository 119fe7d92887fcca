"""The training loop, src/unbraid/training/loop.py; what a whole run leaves behind is tested in test_train.py."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Generator

from tests.tiny import SHAPE, N, make
from unbraid.data.dataset import Dataset
from unbraid.data.draws import IIDDraw
from unbraid.methods import BetaVAE
from unbraid.runs.folder import Run
from unbraid.training.config import LoopConfig, TrainConfig, run_settings
from unbraid.training.loop import Trainer, terms_as_floats
from unbraid.types import Terms


def trainer(folder: Path, **options: Any) -> Trainer:
    method = make(BetaVAE).float()
    images = torch.randint(256, (N, *SHAPE), generator=Generator().manual_seed(0)).to(torch.uint8)
    dataset, config = Dataset(images, name="noise"), TrainConfig(steps=25, batch_size=4)
    Run.create(folder, run_settings(method, dataset, IIDDraw(), config), resume=False)
    loop = LoopConfig(**({"checkpoint_seconds": 1e9, "log_every": 10, "quiet": True} | options))
    return Trainer(method, dataset, IIDDraw(), config, Run(folder), loop=loop)


def test_it_yields_before_every_line_of_history(tmp_path: Path) -> None:
    one = trainer(tmp_path / "run")
    reached = [one.state.step for _ in one.steps(lambda: False)]
    assert reached == [10, 20, 25] and not one.run.finished
    assert one.finish().finished
    assert [line["step"] for line in one.run.history()] == reached


def test_a_turn_ends_after_its_steps_and_history_keeps_its_own_spacing(tmp_path: Path) -> None:
    one = trainer(tmp_path / "run")
    reached = [one.state.step for _ in one.steps(lambda: False, turn=4)]
    assert reached == [4, 8, 10, 12, 16, 20, 24, 25]
    assert [line["step"] for line in one.run.history()] == [10, 20, 25]


def test_a_stop_comes_between_two_steps_and_writes_a_checkpoint(tmp_path: Path) -> None:
    one = trainer(tmp_path / "run")
    with pytest.raises(KeyboardInterrupt, match="Stopped at step 3 of 25"):
        list(one.steps(lambda: one.state.step >= 3))
    again = trainer_of(one)
    assert again.state.step == 3


def trainer_of(one: Trainer) -> Trainer:
    """A second trainer in the same run folder, which restores the checkpoint."""
    return Trainer(make(BetaVAE).float(), one.dataset, one.draw, one.config, one.run, loop=one.loop)


def test_a_checkpoint_is_written_when_it_is_due(tmp_path: Path) -> None:
    one = trainer(tmp_path / "run", checkpoint_seconds=-1.0)
    steps = one.steps(lambda: False)
    next(steps)
    next(steps)
    assert trainer_of(one).state.step == 1


def test_the_history_is_on_disk_before_the_checkpoint_that_continues_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, written = trainer(tmp_path / "run", checkpoint_seconds=-1.0, log_every=1), []
    fsync = os.fsync

    def recorded(handle: int) -> None:
        written.append(os.readlink(f"/proc/self/fd/{handle}"))
        fsync(handle)

    steps = one.steps(lambda: False)
    next(steps)
    monkeypatch.setattr(os, "fsync", recorded)
    next(steps)
    names = [Path(path).name.lstrip(".").partition(".")[0] for path in written]
    assert names == ["history", "checkpoint", "run"]  # the folder at last


def test_another_number_of_threads_is_said_and_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, number = trainer(tmp_path / "run"), torch.get_num_threads()
    with pytest.raises(KeyboardInterrupt):
        list(one.steps(lambda: one.state.step >= 3))
    assert one.versions()["threads"] == str(number)
    torch.set_num_threads(number + 1)
    try:
        again = trainer_of(one)
        sentence = f"continues with {number + 1} threads instead of {number}"
        assert sentence in capsys.readouterr().err
        assert again.versions()["threads"] == f"{number}, {number + 1} from step 3"
        list(again.steps(lambda: False))
        assert again.finish().finished
        assert trainer_of(one).versions() == again.versions() and not capsys.readouterr().err
    finally:
        torch.set_num_threads(number)


def test_terms_of_later_players_carry_the_players_name() -> None:
    terms = {
        "model": Terms(torch.tensor(1.0), {"kl": torch.tensor(2.0)}),
        "critic": Terms(torch.tensor(3.0), {}),
    }
    assert terms_as_floats(terms) == {"loss": 1.0, "kl": 2.0, "critic.loss": 3.0}


def test_a_method_that_cannot_be_captured_says_why_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet, loud = trainer(tmp_path / "quiet"), trainer(tmp_path / "loud", quiet=False)
    capsys.readouterr()
    assert loud._can_capture() and not capsys.readouterr().err
    reason = "it asks the host"
    monkeypatch.setattr(BetaVAE, "cuda_graph_unsupported", lambda self, dataset: reason, raising=False)
    assert not loud._can_capture()
    assert "steps do not run as a CUDA graph: it asks the host." in capsys.readouterr().err
    assert not quiet._can_capture() and not capsys.readouterr().err


def test_several_processes_do_not_capture_their_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their collectives would be captured with them; the device only says that it is a CUDA device."""
    one = trainer(tmp_path / "run")
    monkeypatch.setattr(one, "device", SimpleNamespace(type="cuda"))
    monkeypatch.setattr(one, "_can_capture", lambda: True)
    monkeypatch.setattr("unbraid.training.loop.world_size", lambda: 2)
    assert not one._uses_graph()
    monkeypatch.setattr("unbraid.training.loop.world_size", lambda: 1)
    assert one._uses_graph()
