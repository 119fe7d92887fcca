"""Which figures and charts a page has of a run, src/unbraid/report/run_figures.py."""

from pathlib import Path

import numpy as np
import pytest

from unbraid.report.figures import activity, examples
from unbraid.report.heatmaps import importance_chart
from unbraid.report.run_figures import ALL_FIGURES, ROWS, chart_of, make_figures, shows_images
from unbraid.runs.folder import Run
from unbraid.runs.model import load
from unbraid.studies.plan import Plan


def trained(folder: Path, method: str, data: str, **options: object) -> Run:
    return Plan(method, data, {"steps": 2, "batch_size": 8, **options}).run(folder, device="cpu", quiet=True)


def pictures(run: Run, plan: Plan) -> tuple[set[str], set[str], str]:
    figures, charts, missing = make_figures(run, load(run.folder, device="cpu"), plan.dataset())
    return set(figures), set(charts), missing


def test_an_autoencoder_of_images(tmp_path: Path) -> None:
    options = {"image_size": 16, "latent_dim": 3, "architecture": "mlp-small"}
    run = trained(tmp_path / "run", "beta-vae", "sprites", **options)
    figures, charts, missing = pictures(run, Plan("beta-vae", "sprites", options))
    assert shows_images(run) and figures == {"reconstructions", "traversals", "swaps"} and not charts
    assert not missing and figures <= ALL_FIGURES.keys()


def test_correlated_factors_are_shown_together(tmp_path: Path) -> None:
    options = {
        "image_size": 16,
        "latent_dim": 3,
        "architecture": "mlp-small",
        "correlate": ("pos_x", "scale"),
        "correlation_sigma": 0.2,
    }
    run = trained(tmp_path / "run", "beta-vae", "sprites", **options)
    figures, charts, _ = pictures(run, Plan("beta-vae", "sprites", options))
    assert "quantiles" in figures and charts == {"joint"}


def test_a_strand_of_several_codes_goes_by_its_name_and_its_busiest_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DCI has one row a strand there, which is no number of a code."""
    options = {
        "image_size": 16,
        "num_features": 2,
        "feature_dim": 3,
        "lambda_translation": 0.0,
        "architecture": "mlp-small",
    }
    correlated = {"correlate": ("pos_x", "scale"), "correlation_sigma": 0.2}
    run = trained(tmp_path / "run", "intervention", "sprites", **options, **correlated)
    importances = np.tile([[0.9], [0.1]], (1, 5))
    importances[:, 3] = 0.2, 0.8  # pos_x
    run.add_scores([{"metric": "dci", "value": 0.5, "evidence": {"importances": importances.tolist()}}])
    shown: list[list[str]] = []
    monkeypatch.setattr(
        "unbraid.report.run_figures.importance_chart",
        lambda *args, rows, **_: (shown.append(rows), importance_chart(*args, rows=rows))[1],
    )
    model, dataset = (
        load(run.folder, device="cpu"),
        Plan("intervention", "sprites", {"image_size": 16, **correlated}).dataset(),
    )
    figures, charts, missing = make_figures(run, model, dataset)
    assert not missing and charts["importance"].heading == "Importance of each strand for each factor"
    assert shown[0] == ["z0", "z1"]
    busy = activity(model, examples(dataset, 512)).amounts
    second = max(model.strands["z1"], key=lambda code: busy[code])
    notes = {row.label: row.note for row in figures["quantiles"].rows}
    assert notes[f"dimension {second}"] == "pos_x, correlated"


def test_rows_have_pictures_of_flows_alone(tmp_path: Path) -> None:
    run = trained(tmp_path / "rows", "cnn", "credit", observations=60, architecture="mlp-small")
    plan = Plan("cnn", "credit", {"observations": 60})
    assert pictures(run, plan) == (set(), set(), ROWS)
    flow = trained(tmp_path / "flow", "augmented-gin", "mixture")
    figures, charts, missing = pictures(flow, Plan("augmented-gin", "mixture"))
    assert not figures and charts and not missing


def test_a_chart_is_drawn_on_both_grounds() -> None:
    grounds = []

    def draw(*, dark: bool) -> object:
        from matplotlib.figure import Figure

        grounds.append(dark)
        return Figure(figsize=(1, 1))

    chart = chart_of("Heading", "Caption", draw)
    assert grounds == [False, True, False] and chart.light.startswith(b"<?xml") and chart.png[1:4] == b"PNG"
