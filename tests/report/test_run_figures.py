"""Which figures and charts a page has of a run, src/unbraid/report/run_figures.py."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.run_files import score_entry
from unbraid.data import Dataset
from unbraid.evaluation.evaluate import evaluate
from unbraid.methods.base import Method
from unbraid.report import flow_charts
from unbraid.report.charts import Chart, chart_of
from unbraid.report.figure_table import FIGURES, FigureEntry
from unbraid.report.figures import Figure, Row, activity, examples
from unbraid.report.heatmaps import importance_chart
from unbraid.report.run_figures import ROWS, make_figures, named_entry, page_metrics, shows_images
from unbraid.runs.folder import Run
from unbraid.runs.model import Model, load
from unbraid.strands import Strands
from unbraid.studies.plan import Plan
from unbraid.types import Batch, Terms


def trained(folder: Path, method: str, data: str, **options: object) -> Run:
    return Plan(method, data, {"steps": 2, "batch_size": 8, **options}).run(folder, device="cpu", quiet=True)


def pictures(run: Run, plan: Plan) -> tuple[set[str], set[str], str]:
    drawn = make_figures(load(run.folder, device="cpu"), plan.dataset())
    return set(drawn.figures), set(drawn.charts), drawn.missing


def test_an_autoencoder_of_images(tmp_path: Path) -> None:
    options = {"image_size": 16, "latent_dim": 3, "architecture": "mlp-small"}
    run = trained(tmp_path / "run", "beta-vae", "sprites", **options)
    figures, charts, missing = pictures(run, Plan("beta-vae", "sprites", options))
    assert shows_images(run) and figures == {"reconstructions", "traversals", "swaps"} and not charts
    assert not missing and figures <= FIGURES.keys()


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
    run.add_scores([score_entry("dci", 0.5, evidence={"importances": importances.tolist()})])
    shown: list[list[str]] = []
    monkeypatch.setattr(
        "unbraid.report.factor_charts.importance_chart",
        lambda *args, rows, **_: (shown.append(rows), importance_chart(*args, rows=rows))[1],
    )
    model, dataset = (
        load(run.folder, device="cpu"),
        Plan("intervention", "sprites", {"image_size": 16, **correlated}).dataset(),
    )
    figures, charts, missing, _ = make_figures(model, dataset)
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


def test_charts_of_a_flow_show_stored_scores_and_the_page_names_the_metrics_that_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flow_charts, "SAMPLE", 256)
    run = trained(tmp_path / "flow", "augmented-gin", "mixture")
    model, dataset = load(run.folder, device="cpu"), Plan("augmented-gin", "mixture").dataset()
    drawn = make_figures(model, dataset)
    assert not drawn.figures and not drawn.charts
    assert drawn.unscored.headings == ("Spectrum", "Recovered latents")
    assert drawn.unscored.metrics == page_metrics(model, dataset)
    run.add_scores(evaluate(model.method, dataset, page_metrics(model, dataset), num_samples=300))
    drawn = make_figures(model, dataset)
    assert set(drawn.charts) == {"spectrum", "recovery"} and not drawn.missing
    assert not drawn.unscored.metrics


class Means(Method[Batch]):
    """Somebody's own method: the code is the mean of each image, and there is no decoder."""

    @property
    def strands(self) -> Strands:
        return Strands.from_sizes(mean=1)

    def loss(self, batch: Batch) -> Terms:
        return Terms(batch.x.mean(), {})

    def encode(self, x: Tensor, condition: Tensor | None = None) -> Tensor:
        return x.flatten(1).mean(1, keepdim=True)


class Decoding(Means):
    def decode(self, codes: Tensor, condition: Tensor | None = None) -> Tensor:
        return codes[:, :, None, None].expand(-1, 1, 4, 4)


def sorted_images(model: Model, dataset: Dataset) -> Figure:
    """Images sorted by their code. The darkest is on the left."""
    x = examples(dataset, 5)
    return Figure((Row("images", x[model.encode(x)[:, 0].argsort()]),), caption="Images, darkest first.")


def no_docstring(model: Model, dataset: Dataset) -> object:
    return "a figure"


def crashing(model: Model, dataset: Dataset) -> Figure:
    """A figure that cannot be drawn."""
    raise IndexError("list index out of range")


def code_chart(model: Model, dataset: Dataset) -> Chart:
    from matplotlib.figure import Figure as Canvas

    return chart_of("Codes", "All codes.", lambda dark: Canvas(figsize=(1, 1)))


def data() -> Dataset:
    images = torch.randint(
        0, 256, (600, 1, 4, 4), dtype=torch.uint8, generator=torch.Generator().manual_seed(0)
    )
    return Dataset(images, name="noise")


def drawn_by(method: type[Method], figures: object = None) -> tuple[list[str], list[str], str]:
    chosen = method if figures is None else type("Choosing", (method,), {"figures": lambda self: figures})
    figures_, charts, missing, _ = make_figures(Model(chosen(), (1, 4, 4)), data())
    return list(figures_), list(charts), missing


def test_a_custom_method_gets_the_figures_of_its_abilities() -> None:
    assert drawn_by(Means) == ([], [], "")
    names, charts, missing = drawn_by(Decoding)
    assert names == ["reconstructions", "traversals", "swaps", "quantiles"] and not charts and not missing


def test_a_custom_method_chooses_its_figures_and_adds_its_own() -> None:
    names, charts, missing = drawn_by(Decoding, ("traversals", sorted_images, code_chart))
    assert names == ["traversals", "sorted_images"] and charts == ["code_chart"] and not missing
    names, _, missing = drawn_by(Means, ("traversals", sorted_images))
    assert names == ["sorted_images"] and not missing  # without a decoder there are no traversals
    assert drawn_by(Decoding, ()) == ([], [], "")


def test_what_goes_wrong_in_a_choice_is_said_on_the_page() -> None:
    names, _, missing = drawn_by(Decoding, ("traversal", crashing, no_docstring, "reconstructions"))
    assert names == ["reconstructions"]
    assert "There is no figure 'traversal'; did you mean traversals?" in missing
    assert "A figure that cannot be drawn: IndexError: list index out of range." in missing
    assert "no_docstring must return an unbraid.report.Figure or Chart; it returned a str." in missing
    names, _, missing = drawn_by(Decoding, 3)
    assert "traversals" in names and "Choosing.figures: TypeError" in missing


def test_a_decoder_that_fails_is_no_reason_to_have_no_page() -> None:
    class Broken(Means):
        def decode(self, codes: Tensor, condition: Tensor | None = None) -> Tensor:
            raise RuntimeError("shapes cannot be multiplied")

    names, _, missing = drawn_by(Broken)
    assert not names and "Reconstructions: RuntimeError: shapes cannot be multiplied." in missing


def test_figures_that_are_asked_for_name_what_they_lack() -> None:
    found = make_figures(Model(Means(), (1, 4, 4)), data(), ("traversals", "salient-grid", sorted_images))
    assert set(found.figures) == {"sorted_images"}
    assert "traversals needs a decoder. salient-grid needs a decoder and a background" in found.missing
    with pytest.raises(ValueError, match="no figure 'swap'; did you mean swaps"):
        make_figures(Model(Means(), (1, 4, 4)), data(), ("swap",))


def test_headings_are_the_first_sentence_of_the_documentation(tmp_path: Path) -> None:
    assert named_entry(sorted_images)[1].heading == "Images sorted by their code"
    assert named_entry(no_docstring)[1].heading == "No docstring"
    assert named_entry(lambda model, dataset: None)[0] == "-lambda-"
    assert named_entry(FigureEntry("My heading", sorted_images))[0] == "sorted_images"
    (tmp_path / "own_figures.py").write_text('def bars(model, dataset):\n    """Bars of codes."""\n')
    name, entry = named_entry(f"{tmp_path / 'own_figures.py'}:bars")
    assert (name, entry.heading) == ("bars", "Bars of codes")
    with pytest.raises(ValueError, match="A figure is a name, or a function"):
        named_entry(3)
