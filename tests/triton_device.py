"""Where the Triton kernels can be tried: on a CUDA device, or by Triton's interpreter on a CPU.

The interpreter needs a process in which TRITON_INTERPRET=1 is set before Triton is imported:
tests/test_triton_kernels.py starts one for all files that ask here.
"""

import os

import pytest
import torch

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
DEVICE = "cpu" if INTERPRETED else "cuda"


def require_kernels() -> None:
    """Skips a file where kernels cannot run."""
    pytest.importorskip("triton", reason="Triton is not installed")
    if not INTERPRETED and not torch.cuda.is_available():
        pytest.skip("needs a CUDA device, or TRITON_INTERPRET=1", allow_module_level=True)
