"""A study on a Ray cluster, src/unbraid/cluster.py."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.small_study import table
from unbraid import cluster
from unbraid.plan import Plan, replace
from unbraid.recipes import Recipe
from unbraid.study import study
from unbraid.work import Place, do, jobs_of

OPTIONS = {"observations": 60, "architecture": "mlp", "features": 8, "steps": 20, "batch": 8}
PLAN = Plan("cnn", "credit", OPTIONS, ("group_accuracy",), {"samples": 0})


def test_without_ray_it_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match=r"Ray is not installed: pip install 'unbraid\[ray\]'"):
        study(Recipe("own", "", (PLAN,), {}), tmp_path, device="cpu", ray="auto", quiet=True)


def test_a_machine_that_does_not_see_the_folder_sends_its_runs_back(tmp_path: Path) -> None:
    (job,) = jobs_of([PLAN])
    place = Place(tmp_path / "runs", None, "cpu", 1)
    before = dict(os.environ)
    try:
        failures, sent = cluster._do_there(job, place, "token", "1")
    finally:
        os.environ.clear()
        os.environ.update(before)
    assert failures == [] and not place.folder.exists()
    cluster._unpack(sent, tmp_path)
    assert (place.folder / PLAN.folder / "finished.json").exists()
    assert "20/20 steps" in (tmp_path / "logs" / f"{PLAN.folder}.txt").read_text()


def test_every_run_of_a_job_that_ray_loses_has_failed_but_those_that_are_done(tmp_path: Path) -> None:
    plans = [replace(PLAN, seed=seed) for seed in range(3)]
    place = Place(tmp_path / "runs", None, "cpu", 3)
    do(jobs_of(plans[:1])[0], place._replace(population=1), quiet=True)
    (job,) = jobs_of(plans, population=3)
    failures = cluster._lost(job, place, RuntimeError("The node died.\nIts log follows."))
    assert [failure.plan for failure in failures] == [str(plan) for plan in plans[1:]]
    assert {failure.error for failure in failures} == {"RuntimeError: The node died."}
    assert failures[0].traceback.endswith("Its log follows.")


@pytest.fixture
def nodes() -> Iterator[tuple[Any, Any]]:
    """Two nodes on loopback, each with one core."""
    pytest.importorskip("ray", reason="Ray is an extra: pip install 'unbraid[ray]'")
    from ray.cluster_utils import Cluster

    cores = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 100 * 2**20}
    made = Cluster(initialize_head=True, head_node_args=cores)
    second = made.add_node(num_cpus=1, object_store_memory=100 * 2**20)
    made.wait_for_nodes()
    yield made, second
    made.shutdown()


SCRIPT = """
import sys
from pathlib import Path
from unbraid.plan import Plan, replace
from unbraid.recipes import Recipe
from unbraid.study import study

plan = Plan("cnn", "credit", {options}, ("group_accuracy",), {{"samples": 0}})
plans = tuple(replace(plan, seed=seed) for seed in range(8))
result = study(Recipe("own", "", plans, {{}}), sys.argv[1], device="cpu", ray=sys.argv[2], quiet=True)
assert not result.failures, result.failures
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_a_cluster_gives_the_table_of_one_process_and_a_dead_node_loses_no_run(
    tmp_path: Path, nodes: tuple[Any, Any]
) -> None:
    ray_cluster, second = nodes
    script = SCRIPT.format(options=OPTIONS | {"steps": 400})
    process = subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "ray"), ray_cluster.address])
    while len(list(tmp_path.glob("ray/runs/*/finished.json"))) < 2:
        assert process.poll() is None
        time.sleep(0.05)
    ray_cluster.remove_node(second, allow_graceful=False)
    assert process.wait(timeout=600) == 0
    plans = tuple(replace(PLAN, seed=seed, steps=400) for seed in range(8))
    study(Recipe("own", "", plans, {}), tmp_path / "here", device="cpu", quiet=True)
    assert table(tmp_path / "ray") == table(tmp_path / "here") and len(table(tmp_path / "ray")) >= 8
    assert len(list(tmp_path.glob("ray/logs/*.txt"))) == 8


@pytest.mark.filterwarnings("ignore")
def test_an_address_where_nobody_is(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is an extra: pip install 'unbraid[ray]'")
    with pytest.raises(ValueError, match=r"no Ray cluster at 127\.0\.0\.1:1 .*ray start --head"):
        study(Recipe("own", "", (PLAN,), {}), tmp_path, device="cpu", ray="127.0.0.1:1", quiet=True)
