"""Lists of scores, src/unbraid/runs/scores.py."""

import json

from unbraid.runs.scores import Scores

SCORES = Scores(
    [
        {"metric": "mig", "value": 0.25, "protocol": "bins=20", "n": 9, "n_test": 0, "seed": 1},
        {"metric": "sap", "value": 0.5, "protocol": "", "n": 9, "n_test": 4, "seed": 1, "on": "test"},
    ]
)


def test_they_are_a_list() -> None:
    assert json.loads(json.dumps(SCORES)) == list(SCORES) == SCORES
    assert [entry["metric"] for entry in SCORES] == ["mig", "sap"]


def test_the_text_is_a_table() -> None:
    first, second = repr(SCORES).splitlines()
    assert first == "mig  0.2500  (bins=20, n=9, seed 1)"
    assert second == "sap  0.5000  (n=9, tested on 4, seed 1, test)"
    assert repr(Scores()) == "no scores"


def test_the_display_is_a_table() -> None:
    assert "<td>mig</td><td>0.2500</td>" in SCORES._repr_html_()
