"""The command that repeats a run, src/unbraid/report/command.py."""

import shlex
from pathlib import Path

import pytest
import torch

from tests.report.conftest import PLAN
from unbraid.data.arrays import from_arrays
from unbraid.methods.base import build_method
from unbraid.methods.beta_vae import BetaVAE
from unbraid.methods.principled_contrast import PrincipledContrast
from unbraid.nn import MLPDecoder, MLPEncoder
from unbraid.report.command import _architecture, command_of
from unbraid.runs.folder import Run
from unbraid.settings import to_json
from unbraid.studies.plan import Plan, allowed_options
from unbraid.training.train import train


def test_the_command_asks_for_the_same_run(run: Run) -> None:
    words = shlex.split(command_of(run))
    assert words[:5] == ["unbraid", "train", "beta-vae", "--data", "sprites"]
    written = {
        words[index].removeprefix("--").replace("-", "_"): words[index + 1]
        for index in range(5, len(words), 2)
    }
    assert written.pop("out") == "RUN"
    allowed = allowed_options("beta-vae", "sprites")
    options = {name: allowed[name][1].parse(text) for name, text in written.items()}
    assert Plan("beta-vae", "sprites", options).identity == PLAN.identity


def test_defaults_are_left_out_and_values_kept_short(run: Run) -> None:
    command = command_of(run, out="again")
    assert "--optimizer adam:0.001 " in command and command.endswith("--out again")
    assert "--likelihood" not in command and "--grad-clip" not in command and "--seed 0" in command


def test_arrays_have_no_command(tmp_path: Path) -> None:
    dataset = from_arrays(torch.rand(8, 1, 28, 28))
    method = build_method(BetaVAE, dataset.shape, n=8, latent_dim=2, architecture="mlp")
    run = train(method, dataset, out=tmp_path / "run", steps=1, batch_size=4, quiet=True, device="cpu")
    with pytest.raises(ValueError, match="created in Python"):
        command_of(run)


def test_networks_with_custom_settings_have_no_command(tmp_path: Path) -> None:
    dataset = PLAN.dataset()
    shape = dataset.shape
    method = BetaVAE(MLPEncoder(shape, 2, hidden=(8,)), MLPDecoder(2, shape, hidden=(8,)))
    run = train(method, dataset, out=tmp_path / "run", steps=1, batch_size=4, quiet=True, device="cpu")
    with pytest.raises(ValueError, match="custom settings"):
        command_of(run)


@pytest.mark.parametrize("name", ["overlay:mlp-small", "overlay:linear+mlp-small"])
def test_an_overlay_decoder_is_named_by_its_architecture(name: str) -> None:
    method = build_method(PrincipledContrast, (5,), n=8, architecture=name)
    assert _architecture(PrincipledContrast, to_json(method.arguments), (5,)) == {"architecture": name}
