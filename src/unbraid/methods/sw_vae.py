"""SW-VAE. Reconstruction for Disentanglement, Contrast for Invariance, 2022, Sec. 3.2; later published alone as
SW-VAE: Weakly Supervised Learn Disentangled Representation Via Latent Factor Swapping, Zhu et al., 2022,
arXiv:2209.10623."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn

from unbraid.methods.autoencoder import Autoencoder
from unbraid.objectives import (
    Bernoulli,
    Distance,
    Divergence,
    Likelihood,
    divergence_per_dim,
    kl_to_standard_normal,
    reconstruction_distance,
    require_distance,
    swap_where,
    unchanged_mask,
)
from unbraid.schedules import Schedule
from unbraid.settings import require_nonnegative
from unbraid.types import Gaussian, PairBatch, Terms


class SWVAE(Autoencoder[PairBatch]):
    r"""VAE on pairs that differ in k factors, with reconstructions after swapping all but the k changed dimensions.

    .. math:: L = L_{VAE}(x^l) + L_{VAE}(x^m) + α (D(\hat x^l, x^l_{rec}) + D(\hat x^m, x^m_{rec}))
              \quad \text{(Eq. 6, with the α of Eq. 10)}

    Here :math:`\hat x` is decoded from codes in which all but the k dimensions of largest divergence between the
    pair's posteriors are swapped (Eqs. 3 to 5), and D is a distance of images, summed over pixels. The loss is per
    image here: half of Eq. 6.

    Args:
        encoder: Network from observations to the posterior q(z|x); needs an attribute `latent_dim`.
        decoder: Network from codes to the parameters of p(x|z).
        lambda_swap: Weight α of the swapped reconstructions; 0 is the VAE on both images.
        beta: Weight of the KL divergence; 1 in the paper.
        divergence: Divergence that ranks dimensions by their change: `kl` (Eq. 3), `jsd` (Eq. 4, with the mean of the
            variances) or `jsd-moments` (Eq. 4, with the variance of the mixture).
        swap_schedule: Schedule from 0 to 1 of the number of swapped dimensions, from 1 to all but k, such as
            linear:0:1:150000 (warm-up by amount). Default: all but k from the start.
        distance: Distance D: `mse`, the squared error, over 2σ² if the likelihood is normal:σ; or `bce`, the binary
            cross-entropy less its minimum.
        likelihood: Family of p(x|z): bernoulli or normal:SIGMA.
    """

    family = "From pairs"

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        *,
        lambda_swap: float = 1.0,  # not given in the paper
        beta: float = 1.0,
        divergence: Divergence = "kl",
        swap_schedule: Schedule | None = None,
        distance: Distance = "mse",
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        super().__init__(encoder, decoder, likelihood)
        require_nonnegative(lambda_swap=lambda_swap, beta=beta)
        self.lambda_swap, self.beta, self.swap_schedule = lambda_swap, beta, swap_schedule
        require_distance(likelihood, distance)
        self.divergence: Divergence = divergence
        self.distance: Distance = distance

    def loss(self, batch: PairBatch) -> Terms:
        q_l, q_m = self.posteriors(batch.x1, batch.x2)
        z_l, z_m = q_l.sample(), q_m.sample()
        swapped = swap_where(z_l, z_m, self.swap_mask(q_l, q_m, batch.k))
        decoded = self.decoder(torch.cat([z_l, z_m, *swapped])).to(z_l.dtype)
        reconstructed, hat = decoded.chunk(2)  # of both images, and after the swap
        x = torch.cat([batch.x1, batch.x2])
        nll = self.likelihood.nll(reconstructed, x)  # over both images: ½ of the sum
        kl = 0.5 * (kl_to_standard_normal(q_l) + kl_to_standard_normal(q_m))
        d = reconstruction_distance(self.likelihood, hat, reconstructed, self.distance)
        return Terms(nll + self.beta * kl + self.lambda_swap * d, {"nll": nll, "kl": kl, "swap": d})

    def swap_mask(self, q_l: Gaussian, q_m: Gaussian, k: Int[Tensor, " b"]) -> Bool[Tensor, "b d"]:
        """The dimensions that a pair swaps: all but the k that changed most (Eq. 5)."""
        progress = None if self.swap_schedule is None else self.swap_schedule(self.step)
        return unchanged_mask(divergence_per_dim(q_l, q_m, self.divergence), k, progress=progress)
