"""A trained run, two images and a small study for the tests of the commands."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.small_study import PLANS, small_study
from unbraid.studies import Plan

OPTIONS = {"image_size": 32, "latent_dim": 3, "steps": 2, "batch_size": 4}


@pytest.fixture(scope="session")
def _trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli") / "run"
    Plan("beta-vae", "sprites", OPTIONS).run(folder, device="cpu", quiet=True)
    return folder


@pytest.fixture
def trained(_trained: Path, tmp_path: Path) -> Path:
    """A copy of the run of `unbraid train beta-vae` with the options of `SPRITES`."""
    return shutil.copytree(_trained, tmp_path / "run")


@pytest.fixture
def image_folder(tmp_path: Path) -> Path:
    """A folder with two images."""
    folder = tmp_path / "images"
    folder.mkdir()
    for name, gray in (("a.png", 40), ("b.png", 200)):
        Image.fromarray(np.full((50, 40, 3), gray, np.uint8)).save(folder / name)
    return folder


@pytest.fixture(scope="session")
def study_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small study of one method with two settings and two seeds."""
    return small_study(tmp_path_factory.mktemp("cli") / "study", PLANS[:4])
