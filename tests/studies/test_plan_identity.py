"""What makes two plans the same run, src/unbraid/studies/plan_identity.py."""

import inspect
import json
import runpy
from pathlib import Path

import pytest

from unbraid.methods import BetaVAE
from unbraid.settings import to_json
from unbraid.studies import plan_identity
from unbraid.studies.plan import Plan, replace
from unbraid.studies.plan_identity import introduced_values

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PLAN = Plan("beta-vae", "sprites", {"steps": 10, "seed": 0})


@pytest.fixture
def change_default(monkeypatch: pytest.MonkeyPatch):  # noqa: ANN201
    """Changes the default of β-VAE's β, as a later release might."""
    from unbraid import options

    def change(value: float) -> None:
        monkeypatch.setitem(inspect.unwrap(BetaVAE.__init__).__kwdefaults__, "beta", value)
        options._options_of.cache_clear()

    yield change
    monkeypatch.undo()
    options._options_of.cache_clear()


def test_an_explicit_default_is_the_same_run() -> None:
    assert replace(PLAN, beta=4.0).identity == PLAN.identity
    assert replace(PLAN, **{"method.beta": 4}).identity == PLAN.identity
    assert replace(PLAN, beta=5.0).identity != PLAN.identity


def test_a_changed_default_is_another_run(change_default) -> None:  # noqa: ANN001
    before, eight = PLAN.identity, replace(PLAN, beta=8.0).identity
    change_default(8.0)
    changed = Plan("beta-vae", "sprites", {"steps": 10, "seed": 0})
    assert changed.identity == eight != before
    assert replace(changed, beta=4.0).identity == before  # the old run is found again under its old value


def test_a_changed_default_trains_again(tmp_path: Path, change_default) -> None:  # noqa: ANN001
    from unbraid.studies import study
    from unbraid.studies.plan import Recipe

    def trained() -> set[str]:
        options = {
            "steps": 2,
            "batch_size": 4,
            "image_size": 32,
            "architecture": "mlp-small",
            "latent_dim": 2,
        }
        plan = Plan("beta-vae", "sprites", options, (), {})
        study(Recipe("r", "", (plan,), {}), tmp_path, device="cpu", quiet=True)
        return {folder.name for folder in (tmp_path / "runs").iterdir()}

    first = trained()
    assert trained() == first
    change_default(8.0)
    assert len(trained() - first) == 1


def test_a_new_option_leaves_the_identity_of_older_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run before `grad_clip` existed and a run at the value that it was introduced with have one identity."""
    options = {owner: dict(values) for owner, values in PLAN.resolved().items()}
    without = {owner: dict(values) for owner, values in options.items()}
    del without["training"]["grad_clip"]
    identity = plan_identity.plan_identity
    assert identity("beta-vae", "sprites", None, without) == identity("beta-vae", "sprites", None, options)


def test_every_option_has_the_value_it_was_introduced_with() -> None:
    """`python benchmarks/introduced.py` adds new options; it never changes an entry."""
    updated = runpy.run_path(str(BENCHMARKS / "introduced.py"))["updated"]
    assert introduced_values() == updated(introduced_values())


def test_the_table_keeps_old_values() -> None:
    updated = runpy.run_path(str(BENCHMARKS / "introduced.py"))["updated"]
    old = json.loads(json.dumps(to_json(introduced_values())))
    old["method beta-vae"]["beta"] = 123.0
    del old["method beta-vae"]["likelihood"]
    new = updated(old)["method beta-vae"]
    assert (new["beta"], new["likelihood"]) == (123.0, {"spec": "bernoulli"})


def test_own_code_counts_with_its_source(tmp_path: Path) -> None:
    source = "from unbraid.methods import BetaVAE\nfrom unbraid.methods.beta_vae import BetaVAE as B\n"
    source += "class Mine(B):\n    scale = 1.0\n"
    for name, text in (("a", source), ("b", source + "# a comment\n"), ("c", source.replace("1.0", "2.0"))):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}_mine.py").write_text(text)
    a, b, c = (
        Plan(f"{tmp_path}/{name}/{name}_mine.py:Mine", "sprites", {"steps": 1}).identity for name in "abc"
    )
    assert a == b != c
