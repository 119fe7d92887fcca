"""Recon-contrast. Reconstruction for Disentanglement, Contrast for Invariance, 2022, the full system."""

from collections.abc import Mapping, Set
from typing import Any, Literal, get_args

import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.methods.autoencoder import Autoencoder
from unbraid.methods.base import BuildSpec, Player
from unbraid.methods.predictor import (
    DEFAULT_OPTIMIZER,
    Predictor,
    accuracy,
    cross_entropy,
    labels_of,
    require_codes,
)
from unbraid.nn import ConcatEncoder, build_networks
from unbraid.objectives import (
    Bernoulli,
    Divergence,
    Likelihood,
    class_average,
    divergence_per_dim,
    kl_to_standard_normal,
    squared_error,
    supcon_loss,
    swap_where,
    unchanged_mask,
)
from unbraid.schedules import Schedule
from unbraid.settings import require_nonnegative
from unbraid.strands import Strands
from unbraid.types import Codes, Gaussian, Labels, Observations, PairBatch, Scalar, Terms

Scheme = Literal["separate", "joint", "cross-entropy"]
SIZES = ("predictive_dim", "known_nuisance_dim", "unknown_nuisance_dim")


class ReconContrast(Predictor[PairBatch], Autoencoder[PairBatch]):
    r"""VAE on pairs of the same class, whose code has a predictive strand and strands for known and unknown nuisances.

    .. math:: L = L_{CE} + L_{VAE} + α L_{disentangle} + β L_{Sup} + γ L_{\bar z_p} \quad \text{(Eq. 10)}

    The code is :math:`[z_p, z_{nk}, z_{nu}]`. :math:`L_{disentangle}` compares each reconstruction with one after the
    pair has swapped :math:`z_p` and all dimensions of :math:`z_{nk}` but the k that changed (Eqs. 3 to 6).
    :math:`L_{\bar z_p}` compares it with a reconstruction from the average :math:`z_p` of its class (Eq. 8).
    :math:`L_{Sup}` is the supervised contrastive loss of :math:`z_p` (Eq. 9). Distances are squared errors, summed over
    pixels. The classifier is a separate player, whose loss has no gradient for the encoder (Sec. 4.1).

    Args:
        encoder: Network from observations to the posterior q(z|x); needs an attribute `latent_dim`.
        decoder: Network from codes to the parameters of p(x|z).
        classifier: Network from zp to a logit per class.
        predictive_dim: Number of dimensions of zp, the strand `predictive`.
        known_nuisance_dim: Number of dimensions of znk, for nuisances that differ within a pair.
        unknown_nuisance_dim: Number of dimensions of znu, for all other nuisances.
        lambda_swap: Weight α of the swapped reconstructions.
        lambda_contrast: Weight β of the supervised contrastive loss.
        lambda_average: Weight γ of the reconstructions from class averages.
        lambda_class: Weight of the cross-entropy, in the schemes without a separate classifier; 1 in the paper.
        beta: Weight of the KL divergence; 1 in the paper.
        temperature: Temperature τ of the supervised contrastive loss, above 0.
        divergence: Divergence that ranks dimensions by their change: `kl` (Eq. 3), `jsd` (Eq. 4, with the mean of the
            variances) or `jsd-moments` (Eq. 4, with the variance of the mixture).
        swap_schedule: Schedule from 0 to 1 of the number of swapped dimensions of znk, from 1 to all but k, such as
            linear:0:1:10000 (warm-up by amount). Default: all but k from the start.
        scheme: `separate`: the classifier is a player of its own. `joint`: one player minimizes all of Eq. 10.
            `cross-entropy`: like `joint`, without the contrastive loss (Table 5).
        predictive_encoder: Architecture of a separate encoder for zp, such as conv-channelwise or
            conv-channelwise-polar; not in the paper. Default: one encoder for the whole code.
        likelihood: Family of p(x|z): bernoulli or normal:SIGMA.
    """

    code_size_options = SIZES
    same_class = True

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        classifier: nn.Module,
        *,
        predictive_dim: int = 10,
        known_nuisance_dim: int = 8,
        unknown_nuisance_dim: int = 12,
        lambda_swap: float = 1.0,  # the paper gives no weights, temperature or sizes
        lambda_contrast: float = 100.0,
        lambda_average: float = 1.0,
        lambda_class: float = 1.0,
        beta: float = 1.0,
        temperature: float = 0.1,
        divergence: Divergence = "kl",
        swap_schedule: Schedule | None = None,
        scheme: Scheme = "separate",
        predictive_encoder: str = "",
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        super().__init__(encoder, decoder, likelihood)
        require_nonnegative(
            lambda_swap=lambda_swap,
            lambda_contrast=lambda_contrast,
            lambda_average=lambda_average,
            lambda_class=lambda_class,
        )
        require_nonnegative(beta=beta, temperature=temperature)
        if temperature == 0:
            raise ValueError("temperature must be above 0, because similarities are divided by it; got 0.")
        if scheme not in get_args(Scheme):
            raise ValueError(f"scheme must be one of {', '.join(get_args(Scheme))}; got {scheme!r}.")
        self.classifier = classifier
        self.lambda_swap, self.lambda_contrast = lambda_swap, lambda_contrast  # α and β
        self.lambda_average, self.lambda_class = lambda_average, lambda_class  # γ and the weight of L_CE
        self.beta, self.temperature, self.swap_schedule = beta, temperature, swap_schedule
        self.divergence: Divergence = divergence
        self.scheme: Scheme = scheme
        self.predictive_encoder = predictive_encoder
        self.sizes = (predictive_dim, known_nuisance_dim, unknown_nuisance_dim)
        self._strands = strands_of(*self.sizes)
        require_codes(encoder, self._strands.size)

    @classmethod
    def default_arguments(
        cls, spec: BuildSpec, missing: Set[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        predictive, *nuisance = (cls.option(settings, name) for name in SIZES)
        latent_dim = strands_of(predictive, *nuisance).size  # checks the sizes before networks are built
        arguments = super().default_arguments(spec._replace(latent_dim=latent_dim), missing, settings)
        if "encoder" in missing and (architecture := cls.option(settings, "predictive_encoder")):
            first, _ = build_networks(architecture, spec.shape, predictive)
            second, _ = build_networks(spec.architecture, spec.shape, sum(nuisance))
            arguments["encoder"] = ConcatEncoder(first, second)
        return arguments

    @classmethod
    def classifier_input_dim(cls, spec: BuildSpec, settings: Mapping[str, Any]) -> int:
        return cls.option(settings, "predictive_dim")

    def loss(self, batch: PairBatch) -> Terms:
        labels = labels_of(batch)
        q_l, q_m = self.posteriors(batch.x1, batch.x2)
        z_l, z_m = q_l.sample(), q_m.sample()
        swapped = swap_where(z_l, z_m, self.swap_mask(q_l, q_m, batch.k))
        averaged = self.class_average_codes(q_l, q_m, z_l, z_m, labels)
        decoded = self.decoder(torch.cat([z_l, z_m, *swapped, *averaged])).to(z_l.dtype)
        x_rec, x_hat, x_rec_p = decoded.chunk(3)  # of both images each
        nll = self.likelihood.nll(
            x_rec, torch.cat([batch.x1, batch.x2])
        )  # a mean over both images, as all terms
        kl = 0.5 * (kl_to_standard_normal(q_l) + kl_to_standard_normal(q_m))
        d, d_p = (self.distance(image, x_rec) for image in (x_hat, x_rec_p))
        total = nll + self.beta * kl + self.lambda_swap * d + self.lambda_average * d_p
        terms = {"nll": nll, "kl": kl, "swap": d, "average": d_p}
        codes, labels = torch.cat([q_l.mean, q_m.mean]), torch.cat([labels, labels])
        if self.scheme != "cross-entropy":
            z_p = F.normalize(self.strands.take(codes, "predictive"))
            terms["contrast"] = supcon_loss(z_p, labels, temperature=self.temperature)
            total = total + self.lambda_contrast * terms["contrast"]
        if self.scheme != "separate":
            logits = self.classify(codes)
            ce = cross_entropy(logits, labels)
            terms |= {"cross_entropy": ce, "accuracy": accuracy(logits, labels)}
            total = total + self.lambda_class * ce
        return Terms(total, terms, cached=(codes.detach(),))

    def classifier_loss(self, batch: PairBatch, codes: Codes | None = None) -> Terms:
        """The loss of a separate classifier, from the codes if passed, without gradient to the encoder."""
        labels = labels_of(batch)
        with torch.no_grad():
            codes = self.encode(torch.cat([batch.x1, batch.x2])) if codes is None else codes
        logits, labels = self.classify(codes), torch.cat([labels, labels])
        return Terms(cross_entropy(logits, labels), {"accuracy": accuracy(logits, labels)})

    def players(self) -> tuple[Player, ...]:
        if self.scheme != "separate":
            return (Player("model", self.parameters(), self.loss, DEFAULT_OPTIMIZER),)
        model = [*self.encoder.parameters(), *self.decoder.parameters()]
        return (
            Player("model", model, self.loss, DEFAULT_OPTIMIZER),
            Player(
                "classifier",
                self.classifier.parameters(),
                self.classifier_loss,
                DEFAULT_OPTIMIZER,
                reuses="model",
            ),
        )

    def swap_mask(self, q_l: Gaussian, q_m: Gaussian, k: Int[Tensor, " b"]) -> Bool[Tensor, "b d"]:
        """The dimensions that a pair swaps: zp, and all of znk but the k that changed most."""
        divergence = divergence_per_dim(q_l, q_m, self.divergence).split(self.sizes, 1)[1]
        progress = None if self.swap_schedule is None else self.swap_schedule(self.step)
        known = unchanged_mask(divergence, k, progress=progress)
        predictive, _, unknown = self.sizes
        return torch.cat([known.new_ones(len(k), predictive), known, known.new_zeros(len(k), unknown)], 1)

    def class_average_codes(
        self, q_l: Gaussian, q_m: Gaussian, z_l: Codes, z_m: Codes, labels: Labels
    ) -> tuple[Codes, Codes]:
        """Both codes with zp sampled from the average posterior of its class (Eq. 8).

        An observation that is alone in its class keeps its zp, and adds nothing to the loss.
        """
        both = Gaussian(torch.cat([q_l.mean, q_m.mean]), torch.cat([q_l.logvar, q_m.logvar]))
        average, averaged = class_average(both, torch.cat([labels, labels]))
        images = zip(
            average.mean.chunk(2), average.logvar.chunk(2), averaged.chunk(2), (z_l, z_m), strict=True
        )
        predictive = self.strands.mask(z_l, "predictive")
        bar_l, bar_m = (
            torch.where(predictive & averaged[:, None], Gaussian(mean, logvar).sample(), z)
            for mean, logvar, averaged, z in images
        )
        return bar_l, bar_m

    def distance(self, parameters: Observations, others: Observations) -> Scalar:
        """D between two decoded images. Both have a gradient: the paper states no stop-gradient."""
        return squared_error(self.likelihood.mean(parameters), self.likelihood.mean(others))


def strands_of(predictive: int, known: int, unknown: int) -> Strands:
    """The three strands of the code, and the strand of both nuisances; strands without dimensions are left out."""
    if predictive < 1 or known < 0 or unknown < 0:
        raise ValueError(
            "predictive_dim must be at least 1, and known_nuisance_dim and unknown_nuisance_dim at least 0; got "
            f"predictive_dim={predictive}, known_nuisance_dim={known}, unknown_nuisance_dim={unknown}."
        )
    size = predictive + known + unknown
    strands = {
        "predictive": range(predictive),
        "known_nuisance": range(predictive, predictive + known),
        "unknown_nuisance": range(predictive + known, size),
        "nuisance": range(predictive, size),
    }
    return Strands({name: dims for name, dims in strands.items() if dims}, size=size)
