"""The Triton kernels on machines without a GPU: their tests in a process of their own, in Triton's interpreter."""

import os
import subprocess
import sys

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
