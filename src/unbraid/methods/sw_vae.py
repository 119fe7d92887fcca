"""SW-VAE. Reconstruction for Disentanglement, Contrast for Invariance, 2022, Sec. 3.2; later published alone as
SW-VAE: Weakly Supervised Learn Disentangled Representation Via Latent Factor Swapping, Zhu et al., 2022,
arXiv:2209.10623."""

import torch
from torch import nn

from unbraid.methods.autoencoder import Autoencoder
from unbraid.objectives import (
    Bernoulli,
    Likelihood,
    alike,
    change,
    exchange,
    kl_to_standard_normal,
    squared_error,
)
from unbraid.objectives.changed_codes import Divergence
from unbraid.schedules import Schedule
from unbraid.settings import require_nonnegative
from unbraid.types import PairBatch, Terms


class SWVAE(Autoencoder[PairBatch]):
    r"""VAE on pairs that differ in k factors: swapping all codes but the k that changed must change nothing.

    .. math:: L = L_{VAE}(x^l) + L_{VAE}(x^m) + α (D(\hat x^l, x^l_{rec}) + D(\hat x^m, x^m_{rec}))
              \quad \text{(Eq. 6, with the α of Eq. 10)}

    Here :math:`\hat x` is decoded from codes in which all but the k dimensions of largest divergence between the
    pair's posteriors are exchanged (Eqs. 3 to 5), and D is the squared error, summed over pixels. Both sides
    are per image here: half of Eq. 6.

    Args:
        encoder: Observations to the posterior q(z|x); needs an attribute `codes`.
        decoder: Codes to the parameters of p(x|z).
        swap: The weight α of the swapped reconstructions; 0 is the VAE on both images.
        beta: The weight of the KL divergence; the paper has 1.
        divergence: What tells changed codes: `kl` (Eq. 3), `jsd` (Eq. 4, with the mean of the variances) or
            `jsd-moments` (Eq. 4, with the variance of the mixture).
        amount: How far the number of swapped codes has grown from 1 to all but k, by step, such as
            linear:0:1:150000: warm-up by amount. All from the start when left out.
        likelihood: The family p(x|z): bernoulli, or normal:SIGMA.
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        *,
        swap: float = 1.0,  # not given in the paper
        beta: float = 1.0,
        divergence: Divergence = "kl",
        amount: Schedule | None = None,
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        super().__init__(encoder, decoder, likelihood)
        require_nonnegative(swap=swap, beta=beta)
        self.swap, self.beta, self.amount = swap, beta, amount
        self.divergence: Divergence = divergence

    def loss(self, batch: PairBatch) -> Terms:
        q_l, q_m = self.posteriors(batch.x1, batch.x2)
        z_l, z_m = q_l.sample(), q_m.sample()
        progress = None if self.amount is None else self.amount(self.step)
        swapped = alike(change(q_l, q_m, self.divergence), batch.k, progress=progress)
        decoded = self.decoder(torch.cat([z_l, z_m, *exchange(z_l, z_m, swapped)])).to(z_l.dtype)
        reconstructed, hat = decoded.chunk(2)  # of both images, and after the swap
        nll = self.likelihood.nll(
            reconstructed, torch.cat([batch.x1, batch.x2])
        )  # over both images: ½ of the sum
        kl = 0.5 * (kl_to_standard_normal(q_l) + kl_to_standard_normal(q_m))
        d = squared_error(self.likelihood.mean(hat), self.likelihood.mean(reconstructed))
        return Terms(nll + self.beta * kl + self.swap * d, {"nll": nll, "kl": kl, "swap": d})
