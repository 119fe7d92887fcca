"""Methods built again from a run's settings, src/unbraid/runs/rebuild.py."""

import json
import resource
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from tests.run_files import SETTINGS
from tests.tiny import METHODS, make
from unbraid import custom_code, train
from unbraid.data import Dataset, open_dataset
from unbraid.methods import GIN, BetaVAE, build_method, method_class
from unbraid.nn import MLPDecoder, MLPEncoder
from unbraid.runs import Run, load
from unbraid.runs.rebuild import method_of, rebuild_method, trained_method
from unbraid.settings import to_json


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


HUGE = [
    ({"hidden": [40_000, 40_000]}, "far larger than the trained weights"),  # 6.4 GB of weights
    ({"hidden": [2] * 3000}, "far larger than the trained weights"),
    ({"hidden": [10**15]}, "cannot be built"),
    ({"hidden": [129]}, "do not fit its settings"),
    ({"hidden": [-1]}, "cannot be built"),
    ({"hidden": "128"}, "hidden of MLPEncoder must be of type"),
    ({"latent_dim": True}, "latent_dim of MLPEncoder must be of type int, and is True"),
    ({"depth": 3}, "MLPEncoder has no argument 'depth'"),
]


@pytest.mark.parametrize(("change", "sentence"), HUGE)
def test_crafted_settings_are_refused_before_they_use_memory(
    change: dict[str, object], sentence: str, dataset: Dataset, tmp_path: Path
) -> None:
    run = trained(BetaVAE, dataset, tmp_path / "run")
    settings = run.settings
    settings["method"]["arguments"]["encoder"]["arguments"] |= change
    (run.folder / "run.json").write_text(json.dumps(settings))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # kilobytes
    with pytest.raises(ValueError, match=sentence):
        load(run.folder, device="cpu")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000


def test_a_loop_over_layers_ends_early(tmp_path: Path) -> None:
    """A number of blocks for which building alone would take hours."""
    built = make(GIN).float()
    settings = SETTINGS | {"method": {"name": "gin", "arguments": to_json(built.arguments)}}
    run = Run.create(tmp_path / "run", settings, resume=False)
    run.finish(built.state_dict(), step=run.steps)
    settings = run.settings
    settings["method"]["arguments"]["flow"]["arguments"]["blocks"] = 10**9
    (run.folder / "run.json").write_text(json.dumps(settings))
    with pytest.raises(ValueError, match="far larger than the trained weights"):
        load(run.folder, device="cpu")


@pytest.mark.parametrize("name", [cls.name() for cls in METHODS])
def test_leaving_out_random_weights_changes_no_method(name: str, tmp_path: Path) -> None:
    """Every tensor beside the weights is the same without the random initialization of the weights."""
    built = make(method_class(name)).float()
    settings = SETTINGS | {"method": {"name": name, "arguments": to_json(built.arguments)}}
    run = Run.create(tmp_path / "run", settings, resume=False)
    run.finish(built.state_dict(), step=run.steps)
    for (key, tensor), (other, expected) in zip(_tensors(trained_method(run)), _tensors(built), strict=True):
        assert key == other
        assert_close(tensor, expected, rtol=0, atol=0)


def _tensors(method: nn.Module) -> list[tuple[str, torch.Tensor]]:
    """All tensors that modules keep, as weights or otherwise."""
    return [
        (f"{path}.{name}", value)
        for path, module in method.named_modules()
        for kept in (module._parameters, module._buffers, vars(module))
        for name, value in kept.items()
        if isinstance(value, torch.Tensor)
    ]
