"""Methods built again from a run's settings, src/unbraid/runs/rebuild.py."""

import json
from pathlib import Path

import pytest
import torch
from torch import nn

from unbraid import custom_code, train
from unbraid.data import Dataset, open_dataset
from unbraid.methods import BetaVAE, build_method
from unbraid.nn import MLPDecoder, MLPEncoder
from unbraid.runs import Run, load
from unbraid.runs.rebuild import method_of, rebuild_method


class Plain(BetaVAE):
    """A method of the tests."""


class OwnEncoder(MLPEncoder):
    """A network that records its arguments."""


class Bare(nn.Module):
    """A network that records nothing."""

    def __init__(self, inner: nn.Module, latent_dim: int) -> None:
        super().__init__()
        self.inner, self.latent_dim = inner, latent_dim

    def forward(self, x: torch.Tensor) -> object:
        return self.inner(x)


def networks(shape: tuple[int, ...], latent_dim: int) -> tuple[nn.Module, nn.Module]:
    return Bare(MLPEncoder(shape, latent_dim, hidden=(4,)), latent_dim), MLPDecoder(
        latent_dim, shape, hidden=(4,)
    )


@pytest.fixture
def dataset() -> Dataset:
    return open_dataset("sprites", image_size=16)


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(custom_code, "_named", {})


def trained(cls: type, dataset: Dataset, folder: Path, **options: object) -> Run:
    options = {"architecture": "mlp-small", "latent_dim": 2} | options
    method = build_method(cls, dataset.shape, **dataset.counts, **options)
    return train(method, dataset, out=folder, steps=1, batch_size=4, device="cpu", quiet=True)


def test_the_class_is_found_once_it_was_named(dataset: Dataset, tmp_path: Path) -> None:
    run = trained(Plain, dataset, tmp_path / "run")
    with pytest.raises(ValueError, match=r"--method tests\.runs\.test_rebuild:Plain"):
        method_of(run)
    assert type(rebuild_method(run, Plain)) is Plain
    custom_code.use(Plain)
    assert method_of(run) is Plain
    assert load(run.folder, device="cpu").method.name() == "Plain"


def test_networks_of_ones_own_that_record_their_arguments(dataset: Dataset, tmp_path: Path) -> None:
    run = trained(
        BetaVAE,
        dataset,
        tmp_path / "run",
        encoder=OwnEncoder(dataset.shape, 2),
        decoder=MLPDecoder(2, dataset.shape),
    )
    assert run.plan is None  # the networks were made in Python
    with pytest.raises(ValueError, match=r"tests\.runs\.test_rebuild:OwnEncoder"):
        rebuild_method(run)
    custom_code.use(OwnEncoder)
    assert type(rebuild_method(run).encoder) is OwnEncoder


def test_an_architecture_builds_networks_that_record_nothing(dataset: Dataset, tmp_path: Path) -> None:
    run = trained(BetaVAE, dataset, tmp_path / "run", architecture=networks)
    custom_code._named.clear()
    with pytest.raises(ValueError, match=r"--architecture tests\.runs\.test_rebuild:networks"):
        load(run.folder, device="cpu")
    custom_code.use(networks)
    model, x = load(run.folder, device="cpu"), torch.zeros(1, 1, 16, 16)
    assert model.encode(x).shape == (1, 2)
    assert isinstance(model.method.encoder, Bare)


def test_a_network_without_an_architecture_has_to_be_passed(dataset: Dataset, tmp_path: Path) -> None:
    encoder, decoder = networks(dataset.shape, 2)
    run = trained(BetaVAE, dataset, tmp_path / "run", encoder=encoder, decoder=decoder)
    with pytest.raises(ValueError, match="Pass it to load"):
        load(run.folder, device="cpu")
    assert load(run.folder, device="cpu", encoder=encoder).method.encoder is encoder


def test_a_name_in_a_file_never_imports(dataset: Dataset, tmp_path: Path) -> None:
    """Neither as the name of the method, nor as its code, its network, its architecture or its dataset."""
    run = trained(Plain, dataset, tmp_path / "run")
    (tmp_path / "evil.py").write_text("raise SystemExit('ran')\nclass Evil: ...")
    evil = f"{tmp_path}/evil.py:Evil"
    path, settings = run.folder / "run.json", run.settings
    for change in ({"name": evil}, {"name": "Evil", "code": evil}, {"name": evil, "code": evil}):
        path.write_text(json.dumps(settings | {"method": settings["method"] | change}))
        with pytest.raises(ValueError, match="Name the code again"):
            load(run.folder, device="cpu")
    arguments = settings["method"]["arguments"] | {"encoder": {"network": evil, "arguments": {}}}
    path.write_text(json.dumps(settings | {"method": {"name": "beta-vae", "arguments": arguments}}))
    with pytest.raises(ValueError, match="Name the code again"):
        load(run.folder, device="cpu")
    from unbraid.runs import training_dataset

    origin = {"name": evil, "options": {}}
    path.write_text(json.dumps(settings | {"data": settings["data"] | {"origin": origin}}))
    with pytest.raises(ValueError, match="Name the code again"):
        training_dataset(Run(run.folder))
