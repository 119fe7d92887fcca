"""SupCon. Khosla et al., 2020, Supervised Contrastive Learning, arXiv:2004.11362."""

from torch import nn

from unbraid.methods.contrastive import Contrastive, same_label
from unbraid.objectives import contrast
from unbraid.types import Terms, ViewBatch


class SupCon(Contrastive):
    r"""Views of the same label draw together, and all other views are pushed apart.

    .. math:: L = \frac1{2b} \sum_i \frac{-1}{|P(i)|} \sum_{p ∈ P(i)}
              \log \frac{\exp(z_i \cdot z_p / τ)}{\sum_{a ≠ i} \exp(z_i \cdot z_a / τ)} \quad \text{(Eq. 2)}

    with P(i) the other views of the label of i. Where views share several factors, the label is their joint one.

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
        embedding: int = 128,  # Sec. 3.1
        subembeddings: int = 2,
        temperature: float = 0.1,  # Sec. 4
    ) -> None:
        super().__init__(
            encoder, head, embedding=embedding, subembeddings=subembeddings, temperature=temperature
        )

    def loss(self, batch: ViewBatch) -> Terms:
        _, z = self.views(batch)
        infomax = contrast(z.flatten(0, 1), same_label(batch.labels), temperature=self.temperature)
        return Terms(infomax, {"infomax": infomax})
