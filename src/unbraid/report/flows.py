"""Figures of flows: augmented samples, spectra, latents found again, and what each code of a digit does.

Self-supervised Disentangled Representation Learning, 2021: Figs. 1 to 10.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Generator

from unbraid.data.dataset import Dataset
from unbraid.data.sets import Sets
from unbraid.metrics.latents import latent_mcc, latent_r2
from unbraid.metrics.spectrum import Spectrum, spectrum
from unbraid.model import Model
from unbraid.report.charts import COLOURS, DARK_COLOURS, ink_of, panels_of
from unbraid.report.figures import VALUES, Figure, Row
from unbraid.types import Codes, Images

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Chart

SAMPLE = 4096  # observations that means, spreads and maps are taken from
ROWS = 20  # codes, at most, on an overview
KNEE = 2.0  # times steeper before it than behind it


def augmented_samples(dataset: Dataset, *, count: int = 5, seed: int = 0, sets: Sets | None = None) -> Figure:
    """Images above their augmentations (Fig. 3)."""
    sets = sets or Sets(redraw=True)
    sets.check(dataset)
    batch = sets(dataset.to("cpu"), count, Generator().manual_seed(seed), torch.tensor(0))
    names = {"translate": "moved", "rotate": "turned", "scale": "scaled"}
    singles = [names[name] for name in sets.transforms]
    labels = ["original", *singles, *["combined"] * batch.x.shape[1]]
    rows = [Row(labels[place], batch.x[:, place]) for place in range(batch.x.shape[1])]
    return Figure(tuple(rows), caption="Images above the further members of their sets.")


class ClassMeans(NamedTuple):
    """The mean code of each class, and what the classes are called."""

    names: tuple[str, ...]
    codes: Codes


def class_means(model: Model, dataset: Dataset, *, seed: int = 0) -> ClassMeans:
    """The classes' means in a sample; one mean of all where there are no classes."""
    tables = dataset.to("cpu")
    rows = tables.draw(SAMPLE, Generator().manual_seed(seed))
    codes, (labels, _) = model.encode(tables.observe(rows)), tables.roles(tables.factors(rows))
    if labels is None or dataset.label is None:
        return ClassMeans(("",), codes.mean(0, keepdim=True))
    found = labels.unique().tolist()
    named = dataset.value_names.get(dataset.label)
    names = tuple(str(value) if named is None else str(named[value]) for value in found)
    return ClassMeans(names, torch.stack([codes[labels == value].mean(0) for value in found]))


def variable(model: Model, means: ClassMeans, code: int, *, values: Sequence[float] = VALUES) -> Figure:
    """What one code does: the mean of each class decoded with it moved, and where that shows (Figs. 5 to 10).

    Args:
        model: A trained flow.
        means: The classes' mean codes.
        code: The code to move.
        values: How far from the class's mean, in spreads of the code over the data.
    """
    swept, area = _swept(model, means.codes, code, values)
    parts = [torch.cat([swept[:, place], area[place, None]]) for place in range(len(means.names))]
    rows = [Row(name, images) for name, images in zip(means.names, parts, strict=True)]
    columns = (*(f"{value:g}".replace("-", "−") for value in values), "area")
    caption = "Class means with one code moved by so many spreads; the last column shows |x(1) − x(−1)|."
    return Figure(tuple(rows), columns, caption)


def variables(
    model: Model, dataset: Dataset, *, codes: Sequence[int] | None = None, classes: int = 5, seed: int = 0
) -> Figure:
    """An overview (Fig. 2): a row for each code, in it some class means at −2, 0 and 2, and the area they share.

    Args:
        model: A trained flow.
        dataset: Where the classes come from.
        codes: The codes to show; the informative ones by default, widest first, twenty at most.
        classes: How many classes to show.
        seed: Of the sample.
    """
    names, means = class_means(model, dataset, seed=seed)
    shown = torch.linspace(0, len(names) - 1, min(classes, len(names))).round().long()
    spreads = _spreads(model)
    if codes is None:
        informative = model.strands.get("informative", ())
        codes = list(informative or spreads.argsort(descending=True).tolist())[:ROWS]
    rows = []
    for code in codes:
        swept, _ = _swept(model, means[shown], code, (-2.0, 0.0, 2.0))
        _, area = _swept(model, means, code, (0.0,))
        images = torch.cat([swept.transpose(0, 1).flatten(0, 1), area.mean(0, keepdim=True)])
        rows.append(Row(f"code {code}", images, f"{float(spreads[code]):.2f}"))
    columns = (*(["−2", "0", "2"] * len(shown)), "area")
    caption = (
        "Each row moves one code of some class means by −2, 0 and 2 of its spreads over the data, which stands beside "
        "it; the last picture shows where |x(1) − x(−1)| is, over all classes."
    )
    return Figure(tuple(rows), columns, caption)


def _spreads(model: Model) -> Float[torch.Tensor, " d"]:
    return model.method.spread.cpu()  # type: ignore[union-attr]


def _swept(
    model: Model, means: Codes, code: int, values: Sequence[float]
) -> tuple[Float[torch.Tensor, "v k c h w"], Images]:
    """Codes decoded with one of them moved to each value in turn, and how much a step either way changes."""
    spread = float(_spreads(model)[code])

    def moved(by: float) -> Images:
        return model.decode(model.strands.set(means, code, means[:, [code]] + by * spread))

    return torch.stack([moved(value) for value in values]), (moved(1.0) - moved(-1.0)).abs()


def spectrum_chart(spectra: Mapping[str, Spectrum], *, dark: bool = False) -> "Chart":
    """Sorted spreads on a logarithmic scale, each with its knee where there is one (Fig. 4)."""
    figure, (axes,) = panels_of(1, dark, width=4.2, height=2.9)
    for colour, (name, found) in zip(DARK_COLOURS if dark else COLOURS, spectra.items(), strict=False):
        places = np.arange(1, len(found.spreads) + 1)
        has_knee = found.bend > KNEE
        label = f"{name}, knee at {found.score:.0f}" if has_knee else f"{name}, no knee"
        axes.plot(places, found.spreads, color=colour, linewidth=1.5, label=label)
        if has_knee:
            axes.axvline(found.score + 0.5, color=colour, linewidth=0.7, linestyle=":")
    axes.set_yscale("log")
    axes.set_xlabel("code, widest first")
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
    """The true latents and what is observed of them, then for each model the latents found and its spectrum (Fig. 1).

    Found latents are the widest codes, in the order and with the signs that correlate best with the true ones.
    """
    many = {title: found.shape[1] > latents.shape[1] for title, found in codes.items()}  # else no spectrum
    figure, panels = panels_of(
        2 + len(codes) + sum(many.values()), dark, width=2.5, height=2.5, columns=columns
    )
    rest = iter(panels[2:])
    shown = np.random.default_rng(0).permutation(len(latents))[:3000]
    _scatter(panels[0], latents[shown], components[shown], "true latents", dark)
    centred = observed - observed.mean(0)
    _, _, axes_of_data = np.linalg.svd(centred[shown], full_matrices=False)
    _scatter(
        panels[1], (centred @ axes_of_data[:2].T)[shown], components[shown], "observed, two directions", dark
    )
    for title, found in codes.items():
        match = latent_mcc(found, latents)
        r2 = latent_r2(found, latents)
        chosen = found[:, match.codes]
        signs = [np.sign(np.corrcoef(chosen[:, k], latents[:, k])[0, 1]) for k in range(latents.shape[1])]
        heading = f"{title}\nR² {r2.score:.3f}, MCC {match.score:.3f}"
        _scatter(next(rest), (chosen * signs)[shown], components[shown], heading, dark)
        if not many[title]:
            continue
        axes, wide = next(rest), spectrum(found)
        axes.semilogy(
            range(1, len(wide.spreads) + 1), wide.spreads, "o-", color=ink_of(dark), markersize=3, linewidth=1
        )
        truth = np.sort(latents.std(0))[::-1]
        axes.semilogy(range(1, len(truth) + 1), truth, "s", color="#9aa0a8", markersize=5, zorder=0)
        axes.set_title(f"\nspectrum, knee at {wide.score:.0f}", loc="left", fontsize=9, color=ink_of(dark))
    return figure


def flow_charts(model: Model, dataset: Dataset) -> dict[str, tuple[str, str, Callable[..., "Chart"]]]:
    """The charts of one flow, each with a heading, a caption and what draws it, on light or on dark ground."""
    tables = dataset.to("cpu")
    rows = tables.draw(SAMPLE, Generator().manual_seed(0))
    x = tables.observe(rows)
    codes = model.encode(x).cpu().numpy()
    spectra = {"observations": spectrum(x.flatten(1).numpy()), "codes": spectrum(codes)}
    charts: dict[str, tuple[str, str, Callable[..., Chart]]] = {
        "spectrum": (
            "Spectrum",
            "Sorted standard deviations over the data; codes left of the knee are informative.",
            partial(spectrum_chart, spectra),
        )
    }
    if tables.latents is not None and tables.combinations is not None:
        latents, components = tables.latents.true(rows).numpy(), tables.combinations[rows].numpy()
        charts["recovery"] = (
            "Latents found again",
            "The true latents, what is observed of them, and the widest codes.",
            partial(recovery_chart, x.numpy(), latents, components, {"found": codes}),
        )
    return charts


def rotation_chart(
    losses: Mapping[str, tuple[Sequence[float], Sequence[float]]], *, dark: bool = False
) -> "Chart":
    """The loss when two informative codes are turned: angles in degrees, and nats above the first."""
    figure, (axes,) = panels_of(1, dark, width=4.2, height=2.7)
    for colour, (name, (angles, values)) in zip(
        DARK_COLOURS if dark else COLOURS, losses.items(), strict=False
    ):
        axes.plot(angles, np.asarray(values) - values[0], color=colour, linewidth=1.6, label=name)
    axes.set_xlabel("angle, degrees")
    axes.set_ylabel("loss above that at 0, nats")
    axes.legend(frameon=False, fontsize=9, labelcolor="linecolor", handlelength=1.2)
    return figure


def _scatter(
    axes: "Axes", points: Float[np.ndarray, "n 2"], components: Int[np.ndarray, " n"], title: str, dark: bool
) -> None:
    for component, colour in zip(np.unique(components), DARK_COLOURS if dark else COLOURS, strict=False):
        here = points[components == component]
        axes.scatter(here[:, 0], here[:, 1], s=1.5, color=colour, linewidths=0)
    axes.set_title(title, loc="left", fontsize=9, color=ink_of(dark))
    axes.set(xticks=(), yticks=())
    axes.grid(visible=False)
