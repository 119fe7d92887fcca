"""Charts of flows, src/unbraid/report/flow_charts.py."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from unbraid.data import mixture
from unbraid.evaluation.evaluate import evaluate
from unbraid.metrics import spectrum
from unbraid.report import flow_charts
from unbraid.report.flow_charts import (
    Recovered,
    recovered_latents,
    recovery_chart,
    rotation_chart,
    spectrum_chart,
)
from unbraid.report.page import write_report
from unbraid.runs.model import load
from unbraid.studies.plan import Plan


def test_spectra_have_their_knees() -> None:
    rng = np.random.default_rng(0)
    found = {
        "first": spectrum(rng.standard_normal((50, 6))),
        "trained": spectrum(rng.standard_normal((50, 6)) * [9, 8, 1e-2, 1e-2, 1e-2, 1e-2]),
    }
    (axes,) = spectrum_chart(found, dark=True).axes
    assert axes.get_yscale() == "log" and "trained, knee at 2" in axes.get_legend_handles_labels()[1]
    assert list(axes.lines[0].get_ydata()) == list(found["first"].stds)


def test_standard_deviations_alone_have_no_knee() -> None:
    (axes,) = spectrum_chart({"observations": np.array([3.0, 2.0, 0.1])}).axes
    assert axes.get_legend_handles_labels()[1] == ["observations"]


def test_recovery_shows_truth_observations_and_each_model() -> None:
    """The latents themselves, one with its sign turned and both in the other order, are found and turned back."""
    dataset = mixture()
    assert dataset.latents is not None and dataset.combinations is not None
    rows = torch.arange(0, 10_000, 40)
    latents = dataset.latents.informative(rows).numpy()
    codes = np.column_stack(
        [0.01 * np.random.default_rng(0).standard_normal((250, 8)), latents[:, ::-1] * [1, -1]]
    )
    both = Recovered(codes, np.array([9, 8]), r2=0.75, mcc=0.5, spectrum=spectrum(codes))
    chart = recovery_chart(
        dataset.observe(rows).numpy(), latents, dataset.combinations[rows].numpy(), {"both": both}
    )
    truth, observed, found, spreads = chart.axes
    assert observed.get_title(loc="left") == "observations, two principal axes"
    assert found.get_title(loc="left") == "both\nR² 0.750, MCC 0.500"
    assert spreads.get_title(loc="left").endswith("knee at 2")
    for shown, true in zip(found.collections, truth.collections, strict=True):
        assert_close(
            torch.tensor(np.asarray(shown.get_offsets())), torch.tensor(np.asarray(true.get_offsets()))
        )


def test_a_turn_is_charted_above_its_first_loss() -> None:
    (axes,) = rotation_chart({"constant": ((0.0, 45.0, 90.0), (2.0, 2.5, 2.0))}).axes
    assert list(axes.lines[0].get_ydata()) == [0.0, 0.5, 0.0]


def test_the_page_of_a_flow_shows_its_spectrum_and_the_recovered_latents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a plan to the report, on rows, which have charts but no figures."""
    monkeypatch.setattr(flow_charts, "SAMPLE", 512)
    plan = Plan("augmented-gin", "mixture", {"steps": 2, "batch_size": 8, "seed": 0})
    run = plan.run(tmp_path / "run", quiet=True)
    model, metrics = load(run.folder, device="cpu"), "codes:latent_mcc,codes:latent_r2,codes:spectrum"
    page = write_report([run]).read_text()
    assert "Not shown without scores: Spectrum, Recovered latents." in page
    assert "No figures" not in page
    words = re.sub(r"</?span>", "", page)
    assert f"unbraid evaluate RUN --metrics codes:spectrum,{metrics.rpartition(',')[0]}" in words
    with pytest.raises(ValueError, match=f"lacks one of the scores .* --metrics {metrics}"):
        recovered_latents(run, np.zeros((4, 10)))
    run.add_scores(evaluate(model.method, plan.dataset(), metrics.split(","), num_samples=400))
    page = write_report([run]).read_text()
    assert "Not shown without scores" not in page
    assert ">Spectrum<" in page and ">Recovered latents<" in page
    found = recovered_latents(run, np.zeros((4, 10)))
    scores = {score["metric"]: score["value"] for score in run.scores()}
    assert (found.mcc, found.r2) == (scores["codes:latent_mcc"], scores["codes:latent_r2"])
    assert found.spectrum is not None and found.spectrum.score == scores["codes:spectrum"]
    assert len(found.dims) == 2
    assert {"spectrum.png", "recovery.png"} <= {path.name for path in (run.folder / "figures").iterdir()}
