"""Stored scores, src/unbraid/report/stored.py."""

import numpy as np
import pytest
from torch.testing import assert_close

from unbraid.report.stored import evidence_table, stored_score
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


@pytest.mark.parametrize("damaged", [None, 3, "x", [[1.0], [1.0, 2.0]], [[[1.0]]], [["x"]], {}])
def test_damaged_evidence_is_refused(damaged: object) -> None:
    right = {"metric": "mig", "evidence": {"information": [[1, None], [0.5, 2]]}}
    assert_close(evidence_table(right, "information", 2), np.array([[1, np.nan], [0.5, 2]]), equal_nan=True)
    for wrong in ({"information": damaged}, {}):
        with pytest.raises(
            ValueError, match="The evidence of the stored score mig is damaged: its information must"
        ):
            evidence_table({"metric": "mig", "evidence": wrong}, "information", 2)
