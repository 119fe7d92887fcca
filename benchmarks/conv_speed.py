"""Microseconds of each convolution of stride 2 and of its gradients: own kernels, cuDNN, and what memory allows.

    python benchmarks/conv_speed.py [--models 1,8] [--batch 64] [--tune] [--check]

The layers are those of the network `conv` at 64×64. A time is that of one launch in a replayed CUDA graph of fifty.
`--tune` tries other divisions into programs and prints the fastest; they are compiled beforehand, on all cores.
`--check` compares every operator with PyTorch's convolution in float64.
"""

import argparse
import itertools
import json
import multiprocessing
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from unbraid.nn import conv_launch, conv_ops

LAYERS = ((32, 32, 1), (16, 32, 32), (8, 64, 32), (4, 64, 64))  # side, channels of coarse maps, of fine maps
CASES = ("down", "down gated", "up", "up gated", "weights of down", "weights of up")
REPEATS = 50


def tensors(layer: tuple[int, int, int], models: int, batch: int, dtype: torch.dtype) -> dict[str, Tensor]:
    side, coarse, fine = layer
    weight = torch.randn(models, coarse, 4, 4, fine, device="cuda").permute(0, 1, 4, 2, 3) * 0.1
    return {
        "fine": torch.randn(models, batch, 2 * side, 2 * side, fine, device="cuda", dtype=dtype),
        "coarse": torch.randn(models, batch, side, side, coarse, device="cuda", dtype=dtype),
        "weight": weight,
        "of_coarse": torch.randn(models, coarse, device="cuda"),
        "of_fine": torch.randn(models, fine, device="cuda"),
    }


def call(case: str, given: dict[str, Tensor], launch: Any = None) -> Tensor:
    fine, coarse, weight = given["fine"], given["coarse"], given["weight"].permute(0, 1, 3, 4, 2)
    if case == "down":
        return conv_launch.down(fine, weight, given["of_coarse"], None, 0.0, 1.0, launch)
    if case == "down gated":
        return conv_launch.down(fine, weight, None, coarse, 1.0, 0.0, launch)
    if case == "up":
        return conv_launch.up(coarse, weight, given["of_fine"], None, 0.0, 1.0, launch)
    if case == "up gated":
        return conv_launch.up(coarse, weight, None, fine, 1.0, 0.0, launch)
    slopes = (1.0, 0.0) if case == "weights of down" else (0.0, 1.0)
    return conv_launch.weight_gradient(
        coarse, fine, 4, *slopes, conv_launch.gradient_parts(coarse, fine, 4), launch
    )


def by_cudnn(case: str, given: dict[str, Tensor]) -> Callable[[], object]:
    """The same products for one model by PyTorch, without activations, in bfloat16 with channels last."""
    fine, coarse = (given[name][0].permute(0, 3, 1, 2) for name in ("fine", "coarse"))
    weight = given["weight"][0].to(fine.dtype, memory_format=torch.channels_last)
    if case == "down":
        bias = given["of_coarse"][0].to(fine.dtype)
        return lambda: F.conv2d(fine, weight, bias, 2, 1)
    if case == "up":
        bias = given["of_fine"][0].to(fine.dtype)
        return lambda: F.conv_transpose2d(coarse, weight, bias, 2, 1)
    transposed = case in ("down gated", "weights of up")
    outputs = (False, True, True) if case.startswith("weights") else (True, False, False)
    image, output = (coarse, fine) if transposed else (fine, coarse)
    geometry = ([weight.shape[int(transposed)]], (2, 2), (1, 1), (1, 1), transposed, (0, 0), 1)
    return lambda: torch.ops.aten.convolution_backward(output, image, weight, *geometry, outputs)


def microseconds(function: Callable[[], object]) -> float:
    for _ in range(2):
        function()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(REPEATS):
            function()
    best = float("inf")
    for _ in range(4):
        torch.cuda.synchronize()
        start = time.perf_counter()
        graph.replay()
        torch.cuda.synchronize()
        best = min(best, time.perf_counter() - start)
    return best / REPEATS * 1e6


def memory_bound(case: str, given: dict[str, Tensor], bandwidth: float) -> float:
    """Microseconds in which the device reads and writes each value of the maps once."""
    maps = [given["fine"], given["coarse"]] + (
        [given["fine" if "up" in case else "coarse"]] if "gated" in case else []
    )
    return sum(tensor.numel() * tensor.element_size() for tensor in maps) / bandwidth * 1e6


def launches(case: str, given: dict[str, Tensor]) -> list[Any]:
    coarse, fine = given["coarse"], given["fine"]
    if case.startswith("weights"):
        default = conv_launch.gradient_launch(coarse, fine, 4, conv_launch.gradient_parts(coarse, fine, 4))
        return [
            default._replace(warps=warps, stages=stages)
            for warps, stages in itertools.product((4, 8), (1, 2, 3))
        ]
    rows = coarse.numel() // coarse.shape[-1] // len(coarse)
    if case.startswith("down"):
        default = conv_launch.product_launch(rows, coarse.shape[-1], 16 * fine.shape[-1], len(coarse))
    else:
        default = conv_launch.up_launch(rows, coarse.shape[-1], fine.shape[-1], 4, len(coarse))
    choices = itertools.product((default.rows // 2, default.rows), (4, 8), (1, 2, 3))
    return [default._replace(rows=rows, warps=warps, stages=stages) for rows, warps, stages in choices]


def compile_all(jobs: list[tuple[str, int, int, int]]) -> None:
    """Runs every launch once, in this process."""
    for case, layer, models, batch in jobs:
        given = tensors(LAYERS[layer], models, batch, torch.bfloat16)
        for launch in launches(case, given):
            attempt(partial(call, case, given, launch))
    torch.cuda.synchronize()


def attempt(function: Callable[[], object]) -> bool:
    try:
        function()
    except Exception as error:
        print(f"  {type(error).__name__}: {str(error)[:80]}", flush=True)
        return False
    return True


def measure(models: int, batch: int, bandwidth: float, *, tune: bool) -> None:
    total = [0.0, 0.0, 0.0, 0.0]
    for layer in LAYERS:
        for case in CASES:
            if case == "up gated" and layer == LAYERS[0]:
                continue  # the gradient of the image
            given = tensors(layer, models, batch, torch.bfloat16)
            own, bound = microseconds(partial(call, case, given)), memory_bound(case, given, bandwidth)
            row = {
                "models": models,
                "layer": layer,
                "case": case,
                "own": round(own, 1),
                "bound": round(bound, 1),
            }
            row["cudnn"] = round(microseconds(by_cudnn(case, given)), 1) if models == 1 else None
            best = own
            if tune:
                timed = []
                for launch in launches(case, given):
                    if attempt(partial(call, case, given, launch)):
                        timed.append((microseconds(partial(call, case, given, launch)), tuple(launch)))
                timed.sort()
                best = timed[0][0]
                row["tuned"] = [[round(t, 1), launch] for t, launch in timed[:3]]
            print(json.dumps(row), flush=True)
            total = [total[0] + own, total[1] + bound, total[2] + (row["cudnn"] or 0), total[3] + best]
    print(
        f"models {models}: own {total[0]:.0f} µs, bound {total[1]:.0f}, cuDNN {total[2]:.0f}, tuned {total[3]:.0f}"
    )


def check() -> None:
    """The largest error of every operator relative to the largest value, against PyTorch in float64."""
    for layer, dtype in itertools.product(LAYERS, (torch.float32, torch.bfloat16)):
        given = tensors(layer, 2, 8, dtype)
        exact = {name: tensor.double() for name, tensor in given.items()}
        for case in ("down", "up"):
            maps, bias = ("fine", "of_coarse") if case == "down" else ("coarse", "of_fine")
            operator = conv_ops.down if case == "down" else conv_ops.up
            ours = [given[name].requires_grad_() for name in (maps, "weight", bias)]
            theirs = [exact[name].requires_grad_() for name in (maps, "weight", bias)]
            out = operator(*ours, None, 0.0, 1.0)
            convolve = F.conv2d if case == "down" else F.conv_transpose2d
            expected = torch.stack(
                [
                    convolve(x.relu().permute(0, 3, 1, 2), w, b, 2, 1).permute(0, 2, 3, 1)
                    for x, w, b in zip(*theirs, strict=True)
                ]
            )
            gradient = torch.randn_like(out)
            pairs = zip(
                (out, *torch.autograd.grad(out, ours, gradient)),
                (expected, *torch.autograd.grad(expected, theirs, gradient.double())),
                strict=True,
            )
            errors = [float((a - b).abs().max() / b.abs().max()) for a, b in pairs]
            print(layer, dtype, case, [f"{error:.1e}" for error in errors], flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--models", default="1,8")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--tune", action="store_true")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    counts = [int(count) for count in args.models.split(",")]
    if args.check:
        check()
    if args.tune:
        jobs = [
            (case, layer, models, args.batch)
            for models, layer, case in itertools.product(counts, range(len(LAYERS)), CASES)
        ]
        start, cores = time.perf_counter(), max(1, min(8, (os.cpu_count() or 2) - 1))
        with multiprocessing.get_context("spawn").Pool(cores) as pool:
            pool.map(compile_all, [[job] for job in jobs], chunksize=1)
        print(f"compiled in {time.perf_counter() - start:.0f} s", flush=True)
    copied = torch.empty(2**29, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(copied)
    bandwidth = 2 * copied.numel() / (microseconds(lambda: target.copy_(copied)) * 1e-6)
    print(f"bandwidth {bandwidth / 1e12:.2f} TB/s", flush=True)
    for models in counts:
        measure(models, args.batch, bandwidth, tune=args.tune)


if __name__ == "__main__":
    main()
