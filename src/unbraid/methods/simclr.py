"""SimCLR. Chen et al., 2020, A Simple Framework for Contrastive Learning of Visual Representations,
arXiv:2002.05709."""

from torch import nn

from unbraid.methods.view_contrastive import ViewContrastive, same_pair
from unbraid.objectives import info_nce
from unbraid.types import Terms, ViewBatch


class SimCLR(ViewContrastive):
    r"""Contrastive learning: the two views of a pair are positives, all other views negatives.

    .. math:: L = - \frac1{2b} \sum_i \log \frac{\exp(z_i \cdot z_{i'} / τ)}{\sum_{a ≠ i} \exp(z_i \cdot z_a / τ)}
              \quad \text{(Eq. 1)}

    with i' the other view of i. Labels are not used.

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
        embedding_dim: int = 128,  # Sec. 2.1
        num_subembeddings: int = 2,
        temperature: float = 0.5,  # App. B.9, on CIFAR-10
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
        infomax = info_nce(z.flatten(0, 1), same_pair(batch), temperature=self.temperature)
        return Terms(infomax, {"infomax": infomax})
