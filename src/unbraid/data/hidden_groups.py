"""A made-up table for contrast: groups that differ in a few columns' mix, hidden under a variation that the background
shares. After the synthetic example of contrastive PCA's paper, Abid et al., 2018."""

import numpy as np
import torch
from jaxtyping import Float

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.seeds import derive


def hidden_groups(
    *,
    observations: int = 1000,
    columns: int = 30,
    groups: int = 4,
    loudness: float = 5.0,
    group_seed: int = 0,
) -> Dataset:
    """Made-up rows of groups that are hidden under a louder variation, which the background has alone.

    Every row is loud variation in five directions and noise of variance 1. Rows of the target are moved, besides, to
    the centre of their group in a plane apart from those directions, 4 from the middle.

    Args:
        observations: How many rows the target has, and as many the background.
        columns: How many columns, at least 8.
        groups: How many groups, evenly around a circle.
        loudness: The standard deviation of what hides them.
        group_seed: Of the rows.
    """
    if columns < 8 or groups < 2 or observations < groups:
        raise ValueError(
            "The table needs at least 8 columns, 2 groups and a row for each; "
            f"got {columns}, {groups} and {observations}."
        )
    rng = np.random.default_rng(derive(group_seed, "groups"))
    loud, plane = _directions(rng, columns)

    def rows() -> np.ndarray:
        hiding = loudness * rng.standard_normal((observations, 5)) @ loud
        return hiding + rng.standard_normal((observations, columns))

    label = np.arange(observations) % groups
    angle = 2 * np.pi * label / groups
    target = rows() + 4 * np.stack([np.cos(angle), np.sin(angle)], 1) @ plane
    return Dataset(
        torch.from_numpy(target.astype(np.float32)),
        name="hidden-groups",
        white=1,
        space=FactorSpace({"group": groups}),
        combinations=torch.from_numpy(label),
        label="group",
        background=Dataset(
            torch.from_numpy(rows().astype(np.float32)), name="hidden-groups-background", white=1
        ),
    )


def true_directions(
    *, columns: int = 30, group_seed: int = 0
) -> tuple[Float[np.ndarray, "5 c"], Float[np.ndarray, "2 c"]]:
    """The loud directions and those of the groups' plane, of rows with the same settings; all orthonormal."""
    return _directions(np.random.default_rng(derive(group_seed, "groups")), columns)


def _directions(
    rng: np.random.Generator, columns: int
) -> tuple[Float[np.ndarray, "5 c"], Float[np.ndarray, "2 c"]]:
    directions = np.linalg.qr(rng.standard_normal((columns, 7)))[0].T
    return directions[:5], directions[5:]
