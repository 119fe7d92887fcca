"""Scores over a setting, src/unbraid/report/sweeps.py."""

import pytest

from unbraid.report.charts import file_bytes
from unbraid.report.sweeps import mean_over_others, sweep_chart, varied_settings
from unbraid.studies.tables import Row


def row(method: str, weight: float, mean: float, metric: str = "salient:clustering") -> Row:
    return Row(method, "grassy-mnist", {"lambda_z": weight}, metric, "", mean, 0.01, 3, None)


ROWS = [row("principled-contrast", weight, 0.5 + weight / 10) for weight in (1.0, 0.0, 2.0)]


def test_a_line_runs_over_the_setting_in_order() -> None:
    figure = sweep_chart(ROWS, "lambda_z", "salient:clustering")
    (line,) = figure.axes[0].containers
    assert list(line[0].get_xdata()) == [0.0, 1.0, 2.0]
    assert list(line[0].get_ydata()) == pytest.approx([0.5, 0.6, 0.7])
    assert figure.axes[0].get_xlabel() == "lambda_z"
    assert len(file_bytes(figure, "svg")) > 1000


def test_every_method_has_its_line_and_its_name() -> None:
    rows = [*ROWS, row("cvae", 1.0, 0.4), row("cvae", 1.0, 9.0, metric="kl")]
    figure = sweep_chart(rows, "lambda_z", "salient:clustering", names={"cvae": "cVAE"}, logarithmic=True)
    legend = figure.axes[0].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["principled-contrast", "cVAE"]


def test_a_score_that_is_not_there_is_said() -> None:
    with pytest.raises(ValueError, match="No row of the study has a score 'mig' with a value of 'lambda_z'"):
        sweep_chart(ROWS, "lambda_z", "mig")


def test_settings_that_take_several_numbers_within_a_method_are_swept() -> None:
    rows = [*ROWS, row("cvae", 1.0, 0.4)]
    rows = [entry._replace(settings=entry.settings | {"mix": "linear", "flag": True}) for entry in rows]
    assert varied_settings(rows) == ["lambda_z"] and varied_settings(ROWS[:1]) == []


def test_where_other_settings_vary_too_their_mean_is_taken() -> None:
    rows = [
        row("a", 1.0, mean)._replace(settings={"lambda_z": 1.0, "other": other})
        for other, mean in ((0, 0.2), (1, 0.6))
    ]
    (found,) = mean_over_others(rows, "lambda_z", "salient:clustering")
    assert found.mean == pytest.approx(0.4) and found.std == pytest.approx(0.4 / 2**0.5)
    assert found.settings == {"lambda_z": 1.0}
    assert mean_over_others(ROWS, "lambda_z", "kl") == []
