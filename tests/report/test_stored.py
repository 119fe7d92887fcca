"""Stored scores, src/unbraid/report/stored.py."""

from unbraid.report.stored import stored_score
from unbraid.runs.folder import Run


def with_scores(run: Run, *scores: dict[str, object]) -> Run:
    class Scored(Run):
        def scores(self) -> list[dict[str, object]]:
            return list(scores)

    return Scored(run.folder)


def test_the_latest_score_on_the_training_data_is_preferred(run: Run) -> None:
    first, second = {"metric": "mig", "value": 1}, {"metric": "mig", "value": 2}
    elsewhere = {"metric": "mig", "value": 3, "on": "sprites --split test"}
    assert stored_score(with_scores(run, first, second, elsewhere), "mig") == second
    assert stored_score(with_scores(run, elsewhere), "mig") == elsewhere


def test_without_a_score_or_a_run_there_is_none(run: Run) -> None:
    assert stored_score(None, "mig") is None and stored_score(run, "salient:mig") is None
    plain = with_scores(run, {"metric": "mig", "value": 1})
    assert stored_score(plain, "mig") and stored_score(plain, "mig", evidence=True) is None
