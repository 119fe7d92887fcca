"""Contrastive losses: InfoNCE and supervised contrastive learning.

Khosla et al., 2020, Supervised Contrastive Learning, arXiv:2004.11362; with one positive per row it is the
InfoNCE of van den Oord et al., 2018, arXiv:1807.03748, as in SimCLR.
"""

import torch
from jaxtyping import Bool
from torch import Tensor

from unbraid.distributed import all_gather, local_shard, rank
from unbraid.types import Codes, Labels, Scalar


def info_nce(
    embeddings: Codes,
    positives: Bool[Tensor, "b n"],
    *,
    temperature: float,
    ignored: Bool[Tensor, "b n"] | None = None,
) -> Scalar:
    r"""The cross-entropy of identifying the positives of each row among all other rows, averaged over rows.

    .. math:: \frac1b \sum_i \frac{-1}{|P(i)|} \sum_{p ∈ P(i)}
              \log \frac{\exp(z_i \cdot z_p / τ)}{\sum_{a ≠ i} \exp(z_i \cdot z_a / τ)}

    A row is never its itself positive, and one without positives adds 0 to the sum.

    Args:
        embeddings: Embeddings z of length 1.
        positives: Mask of the positives in the global batch, per row of this process.
        temperature: Temperature τ.
        ignored: Mask of rows of the global batch to leave out of the sum over a, unless they are positives.
    """
    everyone = all_gather(embeddings)
    with torch.autocast(embeddings.device.type, enabled=False):  # which would round the similarities
        similarity = embeddings @ everyone.T / temperature
    itself = _identity(embeddings, everyone)
    positives = positives & ~itself
    absent = itself if ignored is None else itself | (ignored & ~positives)
    log_p = similarity.masked_fill(absent, torch.finfo(similarity.dtype).min).log_softmax(1)
    hits = torch.where(positives, log_p, 0.0).sum(1)
    return -(hits / positives.sum(1).clamp(min=1)).mean()


def supcon_loss(embeddings: Codes, labels: Labels, *, temperature: float) -> Scalar:
    """`info_nce` whose positives of a row are the other rows of its class."""
    positives = labels[:, None] == all_gather(labels)[None]
    return info_nce(embeddings, positives, temperature=temperature)


def contrast_gradient(
    embeddings: Codes,
    positives: Bool[Tensor, "b n"],
    *,
    temperature: float,
    ignored: Bool[Tensor, "b n"] | None = None,
) -> Codes:
    r"""The gradient of the sum over all rows, not their mean, of `info_nce` with respect to each embedding.

    .. math:: g_i = \frac1τ \sum_a (p_{ia} - y_{ia} + p_{ai} - y_{ai}) z_a

    with p the softmax of the similarities and y the positives, normalized per row. In closed form, so that it can be
    differentiated again, also on several processes.
    """
    everyone, positives = all_gather(embeddings), all_gather(positives)
    itself = torch.eye(len(everyone), dtype=torch.bool, device=everyone.device)
    positives = positives & ~itself
    absent = itself if ignored is None else itself | (all_gather(ignored) & ~positives)
    with torch.autocast(embeddings.device.type, enabled=False):
        similarity = everyone @ everyone.T / temperature
        p = similarity.masked_fill(absent, torch.finfo(similarity.dtype).min).softmax(1)
        count = positives.sum(1, keepdim=True)
        y = positives.to(p.dtype) / count.clamp(min=1)
        pull = torch.where(count > 0, p - y, 0.0)  # a row without positives adds nothing
        return local_shard((pull + pull.T) @ everyone / temperature)


def _identity(local: Codes, everyone: Codes) -> Bool[Tensor, "b n"]:
    """True where a row of this process and a row of the global batch are the same."""
    rows = torch.arange(len(local), device=local.device) + rank() * len(local)
    return rows[:, None] == torch.arange(len(everyone), device=local.device)[None]
