"""SupCon. Khosla et al., 2020, Supervised Contrastive Learning, arXiv:2004.11362."""

from torch import nn

from unbraid.methods.view_contrastive import ViewContrastive, same_label
from unbraid.objectives import info_nce
from unbraid.types import Terms, ViewBatch


class SupCon(ViewContrastive):
    r"""Contrastive learning: views with the same label are positives, all other views negatives.

    .. math:: L = \frac1{2b} \sum_i \frac{-1}{|P(i)|} \sum_{p ∈ P(i)}
              \log \frac{\exp(z_i \cdot z_p / τ)}{\sum_{a ≠ i} \exp(z_i \cdot z_a / τ)} \quad \text{(Eq. 2)}

    with P(i) the other views with the label of i. If views share several factors, the label is the joint label.

    Args:
        encoder: Network from observations to features r; needs an attribute `features`.
        head: Network from features to the embedding z; needs an attribute `latent_dim`.
        embedding_dim: Number of dimensions of z.
        num_subembeddings: Number of equal strands of r and z, for linear probes.
        temperature: Temperature τ of the softmax over similarities.
    """

    def __init__(
        self,
        encoder: nn.Module,
        head: nn.Module,
        *,
        embedding_dim: int = 128,  # Sec. 3.1
        num_subembeddings: int = 2,
        temperature: float = 0.1,  # Sec. 4
    ) -> None:
        super().__init__(
            encoder,
            head,
            embedding_dim=embedding_dim,
            num_subembeddings=num_subembeddings,
            temperature=temperature,
        )

    def loss(self, batch: ViewBatch) -> Terms:
        _, z = self.views(batch)
        infomax = info_nce(z.flatten(0, 1), same_label(batch.labels), temperature=self.temperature)
        return Terms(infomax, {"infomax": infomax})
