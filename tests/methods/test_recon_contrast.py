"""Slopes, limits, players and a slow rewriting of recon-contrast, src/unbraid/methods/recon_contrast.py."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from tests.tiny import (
    Formula,
    Itself,
    batch_for,
    images,
    loss,
    make,
    without_noise,
)
from unbraid.methods.base import build_method
from unbraid.methods.recon_contrast import ReconContrast, strands_of
from unbraid.methods.vae import VAE
from unbraid.objectives import Normal
from unbraid.runs import load
from unbraid.schedules import Linear
from unbraid.studies import Plan
from unbraid.types import Batch, Gaussian, PairBatch


def pairs(**fields: Any) -> PairBatch:
    return batch_for(ReconContrast)._replace(**fields)


def test_strands() -> None:
    strands = strands_of(2, 4)
    assert (
        dict(strands) == {"predictive": (0, 1), "nuisance": (2, 3, 4, 5)} and strands.default == "predictive"
    )
    expected = {
        "predictive": (0, 1),
        "known_nuisance": (3, 5),
        "unknown_nuisance": (2, 4),
        "nuisance": (2, 3, 4, 5),
    }
    assert dict(strands_of(2, 4, [1, 3])) == expected
    assert set(strands_of(2, 1, [0])) == {"predictive", "known_nuisance", "nuisance"}
    for sizes in ((0, 1), (1, 0)):
        with pytest.raises(
            ValueError, match=rf"at least 1; got predictive_dim={sizes[0]}, nuisance_dim={sizes[1]}"
        ):
            strands_of(*sizes)


def test_sizes_decide_the_networks() -> None:
    method = build_method(ReconContrast, (3, 28, 28), n=1, classes=10, predictive_dim=4, nuisance_dim=5)
    assert method.encoder.latent_dim == method.decoder.latent_dim == 9 and method.classifier.latent_dim == 4
    with pytest.raises(ValueError, match="must be at least 1"):  # and no warning of empty layers
        build_method(ReconContrast, (3, 28, 28), n=1, classes=10, predictive_dim=0)


def coder(**settings: Any) -> ReconContrast:
    """A method of zp and 20 nuisance dimensions, whose code is the row and whose image is the code."""
    sizes = {"predictive_dim": 1, "nuisance_dim": 20}
    return ReconContrast(
        Itself(21),
        Formula(lambda z: z),
        Formula(lambda z: z),
        **(sizes | settings),
        likelihood=Normal(0.5**0.5),
    )


def nuisances_in(*dims: int, k: int, size: int = 6) -> PairBatch:
    """Pairs of one class whose codes differ by 1, 2, … in these dimensions of zn."""
    x1 = torch.zeros(size, 21, dtype=torch.float64)
    x2 = x1.clone()
    for change, dim in enumerate(dims, start=1):
        x2[:, 1 + dim] = change
    return PairBatch(x1, x2, torch.full((size,), k), torch.zeros(size, dtype=torch.long))


@pytest.mark.parametrize("dims", [(0, 1), (18, 19), (3, 15)])
def test_no_dimension_of_zn_escapes_the_swap(dims: tuple[int, int]) -> None:
    """Eq. 5 searches all of zn. Two factors, each in a dimension: told one, the smaller change is swapped and costs
    its square, wherever in zn the two dimensions are; told two, nothing is lost."""
    with without_noise():
        assert_close(loss(coder(), nuisances_in(*dims, k=1)).by_name["swap"].item(), 1.0)
        assert_close(loss(coder(), nuisances_in(*dims, k=2)).by_name["swap"].item(), 0.0)


def test_one_factor_in_two_dimensions_costs_the_swap() -> None:
    """A factor that is not disentangled: k = 1, and one of its two dimensions is exchanged."""
    with without_noise():
        assert loss(coder(), nuisances_in(12, 13, k=1)).by_name["swap"] > 0.5


def test_known_nuisances_are_named_after_training() -> None:
    """Dimension 15 is always the one that changed most, dimension 2 in a third of the pairs told two changes."""
    method = coder()
    assert set(method.strands) == {"predictive", "nuisance"}
    method.on_train_end([nuisances_in(15, k=1, size=8), nuisances_in(2, 15, k=2, size=4)])
    assert_close(method.change_frequency[[2, 15]], torch.tensor([1 / 3, 1.0]))
    assert_close(method.change_frequency.sum().item(), 4 / 3)
    assert method.strands["known_nuisance"] == (3, 16) and len(method.strands["unknown_nuisance"]) == 18
    restored = coder()
    restored.load_state_dict(method.state_dict())
    assert dict(restored.strands) == dict(method.strands)


def test_known_nuisances_are_stored_with_the_run(tmp_path: Path) -> None:
    options = {
        "digits": "bundled",
        "architecture": "mlp-small",
        "steps": 2,
        "batch_size": 8,
        "nuisance_dim": 6,
    }
    run = Plan("recon-contrast", "colored-mnist", options).run(tmp_path / "run", device="cpu", quiet=True)
    method = load(run.folder, device="cpu").method
    assert isinstance(method, ReconContrast)
    assert_close(method.change_frequency, torch.from_numpy(run.weights()["change_frequency"].numpy()))
    assert 1 <= method.change_frequency.sum() <= 2  # of two colors one or both differ
    assert {"known_nuisance", "unknown_nuisance"} <= set(method.strands)


def test_the_classifier_reads_zp_or_its_direction() -> None:
    codes = torch.rand(8, 4, dtype=torch.float64)
    longer = codes * torch.tensor([3.0, 3.0, 1.0, 1.0])
    plain, direction = make(ReconContrast), make(ReconContrast, classify_direction=True)
    assert not torch.allclose(plain.classify(codes), plain.classify(longer))
    assert_close(direction.classify(codes), direction.classify(longer))
    assert_close(
        direction.classify(F.normalize(codes[:, :2]) @ torch.eye(2, 4).double()),
        plain.classify(F.normalize(codes[:, :2]) @ torch.eye(2, 4).double()),
    )


@pytest.mark.parametrize(
    ("weight", "part"),
    [
        ("lambda_swap", "swap"),
        ("lambda_contrast", "contrast"),
        ("lambda_average", "average"),
        ("beta", "kl"),
    ],
)
def test_raising_a_weight_by_one_adds_one_of_its_term(weight: str, part: str) -> None:
    low, high = (loss(make(ReconContrast, **{weight: value}), pairs()) for value in (1.0, 2.0))
    assert_close(high.total - low.total, low.by_name[part])


def test_without_its_weights_it_is_the_vae_on_both_images() -> None:
    batch = pairs()
    bare = make(ReconContrast, lambda_swap=0.0, lambda_contrast=0.0, lambda_average=0.0)
    vae = make(VAE)
    torch.manual_seed(2)
    mean, logvar = vae.posterior(torch.cat([batch.x1, batch.x2]))
    z = torch.cat([Gaussian(*q).sample() for q in zip(mean.chunk(2), logvar.chunk(2), strict=True)])
    kl = 0.5 * (mean**2 + logvar.exp() - 1 - logvar).sum(1).mean()
    nll = vae.likelihood.nll(vae.decoder(z), torch.cat([batch.x1, batch.x2]))
    assert_close(loss(bare, batch).total, nll + kl)
    alone = Batch(batch.x1)
    assert_close(bare.posterior(alone.x), vae.posterior(alone.x))


def test_schemes() -> None:
    """Table 5: joint adds the cross-entropy to the rest, and the last leaves the contrast out."""
    separate, joint, ce = (
        loss(make(ReconContrast, scheme=scheme, lambda_contrast=2.0, lambda_class=3.0), pairs())
        for scheme in ("separate", "joint", "cross-entropy")
    )
    assert "cross_entropy" not in separate.by_name and "contrast" not in ce.by_name
    assert_close(joint.total - separate.total, 3.0 * joint.by_name["cross_entropy"])
    assert_close(joint.total - ce.total, 2.0 * joint.by_name["contrast"])


def test_players_of_the_schemes() -> None:
    model, classifier = make(ReconContrast).players()
    assert (model.name, classifier.name) == ("model", "classifier")
    for scheme in ("joint", "cross-entropy"):
        (player,) = make(ReconContrast, scheme=scheme).players()
        assert player.name == "model"


def test_the_classifiers_gradient_never_reaches_the_encoder() -> None:
    method = make(ReconContrast)
    rest = [*method.encoder.parameters(), *method.decoder.parameters()]
    gradients = torch.autograd.grad(method.classifier_loss(pairs()).total, rest, allow_unused=True)
    assert all(gradient is None for gradient in gradients)
    gradients = torch.autograd.grad(
        method.loss(pairs()).total, [*method.classifier.parameters()], allow_unused=True
    )
    assert all(gradient is None for gradient in gradients)


def test_the_joint_scheme_lets_it_reach_the_encoder() -> None:
    method = make(ReconContrast, scheme="joint")
    ce = method.loss(pairs()).by_name["cross_entropy"]
    assert all(gradient.any() for gradient in torch.autograd.grad(ce, [*method.encoder.parameters()]))


def test_what_is_swapped_by_hand() -> None:
    """Predictive 1, nuisance 4; all variances 1, so the divergence is half the squared distance."""
    method = make(ReconContrast, predictive_dim=1, nuisance_dim=4)
    zero = torch.zeros(3, 5, dtype=torch.float64)
    moved = zero.clone()
    moved[:] = torch.tensor([9.0, 1.0, 3.0, 2.0, 9.0])
    swapped = method.swap_mask(Gaussian(zero, zero), Gaussian(moved, zero), torch.tensor([1, 2, 4]))
    assert swapped.tolist() == [
        [True, True, True, True, False],  # all of zn but the dimension that changed most
        [True, True, False, True, False],
        [True, False, False, False, False],  # k is the size of zn: none of it
    ]


def test_with_k_of_all_nuisances_and_equal_images_nothing_changes() -> None:
    """Then only zp is exchanged, between two draws of the same posterior."""
    method = make(ReconContrast)
    x = images()
    with torch.no_grad():
        method.encoder.heads.bias[4:] = -60.0  # type: ignore[index, union-attr]
        method.encoder.heads.weight[4:] = 0.0  # type: ignore[index, union-attr]
    assert_close(loss(method, pairs(x1=x, x2=x)).by_name["swap"].item(), 0.0, atol=1e-12, rtol=0.0)


def test_the_warm_up_by_amount_at_its_ends() -> None:
    method = make(ReconContrast, predictive_dim=1, nuisance_dim=3, swap_schedule=Linear(0.0, 1.0, 10))
    zero = torch.zeros(1, 4, dtype=torch.float64)
    moved = zero + torch.tensor([0.0, 1.0, 3.0, 2.0])
    asked = Gaussian(zero, zero), Gaussian(moved, zero), torch.tensor([1])
    assert method.swap_mask(*asked).tolist() == [[True, True, False, False]]  # the least changed one
    method.step += 10
    assert method.swap_mask(*asked).tolist() == [[True, True, False, True]]  # all but k


def test_equation_10_by_hand() -> None:
    """Four pixels and the codes zp and three nuisances, which are the pixels; variances 1, no noise, a decoder that
    doubles, logits (zp, 0), τ = 1, a likelihood of σ = 1. α, β, γ = 2, 3, 5.

    A pair of class 0, (1, 0, 0, 0) and (3, 1, 2, 1), and a pair of class 1 that is (-1, 0, 0, 0) twice. Each term is
    a mean over the four images, whose squared lengths are 1, 15, 1 and 1.

        L_VAE          a reconstruction misses its image by that image: ½ · 18 / 4 + 2 log 2π, and KL ½ · 18 / 4
        L_disentangle  k = 1: of the nuisances the second stays, which differs by 2. Exchanged are zp, 1 and 3, and
                       the others, 0 and 1: decoded ½ 2² (2² + 1² + 1²) = 12 for both, and 0 for the other pair
        L_z̄p           zp becomes 2 in class 0, which was 1 and 3: decoded ½ 2² 1² = 2 for both, and 0
        L_Sup          directions 1, 1, -1, -1: one positive at e beside two others at 1/e, log(1 + 2 / e²)
        L_CE           log(1 + 1/e) three times, log(1 + 1/e³) once
    """
    method = ReconContrast(
        Itself(4),
        Formula(lambda z: 2 * z),
        Formula(lambda z_p: torch.cat([z_p, torch.zeros_like(z_p)], 1)),
        predictive_dim=1,
        nuisance_dim=3,
        lambda_swap=2.0,
        lambda_contrast=3.0,
        lambda_average=5.0,
        temperature=1.0,
        scheme="joint",
        likelihood=Normal(1.0),
    )
    x1 = torch.tensor([[1.0, 0, 0, 0], [-1.0, 0, 0, 0]], dtype=torch.float64)
    x2 = torch.tensor([[3.0, 1, 2, 1], [-1.0, 0, 0, 0]], dtype=torch.float64)
    with without_noise():
        found = method.loss(PairBatch(x1, x2, torch.tensor([1, 1]), torch.tensor([0, 1])))
    contrast = math.log(1 + 2 * math.exp(-2))
    ce = (3 * math.log(1 + math.exp(-1)) + math.log(1 + math.exp(-3))) / 4
    expected = {"nll": 2.25 + 2 * math.log(2 * math.pi), "kl": 2.25, "swap": 6.0, "average": 1.0}
    expected |= {"contrast": contrast, "cross_entropy": ce, "accuracy": 1.0}
    assert_close({name: part.item() for name, part in found.by_name.items()}, expected)
    assert_close(found.total.item(), 4.5 + 2 * math.log(2 * math.pi) + 2 * 6 + 3 * contrast + 5 * 1 + ce)


def test_slow_rewriting() -> None:
    weights = {
        "lambda_swap": 2.0,
        "lambda_contrast": 3.0,
        "lambda_average": 5.0,
        "beta": 7.0,
        "temperature": 0.5,
    }
    method = make(ReconContrast, predictive_dim=2, nuisance_dim=3, **weights)
    batch = pairs(k=torch.tensor([1, 2] * 4))
    torch.manual_seed(2)
    draws = [torch.randn(8, 5, dtype=torch.float64) for _ in range(4)]
    noise, noise_p = torch.cat(draws[:2]), torch.cat(draws[2:])  # of z, then of the averaged code
    labels, x = batch.labels.tolist() * 2, torch.cat([batch.x1, batch.x2])  # type: ignore[union-attr]
    with torch.no_grad():
        mu, logvar = method.posterior(x)
    var, n = logvar.exp(), 16
    z = mu + var.sqrt() * noise
    direction = [row / row.norm() for row in mu[:, :2]]
    decoded = lambda code: method.decoder(code[None])[0]  # noqa: E731
    total = 0.0
    for i in range(n):
        pair, k = (i + 8) % n, int(batch.k[i % 8])
        first, second = sorted((i, pair))
        delta = {
            j: (var[first, j] + (mu[first, j] - mu[second, j]) ** 2) / (2 * var[second, j])
            + 0.5 * (logvar[second, j] - logvar[first, j])
            - 0.5
            for j in (2, 3, 4)
        }
        stay = sorted(delta, key=lambda j: float(delta[j]), reverse=True)[:k]
        hat = z[i].clone()
        for j in (0, 1, *(j for j in (2, 3, 4) if j not in stay)):
            hat[j] = z[pair, j]
        same = [j for j in range(n) if labels[j] == labels[i]]
        bar = z[i].clone()
        for j in (0, 1):
            mean, variance = (sum(values[c, j] for c in same) / len(same) for values in (mu, var))
            bar[j] = mean + variance.sqrt() * noise_p[i, j]
        logits = decoded(z[i])
        total += F.binary_cross_entropy_with_logits(logits, x[i], reduction="sum").item()
        total += 7.0 * 0.5 * (mu[i] ** 2 + var[i] - logvar[i] - 1).sum().item()
        total += 2.0 * (decoded(hat).sigmoid() - logits.sigmoid()).square().sum().item()
        total += 5.0 * (decoded(bar).sigmoid() - logits.sigmoid()).square().sum().item()
        below = sum(math.exp(float(direction[i] @ direction[a]) / 0.5) for a in range(n) if a != i)
        for p in same:
            if p != i:
                total -= 3.0 * (float(direction[i] @ direction[p]) / 0.5 - math.log(below)) / (len(same) - 1)
    assert_close(loss(method, batch).total.item(), total / n)


def test_a_temperature_of_zero_is_refused() -> None:
    with pytest.raises(
        ValueError, match="temperature must be above 0, because similarities are divided by it; got 0"
    ):
        make(ReconContrast, temperature=0.0)


def test_it_learns_a_class_apart_from_a_nuisance() -> None:
    """The class is one of three bright pixels, the nuisance a gray of the rest; codes of a class come together."""
    torch.manual_seed(0)
    labels = torch.randint(3, (64,))
    shown = torch.zeros(64, 9).scatter(1, labels[:, None], 1.0)
    x1, x2 = (torch.where(shown > 0, 1.0, 0.7 * torch.rand(64, 1)).view(-1, 1, 3, 3) for _ in range(2))
    batch = PairBatch(x1, x2, torch.ones(64, dtype=torch.long), labels)
    method = make(ReconContrast, lambda_contrast=10.0).float()
    optimizers = [torch.optim.Adam(player.parameters, lr=1e-2) for player in method.players()]
    for _ in range(300):
        for player, optimizer in zip(method.players(), optimizers, strict=True):
            optimizer.zero_grad()
            player.loss(batch).total.backward()
            optimizer.step()
    assert method.validation_loss(batch).by_name["accuracy"] > 0.95
    alike, apart = (
        math.log(127),
        math.log(127 / 3),
    )  # of codes all the same, and of codes that are their class
    assert loss(method, batch).by_name["contrast"] < 0.5 * (alike + apart)


def test_a_separate_encoder_of_zp() -> None:
    shape = (3, 28, 28)
    method = build_method(
        ReconContrast, shape, n=1, classes=10, predictive_dim=4, predictive_encoder="conv-standardized"
    )
    assert method.encoder.first.latent_dim == 4 and method.encoder.second.latent_dim == 20
    x = torch.rand(2, *shape)
    predictive = method.strands.mask(x.new_zeros(1, 24), "predictive")
    change = (method.encode(x + 0.5) - method.encode(x)).abs()
    assert change[:, predictive].max() < 1e-5 and change[:, ~predictive].max() > 1e-4
    with pytest.raises(ValueError, match="architecture"):
        build_method(ReconContrast, shape, n=1, classes=10, predictive_encoder="cone")
