"""Training one method, src/unbraid/training/train.py."""

import errno
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from benchmarks.faults.processes import ForkedCommands, Running
from tests.tiny import SHAPE, make
from unbraid.data import Dataset, Draw, FactorSpace, IIDDraw, PairDraw
from unbraid.files import locked, read_tensors, write_tensors
from unbraid.methods import (
    AdaGVAE,
    BetaVAE,
    ContrastivePCA,
    ContrastVAE,
    FactorVAE,
    Intervention,
    ReconContrast,
)
from unbraid.methods.base import Method, build_method
from unbraid.nn import MLPEncoder
from unbraid.objectives import Bernoulli, Likelihood, Normal, Pixels
from unbraid.optimizers import SGD, Adam, RMSprop
from unbraid.runs import Run, load
from unbraid.schedules import Constant
from unbraid.studies.plan import Plan, replace
from unbraid.training.config import TrainConfig, run_settings
from unbraid.training.loop import Trainer
from unbraid.training.train import (
    check_size,
    check_split,
    check_training,
    init_weights_from,
    open_run,
    train,
)

ROOT = Path(__file__).parents[2]
SPACE = FactorSpace({"a": 3, "b": 4, "c": 5})


def dataset() -> Dataset:
    generator = torch.Generator().manual_seed(0)
    images = torch.randint(0, 256, (60, 1, 3, 3), generator=generator, dtype=torch.uint8)
    return Dataset(images, name="noise", factor_space=SPACE)


def tiny(cls: type[Method] = BetaVAE, **settings: Any) -> Method:
    return make(cls, **settings).float()


def fit(method: Method, out: Path, **how: Any) -> Run:
    options = {"steps": 12, "batch_size": 8, "seed": 0, "device": "cpu", "quiet": True} | how
    return train(method, dataset(), out=out, **options)


@pytest.mark.parametrize("cls", [BetaVAE, FactorVAE, AdaGVAE])
def test_a_run_is_whole_and_its_loss_falls(cls: type[Method], tmp_path: Path) -> None:
    method = tiny(cls)
    run = fit(method, tmp_path / "run", steps=200, log_every=20, optimizer=Adam(1e-2))
    assert run.finished and not method.training
    assert_close(run.weights(), dict(method.state_dict()), atol=0, rtol=0)
    losses = [line["loss"] for line in run.history()]
    assert len(losses) == 10 and losses[-1] < losses[0]
    assert [line["step"] for line in run.history()] == list(range(20, 201, 20))
    assert int(method.step) == 200
    assert (run.folder / "versions.json").exists()


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(tmp_path: Path) -> None:
    weights = [
        fit(tiny(), tmp_path / str(index), seed=seed).weights() for index, seed in enumerate((0, 0, 1))
    ]
    assert_close(weights[0], weights[1], atol=0, rtol=0)
    assert any(not torch.equal(weights[0][name], weights[2][name]) for name in weights[0])


@pytest.mark.parametrize("cls", [BetaVAE, FactorVAE, AdaGVAE])
def test_more_steps_later_equal_all_steps_at_once(cls: type[Method], tmp_path: Path) -> None:
    """The checkpoint holds everything: weights, optimizers, both generators, the step."""
    whole = fit(tiny(cls), tmp_path / "whole", steps=12)
    fit(tiny(cls), tmp_path / "parts", steps=5)
    parts = fit(
        tiny(cls, seed=9), tmp_path / "parts", steps=12, resume=True
    )  # other weights: all are read back
    assert (whole.folder / "model.safetensors").read_bytes() == (
        parts.folder / "model.safetensors"
    ).read_bytes()
    same = ("step", "loss", "nll", "kl")
    assert [line[key] for line in whole.history() for key in same][-4:] == [
        parts.history()[-1][key] for key in same
    ]


def test_kept_weights_are_those_of_a_shorter_run_and_do_not_change_the_training(tmp_path: Path) -> None:
    """Also of a run that is killed after a kept step and goes on from a checkpoint before or at it."""
    plain = fit(tiny(), tmp_path / "plain", steps=12)
    whole = fit(tiny(), tmp_path / "whole", steps=12, keep_weights=(4, 8))
    short = {steps: fit(tiny(), tmp_path / f"{steps}", steps=steps).weights() for steps in (4, 8)}
    for stop, kind in ((3, "stopped"), (4, "stopped"), (6, "stopped"), (6, "killed")):
        folder, real = tmp_path / f"{kind}-{stop}", Trainer._step

        def step(self: Trainer, real: Any = real, stop: int = stop, kind: str = kind) -> Any:
            if kind == "killed" and self.state.step == stop:
                raise RuntimeError("killed")  # the only checkpoint is of step 0
            if kind == "stopped" and self.state.step == stop - 1:
                os.kill(os.getpid(), signal.SIGINT)
            return real(self)

        with pytest.MonkeyPatch.context() as patch, pytest.raises((KeyboardInterrupt, RuntimeError)):
            patch.setattr(Trainer, "_step", step)
            fit(tiny(), folder, steps=12, keep_weights=(4, 8))
        resumed = fit(tiny(seed=9), folder, steps=12, keep_weights=(4, 8), resume=True)
        for which in (4, 8, "last"):
            assert_close(resumed.weights(which), whole.weights(which), atol=0, rtol=0)
    assert_close(whole.weights(), plain.weights(), atol=0, rtol=0)
    for steps, weights in short.items():
        assert_close(whole.weights(steps), weights, atol=0, rtol=0)
        assert int(load(whole.folder, weights=steps, device="cpu").method.step) == steps
    assert sorted(path.name for path in whole.folder.glob("model-*")) == [
        "model-4.safetensors",
        "model-8.safetensors",
    ]


def test_a_finished_run_resumed_is_only_read(tmp_path: Path) -> None:
    run = fit(tiny(), tmp_path / "run")
    before = (run.folder / "model.safetensors").stat().st_mtime_ns
    method = tiny(seed=9)
    fit(method, tmp_path / "run", resume=True)
    assert (run.folder / "model.safetensors").stat().st_mtime_ns == before
    assert_close(run.weights(), dict(method.state_dict()), atol=0, rtol=0)


def test_a_finished_run_on_a_read_only_disk_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = fit(tiny(), tmp_path / "run")
    opened = os.open

    def read_only(path: Any, flags: int, *mode: Any, **how: Any) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
        return opened(path, flags, *mode, **how)

    monkeypatch.setattr(os, "open", read_only)
    method = tiny(seed=9)
    assert fit(method, tmp_path / "run", resume=True).complete
    assert_close(run.weights(), dict(method.state_dict()), atol=0, rtol=0)
    with pytest.raises(OSError, match=r"run cannot be locked \(Read-only file system\)\. Choose"):
        fit(method, tmp_path / "run", resume=True, steps=20)


@pytest.mark.parametrize("damage", ["missing", "truncated", "state of another shape", "history"])
def test_a_damaged_checkpoint_leaves_a_finished_run_as_it_was(damage: str, tmp_path: Path) -> None:
    run = fit(tiny(), tmp_path / "run")
    path = run.folder / "checkpoint.safetensors"
    if damage == "truncated":
        path.write_bytes(path.read_bytes()[:-1000])
    elif damage == "missing":
        path.unlink()
    elif damage == "history":
        (run.folder / "history.jsonl").write_text('{"step": "checkpoint.safetensors"}\n')
    else:
        write_tensors(path, read_tensors(path) | {"optimizer.model.0.exp_avg": torch.zeros(3)})
    before = {file.name: file.read_bytes() for file in run.folder.iterdir()}
    with pytest.raises(
        (ValueError, FileNotFoundError),
        match=r"checkpoint\.safetensors.* .*(Restore|train again|Delete the line)",
    ):
        fit(tiny(), run.folder, resume=True, steps=20)
    assert {file.name: file.read_bytes() for file in run.folder.iterdir()} == before
    assert Run(run.folder).complete and Run(run.folder).weights().keys() == run.weights().keys()


def test_a_killed_extension_leaves_the_finished_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Validation, plan and settings of the longer training wait until its last weights are there."""
    how = {"val_fraction": 0.2, "val_every": 2}
    run = fit(tiny(), tmp_path / "run", **how)
    run.add_scores([{"metric": "mig", "protocol": "", "seed": 0, "value": 0.1}])
    names = (
        "run.json",
        "model.safetensors",
        "best.safetensors",
        "scores.json",
        "finished.json",
        "versions.json",
    )
    before = {name: (run.folder / name).read_bytes() for name in names}
    real = Trainer._step

    def killed(self: Trainer) -> Any:
        if self.state.step == 17:
            raise RuntimeError("killed")
        return real(self)

    monkeypatch.setattr(Trainer, "_step", killed)
    with pytest.raises(RuntimeError, match="killed"):
        fit(tiny(), run.folder, resume=True, steps=20, checkpoint_seconds=-1.0, optimizer=None, **how)
    monkeypatch.undo()
    assert {name: (run.folder / name).read_bytes() for name in names} == before
    assert Run(run.folder).complete and fit(tiny(), run.folder, resume=True, **how).steps == 12
    with pytest.raises(ValueError, match="is at step 17, beyond the 15 steps"):
        fit(tiny(), run.folder, resume=True, steps=15, **how)
    longer = fit(tiny(), run.folder, resume=True, steps=20, **how)
    whole = fit(tiny(), tmp_path / "whole", steps=20, **how)
    assert longer.scores() == [] and Run(run.folder).steps == 20
    for which in ("last", "best"):
        assert_close(longer.weights(which), whole.weights(which), atol=0, rtol=0)


def test_two_trainings_in_one_folder_are_refused(tmp_path: Path) -> None:
    """A lock that a killed process has left, and its files, are no obstacle."""
    (tmp_path / "run").mkdir()
    with (
        locked(tmp_path / "run" / ".lock", message=""),
        pytest.raises(ValueError, match="Another process is training"),
    ):
        fit(tiny(), tmp_path / "run")
    (tmp_path / "run" / ".model.safetensors.1-ab.part").touch()
    run = fit(tiny(), tmp_path / "run")
    assert run.finished and not list(run.folder.glob("*.part"))
    fit(tiny(), tmp_path / "run", resume=True, steps=13)  # the first training has released the folder


def test_deterministic_training_on_a_cpu_has_the_same_weights(tmp_path: Path) -> None:
    runs = [fit(tiny(), tmp_path / str(value), deterministic=value) for value in (False, True)]
    assert_close(runs[0].weights(), runs[1].weights(), atol=0, rtol=0)
    assert runs[1].settings["training"]["deterministic"] is True


def test_resume_without_a_checkpoint_starts_anew(tmp_path: Path) -> None:
    fresh = fit(tiny(), tmp_path / "fresh", resume=True)
    assert_close(fresh.weights(), fit(tiny(), tmp_path / "other").weights(), atol=0, rtol=0)


def test_going_on_from_another_run_begins_with_its_weights(tmp_path: Path) -> None:
    first = fit(tiny(), tmp_path / "first")
    second = fit(tiny(seed=9), tmp_path / "second", init_from=first.folder, optimizer=SGD(0.0))
    trained = {name: value for name, value in second.weights().items() if name != "step"}
    assert_close(trained, {name: first.weights()[name] for name in trained}, atol=0, rtol=0)
    assert second.settings["init_from"] == first.identity
    assert int(second.weights()["step"]) == 12  # schedules begin again


def test_a_loss_that_is_not_a_number_stops_training(tmp_path: Path) -> None:
    with pytest.raises(
        FloatingPointError, match=r"stopped: loss.* of model became NaN or infinite at step \d+"
    ):
        fit(tiny(), tmp_path / "run", steps=200, optimizer=SGD(1e12), log_every=1)
    assert not Run(tmp_path / "run").finished


def test_bad_weights_are_never_checkpointed(tmp_path: Path) -> None:
    with pytest.raises(FloatingPointError, match="last good checkpoint is in"):
        fit(tiny(), tmp_path / "run", steps=200, optimizer=SGD(1e6), checkpoint_seconds=0.0)
    state = read_tensors(tmp_path / "run" / "checkpoint.safetensors")
    assert all(bool(torch.isfinite(tensor).all()) for name, tensor in state.items() if name != "best")


def test_patience_stops_when_nothing_gets_better(tmp_path: Path) -> None:
    run = fit(
        tiny(), tmp_path / "run", steps=400, val_fraction=0.2, val_every=5, patience=3, optimizer=SGD(0.0)
    )
    values = [line["validation"] for line in run.history() if "validation" in line]
    assert len(values) == 4 and len(set(values)) == 1  # the first is the best, then three are no better
    assert run.finished and run.history()[-1]["step"] == 20


def test_a_run_that_stopped_early_and_lost_its_end_stops_there_again(tmp_path: Path) -> None:
    early = {"steps": 400, "val_fraction": 0.2, "val_every": 5, "patience": 2, "optimizer": SGD(0.0)}
    run = fit(tiny(), tmp_path / "run", **early)
    before = (run.folder / "model.safetensors").read_bytes()
    (run.folder / "finished.json").unlink()
    (run.folder / "model.safetensors").unlink()
    fit(tiny(seed=9), tmp_path / "run", resume=True, **early)
    assert (run.folder / "model.safetensors").read_bytes() == before


def test_the_first_weights_are_kept_at_once(tmp_path: Path) -> None:
    """So that a run that began with weights nobody can make again is resumed from them."""
    method = tiny()
    first = {name: value.clone() for name, value in method.state_dict().items()}
    with pytest.raises(FloatingPointError):
        fit(method, tmp_path / "run", optimizer=SGD(1e30), log_every=1)
    state = read_tensors(tmp_path / "run" / "checkpoint.safetensors")
    assert_close({name: state[f"model.{name}"] for name in first}, first, atol=0, rtol=0)


def test_weights_that_are_not_finite_are_never_written(tmp_path: Path) -> None:
    with pytest.raises(FloatingPointError, match=r"the weight .* became NaN or infinite at step 1"):
        fit(tiny(), tmp_path / "run", steps=1, optimizer=Adam(1e39))
    assert not Run(tmp_path / "run").finished


def test_weights_that_do_not_fit_are_refused_before_the_run_begins(tmp_path: Path) -> None:
    first = fit(tiny(), tmp_path / "first")
    with pytest.raises(ValueError, match="do not fit this factor-vae"):
        fit(tiny(FactorVAE), tmp_path / "second", init_from=first.folder)
    assert not (tmp_path / "second").exists()


def test_parts_that_a_split_leaves_too_small_are_refused_before_the_run_begins(tmp_path: Path) -> None:
    small = Dataset(torch.zeros(2, 1, 3, 3), name="two", max_value=1)
    with pytest.raises(ValueError, match="leaves one split empty"):
        train(tiny(), small, out=tmp_path / "run", steps=2, val_fraction=0.9, quiet=True)
    grid = Dataset(
        torch.zeros(6, 1, 3, 3), name="six", max_value=1, factor_space=FactorSpace({"a": 2, "b": 3})
    )
    with pytest.raises(ValueError, match=r"six can change 1 to 0 factors; got k=1"):
        train(
            tiny(AdaGVAE),
            grid,
            out=tmp_path / "run",
            steps=2,
            val_fraction=0.1,
            draw=PairDraw(k=1),
            quiet=True,
        )
    assert not (tmp_path / "run").exists()


def test_validation_leaves_running_statistics_alone(tmp_path: Path) -> None:
    def normalized() -> Method:
        method = tiny()
        encoder = method.encoder
        encoder.trunk = torch.nn.Sequential(
            torch.nn.Flatten(), torch.nn.BatchNorm1d(9), *list(encoder.trunk)[1:]
        )
        return method

    often = fit(normalized(), tmp_path / "often", val_fraction=0.2, val_every=1)
    seldom = fit(normalized(), tmp_path / "seldom", val_fraction=0.2, val_every=12)
    assert_close(often.weights(), seldom.weights(), atol=0, rtol=0)


def test_the_best_weights_are_those_with_the_least_validation_loss(tmp_path: Path) -> None:
    uphill = Constant(-1.0)  # so that the first measurement is the best
    rising = {"val_fraction": 0.2, "val_every": 5, "optimizer": SGD(1e-4), "lr_schedule": uphill}
    run = fit(tiny(), tmp_path / "run", steps=20, **rising)
    values = [line["validation"] for line in run.history() if "validation" in line]
    assert values == sorted(values)
    short = fit(tiny(), tmp_path / "short", steps=5, **rising)
    assert_close(run.weights("best"), short.weights(), atol=0, rtol=0)


def test_validation_changes_nothing_but_the_held_out_data(tmp_path: Path) -> None:
    often = fit(tiny(), tmp_path / "often", val_fraction=0.2, val_every=1)
    seldom = fit(tiny(), tmp_path / "seldom", val_fraction=0.2, val_every=12)
    assert_close(often.weights(), seldom.weights(), atol=0, rtol=0)


def test_epochs_become_steps(tmp_path: Path) -> None:
    assert fit(tiny(), tmp_path / "run", steps=0, epochs=2.0).steps == 15  # 2 · 60 / 8


def test_pairs_on_data_without_factors_are_refused_before_training(tmp_path: Path) -> None:
    plain = Dataset(torch.zeros(60, 1, 3, 3), name="mine", max_value=1)
    with pytest.raises(ValueError, match=r"needs pairs .* mine has no known factors"):
        train(tiny(AdaGVAE), plain, out=tmp_path / "run", steps=3, quiet=True)
    assert not (tmp_path / "run").exists()
    with pytest.raises(ValueError, match="can change 1 to 3 factors; got k=4"):
        fit(tiny(AdaGVAE), tmp_path / "run", draw=PairDraw(k=4))


class Demanding(BetaVAE):
    """A method of a user with a requirement on the data."""

    def check_training(self, dataset: Dataset, draw: Draw, batch_size: int) -> None:
        if len(dataset) < 3 * batch_size:
            raise ValueError(f"Three batches of {batch_size} need more than {len(dataset)} observations.")


def test_a_method_checks_its_training_split_before_the_run_begins(tmp_path: Path) -> None:
    fit(tiny(Demanding), tmp_path / "whole", steps=1)
    with pytest.raises(ValueError, match="Three batches of 8 need more than 18 observations"):
        fit(tiny(Demanding), tmp_path / "run", val_fraction=0.7)
    assert not (tmp_path / "run").exists()


def test_pairs_of_two_classes_are_refused_where_the_class_is_exchanged(tmp_path: Path) -> None:
    labeled = Dataset(torch.rand(60, 1, 3, 3), name="noise", max_value=1, factor_space=SPACE, label="a")
    how = {"out": tmp_path / "run", "steps": 1, "batch_size": 8, "device": "cpu", "quiet": True}
    with pytest.raises(
        ValueError, match=r"needs pairs of the same class.* draw with PairDraw\(same_class=True\)"
    ):
        train(tiny(ReconContrast), labeled, draw=PairDraw(k=1), **how)
    assert not (tmp_path / "run").exists()
    run = train(tiny(ReconContrast), labeled, **how)
    assert run.settings["draw"]["arguments"]["same_class"] is True


@pytest.mark.parametrize("likelihood", [Bernoulli(), Pixels()])
def test_rows_beyond_what_the_likelihood_can_have_are_refused(likelihood: Likelihood, tmp_path: Path) -> None:
    networks = {"architecture": "linear", "latent_dim": 2, "likelihood": likelihood}
    how = {"steps": 1, "batch_size": 4, "device": "cpu", "quiet": True}
    rows = Dataset(torch.linspace(0, 1, 24).view(8, 3), name="shares", max_value=1)
    train(build_method(BetaVAE, (3,), n=8, **networks), rows, out=tmp_path / "shares", **how)
    wide = Dataset(torch.linspace(-2, 3, 24).view(8, 3), name="wide", max_value=1)
    sentence = (
        f"{likelihood.short()} needs values from 0 to 1, and the rows of wide range from -2 to 3.*normal:1"
    )
    with pytest.raises(ValueError, match=sentence):
        train(build_method(BetaVAE, (3,), n=8, **networks), wide, out=tmp_path / "wide", **how)
    method = build_method(ContrastVAE, (3,), n=8, **(networks | {"common_dim": 1, "salient_dim": 1}))
    with pytest.raises(ValueError, match="the rows of wide"):
        train(method, rows.with_background(wide), out=tmp_path / "wide", **how)
    assert not (tmp_path / "wide").exists()


def test_an_estimate_is_shown_before_training(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    quiet = fit(tiny(), tmp_path / "quiet", steps=20)
    shown = fit(tiny(), tmp_path / "shown", steps=20, quiet=False)
    assert "MiB of memory and" in capsys.readouterr().err
    assert_close(quiet.weights(), shown.weights(), atol=0, rtol=0)  # and it changes nothing
    fit(tiny(), tmp_path / "short", steps=19, quiet=False)  # shorter than the estimate
    assert "MiB" not in capsys.readouterr().err


COMMAND = (
    *(
        "train",
        "beta-vae",
        "--data",
        "sprites",
        "--image-size",
        "32",
        "--steps",
        "40",
        "--batch-size",
        "8",
        "--seed",
        "0",
    ),
    *("--latent-dim", "4", "--device", "cpu", "--checkpoint-seconds", "0", "--quiet"),
)
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def start(forked: ForkedCommands, out: Path, *words: str, steps: int = 40) -> Running:
    command = [word if word != "40" else str(steps) for word in COMMAND]
    return forked.start(
        [*command, "--out", str(out), *words], out.parent, variables={}, output=out.with_suffix(".printed")
    )


def wait_for(path: Path, process: Running, seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while not path.exists() and time.monotonic() < until and process.is_running:
        time.sleep(0.005)
    assert path.exists(), f"{path.name} did not appear"


def test_killed_at_any_moment_and_resumed_the_weights_are_the_same(
    tmp_path: Path, forked: ForkedCommands
) -> None:
    whole = start(forked, tmp_path / "whole")
    moments = random.Random(int(os.environ.get("UNBRAID_KILL_SEED", "0")))
    checkpoint = tmp_path / "killed" / "checkpoint.safetensors"
    codes = []
    for _ in range(3):
        killed = start(forked, tmp_path / "killed", "--resume")
        wait_for(checkpoint, killed)
        time.sleep(moments.uniform(0.0, 0.2))
        killed.signal(signal.SIGKILL)
        codes.append(killed.wait(60).code)
    assert -signal.SIGKILL in codes  # not all trainings ended before
    assert start(forked, tmp_path / "killed", "--resume").wait(60).code == 0
    assert whole.wait(60).code == 0
    expected = (tmp_path / "whole" / "model.safetensors").read_bytes()
    assert (tmp_path / "killed" / "model.safetensors").read_bytes() == expected


KILLS = """
import multiprocessing, os, random, signal, sys
from pathlib import Path

import torch
from torch import nn

from tests.tiny import make
from unbraid.data import mixture
from unbraid.methods import AugmentedGIN, FactorVAE
from unbraid.nn import RowFlow
from tests.training.test_train import dataset
from unbraid.runs import Run
from unbraid.training import train

torch.set_num_threads(1)


class Both(FactorVAE):  # two players and a post-training hook
    on_train_end_uses_draw, on_train_end_samples = True, 50

    def __init__(self, encoder: nn.Module, decoder: nn.Module, critic: nn.Module, *, gamma: float = 10.0):
        super().__init__(encoder, decoder, critic, gamma=gamma)
        self.register_buffer("mean", torch.zeros(4))

    def on_train_end(self, batches):
        self.mean.copy_(torch.cat([self.encode(batch.x) for batch in batches]).mean(0))


class Flow(AugmentedGIN):
    on_train_end_samples = 500


def both(folder):
    train(make(Both).float(), dataset(), out=folder, steps=30, **HOW)


def flow(folder):
    torch.manual_seed(0)
    train(Flow(RowFlow((10,), blocks=1, width=8)), ROWS, out=folder, steps=30, **HOW)


HOW = {"batch_size": 8, "device": "cpu", "resume": True, "quiet": True, "checkpoint_seconds": 0.0, "log_every": 1}
ROWS, fork, moments = mixture(), multiprocessing.get_context("fork"), random.Random(int(sys.argv[2]))
for name, run in {"both": both, "flow": flow}.items():
    folders = [Path(sys.argv[1]) / f"{name}-{how}" for how in ("whole", "killed")]
    run(folders[0])
    deaths = 0
    for index in range(5):
        victim = fork.Process(target=run, args=(folders[1],))
        if index % 2 == 0:  # at a write, of which every training has more
            writes, replace = moments.randrange(1, 18), os.replace

            def killed(*paths):
                global writes
                writes -= 1
                if writes == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                replace(*paths)

            os.replace = killed
            victim.start()
            os.replace = replace
            victim.join()
        else:  # at any moment
            victim.start()
            victim.join(moments.uniform(0.0, 0.15))
            victim.kill()
            victim.join()
        deaths += victim.exitcode == -signal.SIGKILL
    run(folders[1])
    assert Run(folders[1]).complete and not list(folders[1].glob(".*.part"))
    same = [(folder / "model.safetensors").read_bytes() for folder in folders]
    steps = [[line["step"] for line in Run(folder).history()] for folder in folders]
    print(name, deaths, same[0] == same[1], steps[0] == steps[1])
"""


def test_killed_with_players_and_a_hook_the_weights_are_the_same(tmp_path: Path) -> None:
    """Two players with a post-training hook, and a flow that is fitted after its last step; SIGKILL at random moments
    and between writes."""
    seed = os.environ.get("UNBRAID_KILL_SEED", "0")
    done = subprocess.run(
        [sys.executable, "-c", KILLS, str(tmp_path), seed],
        env=ENVIRONMENT | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        _, deaths, *same = line.split()
        assert int(deaths) >= 1 and same == ["True", "True"], line


def test_a_process_that_trains_keeps_others_out_and_stops_when_it_is_asked_to(
    tmp_path: Path, forked: ForkedCommands
) -> None:
    process = start(forked, tmp_path / "run", steps=100000)
    wait_for(tmp_path / "run" / "checkpoint.safetensors", process)
    plan = Plan(
        "beta-vae",
        "sprites",
        {"image_size": 32, "steps": 100000, "batch_size": 8, "seed": 0, "latent_dim": 4},
    )
    with pytest.raises(ValueError, match=r"Another process is training in .*run\. Wait until it has ended"):
        plan.run(tmp_path / "run", resume=True, device="cpu", quiet=True)
    process.signal(signal.SIGTERM)
    ended = process.wait(60)
    said = ended.err
    assert ended.code == 143 and "Traceback" not in said
    assert said.startswith("unbraid: Stopped at step ") and said.endswith("continue with --resume.\n")
    step = read_tensors(tmp_path / "run" / "checkpoint.safetensors")["step"]
    assert f"step {step} of" in said
    with locked(tmp_path / "run" / ".lock", message="still locked"):
        pass


def test_two_processes_train_as_one(tmp_path: Path, forked: ForkedCommands) -> None:
    """Two players, a loss that couples the batch, through Lightning Fabric: the weights agree to rounding."""
    words = ["train", "factor-vae", *COMMAND[2:], "--log-every", "1"]
    words[words.index("--steps") + 1] = "4"
    alone = forked.start(
        [*words, "--out", str(tmp_path / "1")], tmp_path, variables={}, output=tmp_path / "printed"
    )
    done = subprocess.run(  # each of the two starts by the command line of the first
        [sys.executable, "-m", "unbraid", *words, "--devices", "2", "--out", str(tmp_path / "2")],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    ended = alone.wait(60)
    assert ended.code == 0, ended.err
    one, two = Run(tmp_path / "1"), Run(tmp_path / "2")
    assert_close(two.weights(), one.weights(), atol=1e-5, rtol=1e-4)
    terms = ("loss", "nll", "kl", "tc", "critic.loss")
    for first, second in zip(one.history(), two.history(), strict=True):
        assert [second[term] for term in terms] == pytest.approx([first[term] for term in terms], rel=1e-4)


def zeros() -> Dataset:
    return Dataset(torch.zeros(20, *SHAPE, dtype=torch.uint8), name="zeros")


def test_settings_say_everything_that_makes_a_run_the_same_run() -> None:
    config = TrainConfig(steps=5, batch_size=4, optimizer=Adam(0.01))
    settings = run_settings(make(BetaVAE, beta=2.0), zeros(), IIDDraw(), config)
    assert settings["method"]["name"] == "beta-vae" and settings["method"]["arguments"]["beta"] == 2.0
    assert settings["data"]["name"] == "zeros"
    assert settings["draw"] == {"name": "IIDDraw", "arguments": {}}
    assert settings["training"]["batch_size"] == 4
    assert settings["init_from"] is None
    other = run_settings(make(BetaVAE, beta=3.0), zeros(), IIDDraw(), config)
    assert settings != other


def test_the_run_that_weights_come_from_is_part_of_the_settings(tmp_path: Path) -> None:
    config = TrainConfig(steps=2, batch_size=4)
    first = train(make(BetaVAE).float(), zeros(), out=tmp_path / "first", steps=2, batch_size=4, quiet=True)
    settings = run_settings(make(BetaVAE), zeros(), IIDDraw(), config, first.folder)
    assert settings["init_from"] == first.identity


def test_initial_weights_are_copied_and_the_step_is_not(tmp_path: Path) -> None:
    first = train(make(BetaVAE).float(), zeros(), out=tmp_path / "first", steps=2, batch_size=4, quiet=True)
    method = make(BetaVAE, seed=5).float()
    init_weights_from(method, first)
    weights = {name: value for name, value in first.weights().items() if name != "step"}
    assert_close({name: method.state_dict()[name] for name in weights}, weights, rtol=0, atol=0)
    assert int(method.step) == 0
    with pytest.raises(ValueError, match="run of the same method, code size and architecture"):
        init_weights_from(make(BetaVAE, encoder=MLPEncoder(SHAPE, 4, hidden=(5,))).float(), first)


def test_initial_weights_of_other_columns_are_refused(tmp_path: Path) -> None:
    """In another order they would fit, and belong to the wrong columns."""
    for name, heading in (("first", "a,b,c"), ("second", "c,a,b")):
        (tmp_path / f"{name}.csv").write_text(f"{heading}\n1,2,3\n4,6,5\n7,8,9\n2,2,1\n")
    options = {"steps": 2, "batch_size": 2, "architecture": "mlp-small", "likelihood": Normal()}
    first = Plan("vae", str(tmp_path / "first.csv"), options).run(tmp_path / "first", quiet=True)
    second = Plan("vae", str(tmp_path / "second.csv"), options)
    with pytest.raises(ValueError, match=r"in the same order.*second has c, a, b in place of a, b, c\."):
        second.run(tmp_path / "second", init_from=first.folder, quiet=True)
    assert not (tmp_path / "second").exists()
    ordered = replace(second, reference_table=str(tmp_path / "first.csv"))
    assert ordered.run(tmp_path / "second", init_from=first.folder, quiet=True).finished


def test_a_folder_that_holds_another_run_is_refused(tmp_path: Path) -> None:
    settings = run_settings(make(BetaVAE), zeros(), IIDDraw(), TrainConfig(steps=5, batch_size=4))
    Run.create(tmp_path / "run", settings, resume=False)
    longer = run_settings(make(BetaVAE), zeros(), IIDDraw(), TrainConfig(steps=5, batch_size=8))
    with pytest.raises(ValueError, match=r"training\.batch_size"):
        open_run(longer, tmp_path / "run", resume=True, resources=ExitStack())


CONFIG = TrainConfig(steps=5, batch_size=4)


def images(size: int = 20) -> Dataset:
    return Dataset(torch.zeros(size, *SHAPE, dtype=torch.uint8), name="zeros")


def test_a_training_that_suits_passes() -> None:
    check_training(make(BetaVAE), images(), IIDDraw(), CONFIG)
    check_size(make(BetaVAE), images(4), IIDDraw(), CONFIG)


def test_an_optimizer_without_weight_decay_is_named() -> None:
    config = TrainConfig(steps=5, optimizer=RMSprop(1e-3), weight_decay=0.1)
    with pytest.raises(ValueError, match="RMSprop has no weight_decay"):
        check_training(make(BetaVAE), images(), IIDDraw(), config)


def test_lr_and_weight_decay_replace_those_of_the_first_player() -> None:
    config = TrainConfig(steps=5, optimizer=SGD(0.5, momentum=0.9), lr=0.1, weight_decay=0.01)
    assert config.first_optimizer(make(BetaVAE)) == SGD(0.1, momentum=0.9, weight_decay=0.01)
    assert TrainConfig(steps=5).first_optimizer(make(BetaVAE)) == make(BetaVAE).players()[0].optimizer
    assert TrainConfig(steps=5).first_optimizer(make(ContrastivePCA)) is None  # has no player


def test_values_outside_the_likelihood_are_refused() -> None:
    rows = Dataset(torch.full((20, 3), 2.0), name="twos", max_value=1)
    method = make(
        BetaVAE, encoder=MLPEncoder((3,), 4, hidden=(5,)), decoder=nn.Linear(4, 3), likelihood=Bernoulli()
    )
    with pytest.raises(ValueError, match="needs values from 0 to 1, and the rows of twos range from 2 to 2"):
        check_training(method, rows, IIDDraw(), CONFIG)


def test_pairs_of_different_classes_are_refused_where_the_class_strand_is_swapped() -> None:
    space = FactorSpace({"label": 2, "angle": 2})
    data = Dataset(torch.zeros(4, *SHAPE, dtype=torch.uint8), name="grid", factor_space=space, label="label")
    with pytest.raises(ValueError, match="needs pairs of the same class"):
        check_training(make(ReconContrast), data, PairDraw(same_class=False), CONFIG)


def test_fewer_observations_than_a_methods_batches_are_refused() -> None:
    check_size(make(Intervention), images(8), IIDDraw(), CONFIG)
    with pytest.raises(
        ValueError, match="needs 8 observations for 2 batches of 4, and the training split of zeros has 7"
    ):
        check_size(make(Intervention), images(7), IIDDraw(), CONFIG)


def test_a_split_that_cannot_be_drawn_from_is_refused() -> None:
    with pytest.raises(ValueError, match="pairs that differ in k factors"):
        check_split((images(), images()), PairDraw(), CONFIG, torch.device("cpu"))
