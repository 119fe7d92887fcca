"""Own streams of concurrent trainings, src/unbraid/training/streams.py."""

import pytest
import torch

from unbraid.training.streams import OwnStream

cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="streams belong to a CUDA device")


def test_on_a_cpu_only_the_noise_is_its_own() -> None:
    torch.manual_seed(0)
    alone = torch.rand(4), torch.rand(4)
    torch.manual_seed(1)
    outside = torch.rand(8)
    own = OwnStream(torch.device("cpu"))
    with own:
        own.seed(0)
    torch.manual_seed(1)
    for expected in alone:
        with own:
            assert torch.equal(torch.rand(4), expected)
    with pytest.raises(ZeroDivisionError), own:
        _ = 1 / 0
    assert torch.equal(torch.rand(8), outside)


@cuda
def test_noise_within_is_that_of_a_training_alone_and_the_default_generator_goes_on_unchanged() -> None:
    device = torch.device("cuda")
    torch.manual_seed(0)
    alone = torch.rand(4, device=device), torch.rand(4, device=device)
    torch.manual_seed(1)
    outside = torch.rand(8, device=device)
    own = OwnStream(device)
    own.noise.manual_seed(0)
    torch.manual_seed(1)
    pieces = []
    for _ in range(2):
        with own:
            pieces.append(torch.rand(4, device=device))
            assert torch.cuda.current_stream() != torch.cuda.default_stream()
    torch.cuda.synchronize()
    assert torch.equal(pieces[0], alone[0]) and torch.equal(pieces[1], alone[1])
    assert torch.equal(torch.rand(8, device=device), outside)


@cuda
def test_an_exception_restores_stream_and_generator() -> None:
    own, before = OwnStream(torch.device("cuda")), torch.cuda.current_stream()
    state = torch.cuda.get_rng_state()
    with pytest.raises(ZeroDivisionError), own:
        torch.rand(1, device="cuda")
        _ = 1 / 0
    assert torch.cuda.current_stream() == before
    assert torch.equal(torch.cuda.get_rng_state(), state)
