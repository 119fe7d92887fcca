"""The recipes of the self-supervised paper, src/unbraid/recipes/augmented_gin."""

import pytest
import torch

from unbraid.recipes import read_recipe


@pytest.mark.parametrize(("scale", "steps"), [("paper", 240_000), ("short", 24_000)])
def test_the_self_supervised_papers_digits_are_trained_as_printed(scale: str, steps: int) -> None:
    """20 sets of 8, a tenth of the rate in the last half, sets and noise drawn once; tests and training digits."""
    plans = [p for p in read_recipe("augmented-gin/figure2", scale).runs if p.method == "augmented-gin"]
    for plan in plans:
        options = plan.resolved()
        assert options["training"]["steps"] == steps and options["training"]["batch_size"] == 20
        schedule = options["training"]["lr_schedule"]
        rates = [float(schedule(torch.tensor(step))) for step in (steps // 2 - 1, steps // 2, steps - 1)]
        assert rates == pytest.approx([1.0, 0.1, 0.1])
        assert options["method"]["noise"] == 0 and options["draw"]["fixed_noise"] == 0.01
        assert not options["draw"]["fresh_each_step"] and options["data"]["digits"] == "mnist"
        assert {"codes:spectrum", "codes:above_noise"} <= set(plan.metrics)
    found = sorted((p.options["optimizer"].lr, p.options["seed"], "on" in p.evaluation) for p in plans)
    seeds = {3e-4: 3, 1e-3: 3, 3e-2: 1} if scale == "short" else {3e-4: 1}
    assert found == [
        (lr, seed, on) for lr in sorted(seeds) for seed in range(seeds[lr]) for on in (False, True)
    ]


def test_digits_of_figure_4_and_sets_are_those_of_figure_2() -> None:
    ids = {plan.identity for plan in read_recipe("augmented-gin/figure2", "short").runs}
    assert {plan.identity for plan in read_recipe("augmented-gin/figure4", "short").runs} < ids
    draws = {
        (plan.options["noise"], plan.options["fixed_noise"], plan.options.get("fresh_each_step", False))
        for plan in read_recipe("augmented-gin/sets", "short").runs
    }
    assert draws == {(0.0, 0.01, False), (0.01, 0.0, False), (0.01, 0.0, True)}


def test_the_first_seeds_of_rotated_latents_are_runs_of_figure_1() -> None:
    figure = {plan.identity for plan in read_recipe("augmented-gin/figure1", "paper").runs}
    plans = read_recipe("augmented-gin/rotated", "short").runs
    assert len(plans) == 6 * 10 * 3 and len({plan.identity for plan in plans}) == len(plans)
    shared = [plan for plan in plans if plan.identity in figure]
    assert sorted(plan.options["data_seed"] for plan in shared) == [*range(20, 30)]
