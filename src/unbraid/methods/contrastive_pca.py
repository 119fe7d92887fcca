"""Contrastive PCA. Abid et al., 2018, Exploring Patterns Enriched in a Dataset with Contrastive Principal Component
Analysis, Nature Communications 9; arXiv:1709.06716."""

from collections.abc import Mapping, Sequence, Set
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unbraid.methods.base import BuildSpec, Method, Player
from unbraid.nn import LinearProjection, latent_dim_of
from unbraid.settings import require_nonnegative
from unbraid.strands import Strands
from unbraid.types import Codes, ContrastBatch, Observations, Others, Terms


class ContrastivePCA(Method[ContrastBatch]):
    r"""Contrastive PCA: directions along which the target varies and the background does not, in closed form.

    .. math:: \max_V tr(V^⊤ (C_x - α C_y) V), \quad V^⊤ V = I

    C are the covariances of target and background; V are the eigenvectors of the difference with the largest
    eigenvalues. `fit` computes V; no training steps are needed.

    Args:
        encoder: Projection onto the directions, a `LinearProjection`.
        salient_dim: Number of directions.
        alpha: Weight α of the covariance of the background; 0 is PCA of the target alone.
    """

    family = "Target and background"
    code_size_options = ("salient_dim",)

    @classmethod
    def default_arguments(
        cls, spec: BuildSpec, missing: Set[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {"encoder": LinearProjection(spec.shape, cls.option(settings, "salient_dim"))}

    def __init__(self, encoder: nn.Module, *, salient_dim: int = 2, alpha: float = 1.0) -> None:
        super().__init__()
        require_nonnegative(alpha=alpha)
        if (latent_dim := latent_dim_of(encoder)) != salient_dim:
            raise ValueError(
                f"The encoder must have latent_dim = salient_dim = {salient_dim}; it has {latent_dim}."
            )
        self.encoder, self.alpha = encoder, alpha
        self._strands = Strands.from_sizes(salient=salient_dim)

    @property
    def strands(self) -> Strands:
        return self._strands

    @torch.no_grad()
    def fit(self, target: Observations, background: Others) -> None:
        """Computes the directions; the largest entry of each direction is made positive."""
        x, y = target.flatten(1).double(), background.flatten(1).double()
        if min(len(x), len(y)) < 2:
            raise ValueError(
                f"Covariances require at least two observations of target and of background; got {len(x)} and {len(y)}."
            )
        directions = top_directions(covariance(x) - self.alpha * covariance(y), self.strands.size)
        self.encoder.center.copy_(x.mean(0))  # type: ignore[union-attr, operator]
        self.encoder.directions.copy_(directions)  # type: ignore[union-attr, operator]

    def encode(self, x: Observations, condition: Tensor | None = None) -> Codes:
        return self.encoder(x)

    def decode(self, codes: Codes, condition: Tensor | None = None) -> Observations:
        return self.encoder.inverse(codes)  # type: ignore[union-attr, operator]

    def loss(self, batch: ContrastBatch) -> Terms:
        """The squared distance of the target to its projection, for the log only; no step lowers it."""
        residual = self.decode(self.encode(batch.target)) - batch.target
        error = residual.square().flatten(1).sum(1).mean()
        return Terms(error, {"error": error})

    def players(self) -> tuple[Player, ...]:
        return ()


def covariance(x: Float[Tensor, "n f"]) -> Float[Tensor, "f f"]:
    """The covariance of the columns, divided by n - 1."""
    centered = x - x.mean(0)
    return centered.T @ centered / (len(x) - 1)


def top_directions(symmetric: Float[Tensor, "f f"], count: int) -> Float[Tensor, "f k"]:
    """The eigenvectors of the largest eigenvalues, largest first, each with its largest entry positive."""
    vectors = torch.linalg.eigh(symmetric).eigenvectors[:, -count:].flip(1)
    return vectors * vectors.gather(0, vectors.abs().argmax(0, keepdim=True)).sign()


def suggested_alphas(
    target: Observations,
    background: Others,
    *,
    salient: int = 2,
    count: int = 4,
    candidates: Sequence[float] = tuple(10 ** (-1 + 4 * index / 39) for index in range(40)),
) -> list[float]:
    """Values of alpha whose directions differ from each other, 0 first (Algorithm 2 of the paper).

    The candidates (by default 40 from 0.1 to 1000) are clustered by the similarity of the spaces that their directions
    span, the product of the cosines of the principal angles. The medoid of each cluster is returned.
    """
    from sklearn.cluster import SpectralClustering

    x, y = (covariance(part.flatten(1).double()) for part in (target, background))
    spaces = torch.stack([top_directions(x - alpha * y, salient) for alpha in candidates])
    cosines = torch.linalg.svdvals(spaces[:, None].mT @ spaces[None]).clamp(max=1)
    similarity = cosines.prod(2).numpy()
    clustering = SpectralClustering(count - 1, affinity="precomputed", random_state=0)
    assignment = clustering.fit_predict(similarity)
    medoids = []
    for cluster in range(count - 1):
        members = (assignment == cluster).nonzero()[0]
        medoids.append(candidates[members[similarity[members][:, members].sum(1).argmax()]])
    return [0.0, *sorted(medoids)]
