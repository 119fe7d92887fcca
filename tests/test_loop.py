"""One training on its way, src/unbraid/loop.py; what a whole run leaves behind is in test_train.py."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Generator

from tests.tiny import SHAPE, N, make
from unbraid.data.dataset import Dataset
from unbraid.data.draws import Samples
from unbraid.loop import Loop, numbers
from unbraid.methods import BetaVAE
from unbraid.runs import Run
from unbraid.train import settings_of
from unbraid.training import Training
from unbraid.types import Terms


def loop(folder: Path, **how: Any) -> Loop:
    method = make(BetaVAE).float()
    images = torch.randint(256, (N, *SHAPE), generator=Generator().manual_seed(0)).to(torch.uint8)
    dataset, plan = Dataset(images, name="noise"), Training(steps=25, batch=4)
    Run.create(folder, settings_of(method, dataset, Samples(), plan), resume=False)
    common = {"checkpoint_seconds": 1e9, "log_every": 10, "quiet": True}
    return Loop(method, dataset, None, Samples(), plan, Run(folder), **(common | how))


def test_it_advances_to_the_next_line_of_history_and_to_the_end(tmp_path: Path) -> None:
    one, reached = loop(tmp_path / "run"), []
    while not one.done:
        one.advance(lambda: False)
        one.settle()
        reached.append(one.step)
    run = one.finish()
    assert reached == [10, 20, 25] and run.finished
    assert [line["step"] for line in run.history()] == reached


def test_a_turn_ends_after_so_many_steps_and_history_has_its_own_spacing(tmp_path: Path) -> None:
    one, reached = loop(tmp_path / "run"), []
    while not one.done:
        one.advance(lambda: False, most=4)
        one.settle()
        reached.append(one.step)
    run = one.finish()
    assert reached == [4, 8, 10, 14, 18, 20, 24, 25]
    assert [line["step"] for line in run.history()] == [10, 20, 25]


def test_a_stop_comes_between_two_steps_and_is_checkpointed(tmp_path: Path) -> None:
    one = loop(tmp_path / "run")
    one.advance(lambda: one.step >= 3)
    assert one.step == 3
    with pytest.raises(KeyboardInterrupt, match="Stopped at step 3 of 25"):
        one.settle()


def test_a_checkpoint_that_is_due_ends_the_advance(tmp_path: Path) -> None:
    one = loop(tmp_path / "run", checkpoint_seconds=-1.0)
    one.advance(lambda: False)
    assert one.step == 1


def test_later_players_terms_carry_their_name() -> None:
    moves = {
        "model": Terms(torch.tensor(1.0), {"kl": torch.tensor(2.0)}),
        "critic": Terms(torch.tensor(3.0), {}),
    }
    assert numbers(moves) == {"loss": 1.0, "kl": 2.0, "critic.loss": 3.0}


def test_a_method_that_cannot_be_recorded_says_why_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = loop(tmp_path / "run")
    assert one._can_record(quiet=False) and not capsys.readouterr().err
    monkeypatch.setattr(type(one.method), "not_captured", "it asks the host")
    assert not one._can_record(quiet=False)
    assert "steps are not recorded: it asks the host." in capsys.readouterr().err
    assert not one._can_record(quiet=True) and not capsys.readouterr().err
