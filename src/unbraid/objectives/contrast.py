"""Contrast: embeddings of the same kind drawn together, all others pushed apart.

Khosla et al., 2020, Supervised Contrastive Learning, arXiv:2004.11362; with one positive for each row it is the
InfoNCE of van den Oord et al., 2018, arXiv:1807.03748, as SimCLR has it.
"""

import torch
from jaxtyping import Bool
from torch import Tensor

from unbraid.distributed import gather, rank, share
from unbraid.types import Codes, Labels, Scalar


def contrast(
    embeddings: Codes,
    positives: Bool[Tensor, "b n"],
    *,
    temperature: float,
    ignored: Bool[Tensor, "b n"] | None = None,
) -> Scalar:
    r"""How hard it is to tell the positives of each row among all other rows, a mean over rows.

    .. math:: \frac1b \sum_i \frac{-1}{|P(i)|} \sum_{p ∈ P(i)}
              \log \frac{\exp(z_i \cdot z_p / τ)}{\sum_{a ≠ i} \exp(z_i \cdot z_a / τ)}

    A row is never its own positive, and one without positives adds 0 to the sum.

    Args:
        embeddings: z, each of length 1.
        positives: Which rows of the joined batch of all processes belong to each row of this one.
        temperature: τ.
        ignored: Which rows of the joined batch are left out of the sum over a, where they are no positives.
    """
    everyone = gather(embeddings)
    with torch.autocast(embeddings.device.type, enabled=False):  # which would round the similarities
        similarity = embeddings @ everyone.T / temperature
    own = _own(embeddings, everyone)
    positives = positives & ~own
    absent = own if ignored is None else own | (ignored & ~positives)
    log_p = similarity.masked_fill(absent, torch.finfo(similarity.dtype).min).log_softmax(1)
    hits = torch.where(positives, log_p, 0.0).sum(1)
    return -(hits / positives.sum(1).clamp(min=1)).mean()


def supervised_contrast(embeddings: Codes, labels: Labels, *, temperature: float) -> Scalar:
    """`contrast` where the positives of a row are the others of its class."""
    positives = labels[:, None] == gather(labels)[None]
    return contrast(embeddings, positives, temperature=temperature)


def contrast_gradient(
    embeddings: Codes,
    positives: Bool[Tensor, "b n"],
    *,
    temperature: float,
    ignored: Bool[Tensor, "b n"] | None = None,
) -> Codes:
    r"""The gradient of the sum over all rows, not their mean, of `contrast` by each row's embedding.

    .. math:: g_i = \frac1τ \sum_a (p_{ia} - y_{ia} + p_{ai} - y_{ai}) z_a

    with p the softmax of the similarities and y the positives, each row of both adding up to one. In closed form,
    so that it can be differentiated again like any other function of z, on several processes too.
    """
    everyone, positives = gather(embeddings), gather(positives)
    own = torch.eye(len(everyone), dtype=torch.bool, device=everyone.device)
    positives = positives & ~own
    absent = own if ignored is None else own | (gather(ignored) & ~positives)
    with torch.autocast(embeddings.device.type, enabled=False):
        similarity = everyone @ everyone.T / temperature
        p = similarity.masked_fill(absent, torch.finfo(similarity.dtype).min).softmax(1)
        count = positives.sum(1, keepdim=True)
        y = positives.to(p.dtype) / count.clamp(min=1)
        pull = torch.where(count > 0, p - y, 0.0)  # a row without positives adds nothing
        return share((pull + pull.T) @ everyone / temperature)


def _own(local: Codes, everyone: Codes) -> Bool[Tensor, "b n"]:
    """True where a row of this process meets itself in the joined batch."""
    rows = torch.arange(len(local), device=local.device) + rank() * len(local)
    return rows[:, None] == torch.arange(len(everyone), device=local.device)[None]
