"""What the demo says of each system, src/unbraid/exhibits.py; tests/test_demo.py looks at all of them together."""

from pathlib import Path

import pytest

from unbraid.exhibits import SHOWN, score_of
from unbraid.plan import Plan
from unbraid.recipes.demo import Side, contests
from unbraid.results import scoring_of
from unbraid.runs import Run

PLAN = Plan(
    "beta-vae", "sprites", {"size": 16, "architecture": "mlp-small", "codes": 2, "steps": 1, "batch": 2}
)


def test_every_system_of_the_recipe_is_shown() -> None:
    assert set(SHOWN) == set(contests())


def test_the_number_is_the_last_score_that_the_plan_asks_for(tmp_path: Path) -> None:
    run = PLAN.run(tmp_path / "run", quiet=True, device="cpu")
    with pytest.raises(ValueError, match="has no score mig: run the demo again"):
        score_of(Side(PLAN, "mig"), run)
    for value, scoring in ((0.25, scoring_of(PLAN)), (0.75, "of another study")):
        run.add_scores(
            [{"metric": "mig", "value": value, "protocol": "", "scoring": scoring, "seed": 0, "n": 1}]
        )
    assert score_of(Side(PLAN, "mig"), Run(run.folder)) == 0.25
