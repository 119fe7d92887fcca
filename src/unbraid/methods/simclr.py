"""SimCLR. Chen et al., 2020, A Simple Framework for Contrastive Learning of Visual Representations,
arXiv:2002.05709."""

from torch import nn

from unbraid.methods.contrastive import Contrastive, same_pair
from unbraid.objectives import contrast
from unbraid.types import Terms, ViewBatch


class SimCLR(Contrastive):
    r"""Two views of a pair draw together, and all other views are pushed apart.

    .. math:: L = - \frac1{2b} \sum_i \log \frac{\exp(z_i \cdot z_{i'} / τ)}{\sum_{a ≠ i} \exp(z_i \cdot z_a / τ)}
              \quad \text{(Eq. 1)}

    with i' the other view of i. Labels are never read.

    Args:
        encoder: Observations to features r; needs an attribute `features`.
        head: Features to the embedding z; needs an attribute `codes`.
        embedding: The dimensions of z.
        subembeddings: Into how many parts r and z are cut for probes.
        temperature: τ.
    """

    def __init__(
        self,
        encoder: nn.Module,
        head: nn.Module,
        *,
        embedding: int = 128,  # Sec. 2.1
        subembeddings: int = 2,
        temperature: float = 0.5,  # App. B.9, on CIFAR-10
    ) -> None:
        super().__init__(
            encoder, head, embedding=embedding, subembeddings=subembeddings, temperature=temperature
        )

    def loss(self, batch: ViewBatch) -> Terms:
        _, z = self.views(batch)
        infomax = contrast(z.flatten(0, 1), same_pair(batch), temperature=self.temperature)
        return Terms(infomax, {"infomax": infomax})
