"""Batch normalization, alone and over processes, src/unbraid/nn/batch_norm.py."""

import copy
import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor, multiprocessing, nn
from torch.testing import assert_close

from unbraid.distributed import all_gather, all_reduce_mean, local_shard, world_size
from unbraid.nn.batch_norm import (
    BatchNorm1d,
    BatchNorm2d,
    background_batch_stats,
    frozen_batch_stats,
    separate_background_stats,
)


def norms() -> list[tuple[nn.Module, Tensor]]:
    torch.manual_seed(0)
    maps, rows = torch.randn(6, 2, 3, 3).double() * 3 + 1, torch.randn(6, 2).double()
    pairs = [(BatchNorm2d(2), maps), (BatchNorm1d(2), rows), (BatchNorm1d(2, affine=False), rows)]
    return [(norm.double(), x) for norm, x in pairs]


def compute() -> list[Tensor]:
    """The outputs, their gradients and the running statistics, gathered over the processes."""
    results = []
    for norm, x in norms():
        local = local_shard(x).clone().requires_grad_()
        y = norm(local)
        weights = local_shard(torch.linspace(-1, 2, x.numel(), dtype=x.dtype).view_as(x))
        gradients = torch.autograd.grad((y.square() * weights).mean(), [local, *norm.parameters()])
        with torch.no_grad():
            results += [all_gather(y.detach()), all_gather(gradients[0]) / world_size()]
            results += [all_reduce_mean(gradient.clone()) for gradient in gradients[1:]]
            results += [buffer.clone().double() for buffer in norm.buffers()]
            with frozen_batch_stats(norm):
                results.append(all_gather(norm(local.square())))
            results += [buffer.double() for buffer in norm.buffers()]
            separate_background_stats(norm)
            with background_batch_stats(norm):
                results.append(all_gather(norm(3 * local + 1)))
            results += [buffer.double() for buffer in norm.buffers()]
    return results


def work(index: int, folder: Path) -> None:
    torch.set_num_threads(1)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    store = dist.FileStore(str(folder / "store"), 2)
    dist.init_process_group("gloo", store=store, rank=index, world_size=2)
    torch.save(compute(), folder / f"{index}.pt")
    dist.barrier()
    dist.destroy_process_group()


def test_two_processes_normalize_by_the_global_batch(tmp_path: Path) -> None:
    """The outputs, the gradients and the running statistics are those of one process with all rows."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.nn.test_batch_norm"])  # imported once for both processes
    multiprocessing.start_processes(work, args=(tmp_path,), nprocs=2, start_method="forkserver")
    alone = compute()
    for index in range(2):
        assert_close(torch.load(tmp_path / f"{index}.pt"), alone)


def test_one_process_gives_the_result_of_pytorch() -> None:
    for norm, x in norms():
        own = (nn.BatchNorm2d if x.ndim == 4 else nn.BatchNorm1d)(2, affine=norm.affine).double()
        assert_close(norm(x), own(x), rtol=0, atol=0)
        assert_close(dict(norm.named_buffers()), dict(own.named_buffers()), rtol=0, atol=0)


def test_evaluation_uses_running_statistics() -> None:
    norm, x = norms()[0]
    norm(x)
    assert_close(norm.running_mean, 0.1 * x.mean((0, 2, 3)))
    norm.eval()
    before = {name: buffer.clone() for name, buffer in norm.named_buffers()}
    assert_close(norm(x[:1]), norm(x)[:1])
    assert_close(dict(norm.named_buffers()), before, rtol=0, atol=0)


def test_frozen_statistics_stay_while_batches_are_normalized_by_batch_statistics() -> None:
    for norm, x in norms():
        network = nn.Sequential(norm, nn.ReLU())
        expected = copy.deepcopy(norm)(x).relu()
        before = copy.deepcopy(dict(norm.named_buffers()))
        with frozen_batch_stats(network):
            assert_close(network(x), expected, rtol=0, atol=0)
        assert_close(dict(norm.named_buffers()), before, rtol=0, atol=0)
        network(x)
        assert norm.num_batches_tracked == 1


def test_frozen_statistics_stay_when_compiled() -> None:
    """With PyTorch's class, because the compiler cannot trace the type checks of the tests."""
    norm, (_, x) = nn.BatchNorm2d(2).double(), norms()[0]
    own = copy.deepcopy(norm)

    def twice(norm: nn.Module, x: Tensor) -> Tensor:
        with frozen_batch_stats(norm):
            kept = norm(x.square())
        return kept + norm(x)

    compiled = torch.compile(twice, backend="eager")
    for _ in range(2):
        assert_close(compiled(norm, x), twice(own, x))
    assert_close(dict(norm.named_buffers()), dict(own.named_buffers()))
    assert norm.num_batches_tracked == 2


def test_separate_statistics_are_those_of_two_layers_with_one_scale_and_shift() -> None:
    """Target and background each by itself, in training, with frozen statistics and in evaluation."""
    for norm, x in norms():
        of_y, y = copy.deepcopy(norm), x.square() + 5
        assert separate_background_stats(nn.Sequential(norm)) == 1
        for _ in range(3):
            with background_batch_stats(norm):
                found = norm(y)
            norm(x)
            assert_close(found, of_y(y), rtol=0, atol=0)
            with frozen_batch_stats(norm, of_y), background_batch_stats(norm):
                assert_close(norm(2 * y), of_y(2 * y), rtol=0, atol=0)
        assert_close(norm.background_mean, of_y.running_mean, rtol=0, atol=0)
        assert_close(norm.background_var, of_y.running_var, rtol=0, atol=0)
        assert norm.num_batches_tracked == 3
        norm.eval()
        of_y.eval()
        with background_batch_stats(norm):
            assert_close(norm(y), of_y(y), rtol=0, atol=0)
        assert not torch.allclose(norm(y), of_y(y))


def test_joint_statistics_are_used_for_the_background_too() -> None:
    for norm, x in norms():
        expected = copy.deepcopy(norm)(x)
        with background_batch_stats(norm):
            assert_close(norm(x), expected, rtol=0, atol=0)
        assert norm.num_batches_tracked == 1
