"""Recon-contrast. Reconstruction for Disentanglement, Contrast for Invariance, 2022, the full system."""

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, ClassVar, Literal, get_args

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
    Distance,
    Divergence,
    Likelihood,
    class_average,
    divergence_per_dim,
    kl_to_standard_normal,
    reconstruction_distance,
    require_distance,
    supcon_loss,
    swap_where,
    unchanged_mask,
)
from unbraid.schedules import Schedule
from unbraid.settings import require_nonnegative
from unbraid.strands import Strands
from unbraid.types import Codes, Gaussian, Labels, Logits, PairBatch, Scalar, Terms

Scheme = Literal["separate", "joint", "cross-entropy"]
SIZES = ("predictive_dim", "nuisance_dim")


class ReconContrast(Predictor[PairBatch], Autoencoder[PairBatch]):
    r"""VAE on pairs of the same class, whose code has a strand that predicts the class and a strand for all nuisances.

    .. math:: L = L_{CE} + L_{VAE} + α L_{disentangle} + β L_{Sup} + γ L_{\bar z_p} \quad \text{(Eq. 10)}

    The code is :math:`[z_p, z_n]`. :math:`L_{disentangle}` compares each reconstruction with one after the pair has
    swapped :math:`z_p` and all dimensions of :math:`z_n` but the k that changed most (Eqs. 3 to 6).
    :math:`L_{\bar z_p}` compares it with a reconstruction from the average :math:`z_p` of its class (Eq. 8).
    :math:`L_{Sup}` is the supervised contrastive loss of :math:`z_p` (Eq. 9). The classifier is a separate player,
    whose loss has no gradient for the encoder (Sec. 4.1).

    After training, the dimensions of :math:`z_n` that are among the k more often than a random choice would put them
    become the strand `known_nuisance`, the others `unknown_nuisance`. `change_frequency`, stored with the weights,
    says how often each is.

    Args:
        encoder: Network from observations to the posterior q(z|x); needs an attribute `latent_dim`.
        decoder: Network from codes to the parameters of p(x|z).
        classifier: Network from zp to a logit per class.
        predictive_dim: Number of dimensions of zp, the strand `predictive`.
        nuisance_dim: Number of dimensions of zn, the strand `nuisance`.
        lambda_swap: Weight α of the swapped reconstructions.
        lambda_contrast: Weight β of the supervised contrastive loss.
        lambda_average: Weight γ of the reconstructions from class averages.
        lambda_class: Weight of the cross-entropy, in the schemes without a separate classifier; 1 in the paper.
        beta: Weight of the KL divergence; 1 in the paper.
        temperature: Temperature τ of the supervised contrastive loss, above 0.
        divergence: Divergence that ranks dimensions by their change: `kl` (Eq. 3), `jsd` (Eq. 4, with the mean of the
            variances) or `jsd-moments` (Eq. 4, with the variance of the mixture).
        swap_schedule: Schedule from 0 to 1 of the number of swapped dimensions of zn, from 1 to all but k, such as
            linear:0:1:10000 (warm-up by amount). Default: all but k from the start.
        distance: Distance D of two decoded images: `mse`, the squared error, over 2σ² if the likelihood is normal:σ; or
            `bce`, the binary cross-entropy less its minimum.
        classify_direction: Give the classifier zp divided by its length, which is what the contrastive loss shapes,
            instead of zp.
        scheme: `separate`: the classifier is a player of its own. `joint`: one player minimizes all of Eq. 10.
            `cross-entropy`: like `joint`, without the contrastive loss (Table 5).
        predictive_encoder: Architecture of a separate encoder for zp, such as conv-channelwise or
            conv-channelwise-polar; not in the paper. Default: one encoder for the whole code.
        likelihood: Family of p(x|z): bernoulli or normal:SIGMA.
    """

    code_size_options = SIZES
    same_class = True
    on_train_end_uses_draw: ClassVar[bool] = True
    on_train_end_samples: ClassVar[int] = 4_000
    change_frequency: Tensor

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        classifier: nn.Module,
        *,
        predictive_dim: int = 10,
        nuisance_dim: int = 20,
        lambda_swap: float = 1.0,  # the paper gives no weights, temperature or sizes
        lambda_contrast: float = 100.0,
        lambda_average: float = 1.0,
        lambda_class: float = 1.0,
        beta: float = 1.0,
        temperature: float = 0.1,
        divergence: Divergence = "kl",
        swap_schedule: Schedule | None = None,
        distance: Distance = "mse",
        classify_direction: bool = False,
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
        require_distance(likelihood, distance)
        self.classifier, self.classify_direction = classifier, classify_direction
        self.lambda_swap, self.lambda_contrast = lambda_swap, lambda_contrast  # α and β
        self.lambda_average, self.lambda_class = lambda_average, lambda_class  # γ and the weight of L_CE
        self.beta, self.temperature, self.swap_schedule = beta, temperature, swap_schedule
        self.divergence: Divergence = divergence
        self.distance: Distance = distance
        self.scheme: Scheme = scheme
        self.predictive_encoder = predictive_encoder
        self.training_strands = strands_of(predictive_dim, nuisance_dim)  # those that training knows
        require_codes(encoder, self.training_strands.size)
        self.register_buffer("change_frequency", torch.zeros(nuisance_dim))  # 0 until training has ended

    @classmethod
    def default_arguments(
        cls, spec: BuildSpec, missing: Set[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        predictive, nuisance = (cls.option(settings, name) for name in SIZES)
        latent_dim = strands_of(predictive, nuisance).size  # checks the sizes before networks are built
        arguments = super().default_arguments(spec._replace(latent_dim=latent_dim), missing, settings)
        if "encoder" in missing and (architecture := cls.option(settings, "predictive_encoder")):
            first, _ = build_networks(architecture, spec.shape, predictive)
            second, _ = build_networks(spec.architecture, spec.shape, nuisance)
            arguments["encoder"] = ConcatEncoder(first, second)
        return arguments

    @classmethod
    def classifier_input_dim(cls, spec: BuildSpec, settings: Mapping[str, Any]) -> int:
        return cls.option(settings, "predictive_dim")

    @property
    def strands(self) -> Strands:
        predictive, nuisance = (len(dims) for dims in self.training_strands.values())
        return strands_of(predictive, nuisance, self.known_dims())

    def known_dims(self) -> list[int]:
        """The dimensions of zn that are among the k more often than a random choice of k dimensions would put them."""
        above = self.change_frequency > self.change_frequency.mean()
        return above.nonzero()[:, 0].tolist()

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
        d, d_p = (
            reconstruction_distance(self.likelihood, image, x_rec, self.distance)
            for image in (x_hat, x_rec_p)
        )
        total = nll + self.beta * kl + self.lambda_swap * d + self.lambda_average * d_p
        terms = {"nll": nll, "kl": kl, "swap": d, "average": d_p}
        codes, labels = torch.cat([q_l.mean, q_m.mean]), torch.cat([labels, labels])
        if self.scheme != "cross-entropy":
            z_p = F.normalize(self.training_strands.take(codes, "predictive"))
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

    def classify(self, codes: Codes) -> Logits:
        z_p = self.training_strands.take(codes, "predictive")
        return self.classifier(F.normalize(z_p) if self.classify_direction else z_p).to(codes.dtype)

    def swap_mask(self, q_l: Gaussian, q_m: Gaussian, k: Int[Tensor, " b"]) -> Bool[Tensor, "b d"]:
        """The dimensions that a pair swaps: zp, and all of zn but the k that changed most (Eq. 5)."""
        progress = None if self.swap_schedule is None else self.swap_schedule(self.step)
        nuisance = self.unchanged_nuisances(q_l, q_m, k, progress)
        return torch.cat([nuisance.new_ones(len(k), len(self.training_strands["predictive"])), nuisance], 1)

    def unchanged_nuisances(
        self, q_l: Gaussian, q_m: Gaussian, k: Int[Tensor, " b"], progress: Scalar | None = None
    ) -> Bool[Tensor, "b n"]:
        """All dimensions of zn but the k of largest divergence."""
        divergence = divergence_per_dim(q_l, q_m, self.divergence)
        return unchanged_mask(self.training_strands.take(divergence, "nuisance"), k, progress=progress)

    def on_train_end(self, batches: Iterable[PairBatch]) -> None:
        """Counts how often each dimension of zn is among the k that changed most."""
        pairs = ((batch.k, *self.posteriors(batch.x1, batch.x2)) for batch in batches)
        changed = torch.cat([~self.unchanged_nuisances(q_l, q_m, k) for k, q_l, q_m in pairs])
        self.change_frequency.copy_(changed.to(self.change_frequency.dtype).mean(0))

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
        predictive = self.training_strands.mask(z_l, "predictive")
        bar_l, bar_m = (
            torch.where(predictive & averaged[:, None], Gaussian(mean, logvar).sample(), z)
            for mean, logvar, averaged, z in images
        )
        return bar_l, bar_m


def strands_of(predictive: int, nuisance: int, known: Sequence[int] = ()) -> Strands:
    """The strands of a code; those of known and unknown nuisances where dimensions of zn, from 0, are known."""
    if predictive < 1 or nuisance < 1:
        raise ValueError(
            "predictive_dim and nuisance_dim must be at least 1; got "
            f"predictive_dim={predictive}, nuisance_dim={nuisance}."
        )
    size = predictive + nuisance
    strands: dict[str, Sequence[int]] = {"predictive": range(predictive)}
    if known:
        strands["known_nuisance"] = [predictive + dim for dim in known]
        strands["unknown_nuisance"] = [predictive + dim for dim in range(nuisance) if dim not in known]
    strands["nuisance"] = range(predictive, size)
    return Strands({name: dims for name, dims in strands.items() if dims}, size=size)
