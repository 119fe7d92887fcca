"""A study on a Ray cluster, src/unbraid/studies/ray_cluster.py."""

import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.small_study import table
from unbraid.recipes import Recipe
from unbraid.studies import ray_cluster
from unbraid.studies.jobs import JobContext, make_jobs, run_job
from unbraid.studies.plan import Plan, replace
from unbraid.studies.study import study

OPTIONS = {"observations": 60, "architecture": "mlp", "feature_dim": 8, "steps": 20, "batch_size": 8}
PLAN = Plan("cnn", "credit", OPTIONS, ("group_accuracy",), {"num_samples": 0})


def test_without_ray_the_error_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match=r"Ray is not installed. Run pip install 'unbraid\[ray\]'"):
        study(Recipe("own", "", (PLAN,), {}), tmp_path, device="cpu", ray_address="auto", quiet=True)


def test_a_machine_without_the_study_folder_sends_its_runs_back(tmp_path: Path) -> None:
    (job,) = make_jobs([PLAN])
    context = JobContext(tmp_path / "runs", None, "cpu", 1)
    before = dict(os.environ)
    try:
        failures, sent = ray_cluster._remote_job(job, context, "token")
    finally:
        os.environ.clear()
        os.environ.update(before)
    assert failures == [] and not context.folder.exists()
    ray_cluster._unpack(sent, tmp_path)
    assert (context.folder / PLAN.folder_name / "finished.json").exists()
    assert "20/20 steps" in (tmp_path / "logs" / f"{PLAN.folder_name}.txt").read_text()


def test_unfinished_runs_of_a_lost_job_have_failed(tmp_path: Path) -> None:
    plans = [replace(PLAN, seed=seed) for seed in range(3)]
    context = JobContext(tmp_path / "runs", None, "cpu", 3)
    run_job(make_jobs(plans[:1])[0], context._replace(population=1), quiet=True)
    (job,) = make_jobs(plans, population=3)
    failures = ray_cluster._failures_of_lost_job(
        job, context, RuntimeError("The node died.\nIts log follows.")
    )
    assert [failure.plan for failure in failures] == [str(plan) for plan in plans[1:]]
    assert {failure.error for failure in failures} == {"RuntimeError: The node died."}
    assert failures[0].traceback.endswith("Its log follows.")


@pytest.fixture
def nodes() -> Iterator[tuple[Any, Any]]:
    """Two nodes on loopback, each with one core."""
    pytest.importorskip("ray", reason="Ray is an extra: pip install 'unbraid[ray]'")
    from ray.cluster_utils import Cluster

    cores = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 100 * 2**20}
    cluster = Cluster(initialize_head=True, head_node_args=cores)
    second = cluster.add_node(num_cpus=1, object_store_memory=100 * 2**20)
    cluster.wait_for_nodes()
    yield cluster, second
    cluster.shutdown()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_a_cluster_gives_the_table_of_one_process_and_a_dead_node_loses_no_run(
    tmp_path: Path, nodes: tuple[Any, Any]
) -> None:
    cluster, second = nodes
    plans = tuple(replace(PLAN, seed=seed, steps=150) for seed in range(4))
    recipe = Recipe("own", "", plans, {})
    finished_at_death: list[int] = []

    def kill_the_second_node() -> None:
        while not (finished := list(tmp_path.glob("ray/runs/*/finished.json"))):
            time.sleep(0.05)
        finished_at_death.append(len(finished))
        cluster.remove_node(second, allow_graceful=False)

    killer = threading.Thread(target=kill_the_second_node, daemon=True)
    killer.start()
    result = study(recipe, tmp_path / "ray", device="cpu", ray_address=cluster.address, quiet=True)
    killer.join()
    assert not result.failures and finished_at_death[0] < len(plans)
    study(recipe, tmp_path / "here", device="cpu", quiet=True)
    assert table(tmp_path / "ray") == table(tmp_path / "here") and len(table(tmp_path / "ray")) >= 4
    assert len(list(tmp_path.glob("ray/logs/*.txt"))) == 4


@pytest.mark.filterwarnings("ignore")
def test_an_unreachable_address_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is an extra: pip install 'unbraid[ray]'")
    with pytest.raises(ValueError, match=r"no Ray cluster at 127\.0\.0\.1:1 .*ray start --head"):
        study(Recipe("own", "", (PLAN,), {}), tmp_path, device="cpu", ray_address="127.0.0.1:1", quiet=True)
