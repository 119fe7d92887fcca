"""Recon-contrast. Reconstruction for Disentanglement, Contrast for Invariance, 2022, the full system."""

from collections.abc import Mapping, Set
from typing import Any, Literal, get_args

import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.distributed import noise_like
from unbraid.methods.autoencoder import Autoencoder
from unbraid.methods.base import Facts, Player
from unbraid.methods.predictor import RATE, Predictor, accuracy, cross_entropy, labels_of, require_codes
from unbraid.nn import Joined, networks
from unbraid.nn.batch_norm import keeping_statistics
from unbraid.objectives import (
    Bernoulli,
    Likelihood,
    alike,
    change,
    class_average,
    exchange,
    kl_to_standard_normal,
    squared_error,
    supervised_contrast,
)
from unbraid.objectives.changed_codes import Divergence
from unbraid.schedules import Schedule
from unbraid.settings import require_nonnegative
from unbraid.strands import Strands
from unbraid.types import Codes, Gaussian, Labels, Observations, PairBatch, Scalar, Terms

Scheme = Literal["separate", "joint", "cross-entropy"]
SIZES = ("predictive", "known", "unknown")


class ReconContrast(Predictor[PairBatch], Autoencoder[PairBatch]):
    r"""VAE on pairs of one class whose code is cut into what predicts the class and two kinds of nuisance.

    .. math:: L = L_{CE} + L_{VAE} + α L_{disentangle} + β L_{Sup} + γ L_{\bar z_p} \quad \text{(Eq. 10)}

    The code is :math:`[z_p, z_{nk}, z_{nu}]`. :math:`L_{disentangle}` compares each reconstruction with one in
    which the pair has exchanged :math:`z_p` and all known nuisance codes but the k that changed (Eqs. 3 to 6).
    :math:`L_{\bar z_p}` compares it with one from the average :math:`z_p` of its class (Eq. 8). :math:`L_{Sup}`
    is the supervised contrast of :math:`z_p` (Eq. 9). Distances are squared errors, summed over pixels. The
    classifier learns apart from the rest, and its loss does not reach the encoder (Sec. 4.1).

    Args:
        encoder: Observations to the posterior q(z|x); needs an attribute `codes`.
        decoder: Codes to the parameters of p(x|z).
        classifier: Predictive codes to a logit for each class.
        predictive: How many codes predict the class: the strand zp.
        known: How many codes are for known nuisances, which differ between the two of a pair: znk.
        unknown: How many codes are for all other nuisances: znu.
        swap: The weight α of the swapped reconstructions.
        contrast: The weight β of the supervised contrast.
        average: The weight γ of the reconstructions from class averages.
        prediction: The weight of the cross-entropy, where the classifier does not learn apart; the paper has 1.
        beta: The weight of the KL divergence; the paper has 1.
        temperature: τ of the supervised contrast, above 0.
        divergence: What tells changed codes: `kl` (Eq. 3), `jsd` (Eq. 4, with the mean of the variances) or
            `jsd-moments` (Eq. 4, with the variance of the mixture).
        amount: How far the number of swapped known codes has grown from 1 to all but k, by step, such as
            linear:0:1:10000: warm-up by amount. All from the start when left out.
        scheme: `separate`: the classifier learns apart. `joint`: everything learns from all of Eq. 10.
            `cross-entropy`: the same without the contrast (Table 5).
        redraw: Not in the paper. When above 0, images are also decoded with known nuisance codes drawn from a
            normal distribution of this spread, encoded again, and join the contrast with the class of the image
            they were made from: nuisances nobody showed, as the model imagines them.
        reader: Not in the paper. The architecture of an encoder of its own for zp, such as conv-channelwise or
            conv-channelwise-polar; one encoder for all codes when left out.
        likelihood: The family p(x|z): bernoulli, or normal:SIGMA.
    """

    sizes_strands = True
    same_class = True

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        classifier: nn.Module,
        *,
        predictive: int = 10,
        known: int = 8,
        unknown: int = 12,
        swap: float = 1.0,  # the paper gives no weights, temperature or sizes
        contrast: float = 100.0,
        average: float = 1.0,
        prediction: float = 1.0,
        beta: float = 1.0,
        temperature: float = 0.1,
        divergence: Divergence = "kl",
        amount: Schedule | None = None,
        scheme: Scheme = "separate",
        redraw: float = 0.0,
        reader: str = "",
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        super().__init__(encoder, decoder, likelihood)
        require_nonnegative(swap=swap, contrast=contrast, average=average, prediction=prediction)
        require_nonnegative(beta=beta, temperature=temperature, redraw=redraw)
        if temperature == 0:
            raise ValueError("temperature divides the similarities, so it must be above 0; got 0.")
        if scheme not in get_args(Scheme):
            raise ValueError(f"There is no scheme {scheme!r}: choose {', '.join(get_args(Scheme))}.")
        self.classifier = classifier
        self.swap, self.contrast, self.average = swap, contrast, average  # α, β and γ of the paper
        self.prediction, self.beta, self.temperature, self.amount = prediction, beta, temperature, amount
        self.divergence: Divergence = divergence
        self.scheme: Scheme = scheme
        self.redraw, self.reader = redraw, reader
        self.sizes = (predictive, known, unknown)
        self._strands = strands_of(*self.sizes)
        require_codes(encoder, self._strands.size)

    @classmethod
    def parts(cls, facts: Facts, wanted: Set[str], settings: Mapping[str, Any]) -> dict[str, Any]:
        predictive, *nuisance = (cls.setting(settings, name) for name in SIZES)
        codes = strands_of(predictive, *nuisance).size  # which refuses sizes before networks are built
        parts = super().parts(facts._replace(codes=codes), wanted, settings)
        if "encoder" in wanted and (reader := cls.setting(settings, "reader")):
            first, _ = networks(reader, facts.shape, predictive)
            second, _ = networks(facts.architecture, facts.shape, sum(nuisance))
            parts["encoder"] = Joined(first, second)
        return parts

    @classmethod
    def readable(cls, facts: Facts, settings: Mapping[str, Any]) -> int:
        return cls.setting(settings, "predictive")

    def loss(self, batch: PairBatch) -> Terms:
        labels = labels_of(batch)
        q_l, q_m = self.posteriors(batch.x1, batch.x2)
        z_l, z_m = q_l.sample(), q_m.sample()
        swapped = exchange(z_l, z_m, self.swapped(q_l, q_m, batch.k))
        averaged = self.averaged(q_l, q_m, z_l, z_m, labels)
        decoded = self.decoder(torch.cat([z_l, z_m, *swapped, *averaged])).to(z_l.dtype)
        x_rec, x_hat, x_rec_p = decoded.chunk(3)  # of both images each
        nll = self.likelihood.nll(x_rec, torch.cat([batch.x1, batch.x2]))  # a mean over both, as all terms
        kl = 0.5 * (kl_to_standard_normal(q_l) + kl_to_standard_normal(q_m))
        d, d_p = (self.distance(other, x_rec) for other in (x_hat, x_rec_p))
        total = nll + self.beta * kl + self.swap * d + self.average * d_p
        parts = {"nll": nll, "kl": kl, "swap": d, "average": d_p}
        codes, labels = torch.cat([q_l.mean, q_m.mean]), torch.cat([labels, labels])
        if self.scheme != "cross-entropy":
            shown, classes = codes, labels
            if self.redraw:
                with keeping_statistics(self.encoder, self.decoder):
                    redrawn = self.encode(self.redrawn(torch.cat([z_l, z_m])))
                shown = torch.cat([codes, redrawn])
                classes = torch.cat([labels, labels])
            z_p = F.normalize(self.strands.take(shown, "predictive"))
            parts["contrast"] = supervised_contrast(z_p, classes, temperature=self.temperature)
            total = total + self.contrast * parts["contrast"]
        if self.scheme != "separate":
            logits = self.classify(codes)
            ce = cross_entropy(logits, labels)
            parts |= {"cross_entropy": ce, "accuracy": accuracy(logits, labels)}
            total = total + self.prediction * ce
        return Terms(total, parts, kept=(codes.detach(),))

    def classifier_loss(self, batch: PairBatch, codes: Codes | None = None) -> Terms:
        """What a classifier that learns apart minimises, from the codes if given; no gradient reaches the encoder."""
        labels = labels_of(batch)
        with torch.no_grad():
            codes = self.encode(torch.cat([batch.x1, batch.x2])) if codes is None else codes
        logits, labels = self.classify(codes), torch.cat([labels, labels])
        return Terms(cross_entropy(logits, labels), {"accuracy": accuracy(logits, labels)})

    def players(self) -> tuple[Player, ...]:
        if self.scheme != "separate":
            return (Player("model", self.parameters(), self.loss, RATE),)
        model = [*self.encoder.parameters(), *self.decoder.parameters()]
        return (
            Player("model", model, self.loss, RATE),
            Player("classifier", self.classifier.parameters(), self.classifier_loss, RATE, takes="model"),
        )

    def swapped(self, q_l: Gaussian, q_m: Gaussian, k: Int[Tensor, " b"]) -> Bool[Tensor, "b d"]:
        """Which codes a pair exchanges: zp, and of the known nuisances all but the k that changed most."""
        changed = change(q_l, q_m, self.divergence).split(self.sizes, 1)[1]
        progress = None if self.amount is None else self.amount(self.step)
        known = alike(changed, k, progress=progress)
        predictive, _, unknown = self.sizes
        return torch.cat([known.new_ones(len(k), predictive), known, known.new_zeros(len(k), unknown)], 1)

    def averaged(
        self, q_l: Gaussian, q_m: Gaussian, z_l: Codes, z_m: Codes, labels: Labels
    ) -> tuple[Codes, Codes]:
        """Both codes with zp drawn from the average posterior of its class (Eq. 8).

        A class with one sample in the batch keeps its own zp, and so adds nothing to the loss.
        """
        both = Gaussian(torch.cat([q_l.mean, q_m.mean]), torch.cat([q_l.logvar, q_m.logvar]))
        average, company = class_average(both, torch.cat([labels, labels]))
        halves = zip(
            average.mean.chunk(2), average.logvar.chunk(2), company.chunk(2), (z_l, z_m), strict=True
        )
        predictive = self.strands.mask(z_l, "predictive")
        bar_l, bar_m = (
            torch.where(predictive & company[:, None], Gaussian(mean, logvar).sample(), z)
            for mean, logvar, company, z in halves
        )
        return bar_l, bar_m

    def redrawn(self, z: Codes) -> Observations:
        """The images of codes whose known nuisances are drawn anew; no gradient reaches the decoder."""
        known = self.strands.mask(z, "known")
        with torch.no_grad():
            return self.decode(torch.where(known, self.redraw * noise_like(z), z))

    def distance(self, parameters: Observations, others: Observations) -> Scalar:
        """D between the images of two decodings. Gradients pass through both: the paper states no stop."""
        return squared_error(self.likelihood.mean(parameters), self.likelihood.mean(others))


def strands_of(predictive: int, known: int, unknown: int) -> Strands:
    """The three parts of the code, and both nuisances together; parts without codes are left out."""
    if predictive < 1 or known < 0 or unknown < 0:
        raise ValueError(
            "The code needs at least 1 predictive dimension, and its nuisance parts at least 0; "
            f"got predictive={predictive}, known={known}, unknown={unknown}."
        )
    whole = predictive + known + unknown
    strands = {
        "predictive": range(predictive),
        "known": range(predictive, predictive + known),
        "unknown": range(predictive + known, whole),
        "nuisance": range(predictive, whole),
    }
    return Strands({name: part for name, part in strands.items() if part}, size=whole)
