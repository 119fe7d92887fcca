"""Runs as names and numbers, src/unbraid/plan.py."""

from pathlib import Path

import numpy as np
import pytest

from unbraid.data.catalogue import DATASETS
from unbraid.methods import AnnealedVAE, BetaVAE
from unbraid.model import method_classes
from unbraid.plan import Plan, allowed_options, replace
from unbraid.schedules import Linear

PLAN = Plan("beta-vae", "sprites", {"beta": 2.0, "size": 32, "codes": 3, "steps": 2, "batch": 4, "seed": 1})


def test_options_go_where_they_belong() -> None:
    dataset = PLAN.dataset()
    method = PLAN.build(dataset)
    assert dataset.shape == (1, 32, 32)
    assert isinstance(method, BetaVAE) and method.beta == 2.0 and method.strands.size == 3
    resolved = PLAN.resolved()
    assert resolved["training"]["steps"] == 2
    assert resolved["data"].items() >= {"size": 32, "antialias": True, "correlate": ()}.items()
    assert resolved["networks"] == {"codes": 3, "architecture": "conv"}


def test_a_plan_runs(tmp_path: Path) -> None:
    run = PLAN.run(tmp_path / "run", device="cpu", quiet=True)
    assert run.finished and run.seed == 1
    assert run.settings["data"]["origin"] == {"name": "sprites", "options": {"size": 32}}


def test_the_seed_decides_the_first_weights() -> None:
    dataset = PLAN.dataset()
    first, same, other = (replace(PLAN, seed=seed).build(dataset).state_dict() for seed in (1, 1, 2))
    assert all((first[name] == same[name]).all() for name in first)
    assert any((first[name] != other[name]).any() for name in first)


def test_replace_changes_fields_and_options() -> None:
    changed = replace(PLAN, method="annealed-vae", capacity=Linear(0.0, 5.0, 10), seed=7, metrics=("kl",))
    assert (changed.method, changed.options["seed"], changed.metrics) == ("annealed-vae", 7, ("kl",))
    assert PLAN.options["seed"] == 1
    changed = Plan("annealed-vae", "sprites", {"capacity": Linear(0.0, 5.0, 10), "size": 32, "steps": 1})
    method = changed.build(changed.dataset())
    assert isinstance(method, AnnealedVAE) and method.capacity == Linear(0.0, 5.0, 10)


def test_identity_is_of_the_run_not_of_how_it_is_written() -> None:
    assert PLAN.identity == replace(PLAN, architecture="conv").identity  # the default, said aloud
    assert PLAN.identity != replace(PLAN, beta=3.0).identity
    assert PLAN.identity != replace(PLAN, seed=2).identity
    assert PLAN.identity == replace(PLAN, beta=2).identity  # a whole number is a number


def test_options_that_came_later_change_no_identity_at_their_defaults() -> None:
    """Runs of before the law was an option keep their names: this is the identity that this plan had then."""
    assert Plan("beta-vae", "dsprites", {"beta": 4.0, "steps": 100, "seed": 1}).identity == "a842ae5897dc"
    assert replace(PLAN, correlate=(), sigma=0.2).identity == PLAN.identity
    assert replace(PLAN, correlate=("pos_x", "scale")).identity != PLAN.identity


def test_identity_follows_the_content_of_ones_own_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("mine.npz", images=np.zeros((4, 32, 32), np.uint8))
    first = Plan("vae", "mine.npz").identity
    assert first == Plan("vae", "./mine.npz").identity == Plan("vae", str(tmp_path / "mine.npz")).identity
    np.savez("mine.npz", images=np.ones((4, 32, 32), np.uint8))
    assert Plan("vae", "mine.npz").identity != first


def test_an_unknown_option_is_answered_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="no option of beta-vae on sprites 'btea'; did you mean beta"):
        replace(PLAN, btea=1.0).resolved()


def test_a_method_that_exchanges_the_class_gets_pairs_of_one_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Plan("ada-gvae", "sprites", {"size": 32, "k": 1, "steps": 1})
    assert not plan.draw().same_class
    monkeypatch.setattr(method_classes()["ada-gvae"], "same_class", True, raising=False)
    assert plan.draw().same_class and plan.resolved()["draw"]["same_class"]
    with pytest.raises(ValueError, match="both must be of one class: leave out --no-same-class"):
        replace(plan, same_class=False).run(tmp_path / "run", device="cpu", quiet=True)
    assert not (tmp_path / "run").exists()


def test_a_plan_is_written_as_its_command() -> None:
    plan = Plan(
        "ada-gvae", "sprites", {"k": 1, "difficulty": None, "fixed": ("shape", "scale"), "antialias": False}
    )
    assert str(plan) == "unbraid train ada-gvae --data sprites --k 1 --fixed shape,scale --no-antialias"


@pytest.mark.parametrize("method", sorted(method_classes()))
@pytest.mark.parametrize("data", sorted(DATASETS))
def test_no_two_options_share_a_name_and_each_has_help(method: str, data: str) -> None:
    for name, (_, option) in allowed_options(method, data).items():
        assert option.help, f"{name} has no entry under Args"
