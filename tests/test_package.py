"""The public names, src/unbraid/__init__.py."""

import os
import subprocess
import sys
from types import ModuleType

import pytest

import unbraid


@pytest.mark.parametrize("name", unbraid.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert isinstance(getattr(unbraid, name), ModuleType) == (name in unbraid._PACKAGES)


def test_the_function_export_is_not_hidden_by_the_package_of_its_name() -> None:
    """In a process of its own, since imports here are done already."""
    script = (
        "import unbraid.export, unbraid; unbraid.export.__code__; from unbraid import export; export.__code__"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("given", [None, "8"])
def test_surroundings_are_set_unless_somebody_has_set_them(given: str | None) -> None:
    names = {"OMP_WAIT_POLICY": "PASSIVE", "CUDA_DEVICE_MAX_CONNECTIONS": "32"}
    environment = {name: value for name, value in os.environ.items() if name not in names}
    environment |= dict.fromkeys(names, given) if given else {}
    script = f"import os, unbraid; print(*(os.environ[name] for name in {list(names)}))"
    found = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, env=environment
    )
    assert found.stdout.split() == [given or value for value in names.values()]


def test_queues_are_left_to_the_multi_process_service() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "CUDA_DEVICE_MAX_CONNECTIONS"}
    script = "import os, unbraid; print('CUDA_DEVICE_MAX_CONNECTIONS' in os.environ)"
    found = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        env=environment | {"CUDA_MPS_PIPE_DIRECTORY": "/tmp/mps"},
    )
    assert found.stdout.split() == ["False"]


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        unbraid.nonsense  # noqa: B018
