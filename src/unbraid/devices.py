"""Where to compute."""

import torch


def choose_device(name: str = "auto") -> torch.device:
    """The device of a name; `auto` takes a CUDA device, else Apple's, else the CPU."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    kind = name.split(":")[0]
    if kind not in ("cpu", "cuda", "mps"):
        raise ValueError(f"There is no device {name!r}: choose auto, cpu, cuda or mps.")
    if kind == "cuda" and not torch.cuda.is_available():
        raise ValueError("This machine has no CUDA device that torch can use: choose --device cpu or auto.")
    if kind == "mps" and not torch.backends.mps.is_available():
        raise ValueError("This machine has no Apple GPU that torch can use: choose --device cpu or auto.")
    try:
        return torch.device(name)
    except RuntimeError:
        raise ValueError(f"There is no device {name!r}: choose auto, cpu, cuda or mps, or cuda:1.") from None


def still_computes(name: str) -> bool:
    """Whether the device of a name does anything more for this process, which after some errors of CUDA it does not."""
    if not torch.cuda.is_initialized():
        return True
    try:
        torch.rand(1, device=choose_device(name)).item()
    except RuntimeError:
        return False
    return True
