"""Two processes equal one with the global batch, src/unbraid/distributed.py."""

import os
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, multiprocessing
from torch.testing import assert_close

from tests.forkserver import forkserver
from tests.tiny import METHODS, batch_for, images, make
from unbraid.distributed import (
    all_gather,
    all_reduce_mean,
    local_shard,
    noise_like,
    rank,
    shard_batch,
    world_size,
)
from unbraid.methods import (
    AnnealedVAE,
    BetaTCVAE,
    IndependentSubembeddings,
    Intervention,
    SequentialIntervention,
)
from unbraid.methods.base import Method
from unbraid.objectives import kl_to_standard_normal
from unbraid.schedules import Constant, Linear
from unbraid.strands import Strands


def divided() -> AnnealedVAE:
    """The capacity is between the divergences of the two halves of the global batch."""
    method = make(AnnealedVAE)
    halves = [kl_to_standard_normal(method.posterior(x)).item() for x in images().chunk(2)]
    return make(AnnealedVAE, gamma=3.0, capacity=Constant(0.3 * halves[0] + 0.7 * halves[1]))


def cases() -> dict[str, Method]:
    methods: dict[str, Method] = {cls.name(): make(cls) for cls in METHODS}
    methods["beta-tcvae, stratified"] = make(BetaTCVAE, sampling="stratified")
    methods["annealed-vae, divided"] = divided()
    methods["intervention, unrolled"] = make(Intervention, unrolled=True)
    methods["sequential-intervention, unrolled"] = make(SequentialIntervention, unrolled=True, beta=2.0)
    methods["independent-subembeddings, correlation"] = make(IndependentSubembeddings, lambda_correlation=1.0)
    methods["sequential-intervention, frozen"] = frozen = make(
        SequentialIntervention,
        beta=2.0,
        feature_schedule=Linear(1.0, 4.0, 30),
        freeze_learned=True,
        prune_kl=0.1,
    )
    frozen.step.fill_(15)
    return methods


def step(method: Method) -> list[Tensor]:
    """Each player's terms and gradients on this process's shard of the batches, averaged over the processes."""
    results = []
    torch.manual_seed(3)
    for player in method.players():
        batches = [
            shard_batch(batch_for(type(method), seed=seed))
            for seed in range(1, 1 + player.batches_per_update)
        ]
        terms, parameters = player.loss(*batches), list(player.parameters)
        results += [terms.detached(), *torch.autograd.grad(terms.total, parameters)]
    return [all_reduce_mean(result.clone()) for result in results]


def operations() -> dict[str, Tensor]:
    """Operations that couple rows, on this process's shard of one matrix; gathered again, and a gradient."""
    rows = torch.arange(24, dtype=torch.float64).view(6, 4)
    local = local_shard(rows).clone().requires_grad_()
    strands, groups = Strands.from_sizes(a=2, b=2), local_shard(torch.tensor([0, 1, 2, 2, 1, 0]))
    torch.manual_seed(4)
    noise, shuffled = noise_like(local), strands.shuffle(local, "a", "b")
    averaged = strands.average(local, "a", groups)
    gathered = all_gather(local)
    other = torch.zeros_like(gathered).requires_grad_()
    coupled = (gathered + other).square().sum()  # the inner sum hands both the same gradient tensor
    gradient, other_gradient = torch.autograd.grad(coupled, [local, other])
    with torch.no_grad():
        results = {
            "noise": noise,
            "shuffled": shuffled,
            "averaged": averaged,
            "gradient": gradient / world_size(),
        }
        return {name: all_gather(value) for name, value in results.items()} | {"other": other_gradient}


def compute() -> dict[str, Any]:
    return {name: step(method) for name, method in cases().items()} | {"operations": operations()}


def run_rank(index: int, folder: Path) -> None:
    torch.set_num_threads(1)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # a machine without a network has no other interface
    store = dist.FileStore(str(folder / "store"), 2)
    dist.init_process_group("gloo", store=store, rank=index, world_size=2)
    assert (rank(), world_size()) == (index, 2)
    torch.save(compute(), folder / f"{index}.pt")
    dist.barrier()
    dist.destroy_process_group()


def test_two_processes_equal_one_with_the_global_batch(tmp_path: Path) -> None:
    """For every method, losses and averaged gradients; one test, so that processes start once."""
    start = forkserver().get_start_method()
    processes = multiprocessing.start_processes(
        run_rank, args=(tmp_path,), nprocs=2, join=False, start_method=start
    )
    assert processes is not None
    alone = compute()  # while the processes start
    while not processes.join():
        pass
    for index in range(2):
        together = torch.load(tmp_path / f"{index}.pt")
        assert together.keys() == alone.keys()
        for name, results in alone.items():
            assert_close(together[name], results, msg=lambda message, name=name: f"{name}: {message}")


def test_the_divided_capacity_is_between_the_halves() -> None:
    method = divided()
    below, above = sorted(kl_to_standard_normal(method.posterior(x)) for x in images().chunk(2))
    assert below < method.capacity(method.step) < above


def test_one_process_exchanges_nothing() -> None:
    x = torch.randn(3, 2)
    assert (rank(), world_size()) == (0, 1)
    assert all_gather(x) is x and local_shard(x) is x and all_reduce_mean(x) is x
    batch = batch_for(AnnealedVAE)
    assert shard_batch(batch) is batch


def test_noise_has_the_shape_and_type_of_its_tensor() -> None:
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        noise = noise_like(torch.zeros(3, 2, 5, dtype=dtype).transpose(1, 2))
        assert noise.shape == (3, 5, 2) and noise.dtype == dtype
