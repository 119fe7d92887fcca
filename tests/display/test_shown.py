"""What a display reads exists where it is read, src/unbraid/display/shown.py."""

from pathlib import Path

import pytest
import torch

import unbraid
from tests.run_files import SETTINGS
from unbraid.display import shown
from unbraid.runs import Model, Run
from unbraid.strands import Strands


def test_datasets_models_and_strands_have_what_is_shown() -> None:
    dataset = unbraid.data.Dataset(torch.zeros(2, 3), name="rows", max_value=1)
    method = unbraid.build_method(unbraid.methods.VAE, (4,), n=2, latent_dim=2, architecture="mlp-small")
    assert isinstance(dataset, shown.Dataset)
    assert isinstance(Model(method, (4,)), shown.Model)
    assert isinstance(Strands.from_sizes(a=2), shown.Strands)
    assert not isinstance(dataset, shown.Model)


def test_runs_have_what_is_shown(tmp_path: Path) -> None:
    assert isinstance(Run.create(tmp_path / "run", SETTINGS, resume=False), shown.Run)


@pytest.mark.parametrize("path", sorted(Path(shown.__file__).parent.glob("*.py")), ids=lambda path: path.name)
def test_displays_import_nothing_else_of_unbraid(path: Path) -> None:
    lines = [line for line in path.read_text().splitlines() if "import" in line and "unbraid" in line]
    assert all("unbraid.display" in line for line in lines if line.lstrip().startswith(("from", "import")))
