"""Choosing a device, src/unbraid/distributed.py."""

import pytest
import torch

from unbraid.distributed import choose_device, is_usable


def test_auto_is_the_fastest_available_device() -> None:
    expected = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    assert choose_device("auto").type == expected


def test_a_device_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="no device 'tpu': choose auto, cpu, cuda, cuda:N or mps"):
        choose_device("tpu")


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a CUDA device")
def test_a_missing_device_is_refused() -> None:
    with pytest.raises(ValueError, match="no CUDA device"):
        choose_device("cuda")


def test_a_device_that_raises_is_unusable(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    assert is_usable("cpu")
    monkeypatch.setattr(torch, "rand", fail)
    assert not is_usable("cpu")
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    assert is_usable("cpu")  # nothing has been asked of CUDA, so that nothing can have broken
