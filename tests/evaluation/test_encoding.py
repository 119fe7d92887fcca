"""Batches of a network and the codes of a factor grid, src/unbraid/evaluation/encoding.py."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from tests.evaluation.test_sample import sample
from unbraid.evaluation import encoding
from unbraid.evaluation.encoding import GridCodes, batch_size
from unbraid.metrics import beta_vae_score, factor_vae_score

CPU, CUDA = torch.device("cpu"), torch.device("cuda", 0)


def test_batches_fit_the_caches_of_a_cpu_and_fill_a_gpu() -> None:
    shapes = [(1, 64, 64), (3, 64, 64), (1, 32, 32), (1, 8, 8), (3, 1024, 1024), (20,)]
    assert [batch_size(shape, CPU) for shape in shapes] == [32, 32, 128, 512, 1, 512]
    assert {batch_size(shape, CUDA) for shape in shapes} == {4096}
    assert {batch_size(shape, torch.device("mps")) for shape in shapes} == {512}


class Counting:
    """Codes that remember which combinations they were computed for."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, ...]] = []

    def __call__(self, factors: np.ndarray) -> np.ndarray:
        self.seen += [tuple(row) for row in factors.tolist()]
        return (factors @ np.array([[1.0, 2.0], [10.0, 0.5]])).astype(np.float32)


def test_each_combination_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    encode = Counting()
    codes = GridCodes(encode, (3, 4))
    first, second = np.array([[2, 3], [0, 0], [2, 3]]), np.array([[0, 1], [2, 3]])
    for factors in (first, second):
        assert_close(codes(factors), Counting()(factors))
    assert encode.seen == [(0, 0), (2, 3), (0, 1)]
    monkeypatch.setattr(encoding, "MAX_COMBINATIONS", 11)
    encode.seen.clear()
    large = GridCodes(encode, (3, 4))
    assert_close(large(second), Counting()(second))
    assert_close(large(second), Counting()(second))
    assert len(encode.seen) == 4  # too many combinations to keep their codes


def test_two_metrics_share_the_codes_of_the_grid_and_their_strands() -> None:
    here, rows = sample(), 0
    encode = here.method.encode

    def counted(x: torch.Tensor, condition: torch.Tensor | None = None) -> torch.Tensor:
        nonlocal rows
        rows += len(x)
        return encode(x, condition)

    here.method.encode = counted  # type: ignore[method-assign]
    shared = here.select_strand(here.strand)
    rows = 0
    rng = np.random.default_rng(0)
    first = factor_vae_score(here.encode_factors, here.factor_space, rng=rng, votes=200, test_votes=100)
    second = beta_vae_score(
        shared.encode_factors, here.factor_space, rng=rng, differences=200, test_differences=100
    )
    assert first.encoded == second.encoded == 60
    assert rows == 60


def test_batches_do_not_change_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    for size in (1, 7, 4096):
        monkeypatch.setattr("unbraid.evaluation.sample.batch_size", lambda shape, device, size=size: size)
        here = sample()
        with torch.no_grad():
            expected = here.method.encode(here.dataset.observe(here._rows)).numpy()
        assert_close(here.all_codes, expected, rtol=1e-5, atol=1e-6)
