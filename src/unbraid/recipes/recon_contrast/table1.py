"""Average and worst-group accuracy on colors that are not in the training split, for all methods (Table 1).

Reconstruction for Disentanglement, Contrast for Invariance, 2022, Table 1: Colored-MNIST, 3D Shapes and MPI3D; here
also rooms. Models of Colored-MNIST are tested in `mild` and in `hard` colors, which share their training split. All
test observations are used; groups are class × background, or class × object color.

Our reading, because the paper prints none: 16,000 steps, batches of 256 images, Adam at 1e-3, bf16 for all methods,
weights, sizes and warm-ups over half of training. Recon-contrast has a row per reading of its pairs: another image with
changed colors, or the same image in other colors. Not in the paper: the second block, all methods with a reader.
`short` has Colored-MNIST only.
"""

from unbraid.recipes.recon_contrast import (
    METHODS,
    READER,
    base,
    over_seeds,
    paper_block,
    reader_block,
    unpublished,
)
from unbraid.recipes.recon_contrast import SCALES as SCALES
from unbraid.studies import Plan, replace

HARD = {"num_samples": 0, "on": {"split": "test", "color_set": "hard"}}


def runs(scale: str) -> list[Plan]:
    digits = base("colored-mnist", scale)
    if scale == "quick":
        return over_seeds(paper_block(digits), scale)
    plans = both_colors([*paper_block(digits), *reader_block(digits)])
    if scale == "paper":
        rooms = [base(data, scale) for data in ("rooms", "shapes3d", "mpi3d")]
        plans += [plan for data in rooms for plan in (*paper_block(data), *reader_block(data))]
    return over_seeds(plans, scale)


def both_colors(plans: list[Plan]) -> list[Plan]:
    """Each plan twice, tested in its colors and in `hard` colors; it is trained once."""
    return [*plans, *(replace(plan, evaluation=HARD) for plan in plans)]


def published(
    data: str, metrics: tuple[str, ...], table: str, *on: str
) -> dict[tuple[str, ...], float | None]:
    """A printed table, one line per method and one column per metric; `on` is the evaluation dataset if it varies."""
    lines = [map(float, line.split()) for line in table.strip().splitlines()]
    return {
        (method, data, *on, metric): value
        for method, line in zip(METHODS, lines, strict=True)
        for metric, value in zip(metrics, line, strict=True)
    }


BOTH = ("group_accuracy", "group_accuracy.worst")
PUBLISHED: dict[tuple[str, ...], float | None] = {}
for _data in ("colored-mnist", "rooms-train", "shapes3d-train", "mpi3d-real-train"):
    PUBLISHED |= unpublished(_data, BOTH, READER)
PUBLISHED |= (
    published(
        "colored-mnist",
        BOTH,
        """
        0.9512 0.6617
        0.9265 0.5879
        0.9312 0.6554
        0.9356 0.6317
        0.9331 0.7012
        0.9474 0.7425
        0.9796 0.9043
        """,
        "on=colored-mnist --split test",
    )
    | published(
        "shapes3d-train",
        BOTH,
        """
        0.9887 0.9689
        0.9866 0.9577
        0.9772 0.9334
        0.9762 0.9432
        0.9711 0.9446
        0.9713 0.9521
        0.9852 0.9763
        """,
    )
    | published(
        "mpi3d-real-train",
        BOTH,
        """
        0.9012 0.8789
        0.8698 0.8489
        0.8669 0.8243
        0.8663 0.8216
        0.8704 0.8561
        0.8789 0.8301
        0.9132 0.8917
        """,
    )
)
