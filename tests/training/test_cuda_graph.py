"""Recorded steps, src/unbraid/training/cuda_graph.py."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Generator
from torch.testing import assert_close

from tests.tiny import METHODS, Same, batch_for, make
from unbraid.data import ContrastDraw, Dataset, FactorSpace, PairDraw
from unbraid.data.draws import DRAWS
from unbraid.data.sprites import sprites
from unbraid.methods import (
    AdaGVAE,
    BetaVAE,
    ContrastVAE,
    FactorVAE,
    PrincipledContrast,
    SequentialIntervention,
)
from unbraid.methods.base import Method, build_method
from unbraid.objectives import ON_HOST
from unbraid.schedules import Linear
from unbraid.training.cuda_graph import WARMUP_STEPS, CUDAGraphStep, cuda_graph_unsupported
from unbraid.training.estimate import estimate
from unbraid.training.step import TrainingStep
from unbraid.training.train import train

pytestmark = pytest.mark.filterwarnings("ignore")  # the compiler's own
cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="CUDA graphs need a CUDA device")


def history(
    cls: type[Method], *, recorded: bool, compiled: bool = False, steps: int = 12
) -> list[dict[str, Any]]:
    """The terms of every step, played eagerly or from a recording, from the same seeds."""
    device = torch.device("cuda")
    method, pool = make(cls).to(device), batch_for(cls, 64)
    pool = pool._make(field if field is None else field.to(device) for field in pool)
    game, data = TrainingStep(method, compiled=compiled), Generator(device).manual_seed(0)
    torch.manual_seed(0)

    def draw() -> Any:
        rows = torch.randint(64, (16,), generator=data, device=device)
        return pool._make(field if field is None else field[rows] for field in pool)

    def advance() -> dict[str, Any]:
        return game.run(draw, 0)

    play = CUDAGraphStep(advance, device, [data]) if recorded else advance
    return [{name: terms.detached().clone() for name, terms in play().items()} for _ in range(steps)]


CAPTURED = [cls for cls in METHODS if cls is not PrincipledContrast]


def test_a_method_or_a_draw_says_why_its_steps_cannot_be_captured() -> None:
    device, draw = torch.device("cpu"), ContrastDraw()
    data = Dataset(torch.zeros(16, 1, 3, 3), name="zeros")
    assert cuda_graph_unsupported(make(ContrastVAE), draw, data, device) is None
    for method in (make(PrincipledContrast), make(ContrastVAE, log_w2=True)):
        assert cuda_graph_unsupported(method, draw, data, device) == ON_HOST
    factors = FactorSpace({"a": 4, "b": 4}).restricted_to(torch.tensor([0, 1, 6]))
    few = Dataset(torch.zeros(16, 1, 3, 3), name="few", factor_space=factors)
    assert "found by trial" in (cuda_graph_unsupported(make(AdaGVAE), PairDraw(), few, device) or "")
    assert "do not fit" in (
        cuda_graph_unsupported(make(AdaGVAE), PairDraw(), few, torch.device("meta")) or ""
    )


@cuda
@pytest.mark.parametrize("cls", CAPTURED, ids=lambda cls: cls.name())
def test_a_recorded_step_has_the_numbers_of_an_eager_one(cls: type[Method]) -> None:
    eager, recorded = history(cls, recorded=False), history(cls, recorded=True)
    assert len(recorded) > WARMUP_STEPS
    for one, other in zip(eager, recorded, strict=True):
        assert_close(other, one, rtol=1e-3, atol=1e-3)


@cuda
@pytest.mark.parametrize("cls", CAPTURED, ids=lambda cls: cls.name())
def test_a_step_is_recorded_for_an_estimate(cls: type[Method]) -> None:
    pool = batch_for(cls, 16)
    batch = pool._make(field if field is None else field.cuda() for field in pool)
    dataset = Dataset(torch.zeros(16, 1, 3, 3), name="zeros")
    game = TrainingStep(make(cls).cuda()).dry_run_copy()
    assert estimate(game, dataset, Same(batch), 16, 100, use_graph=True).seconds > 0


@cuda
def test_a_recorded_step_is_recorded_anew_when_another_feature_learns() -> None:
    """Weights after three turns, each with a fresh optimizer, as eager steps make them."""
    device = torch.device("cuda")
    pool = batch_for(SequentialIntervention, 16)
    batch = pool._make(field if field is None else field.to(device) for field in pool)

    def fit(*, recorded: bool) -> dict[str, torch.Tensor]:
        given = {
            "beta": 1.0,
            "lambda_translation": 0.0,
            "feature_schedule": Linear(1.0, 3.0, 20),
            "freeze_learned": True,
        }
        method = make(SequentialIntervention, num_features=3, feature_dim=2, **given).to(device)
        game, done = TrainingStep(method), 0
        torch.manual_seed(0)
        play = CUDAGraphStep(lambda: game.run(lambda: batch, done), device, [])
        for done in range(30):
            play(game.graph_key(done)) if recorded else game.run(lambda: batch, done)
        return {name: value for name, value in method.state_dict().items() if name.startswith("encoder")}

    assert_close(fit(recorded=True), fit(recorded=False), rtol=1e-3, atol=1e-3)


@cuda
@pytest.mark.parametrize("compiled", [False, True], ids=["recorded", "compiled"])
def test_memory_does_not_grow(compiled: bool) -> None:
    device = torch.device("cuda")
    dataset = sprites(image_size=32).to(device)
    method = build_method(BetaVAE, dataset.shape, n=len(dataset), latent_dim=4).to(device)
    game, draw, data = TrainingStep(method, compiled=compiled), DRAWS[BetaVAE.batch_type](), Generator(device)
    play = CUDAGraphStep(lambda: game.run(lambda: draw(dataset, 16, data, method.step), 0), device, [data])
    for _ in range(20):
        play()
    before = torch.cuda.memory_allocated(device)
    for _ in range(10_000):
        play()
    assert torch.cuda.memory_allocated(device) == before


@cuda
@pytest.mark.parametrize("cls", [BetaVAE, FactorVAE], ids=lambda cls: cls.name())
def test_a_compiled_step_has_the_numbers_of_an_eager_one(cls: type[Method]) -> None:
    eager, compiled = history(cls, recorded=False), history(cls, recorded=True, compiled=True)
    for one, other in zip(eager, compiled, strict=True):
        assert_close(other, one, rtol=2e-3, atol=5e-3)


@cuda
def test_a_new_key_makes_a_new_recording() -> None:
    device, added = torch.device("cuda"), [1.0]
    total = torch.zeros((), device=device)
    play = CUDAGraphStep(lambda: total.add_(added[0]), device, [])
    for _ in range(WARMUP_STEPS + 2):
        play("one")
    assert float(total) == WARMUP_STEPS + 2
    added[0] = 10.0
    play("one")  # the recording knows nothing of it
    assert float(total) == WARMUP_STEPS + 3
    play("ten")
    assert float(total) == WARMUP_STEPS + 13


@cuda
def test_a_recorded_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    def fit(folder: str, steps: int, **how: Any) -> dict[str, torch.Tensor]:
        torch.manual_seed(0)
        dataset = sprites(image_size=32)
        method = build_method(BetaVAE, dataset.shape, n=len(dataset), latent_dim=4)
        run = train(
            method,
            dataset,
            out=tmp_path / folder,
            steps=steps,
            batch_size=16,
            device="cuda",
            quiet=True,
            **how,
        )
        return run.weights()

    whole = fit("whole", 20)
    fit("parts", 9)
    assert_close(fit("parts", 20, resume=True), whole, rtol=1e-3, atol=1e-4)
