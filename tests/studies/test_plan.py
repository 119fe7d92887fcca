"""Plans, src/unbraid/studies/plan.py."""

from pathlib import Path

import numpy as np
import pytest

from unbraid.data.registry import DATASETS
from unbraid.data.sprites import sprites
from unbraid.methods import AnnealedVAE, BetaVAE, method_classes
from unbraid.metrics import mig
from unbraid.schedules import Linear
from unbraid.studies.plan import Plan, plan_options, replace

PLAN = Plan(
    "beta-vae",
    "sprites",
    {"beta": 2.0, "image_size": 32, "latent_dim": 3, "steps": 2, "batch_size": 4, "seed": 1},
)


def test_options_go_where_they_belong() -> None:
    dataset = PLAN.dataset()
    method = PLAN.build(dataset)
    assert dataset.shape == (1, 32, 32)
    assert isinstance(method, BetaVAE) and method.beta == 2.0 and method.strands.size == 3
    resolved = PLAN.resolved()
    assert resolved["training"]["steps"] == 2
    assert resolved["data"].items() >= {"image_size": 32, "antialias": True, "correlate": ()}.items()
    assert resolved["network"] == {"latent_dim": 3, "architecture": "conv"}


def test_a_plan_runs(tmp_path: Path) -> None:
    run = PLAN.run(tmp_path / "run", device="cpu", quiet=True)
    assert run.finished and run.seed == 1
    assert run.settings["data"]["origin"] == {"name": "sprites", "options": {"image_size": 32}}


def test_the_seed_decides_the_first_weights() -> None:
    dataset = PLAN.dataset()
    first, same, other = (replace(PLAN, seed=seed).build(dataset).state_dict() for seed in (1, 1, 2))
    assert all((first[name] == same[name]).all() for name in first)
    assert any((first[name] != other[name]).any() for name in first)


def test_replace_changes_fields_and_options() -> None:
    changed = replace(PLAN, method="annealed-vae", capacity=Linear(0.0, 5.0, 10), seed=7, metrics=("kl",))
    assert (changed.method, changed.options["seed"], changed.metrics) == ("annealed-vae", 7, ("kl",))
    assert PLAN.options["seed"] == 1
    changed = Plan(
        "annealed-vae", "sprites", {"capacity": Linear(0.0, 5.0, 10), "image_size": 32, "steps": 1}
    )
    method = changed.build(changed.dataset())
    assert isinstance(method, AnnealedVAE) and method.capacity == Linear(0.0, 5.0, 10)


def test_plans_of_one_run_have_one_identity() -> None:
    assert PLAN.identity == replace(PLAN, architecture="conv").identity  # the default
    assert PLAN.identity != replace(PLAN, beta=3.0).identity
    assert PLAN.identity != replace(PLAN, seed=2).identity
    assert PLAN.identity == replace(PLAN, beta=2).identity  # int for a float option


def test_defaults_do_not_change_the_identity() -> None:
    assert replace(PLAN, correlate=(), correlation_sigma=0.2).identity == PLAN.identity
    assert replace(PLAN, correlate=("pos_x", "scale")).identity != PLAN.identity


def test_the_identity_depends_on_the_content_of_your_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("mine.npz", images=np.zeros((4, 32, 32), np.uint8))
    first = Plan("vae", "mine.npz").identity
    assert first == Plan("vae", "./mine.npz").identity == Plan("vae", str(tmp_path / "mine.npz")).identity
    np.savez("mine.npz", images=np.ones((4, 32, 32), np.uint8))
    assert Plan("vae", "mine.npz").identity != first


def test_the_error_for_an_unknown_option_suggests_the_nearest() -> None:
    with pytest.raises(
        ValueError, match="no option of the method beta-vae on the dataset sprites 'btea'; did you mean beta"
    ):
        replace(PLAN, btea=1.0).resolved()


def test_a_method_that_swaps_the_class_strand_gets_pairs_of_one_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Plan("ada-gvae", "sprites", {"image_size": 32, "k": 1, "steps": 1})
    assert not plan.build_draw().same_class
    monkeypatch.setattr(method_classes()["ada-gvae"], "same_class", True, raising=False)
    assert plan.build_draw().same_class and plan.resolved()["draw"]["same_class"]
    with pytest.raises(ValueError, match=r"needs pairs of the same class.* Remove --no-same-class"):
        replace(plan, same_class=False).run(tmp_path / "run", device="cpu", quiet=True)
    assert not (tmp_path / "run").exists()


def test_a_plan_is_written_as_its_command() -> None:
    plan = Plan(
        "ada-gvae",
        "sprites",
        {"k": 1, "k_schedule": None, "fixed_factors": ("shape", "scale"), "antialias": False},
    )
    assert (
        str(plan) == "unbraid train ada-gvae --data sprites --k 1 --fixed-factors shape,scale --no-antialias"
    )


def test_no_two_options_share_a_name_and_each_has_help() -> None:
    """For every method on every dataset of Unbraid, and on a path."""
    for method in method_classes():
        for data in (*DATASETS, "mine.npz", "mine.csv"):
            options = plan_options(method, data)
            for owner, option in options:
                assert option.help, f"{option.name} of {method} on {data} has no entry under Args"
                assert options.shortest(owner, option.name) == option.name, (method, data, option.name)


def test_full_names_are_the_same_options() -> None:
    full = Plan(PLAN.method, PLAN.data, {"method.beta": 2.0, "data.image_size": 32, "network.latent_dim": 3})
    short = Plan(PLAN.method, PLAN.data, {"beta": 2.0, "image_size": 32, "latent_dim": 3})
    assert full.resolved() == short.resolved() and full.identity == short.identity
    with pytest.raises(ValueError, match=r"The option method\.beta is given twice"):
        Plan("beta-vae", "sprites", {"beta": 1.0, "method.beta": 2.0}).resolved()


class Mine(BetaVAE):
    """A method of this test."""


def test_classes_and_functions_stand_for_themselves() -> None:
    plan = Plan(Mine, sprites, {"image_size": 32, "latent_dim": 2}, (mig, "kl"))
    assert (plan.method, plan.data, plan.metrics) == (
        "tests.studies.test_plan:Mine",
        "sprites",
        ("mig", "kl"),
    )
    assert plan.folder_name.startswith("Mine-sprites-")
    assert type(plan.build(plan.dataset())) is Mine
    assert Plan(BetaVAE, "sprites", PLAN.options).identity == PLAN.identity


def test_a_stored_plan_imports_nothing(tmp_path: Path) -> None:
    evil = f"{tmp_path}/evil.py:Evil"
    (tmp_path / "evil.py").write_text("raise SystemExit('ran')")
    plan = Plan.stored({"method": evil, "data": evil, "options": {"steps": 1}, "metrics": [evil]})
    assert (plan.method_name, plan.options, plan.draw) == ("Evil", {"steps": 1}, None)


def test_metrics_that_do_not_apply_are_said_before_training(tmp_path: Path) -> None:
    plan = replace(PLAN, metrics=("group_accuracy",))
    with pytest.raises(ValueError, match="predicted classes"):
        plan.run(tmp_path / "run", device="cpu", quiet=True)
    assert not (tmp_path / "run").exists()
