"""A synthetic table for target/background methods: groups hidden under a larger variation that the background shares.
After the synthetic example of contrastive PCA's paper, Abid et al., 2018."""

import numpy as np
import torch
from jaxtyping import Float

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.renderer import GENERATED
from unbraid.seeds import derive_seed


def hidden_groups(
    *,
    observations: int = 1000,
    columns: int = 30,
    groups: int = 4,
    loudness: float = 5.0,
    group_seed: int = 0,
) -> Dataset:
    """Synthetic rows of groups hidden under a larger variation; the background has the variation only.

    Every row varies strongly in five directions, plus noise of variance 1. Rows of the target are also shifted to the
    center of their group, at distance 4 from the origin of a plane orthogonal to those directions.

    Args:
        observations: Number of rows of the target, and of the background.
        columns: Number of columns, at least 8.
        groups: Number of groups, evenly spaced on a circle.
        loudness: Standard deviation of the variation that hides the groups.
        group_seed: Random seed for the rows.
    """
    if columns < 8 or groups < 2 or observations < groups:
        raise ValueError(
            "The table needs at least 8 columns, 2 groups and one row per group; "
            f"got {columns}, {groups} and {observations}."
        )
    rng = np.random.default_rng(derive_seed(group_seed, "groups"))
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
        max_value=1,
        factor_space=FactorSpace({"group": groups}),
        combinations=torch.from_numpy(label),
        label="group",
        background=Dataset(
            torch.from_numpy(rows().astype(np.float32)),
            name="hidden-groups-background",
            max_value=1,
            license=GENERATED,
        ),
        license=GENERATED,
    )


def true_directions(
    *, columns: int = 30, group_seed: int = 0
) -> tuple[Float[np.ndarray, "5 c"], Float[np.ndarray, "2 c"]]:
    """The five directions of the large variation and two that span the plane of the groups, all orthonormal."""
    return _directions(np.random.default_rng(derive_seed(group_seed, "groups")), columns)


def _directions(
    rng: np.random.Generator, columns: int
) -> tuple[Float[np.ndarray, "5 c"], Float[np.ndarray, "2 c"]]:
    directions = np.linalg.qr(rng.standard_normal((columns, 7)))[0].T
    return directions[:5], directions[5:]
