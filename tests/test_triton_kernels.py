"""The Triton kernels on machines without a GPU: tried in an interpreter, in a process of its own, and compiled."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FILES = (
    "tests/nn/test_conv_ops.py",
    "tests/training/test_stacked_kernels.py",
    "tests/nn/test_conv_launch.py tests/nn/test_conv_kernels.py tests/nn/test_conv_gradient_kernel.py",
)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="Triton is for Linux")
@pytest.mark.parametrize("files", FILES)
def test_kernels_compute_in_the_interpreter_what_they_should(files: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files.split()]
    environment = os.environ | {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout[-4000:]
    assert "skipped" not in done.stdout.splitlines()[-1], done.stdout[-2000:]


LAYER = {"HEIGHT": 8, "WIDTH": 8, "COARSE": 32, "KERNEL": 4, "PRECISION": "tf32", "ROWS": 32}
PRODUCT = {"ACTIVATION": True, "INNER": 32, "BIAS": True, "GATE": True}
SUMS = {"COARSE_ACTIVATION": True, "FINE_ACTIVATION": True, "PIXELS": 32}
KERNELS = {
    "down_kernel": {**LAYER, **PRODUCT, "FINE": 16, "COLUMNS": 32},
    "up_kernel": {**LAYER, **PRODUCT, "FINE": 16, "COLUMNS": 16},
    "up_to_image_kernel": {**LAYER, **PRODUCT, "FINE": 3, "COLUMNS": 16},
    "weight_gradient_kernel": {**LAYER, **SUMS, "FINE": 16, "COLUMNS": 64},
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
def test_kernels_compile_for_a_gpu(
    name: str, dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For an H100, which need not be there; the interpreter accepts what the compiler refuses."""
    triton = pytest.importorskip("triton", reason="Triton is not installed")
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from unbraid.nn import conv_gradient_kernel, conv_kernels

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")
    kernel: Any = getattr(conv_kernels, name, None) or getattr(conv_gradient_kernel, name)
    types = {"weight": "*fp32", "bias": "*fp32", "parts": "*fp32", "slope": "fp32", "gate_slope": "fp32"}
    types |= dict.fromkeys(("fine", "coarse", "gate"), f"*{dtype}")
    types |= dict.fromkeys(("coarse_slope", "fine_slope"), "fp32")
    constants = {(kernel.arg_names.index(key),): value for key, value in KERNELS[name].items()}
    signature = {
        argument: "constexpr" if argument in KERNELS[name] else types.get(argument, "i32")
        for argument in kernel.arg_names
    }
    target = GPUTarget("cuda", 90, 32)
    compiled = triton.compile(
        ASTSource(kernel, signature, constants), target=target, options={"num_warps": 4}
    )
    assert "mma" in compiled.asm["ptx"]  # tensor cores
