"""Distance of generated observations to data, with improved precision and recall. Kynkäänniemi et al., 2019, Improved
Precision and Recall Metric for Assessing Generative Models, arXiv:1904.06991."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from sklearn.metrics.pairwise import euclidean_distances

from unbraid.metrics.arrays import as_codes


class SampleQuality(NamedTuple):
    score: float  # distance / data_distance: 1 if generated observations are as near to the data as held-out data
    distance: (
        float  # mean Euclidean distance of a generated observation to the nearest observation of the data
    )
    data_distance: float  # the same for held-out data
    precision: float  # share of generated observations within the manifold of the data
    recall: float  # share of the data within the manifold of the generated observations
    n: int
    neighbors: int

    higher_is_better = None
    bounds = (0.0, None)


def sample_quality(
    generated: np.ndarray, data: np.ndarray, held_out: np.ndarray, *, neighbors: int = 3
) -> SampleQuality:
    """How near generated observations are to data, compared with held-out data.

    The manifold of a set is the union of balls around its observations, each as large as the distance to its k-th
    nearest neighbor in the set. A score near 1 with a low recall means that generated observations are all alike.

    Args:
        generated: Generated observations, flattened; one row per observation.
        data: Observations of the data, as many as generated ones for comparable precision and recall.
        held_out: Other observations of the same distribution.
        neighbors: The neighbor k that defines the radius of a ball.
    """
    data = as_codes(data, name="data")
    generated, held_out = (
        as_codes(rows, name=name, columns=data.shape[1])
        for name, rows in (("generated", generated), ("held_out", held_out))
    )
    if neighbors < 1 or min(len(data), len(generated)) <= neighbors:
        raise ValueError(
            "sample_quality needs at least 1 neighbor, and more observations than neighbors; "
            f"got neighbors={neighbors}, {len(data)} observations of the data and {len(generated)} generated ones."
        )
    between = euclidean_distances(generated, data)
    distance = float(between.min(1).mean())
    data_distance = float(euclidean_distances(held_out, data).min(1).mean())
    return SampleQuality(
        score=distance / data_distance if data_distance > 0 else float("inf") if distance > 0 else 1.0,
        distance=distance,
        data_distance=data_distance,
        precision=float((between <= _radii(data, neighbors)).any(1).mean()),
        recall=float((between <= _radii(generated, neighbors)[:, None]).any(0).mean()),
        n=len(data),
        neighbors=neighbors,
    )


def _radii(rows: Float[np.ndarray, "n f"], neighbors: int) -> Float[np.ndarray, " n"]:
    """The distance of each row to its k-th nearest other row."""
    distances = euclidean_distances(rows)
    np.fill_diagonal(distances, np.inf)
    return np.partition(distances, neighbors - 1, axis=1)[:, neighbors - 1]
