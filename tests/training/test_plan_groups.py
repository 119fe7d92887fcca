"""Groups of plans of one kind, src/unbraid/training/plan_groups.py."""

from unbraid.data import Draw
from unbraid.studies.plan import Plan, replace
from unbraid.training.plan_groups import groups_of_one_kind

PLAN = Plan("beta-vae", "sprites", {"image_size": 32, "steps": 6, "seed": 0})


def test_seeds_and_numbers_of_the_method_may_differ_and_nothing_else() -> None:
    plans = [
        PLAN,
        replace(PLAN, seed=1),
        replace(PLAN, beta=8.0),
        replace(PLAN, latent_dim=3),
        replace(PLAN, steps=7),
        replace(PLAN, lr=1e-3),
        replace(PLAN, image_size=48),
        Plan("vae", "sprites", PLAN.options),
        replace(PLAN, seed=2, beta=1.0),
    ]
    assert groups_of_one_kind(plans, 16) == [[0, 1, 2, 8], [3], [4], [5], [6], [7]]


def test_groups_have_nearly_equal_sizes() -> None:
    plans = [replace(PLAN, seed=seed) for seed in range(7)]
    assert groups_of_one_kind(plans, 3) == [[0, 1], [2, 3], [4, 5, 6]]
    assert groups_of_one_kind(plans, 1) == [[number] for number in range(7)]


class Unreadable(Plan):
    """A plan whose draw does not exist."""

    def build_draw(self) -> Draw:
        raise ValueError("no such draw")


def test_a_plan_that_cannot_be_read_is_alone() -> None:
    plans = [PLAN, Unreadable(PLAN.method, PLAN.data, PLAN.options), replace(PLAN, seed=1)]
    assert groups_of_one_kind(plans, 4) == [[0, 2], [1]]
