"""Which figures and charts a page has of a run, src/unbraid/report/pictures.py."""

from pathlib import Path

from unbraid.model import load
from unbraid.plan import Plan
from unbraid.report.pictures import ALL_FIGURES, ROWS, chart_of, pictures_of, shows_images
from unbraid.runs import Run


def trained(folder: Path, method: str, data: str, **options: object) -> Run:
    return Plan(method, data, {"steps": 2, "batch": 8, **options}).run(folder, device="cpu", quiet=True)


def pictures(run: Run, plan: Plan) -> tuple[set[str], set[str], str]:
    figures, charts, missing = pictures_of(run, load(run.folder, device="cpu"), plan.dataset())
    return set(figures), set(charts), missing


def test_an_autoencoder_of_images(tmp_path: Path) -> None:
    options = {"size": 32, "codes": 3, "architecture": "mlp"}
    run = trained(tmp_path / "run", "beta-vae", "sprites", **options)
    figures, charts, missing = pictures(run, Plan("beta-vae", "sprites", options))
    assert shows_images(run) and figures == {"reconstructions", "traversals", "swaps"} and not charts
    assert not missing and figures <= ALL_FIGURES.keys()


def test_correlated_factors_are_shown_together(tmp_path: Path) -> None:
    options = {"size": 32, "codes": 3, "architecture": "mlp", "correlate": ("pos_x", "scale"), "sigma": 0.2}
    run = trained(tmp_path / "run", "beta-vae", "sprites", **options)
    figures, charts, _ = pictures(run, Plan("beta-vae", "sprites", options))
    assert "quantiles" in figures and charts == {"joint"}


def test_rows_have_pictures_of_flows_alone(tmp_path: Path) -> None:
    run = trained(tmp_path / "rows", "cnn", "credit", observations=60, architecture="mlp")
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
