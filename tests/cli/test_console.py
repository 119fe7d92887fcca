"""Output of the commands, src/unbraid/cli/console.py."""

import json

import pytest

from unbraid.cli.console import aligned, print_json, print_scores

SCORE = {"metric": "mig", "value": 0.25, "protocol": "", "n": 100, "n_test": 0, "seconds": 1.5}


def test_columns_are_aligned() -> None:
    assert aligned([("a", "long", "x"), ("bcd", "y", "")]) == ["a    long  x", "bcd  y"]


def test_json_keeps_letters(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"β": 1})
    assert capsys.readouterr().out == '{\n  "β": 1\n}\n'


def test_numbers_that_json_lacks_are_null(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"mean": float("nan"), "interval": (float("-inf"), 1.0)})
    assert json.loads(capsys.readouterr().out) == {"mean": None, "interval": [None, 1.0]}


def test_scores_are_lines_or_json(capsys: pytest.CaptureFixture[str]) -> None:
    print_scores([SCORE, SCORE | {"metric": "a" * 40, "protocol": "fast", "n_test": 50}], as_json=False)
    first, second = capsys.readouterr().out.splitlines()
    assert first == f"{'mig':<40} 0.2500  (n=100, 1.5 s)"
    assert second == f"{'a' * 40} 0.2500  (n=100, tested on 50, fast, 1.5 s)"
    print_scores([SCORE], as_json=True)
    assert json.loads(capsys.readouterr().out) == [SCORE]
