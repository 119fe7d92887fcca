"""The command that repeats a run, src/unbraid/report/command.py."""

import shlex
from pathlib import Path

import pytest
import torch

from tests.report.conftest import PLAN
from unbraid.data.files import array
from unbraid.methods.assemble import assemble
from unbraid.methods.beta_vae import BetaVAE
from unbraid.nn import MLPDecoder, MLPEncoder
from unbraid.plan import Plan, allowed_options
from unbraid.report.command import command_of
from unbraid.runs import Run
from unbraid.train import train


def test_the_command_asks_for_the_same_run(run: Run) -> None:
    words = shlex.split(command_of(run))
    assert words[:5] == ["unbraid", "train", "beta-vae", "--data", "sprites"]
    written = {words[place].removeprefix("--"): words[place + 1] for place in range(5, len(words), 2)}
    assert written.pop("out") == "RUN"
    allowed = allowed_options("beta-vae", "sprites")
    options = {name: allowed[name][1].parse(text) for name, text in written.items()}
    assert Plan("beta-vae", "sprites", options).identity == PLAN.identity


def test_defaults_are_left_out_and_values_kept_short(run: Run) -> None:
    command = command_of(run, out="again")
    assert "--optimiser adam:0.001 " in command and command.endswith("--out again")
    assert "--likelihood" not in command and "--clip" not in command and "--seed 0" in command


def test_arrays_have_no_command(tmp_path: Path) -> None:
    dataset = array(torch.rand(8, 1, 28, 28))
    method = assemble(BetaVAE, dataset.shape, n=8, codes=2, architecture="mlp")
    run = train(method, dataset, out=tmp_path / "run", steps=1, batch=4, quiet=True, device="cpu")
    with pytest.raises(ValueError, match="made in Python"):
        command_of(run)


def test_networks_with_settings_of_their_own_have_no_command(tmp_path: Path) -> None:
    dataset = PLAN.dataset()
    shape = dataset.shape
    method = BetaVAE(MLPEncoder(shape, 2, hidden=(8,)), MLPDecoder(2, shape, hidden=(8,)))
    run = train(method, dataset, out=tmp_path / "run", steps=1, batch=4, quiet=True, device="cpu")
    with pytest.raises(ValueError, match="settings of their own"):
        command_of(run)
