"""Scores side by side, src/unbraid/report/scores.py."""

import math

from torch.testing import assert_close

from unbraid.report.scores import kl_table, metric_description, score_rows
from unbraid.runs.folder import Run


def entry(metric: str, value: float, *, n: int = 10) -> dict[str, object]:
    sizes = {"n": n, "n_test": 0, "seed": 0}
    return {"metric": metric, "protocol": "", "value": value, "higher_is_better": metric != "loss", **sizes}


def test_equal_scores_share_a_row_and_others_do_not() -> None:
    rows = score_rows(
        {"a": [entry("mig", 0.5), entry("kl", 3.0)], "b": [entry("mig", 0.6), entry("kl", 4.0, n=20)]}
    )
    assert [(row.metric, row.n, row.values) for row in rows] == [
        ("mig", 10, [0.5, 0.6]),
        ("kl", 10, [3.0, None]),
        ("kl", 20, [None, 4.0]),
    ]


def test_further_numbers_stand_under_their_score_without_a_sentence() -> None:
    first, further = score_rows({"a": [entry("salient:mig", 0.5), entry("salient:mig.rmig", 0.1)]})
    assert first.description and not first.is_secondary
    assert not further.description and further.is_secondary
    assert first.description.endswith("Higher is better.")


def test_the_direction_of_ones_own_metric_is_that_of_its_scores() -> None:
    lower, of_a_file = score_rows({"a": [entry("loss", 0.5), entry("own.py:roughness", 0.1)]})
    assert (lower.description, lower.higher_is_better) == ("Lower is better.", False)
    assert of_a_file.description == "Higher is better." and not of_a_file.is_secondary


def test_a_metric_of_ones_own_has_no_sentence() -> None:
    assert (
        metric_description("my_metric") == ""
        and metric_description("reconstruction")
        and metric_description("kl")
    )


def test_what_codes_know_comes_from_the_scores(run: Run) -> None:
    table = kl_table(run)
    assert table is not None and table.factors == ("shape", "scale", "orientation", "pos_x", "pos_y")
    assert [row.kl for row in table.rows] == sorted((row.kl for row in table.rows), reverse=True)
    nats, share = table.rows[0].mutual_information[0]
    assert_close(share, nats / math.log(3))


def test_a_run_without_scores_knows_nothing(run: Run) -> None:
    class Unscored(Run):
        def scores(self) -> list[dict[str, object]]:
            return []

    assert kl_table(Unscored(run.folder)) is None
