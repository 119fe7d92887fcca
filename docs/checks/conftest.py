"""What the checks of the site share with the tests."""

from pathlib import Path

import pytest

from tests.conftest import seed, unbraid

__all__ = ["seed", "trained", "unbraid"]


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder, for pages that start from one."""
    from unbraid import Plan

    folder = tmp_path_factory.mktemp("runs") / "beta"
    Plan("beta-vae", "sprites", {"image_size": 32, "steps": 3}).run(folder, quiet=True)
    return folder
