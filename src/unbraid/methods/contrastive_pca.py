"""Contrastive PCA. Abid et al., 2018, Exploring Patterns Enriched in a Dataset with Contrastive Principal Component
Analysis, Nature Communications 9; arXiv:1709.06716."""

from collections.abc import Mapping, Sequence, Set
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unbraid.methods.base import Facts, Method, Player
from unbraid.nn import Directions
from unbraid.settings import require_nonnegative
from unbraid.strands import Strands
from unbraid.types import Codes, ContrastBatch, Observations, Others, Terms


class ContrastivePCA(Method[ContrastBatch]):
    r"""Directions along which the target varies and the background does not, in closed form.

    .. math:: \max_V tr(V^⊤ (C_x - α C_y) V), \quad V^⊤ V = I

    C are the covariances of target and background; V are the eigenvectors of the difference with the largest
    eigenvalues. There is nothing to train: `fit` does it all.

    Args:
        encoder: The projection onto the directions, a `Directions`.
        salient: How many directions.
        alpha: The weight α of the background's covariance; 0 is PCA of the target alone.
    """

    closed_form = True
    sizes_strands = True

    @classmethod
    def parts(cls, facts: Facts, wanted: Set[str], settings: Mapping[str, Any]) -> dict[str, Any]:
        return {"encoder": Directions(facts.shape, cls.setting(settings, "salient"))}

    def __init__(self, encoder: nn.Module, *, salient: int = 2, alpha: float = 1.0) -> None:
        super().__init__()
        require_nonnegative(alpha=alpha)
        if getattr(encoder, "codes", None) != salient:
            raise ValueError(f"The projection needs {salient} directions; it has {encoder.codes}.")
        self.encoder, self.alpha = encoder, alpha
        self._strands = Strands.cut(salient=salient)

    @property
    def strands(self) -> Strands:
        return self._strands

    @torch.no_grad()
    def fit(self, target: Observations, background: Others) -> None:
        """Finds the directions; each is turned so that its largest entry is positive."""
        x, y = target.flatten(1).double(), background.flatten(1).double()
        if min(len(x), len(y)) < 2:
            raise ValueError(
                f"Covariances need at least two observations of target and background; got {len(x)} and {len(y)}."
            )
        directions = top_directions(covariance(x) - self.alpha * covariance(y), self.strands.size)
        self.encoder.centre.copy_(x.mean(0))  # type: ignore[union-attr, operator]
        self.encoder.directions.copy_(directions)  # type: ignore[union-attr, operator]

    def encode(self, x: Observations, given: Tensor | None = None) -> Codes:
        return self.encoder(x)

    def decode(self, codes: Codes, given: Tensor | None = None) -> Observations:
        return self.encoder.back(codes)  # type: ignore[union-attr, operator]

    def loss(self, batch: ContrastBatch) -> Terms:
        """What is lost of the target, for the log: the squared distance to its projection. No step lowers it."""
        lost = self.decode(self.encode(batch.target)) - batch.target
        error = lost.square().flatten(1).sum(1).mean()
        return Terms(error, {"error": error})

    def players(self) -> tuple[Player, ...]:
        return ()


def covariance(x: Float[Tensor, "n f"]) -> Float[Tensor, "f f"]:
    """The covariance of the columns, divided by n - 1."""
    centred = x - x.mean(0)
    return centred.T @ centred / (len(x) - 1)


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
    candidates: Sequence[float] = tuple(10 ** (-1 + 4 * place / 39) for place in range(40)),
) -> list[float]:
    """A few weights whose directions differ from each other, 0 first (Algorithm 2 of the paper).

    Candidates, 40 from 0.1 to 1000 by default, are clustered by how alike the spaces of their directions are, the
    product of the cosines of the angles between two; each cluster is represented by its most typical member.
    """
    from sklearn.cluster import SpectralClustering

    x, y = (covariance(part.flatten(1).double()) for part in (target, background))
    spaces = torch.stack([top_directions(x - alpha * y, salient) for alpha in candidates])
    cosines = torch.linalg.svdvals(spaces[:, None].mT @ spaces[None]).clamp(max=1)
    alike = cosines.prod(2).numpy()
    found = SpectralClustering(count - 1, affinity="precomputed", random_state=0).fit_predict(alike)
    typical = []
    for cluster in range(count - 1):
        members = (found == cluster).nonzero()[0]
        typical.append(candidates[members[alike[members][:, members].sum(1).argmax()]])
    return [0.0, *sorted(typical)]
