"""The command that repeats a run, src/unbraid/report/command.py."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.report.conftest import PLAN
from unbraid.data.arrays import from_arrays
from unbraid.methods.base import build_method
from unbraid.methods.beta_vae import BetaVAE
from unbraid.nn import MLPDecoder, MLPEncoder
from unbraid.report.command import command_of
from unbraid.runs.folder import Run
from unbraid.studies.plan import Plan, plan_options
from unbraid.training.train import train


def options_in(command: str) -> dict[str, str]:
    words = shlex.split(command)
    return {
        words[index].removeprefix("--").replace("-", "_"): words[index + 1]
        for index in range(5, len(words), 2)
    }


def edited(folder: Path, **changes: Any) -> Run:
    plan = json.loads((folder / "plan.json").read_text())
    (folder / "plan.json").write_text(json.dumps(plan | changes))
    return Run(folder)


def test_the_command_asks_for_the_same_run(run: Run) -> None:
    command = command_of(run)
    assert shlex.split(command)[:5] == ["unbraid", "train", "beta-vae", "--data", "sprites"]
    written = options_in(command)
    assert written.pop("out") == "RUN"
    allowed = plan_options("beta-vae", "sprites")
    options = {name: allowed.find(name)[1].parse(text) for name, text in written.items()}
    assert Plan("beta-vae", "sprites", options).identity == PLAN.identity


def test_defaults_are_left_out_and_values_kept_short(run: Run) -> None:
    command = command_of(run, out="again")
    assert "--optimizer adam:0.001 " in command and command.endswith("--out again")
    assert "--likelihood" not in command and "--grad-clip" not in command and "--seed 0" in command
    assert "--architecture mlp" in command and "--latent-dim 4" in command


def test_a_name_that_two_owners_have_is_written_in_full(folder: Path) -> None:
    options = json.loads((folder / "plan.json").read_text())["options"]
    options["data"]["beta"] = 7.0
    written = options_in(command_of(edited(folder, options=options)))
    assert written["data.beta"] == "7.0" and written["method.beta"] == "0.1" and "beta" not in written


def test_code_that_is_not_known_has_all_its_options(folder: Path) -> None:
    run = edited(folder, method="elsewhere.py:Own", draw="elsewhere.py:Pairs")
    command = command_of(run)
    assert command.startswith("unbraid train elsewhere.py:Own --data sprites --draw elsewhere.py:Pairs")
    assert "--likelihood bernoulli" in command


def test_a_run_without_a_plan_has_no_command(tmp_path: Path) -> None:
    dataset = from_arrays(torch.rand(8, 1, 28, 28))
    method = build_method(BetaVAE, dataset.shape, n=8, latent_dim=2, architecture="mlp")
    run = train(method, dataset, out=tmp_path / "run", steps=1, batch_size=4, quiet=True, device="cpu")
    with pytest.raises(ValueError, match="it was trained from Python"):
        command_of(run)


def test_networks_that_were_passed_have_no_command(tmp_path: Path) -> None:
    dataset = PLAN.dataset()
    shape = dataset.shape
    method = BetaVAE(MLPEncoder(shape, 2, hidden=(8,)), MLPDecoder(2, shape, hidden=(8,)))
    run = train(method, dataset, out=tmp_path / "run", steps=1, batch_size=4, quiet=True, device="cpu")
    with pytest.raises(ValueError, match="it was trained from Python"):
        command_of(run)


def test_an_overlay_decoder_is_named_by_its_architecture(tmp_path: Path) -> None:
    options = {"architecture": "overlay:linear+mlp-small", "image_size": 28, "steps": 1, "batch_size": 8}
    run = Plan("principled-contrast", "faces", options).run(tmp_path / "run", quiet=True, device="cpu")
    assert "--architecture overlay:linear+mlp-small" in command_of(run)
