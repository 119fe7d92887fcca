"""Charts of flows: spectrum, recovered latents, and the loss over rotations.

Self-supervised Disentangled Representation Learning, 2021: Figs. 1 and 4.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int
from torch import Generator

from unbraid.data import Dataset
from unbraid.metrics import Spectrum, latent_mcc, latent_r2, spectrum
from unbraid.report.charts import COLORS, DARK_COLORS, foreground_color, panels_of
from unbraid.runs import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Chart

SAMPLE = 4096  # observations
POINTS = 3000  # of a scatter plot
KNEE = 2.0  # least ratio of the slopes before and after the knee


def spectrum_chart(spectra: Mapping[str, Spectrum], *, dark: bool = False) -> "Chart":
    """Sorted standard deviations on a logarithmic scale, with the knee if there is one (Fig. 4)."""
    figure, (axes,) = panels_of(1, dark, width=4.2, height=2.9)
    for color, (name, found) in zip(DARK_COLORS if dark else COLORS, spectra.items(), strict=False):
        ranks = np.arange(1, len(found.spreads) + 1)
        has_knee = found.bend > KNEE
        label = f"{name}, knee at {found.score:.0f}" if has_knee else f"{name}, no knee"
        axes.plot(ranks, found.spreads, color=color, linewidth=1.5, label=label)
        if has_knee:
            axes.axvline(found.score + 0.5, color=color, linewidth=0.7, linestyle=":")
    axes.set_yscale("log")
    axes.set_xlabel("dimension, largest std first")
    axes.set_ylabel("standard deviation")
    axes.legend(frameon=False, fontsize=9, labelcolor="linecolor", handlelength=1.2)
    return figure


def recovery_chart(
    observed: Float[np.ndarray, "n f"],
    latents: Float[np.ndarray, "n k"],
    components: Int[np.ndarray, " n"],
    codes: Mapping[str, Float[np.ndarray, "n d"]],
    *,
    columns: int = 4,
    dark: bool = False,
) -> "Chart":
    """True latents, observations, and for each model the recovered latents and its spectrum (Fig. 1).

    The recovered latents are the dimensions of highest variance, in the order and with the signs that correlate best
    with the true latents.
    """
    many = {title: z.shape[1] > latents.shape[1] for title, z in codes.items()}  # otherwise no spectrum
    figure, panels = panels_of(
        2 + len(codes) + sum(many.values()), dark, width=2.5, height=2.5, columns=columns
    )
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
    for title, z in codes.items():
        match, r2 = latent_mcc(z, latents), latent_r2(z, latents)
        recovered = z[:, match.codes]
        signs = [np.sign(np.corrcoef(recovered[:, k], latents[:, k])[0, 1]) for k in range(latents.shape[1])]
        heading = f"{title}\nR² {r2.score:.3f}, MCC {match.score:.3f}"
        _scatter(next(rest), (recovered * signs)[shown], components[shown], heading, dark)
        if many[title]:
            _spectrum_panel(next(rest), spectrum(z), latents, dark)
    return figure


def _spectrum_panel(axes: "Axes", found: Spectrum, latents: Float[np.ndarray, "n k"], dark: bool) -> None:
    """The spectrum of a code and the standard deviations of the true latents."""
    color = foreground_color(dark)
    ranks = range(1, len(found.spreads) + 1)
    axes.semilogy(ranks, found.spreads, "o-", color=color, markersize=3, linewidth=1)
    truth = np.sort(latents.std(0))[::-1]
    axes.semilogy(range(1, len(truth) + 1), truth, "s", color="#9aa0a8", markersize=5, zorder=0)
    axes.set_title(f"\nspectrum, knee at {found.score:.0f}", loc="left", fontsize=9, color=color)


def flow_charts(model: Model, dataset: Dataset) -> dict[str, tuple[str, str, Callable[..., "Chart"]]]:
    """The charts of one flow: heading, caption and drawing function of each."""
    tables = dataset.to("cpu")
    rows = tables.sample_indices(SAMPLE, Generator().manual_seed(0))
    x = tables.observe(rows)
    codes = model.encode(x).cpu().numpy()
    spectra = {"observations": spectrum(x.flatten(1).numpy()), "codes": spectrum(codes)}
    charts: dict[str, tuple[str, str, Callable[..., Chart]]] = {
        "spectrum": (
            "Spectrum",
            "Sorted standard deviations over the data. Dimensions left of the knee are informative.",
            partial(spectrum_chart, spectra),
        )
    }
    if tables.latents is not None and tables.combinations is not None:
        latents, components = tables.latents.informative(rows).numpy(), tables.combinations[rows].numpy()
        charts["recovery"] = (
            "Recovered latents",
            "True latents, observations, and the dimensions of highest variance.",
            partial(recovery_chart, x.numpy(), latents, components, {"recovered": codes}),
        )
    return charts


def rotation_chart(
    losses: Mapping[str, tuple[Sequence[float], Sequence[float]]], *, dark: bool = False
) -> "Chart":
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
