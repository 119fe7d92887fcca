"""Checkpoints, src/unbraid/training/checkpoint.py; a killed and resumed run is tested in test_train.py."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Generator, Tensor
from torch.testing import assert_close

from tests.tiny import batch_for, make
from unbraid.files import read_tensors, write_tensors
from unbraid.methods import FactorVAE
from unbraid.optimizers import SGD, Adam, Optimizer, RMSprop
from unbraid.runs import Run
from unbraid.training.checkpoint import History, TrainState, load_checkpoint, save_checkpoint
from unbraid.training.step import TrainingStep


def trained(steps: int) -> TrainingStep:
    training_step = TrainingStep(make(FactorVAE))
    batch = batch_for(FactorVAE)
    for step in range(steps):
        training_step.run(lambda: batch, step)
    return training_step


def test_everything_is_restored(tmp_path: Path) -> None:
    """Weights, optimizers, progress, and what both generators draw next."""
    path, before, data = tmp_path / "checkpoint.safetensors", trained(3), Generator().manual_seed(7)
    save_checkpoint(path, TrainState(3, 0.5, 2), before, data)
    noise, order = torch.rand(4), torch.rand(4, generator=data)
    torch.manual_seed(1)
    after, fresh = TrainingStep(make(FactorVAE, seed=1)), Generator().manual_seed(8)
    assert load_checkpoint(path, after, fresh, steps=3) == TrainState(3, 0.5, 2)
    assert_close(after.state(), before.state(), rtol=0, atol=0)
    assert_close(torch.rand(4), noise, rtol=0, atol=0)
    assert_close(torch.rand(4, generator=fresh), order, rtol=0, atol=0)


def test_a_new_training_has_no_best_loss_yet(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.safetensors"
    save_checkpoint(path, TrainState(), trained(0), Generator())
    assert load_checkpoint(path, trained(0), Generator(), steps=3) == TrainState(0, float("inf"), 0)


Tensors = dict[str, Tensor]
ADAM = "optimizer.autoencoder.0"
DAMAGES: dict[str, tuple[Callable[[Tensors], Tensors], str]] = {
    "reshaped state": (
        lambda t: {f"{ADAM}.exp_avg": t[f"{ADAM}.exp_avg"].reshape(-1, 1)},
        r"exp_avg .* shape",
    ),
    "reshaped step": (lambda t: {f"{ADAM}.step": torch.ones(3)}, r"autoencoder\.0\.step .* shape \(3,\)"),
    "state of another type": (lambda t: {f"{ADAM}.exp_avg": t[f"{ADAM}.exp_avg"].float()}, "type float32"),
    "unknown state": (
        lambda t: {f"{ADAM}.momentum": torch.ones(1)},
        r"the entry .*momentum, which this training",
    ),
    "state of no parameter": (
        lambda t: {"optimizer.autoencoder.99.step": torch.ones(())},
        "the entry optimizer.autoencoder.99",
    ),
    "state of no player": (lambda t: {"optimizer.x.y": torch.ones(())}, "the entry optimizer.x.y"),
    "weight of another shape": (
        lambda t: {"model.step": torch.zeros(2, dtype=torch.long)},
        "model.step .* shape",
    ),
    "unknown weight": (lambda t: {"model.more": torch.ones(1)}, "the entry model.more"),
    "short noise": (
        lambda t: {"generator.noise": t["generator.noise"][:16].clone()},
        "generator.noise .* shape",
    ),
    "short order": (
        lambda t: {"generator.data": t["generator.data"][:-1].clone()},
        "generator.data .* shape",
    ),
    "wrong noise": (lambda t: {"generator.noise": t["generator.noise"] | 255}, "generator.noise .* no state"),
    "a device": (lambda t: {"generator.noise.cuda": torch.zeros(16, dtype=torch.uint8)}, "written on cuda"),
    "step beyond the end": (lambda t: {"step": torch.tensor(11)}, r"step 11, beyond the 10 steps.*Pass more"),
    "step before the start": (lambda t: {"step": torch.tensor(-1)}, "The entry step of .* is -1"),
    "step of another type": (lambda t: {"step": torch.tensor(3.0)}, "The entry step of .* has type float32"),
    "best loss": (lambda t: {"best": torch.tensor(float("nan"), dtype=torch.float64)}, "best of .* is nan"),
    "no updates": (
        lambda t: {f"{ADAM}.step": torch.tensor(float("inf"))},
        r"autoencoder\.0\.step of .* is inf",
    ),
    "threads": (lambda t: {"threads": torch.zeros(0, 2, dtype=torch.long)}, "threads .* shape"),
    "no threads": (lambda t: {"threads": torch.tensor(1)}, "threads .* shape"),
}
LOST = {
    f"{ADAM}.exp_avg": "lacks",
    "generator.data": "lacks",
    "step": "lacks",
    "threads": "lacks",
}


def saved(path: Path) -> Tensors:
    save_checkpoint(path, TrainState(3, 0.5, 2), trained(3), Generator().manual_seed(7))
    return read_tensors(path)


def refused(path: Path, tensors: Tensors) -> str:
    """The error of a checkpoint with these tensors, which changes nothing."""
    write_tensors(path, tensors)  # with a right hash, so that the other checks are reached
    after, data = TrainingStep(make(FactorVAE, seed=1)), Generator().manual_seed(8)
    before = {name: tensor.clone() for name, tensor in after.state().items()}
    noise, order = torch.get_rng_state(), data.get_state()
    with pytest.raises(ValueError, match=str(path)) as error:
        load_checkpoint(path, after, data, steps=10)
    assert_close(after.state(), before, rtol=0, atol=0)
    assert torch.equal(torch.get_rng_state(), noise) and torch.equal(data.get_state(), order)
    return str(error.value)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_entry_is_named_and_nothing_is_restored(damage: str, tmp_path: Path) -> None:
    tensors, (change, sentence) = saved(tmp_path / "checkpoint.safetensors"), DAMAGES[damage]
    message = refused(tmp_path / "checkpoint.safetensors", tensors | change(tensors))
    assert re.search(sentence, message) and ("Restore the file" in message or "Pass" in message)


@pytest.mark.parametrize("name", LOST)
def test_a_lost_entry_is_named(name: str, tmp_path: Path) -> None:
    tensors = saved(tmp_path / "checkpoint.safetensors")
    del tensors[name]
    message = refused(tmp_path / "checkpoint.safetensors", tensors)
    assert f"lacks the entry {name}. Restore the file" in message


def test_the_lost_state_of_a_whole_parameter_is_noticed(tmp_path: Path) -> None:
    """Adam would begin anew for it; a parameter without any update has no state either."""
    path = tmp_path / "checkpoint.safetensors"
    tensors = {name: tensor for name, tensor in saved(path).items() if not name.startswith(f"{ADAM}.")}
    save_file(tensors, path)
    with pytest.raises(ValueError, match="damaged: its hash is not the recorded one"):
        load_checkpoint(path, trained(0), Generator(), steps=10)


def test_a_truncated_checkpoint_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.safetensors"
    saved(path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match="not a complete safetensors file"):
        load_checkpoint(path, trained(0), Generator(), steps=10)


@pytest.mark.parametrize("optimizer", [SGD(0.1), SGD(0.1, momentum=0.9), RMSprop(), Adam(weight_decay=0.1)])
def test_the_state_of_every_optimizer_is_restored(optimizer: Optimizer, tmp_path: Path) -> None:
    path, batch = tmp_path / "checkpoint.safetensors", batch_for(FactorVAE)
    before, after = (TrainingStep(make(FactorVAE, seed=seed), optimizer=optimizer) for seed in (0, 1))
    before.run(lambda: batch, 0)
    save_checkpoint(path, TrainState(1), before, Generator())
    load_checkpoint(path, after, Generator(), steps=1)
    assert_close(after.state(), before.state(), rtol=0, atol=0)


def test_numbers_of_threads_are_noted_by_step() -> None:
    state = TrainState(0, threads=[[0, 2]])
    assert state.change_threads(2) is None and state.threads == [[0, 2]]
    state.step = 5
    assert state.change_threads(1) == 2 and state.threads == [[0, 2], [5, 1]]
    assert state.change_threads(4) == 1 and state.threads == [
        [0, 2],
        [5, 4],
    ]  # no step was done with one thread


def test_a_folder_that_cannot_be_written_names_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="continue with --resume"):
        save_checkpoint(tmp_path / "gone" / "checkpoint.safetensors", TrainState(), trained(0), Generator())


@pytest.fixture
def new_run(tmp_path: Path) -> Run:
    settings = {"method": {"name": "vae"}, "data": {"name": "sprites"}, "training": {"steps": 10, "seed": 3}}
    return Run.create(tmp_path / "run", settings, resume=False)


def test_later_and_incomplete_lines_are_dropped(new_run: Run) -> None:
    history = History(new_run, 0)
    for step in (1, 2, 3):
        history.add(step, {"loss": float(step)})
    with open(new_run.folder / "history.jsonl", "a") as file:
        file.write('{"step": 4, "lo')
    assert [line["step"] for line in new_run.history()] == [1, 2, 3]
    History(new_run, 2).add(3, {"loss": 30.0})
    assert [(line["step"], line["loss"]) for line in new_run.history()] == [(1, 1.0), (2, 2.0), (3, 30.0)]


def test_the_callback_gets_each_line(new_run: Run) -> None:
    lines = []
    history = History(new_run, 0, lines.append)
    for step in (1, 2):
        history.add(step, {"loss": float(step)})
    assert lines == new_run.history()


def test_seconds_continue_from_the_last_line(new_run: Run) -> None:
    (new_run.folder / "history.jsonl").write_text('{"step": 1, "seconds": 100.0, "loss": 1.0}\n')
    History(new_run, 1).add(2, {"loss": 0.5})
    assert 100 <= new_run.history()[-1]["seconds"] < 101


def test_lines_of_a_longer_training_are_not_those_of_the_finished_model(new_run: Run) -> None:
    """The training continues after all of them; who reads the run sees the model's."""
    history = History(new_run, 0)
    for step in (5, 10):
        history.add(step, {"loss": float(step)})
    new_run.finish({"weight": torch.ones(2)}, 10)
    history.add(15, {"loss": 15.0})
    assert [line["step"] for line in new_run.history()] == [5, 10]
    History(new_run, 15).add(20, {"loss": 20.0})
    assert [line["step"] for line in new_run.logged()] == [5, 10, 15, 20]
