"""Charts of flows: spectrum, recovered latents, and the loss over rotations.

Self-supervised Disentangled Representation Learning, 2021: Figs. 1 and 4.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from torch import Generator

from unbraid.data import Dataset
from unbraid.metrics import Spectrum
from unbraid.report.charts import COLORS, DARK_COLORS, Chart, chart_of, foreground_color, panels_of
from unbraid.report.stored import stored_score
from unbraid.runs import Model, Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SAMPLE = 4096  # observations
POINTS = 3000  # of a scatter plot
KNEE = 2.0  # least ratio of the slopes before and after the knee
SPECTRUM_SCORE = "codes:spectrum"
RECOVERY_SCORES = ("codes:latent_mcc", "codes:latent_r2", SPECTRUM_SCORE)


class Recovered(NamedTuple):
    """What a model recovered of the true latents."""

    codes: Float[np.ndarray, "n d"]
    dims: Int[np.ndarray, " k"]  # the dimension matched to each latent
    r2: float
    mcc: float
    spectrum: Spectrum | None = None  # drawn beside the recovered latents


def spectrum_chart(
    spectra: Mapping[str, Spectrum | Float[np.ndarray, " d"]], *, dark: bool = False
) -> "Figure":
    """Sorted standard deviations on a logarithmic scale (Fig. 4); a spectrum is shown with its knee if it has one."""
    figure, (axes,) = panels_of(1, dark, width=4.2, height=2.9)
    for color, (name, spectrum) in zip(DARK_COLORS if dark else COLORS, spectra.items(), strict=False):
        if isinstance(spectrum, Spectrum):
            stds, knee = spectrum.stds, spectrum.score if spectrum.bend > KNEE else None
            label = f"{name}, no knee" if knee is None else f"{name}, knee at {knee:.0f}"
        else:
            stds, knee, label = spectrum, None, name
        axes.plot(np.arange(1, len(stds) + 1), stds, color=color, linewidth=1.5, label=label)
        if knee is not None:
            axes.axvline(knee + 0.5, color=color, linewidth=0.7, linestyle=":")
    axes.set_yscale("log")
    axes.set_xlabel("dimension, largest std first")
    axes.set_ylabel("standard deviation")
    axes.legend(frameon=False, fontsize=9, labelcolor="linecolor", handlelength=1.2)
    return figure


def recovery_chart(
    observed: Float[np.ndarray, "n f"],
    latents: Float[np.ndarray, "n k"],
    components: Int[np.ndarray, " n"],
    recovered: Mapping[str, Recovered],
    *,
    columns: int = 4,
    dark: bool = False,
) -> "Figure":
    """True latents, observations, and for each model the recovered latents and its spectrum (Fig. 1).

    The recovered latents have the signs that correlate best with the true latents.
    """
    spectra = sum(model.spectrum is not None for model in recovered.values())
    figure, panels = panels_of(2 + len(recovered) + spectra, dark, width=2.5, height=2.5, columns=columns)
    rest = iter(panels[2:])
    shown = np.random.default_rng(0).permutation(len(latents))[:POINTS]
    _scatter(panels[0], latents[shown], components[shown], "true latents", dark)
    centered = observed - observed.mean(0)
    _, _, axes_of_data = np.linalg.svd(centered[shown], full_matrices=False)
    _scatter(
        panels[1],
        (centered @ axes_of_data[:2].T)[shown],
        components[shown],
        "observations, two principal axes",
        dark,
    )
    for title, model in recovered.items():
        points = model.codes[:, model.dims]
        signs = [np.sign(np.corrcoef(points[:, k], latents[:, k])[0, 1]) for k in range(latents.shape[1])]
        heading = f"{title}\nR² {model.r2:.3f}, MCC {model.mcc:.3f}"
        _scatter(next(rest), (points * signs)[shown], components[shown], heading, dark)
        if model.spectrum is not None:
            _spectrum_panel(next(rest), model.spectrum, latents, dark)
    return figure


def _spectrum_panel(axes: "Axes", spectrum: Spectrum, latents: Float[np.ndarray, "n k"], dark: bool) -> None:
    """The spectrum of a code and the standard deviations of the true latents."""
    color = foreground_color(dark)
    ranks = range(1, len(spectrum.stds) + 1)
    axes.semilogy(ranks, spectrum.stds, "o-", color=color, markersize=3, linewidth=1)
    truth = np.sort(latents.std(0))[::-1]
    axes.semilogy(range(1, len(truth) + 1), truth, "s", color="#9aa0a8", markersize=5, zorder=0)
    axes.set_title(f"\nspectrum, knee at {spectrum.score:.0f}", loc="left", fontsize=9, color=color)


def recovered_latents(run: Run, codes: Float[np.ndarray, "n d"]) -> Recovered:
    """What the model of a run recovered, as evaluation stored it; raises without the scores."""
    scores = {name: stored_score(run, name) for name in RECOVERY_SCORES}
    mcc, r2, spectrum = scores.values()
    if mcc is None or r2 is None or spectrum is None:
        raise ValueError(
            f"{run.folder} lacks one of the scores {', '.join(scores)}. Run unbraid evaluate RUN --metrics "
            f"{','.join(scores)}."
        )
    dims = np.asarray(mcc["evidence"]["dims"])
    return Recovered(codes, dims, r2["value"], mcc["value"], _spectrum_of(run))


def _spectrum_of(run: Run | None) -> Spectrum:
    """The stored spectrum of the codes."""
    score, drop, bend = (stored_score(run, SPECTRUM_SCORE + field) for field in ("", ".drop", ".bend"))
    if score is None or drop is None or bend is None:
        raise ValueError(f"The run lacks the score {SPECTRUM_SCORE}.")
    stds, order = (np.asarray(score["evidence"][name]) for name in ("stds", "order"))
    return Spectrum(score["value"], stds, order, drop["value"], bend["value"], score["n"])


def stored_spectrum(model: Model, dataset: Dataset) -> Chart:
    """The stored spectrum of the codes, and the standard deviations of the observations."""
    tables = dataset.to("cpu")
    x = tables.observe(tables.sample_indices(SAMPLE, Generator().manual_seed(0)))
    observed = np.sort(x.flatten(1).numpy().std(0))[::-1]
    return chart_of(
        "Spectrum",
        "Sorted standard deviations over the data. Dimensions left of the knee are informative.",
        partial(spectrum_chart, {"observations": observed, "codes": _spectrum_of(model.run)}),
    )


def recovery(model: Model, dataset: Dataset) -> Chart:
    """True latents, observations, and the recovered latents with their stored scores."""
    tables = dataset.to("cpu")
    rows = tables.sample_indices(SAMPLE, Generator().manual_seed(0))
    if tables.latents is None or tables.combinations is None or model.run is None:
        raise ValueError(f"{dataset.name} has no true latents, or the model has no run with scores.")
    x = tables.observe(rows)
    latents, components = tables.latents.informative(rows).numpy(), tables.combinations[rows].numpy()
    recovered = recovered_latents(model.run, model.encode(x).numpy())
    return chart_of(
        "Recovered latents",
        "True latents, observations, and the dimensions of highest variance.",
        partial(recovery_chart, x.numpy(), latents, components, {"recovered": recovered}),
    )


def rotation_chart(
    losses: Mapping[str, tuple[Sequence[float], Sequence[float]]], *, dark: bool = False
) -> "Figure":
    """Loss over the rotation angle (degrees) of two informative dimensions, relative to the first angle."""
    figure, (axes,) = panels_of(1, dark, width=4.2, height=2.7)
    for color, (name, (angles, values)) in zip(DARK_COLORS if dark else COLORS, losses.items(), strict=False):
        axes.plot(angles, np.asarray(values) - values[0], color=color, linewidth=1.6, label=name)
    axes.set_xlabel("angle (degrees)")
    axes.set_ylabel("loss relative to angle 0 (nats)")
    axes.legend(frameon=False, fontsize=9, labelcolor="linecolor", handlelength=1.2)
    return figure


def _scatter(
    axes: "Axes", points: Float[np.ndarray, "n 2"], components: Int[np.ndarray, " n"], title: str, dark: bool
) -> None:
    for component, color in zip(np.unique(components), DARK_COLORS if dark else COLORS, strict=False):
        members = points[components == component]
        axes.scatter(members[:, 0], members[:, 1], s=1.5, color=color, linewidths=0)
    axes.set_title(title, loc="left", fontsize=9, color=foreground_color(dark))
    axes.set(xticks=(), yticks=())
    axes.grid(visible=False)
