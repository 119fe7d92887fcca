"""Values of schedules at chosen steps, src/unbraid/schedules.py."""

import pytest
import torch
from torch.testing import assert_close

from unbraid.schedules import Constant, Cosine, Exponential, Linear, Schedule, StepDecay, WarmupHold


@pytest.mark.parametrize(
    ("schedule", "values"),
    [
        (Constant(3.0), {0: 3.0, 10**6: 3.0}),
        (Linear(0.0, 25.0, 100), {0: 0.0, 50: 12.5, 100: 25.0, 1000: 25.0}),
        (Linear(2.0, 1.0, 4), {1: 1.75, 3: 1.25, 5: 1.0}),
        (Cosine(1.0, 0.0, 100), {0: 1.0, 50: 0.5, 100: 0.0, 1000: 0.0}),
        (Cosine(0.0, 3.0, 3), {1: 0.75, 2: 2.25}),  # cos 60° = ½
        (StepDecay(1.0, 0.1, 50), {0: 1.0, 49: 1.0, 50: 0.1, 99: 0.1, 100: 0.01}),
        (WarmupHold(1.0, 5.0, 40, 60, 0.5), {0: 1.0, 20: 3.0, 40: 5.0, 59: 5.0, 60: 0.5, 1000: 0.5}),
    ],
)
def test_values(schedule: Schedule, values: dict[int, float]) -> None:
    for step, value in values.items():
        assert_close(schedule(torch.tensor(step)).item(), value, atol=1e-6, rtol=0)


@pytest.mark.parametrize(
    "schedule",
    [
        Constant(3.0),
        Linear(0.0, 1.0, 2),
        Cosine(0.0, 1.0, 2),
        StepDecay(1.0, 0.5, 2),
        WarmupHold(1.0, 2.0, 1, 2, 0.5),
    ],
)
def test_values_are_tensors_of_one_float(schedule: Schedule) -> None:
    value = schedule(torch.tensor(1))
    assert value.shape == () and value.dtype == torch.float32


@pytest.mark.parametrize(
    "schedule",
    [
        Constant(0.1),
        Linear(0.0, 25.0, 7),
        Cosine(1.0, 1e-9, 3),
        StepDecay(1.0, 0.1, 5),
        WarmupHold(1.0, 2.0, 3, 4, 0.5),
    ],
)
def test_specs_survive_text(schedule: Schedule) -> None:
    assert Schedule.parse(str(schedule)) == schedule


@pytest.mark.parametrize("kind", [Linear, Cosine, StepDecay])
def test_at_least_one_step(kind: type[Schedule]) -> None:
    with pytest.raises(ValueError, match="at least 1 step; got 0"):
        kind(0.0, 1.0, 0)  # type: ignore[call-arg]


def test_a_peak_is_held_after_it_is_reached() -> None:
    with pytest.raises(ValueError, match="after step 40, where the schedule reaches its peak; got step 40"):
        WarmupHold(1.0, 2.0, 40, 40, 0.5)


@pytest.mark.parametrize(
    ("text", "schedule"),
    [
        ("exponential:16:1:1000", Exponential(16.0, 1.0, 1000)),
        ("geometric:16:1:1000", Exponential(16.0, 1.0, 1000)),
        ("step:1:0.1:50", StepDecay(1.0, 0.1, 50)),
        ("drop:1:0.1:50", StepDecay(1.0, 0.1, 50)),
        ("warmup-hold:3:36:2100:2800:1", WarmupHold(3.0, 36.0, 2100, 2800, 1.0)),
        ("peak:3:36:2100:2800:1", WarmupHold(3.0, 36.0, 2100, 2800, 1.0)),
    ],
)
def test_names_of_schedules(text: str, schedule: Schedule) -> None:
    assert Schedule.parse(text) == schedule
    assert str(schedule).partition(":")[0] in ("exponential", "step", "warmup-hold")


def test_an_exponential_schedule_stays_above_zero() -> None:
    assert_close(Exponential(16.0, 1.0, 4)(torch.tensor(1)).item(), 8.0)
    with pytest.raises(ValueError, match=r"start and end above 0; got 1\.0 and 0\.0"):
        Exponential(1.0, 0.0, 4)


def test_each_schedule_is_listed_once() -> None:
    with pytest.raises(ValueError, match="must be one of") as error:
        Schedule.parse("nonsense")
    assert str(error.value).count("warmup-hold") == 1 and "peak:" not in str(error.value)
