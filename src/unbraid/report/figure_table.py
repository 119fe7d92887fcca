"""The figures of a report: each is declared by name, with its heading and what it needs."""

from collections.abc import Callable
from typing import NamedTuple

from unbraid.data import Dataset
from unbraid.methods import FlowMethod, HasPosterior, feature_strand_names, has_decoder
from unbraid.report.charts import Chart
from unbraid.report.contrast import (
    both_reconstructed,
    has_contrast,
    salient_grid,
    strands_apart,
    target_and_background,
)
from unbraid.report.factor_charts import (
    annotated_quantiles,
    correlated_factors,
    importance,
    joint,
    stored_importances,
)
from unbraid.report.figures import Figure, reconstructions, swaps, traversals
from unbraid.report.flow_charts import RECOVERY_SCORES, SPECTRUM_SCORE, recovery, stored_spectrum
from unbraid.report.flows import variables
from unbraid.report.intervention import neighbors
from unbraid.report.strand_charts import changes, maps
from unbraid.report.strand_figures import strand_edits
from unbraid.report.subembeddings import view_pairs
from unbraid.runs import Model
from unbraid.types import ViewBatch

FigureFunction = Callable[[Model, Dataset], Figure | Chart]


class Need(NamedTuple):
    """Something without which a figure cannot be drawn."""

    name: str  # as a sentence shows it: "a decoder"
    is_met: Callable[[Model, Dataset], bool]


class FigureEntry(NamedTuple):
    """A figure as the report declares it."""

    heading: str
    draw: FigureFunction
    needs: tuple[Need, ...] = ()
    scores: tuple[str, ...] = ()  # metrics whose stored scores it shows
    by_default: Callable[[Model, Dataset], bool] = lambda model, dataset: (
        True
    )  # if the method does not choose

    def unmet(self, model: Model, dataset: Dataset) -> list[str]:
        """The needs that the model or the dataset does not meet."""
        return [need.name for need in self.needs if not need.is_met(model, dataset)]


IMAGES = Need("images", lambda model, dataset: len(model.shape) == 3)
DECODER = Need("a decoder", lambda model, dataset: has_decoder(model.method))
FACTORS = Need("known factors", lambda model, dataset: dataset.factor_space is not None)
COLORS = Need(
    "a class or a nuisance",
    lambda model, dataset: bool(dataset.label or dataset.nuisances or dataset.hidden_nuisances),
)
SEVERAL_STRANDS = Need("several strands", lambda model, dataset: len(model.strands) > 1)
CLASS_STRANDS = Need(
    "the strands predictive and nuisance",
    lambda model, dataset: {"predictive", "nuisance"} <= set(model.strands),
)
CONTRAST_STRANDS = Need("a background and the strands common and salient", has_contrast)
FEATURE_STRANDS = Need(
    "features of several dimensions", lambda model, dataset: bool(feature_strand_names(model.method))
)
VIEWS = Need("pairs of views", lambda model, dataset: model.method.batch_type is ViewBatch)
FLOW = Need("a flow", lambda model, dataset: isinstance(model.method, FlowMethod))
LATENTS = Need(
    "true latents",
    lambda model, dataset: dataset.latents is not None and dataset.combinations is not None,
)
CORRELATION = Need("correlated factors", lambda model, dataset: bool(correlated_factors(dataset)))
DCI_SCORE = Need("a score dci", lambda model, dataset: bool(stored_importances(model, dataset)))


def _has_no_fixed_range(model: Model, dataset: Dataset) -> bool:
    """Whether traversals over fixed values say little: codes without a prior, and correlated factors."""
    return not isinstance(model.method, HasPosterior) or bool(correlated_factors(dataset))


# In the order of the page. Charts follow the figures of images.
FIGURES: dict[str, FigureEntry] = {
    "reconstructions": FigureEntry("Reconstructions", reconstructions, (IMAGES, DECODER)),
    "traversals": FigureEntry("Traversals", traversals, (IMAGES, DECODER)),
    "swaps": FigureEntry("Swaps", swaps, (IMAGES, DECODER)),
    "strands": FigureEntry(
        "Dimensions swapped within pairs, and strands replaced by noise",
        strand_edits,
        (IMAGES, DECODER, CLASS_STRANDS),
    ),
    "quantiles": FigureEntry(
        "Traversals between quantiles",
        annotated_quantiles,
        (IMAGES, DECODER),
        by_default=_has_no_fixed_range,
    ),
    "neighbors": FigureEntry("Nearest neighbors by strand", neighbors, (IMAGES, FEATURE_STRANDS)),
    "view_pairs": FigureEntry("View pairs", lambda model, dataset: view_pairs(dataset), (IMAGES, VIEWS)),
    "samples": FigureEntry(
        "Target and background",
        lambda model, dataset: target_and_background(dataset),
        (IMAGES, CONTRAST_STRANDS),
    ),
    "strands-apart": FigureEntry(
        "Reconstructions from the common and the salient strand",
        strands_apart,
        (IMAGES, DECODER, CONTRAST_STRANDS),
    ),
    "both-reconstructed": FigureEntry(
        "Reconstructions of background and target", both_reconstructed, (IMAGES, DECODER, CONTRAST_STRANDS)
    ),
    "salient-grid": FigureEntry(
        "Interpolation of the salient strand", salient_grid, (IMAGES, DECODER, CONTRAST_STRANDS)
    ),
    "variables": FigureEntry("Traversals of class means", variables, (IMAGES, FLOW)),
    "changes": FigureEntry(
        "Change per dimension when one factor changes", changes, (IMAGES, SEVERAL_STRANDS, FACTORS)
    ),
    "maps": FigureEntry("t-SNE per strand", maps, (IMAGES, SEVERAL_STRANDS, FACTORS, COLORS)),
    "spectrum": FigureEntry("Spectrum", stored_spectrum, (FLOW,), (SPECTRUM_SCORE,)),
    "recovery": FigureEntry("Recovered latents", recovery, (FLOW, LATENTS), RECOVERY_SCORES),
    "joint": FigureEntry("Correlated factors", joint, (FACTORS, CORRELATION)),
    "importance": FigureEntry("Importance for each factor", importance, (FACTORS, DCI_SCORE)),
}
