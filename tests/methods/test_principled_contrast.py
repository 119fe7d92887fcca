"""Limits, slopes and a case that must be solved, src/unbraid/methods/principled_contrast.py."""

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from tests.tiny import Itself, images, loss, make
from unbraid.data.hidden_groups import hidden_groups, true_directions
from unbraid.methods import ContrastVAE, PrincipledContrast
from unbraid.metrics import w2
from unbraid.nn import MLPDecoder, MLPEncoder
from unbraid.objectives import Normal
from unbraid.schedules import Linear
from unbraid.types import ContrastBatch

BATCH = ContrastBatch(images(seed=1), images(seed=2))


def test_without_both_weights_it_is_eq_3() -> None:
    bare = loss(make(PrincipledContrast, lambda_c=0.0, lambda_z=0.0), BATCH)
    assert_close(bare.total, loss(make(ContrastVAE), BATCH).total)


def test_each_weight_adds_its_term_once() -> None:
    settings = {"lambda_c": 1.0, "lambda_z": 1.0, "beta": 2.0}
    low = loss(make(PrincipledContrast, **settings), BATCH)
    for name, term in (("lambda_c", "zero_salient"), ("lambda_z", "w2")):
        high = loss(make(PrincipledContrast, **(settings | {name: 2.0})), BATCH)
        assert_close(high.total - low.total, low.by_name[term])
    high = loss(make(PrincipledContrast, **(settings | {"beta": 3.0})), BATCH)
    assert_close(high.total - low.total, low.by_name["kl"] + low.by_name["kl_background"])


def test_a_cheap_salient_code_saves_a_share_of_its_divergence() -> None:
    q = make(PrincipledContrast).posterior(BATCH.target)
    mean, logvar = q.mean[:, 2:], q.logvar[:, 2:]
    salient = (mean**2 + logvar.exp() - logvar - 1).sum(1).mean() / 2
    full, cheap = (
        loss(make(PrincipledContrast, beta=3.0, salient_beta_factor=cost), BATCH) for cost in (1.0, 0.25)
    )
    assert_close(full.total - cheap.total, 3.0 * 0.75 * salient)
    assert_close(full.by_name, cheap.by_name)


def test_tightening_multiplies_both_weights_by_step() -> None:
    settings = {"lambda_c": 3.0, "lambda_z": 2.0, "lambda_schedule": Linear(0.0, 1.0, 4)}
    totals = []
    for step in (0, 1, 4):
        method = make(PrincipledContrast, **settings)
        method.step.fill_(step)
        totals.append(loss(method, BATCH))
    bare, parts = loss(make(PrincipledContrast, lambda_c=0.0, lambda_z=0.0), BATCH), totals[0].by_name
    assert_close(totals[0].total, bare.total)
    for share, terms in ((0.25, totals[1]), (1.0, totals[2])):
        assert_close(terms.total - bare.total, share * (3 * parts["zero_salient"] + 2 * parts["w2"]))


def test_the_terms_by_other_means() -> None:
    method = make(PrincipledContrast)
    parts = loss(method, BATCH).by_name
    q_y = method.posterior(BATCH.background)
    squares = q_y.mean[:, 2:] ** 2 + q_y.logvar[:, 2:].exp()  # Eq. 7's surrogate: ‖μ_s(y)‖² + ‖σ_s(y)‖²
    assert_close(parts["zero_salient"], squares.sum() / len(squares))
    torch.manual_seed(2)
    q_x, q_y = method.posteriors(*BATCH[:2])
    z_t, z_b = q_x.sample()[:, :2], q_y.sample()[:, :2]
    assert_close(parts["w2"].item(), w2(z_t.detach().numpy(), z_b.detach().numpy()).score)


def gradients(method: PrincipledContrast, term: str) -> dict[str, Tensor]:
    """The gradients of a term, by parameter; parameters without one are left out."""
    names, parameters = zip(*method.named_parameters(), strict=True)
    found = torch.autograd.grad(loss(method, BATCH).by_name[term], parameters, allow_unused=True)
    return {name: gradient for name, gradient in zip(names, found, strict=True) if gradient is not None}


def test_without_its_std_the_zero_salient_loss_is_that_of_the_mean() -> None:
    method = make(PrincipledContrast, zero_salient_std="none")
    terms, shared = loss(method, BATCH), loss(make(PrincipledContrast), BATCH)
    q_y = method.posterior(BATCH.background)
    assert_close(terms.by_name["zero_salient"], (q_y.mean[:, 2:] ** 2).sum(1).mean())
    std = q_y.logvar[:, 2:].exp().sum(1).mean()
    assert_close(shared.total - terms.total, std)
    assert not gradients(method, "zero_salient")["encoder.heads.bias"][6:].any()  # log-variances of s


def test_a_separate_head_keeps_the_std_of_the_background_out_of_the_shared_one() -> None:
    """The surrogate with σ_s(y) from a linear layer of its own on the same features; other terms do not change."""
    method = make(PrincipledContrast, zero_salient_std="separate-head")
    assert method.background_head is not None
    terms, shared = loss(method, BATCH), loss(make(PrincipledContrast), BATCH)
    q_y, features = method.posterior(BATCH.background), method.encoder.trunk(BATCH.background)  # type: ignore[operator]
    squares = (q_y.mean[:, 2:] ** 2).sum(1) + method.background_head(features).exp().sum(1)
    assert_close(terms.by_name["zero_salient"], squares.mean())
    for name in terms.by_name.keys() - {"zero_salient"}:
        assert_close(terms.by_name[name], shared.by_name[name])
    moved = gradients(method, "zero_salient")
    assert moved["background_head.weight"].any() and moved["encoder.trunk.1.weight"].any()
    assert not moved["encoder.heads.bias"][6:].any()
    assert gradients(make(PrincipledContrast), "zero_salient")["encoder.heads.bias"][6:].any()


def test_a_separate_head_needs_the_features_of_the_encoder() -> None:
    with pytest.raises(
        ValueError, match=r"requires an encoder with `trunk` and linear `heads`.*; Itself has none"
    ):
        make(PrincipledContrast, encoder=Itself(4), zero_salient_std="separate-head")


def test_the_transport_moves_common_codes_alone() -> None:
    method = make(PrincipledContrast)
    (gradient,) = torch.autograd.grad(loss(method, BATCH).by_name["w2"], method.encoder.heads.bias)  # type: ignore[union-attr]
    common, salient = [0, 1, 4, 5], [2, 3, 6, 7]  # means and log-variances
    assert gradient[common].any() and not gradient[salient].any()


def cosines_with_the_salient_plane(**weights: float) -> Tensor:
    """How far the plane that a linear model draws by its salient code is the one that groups lie in, hidden under
    louder variation that the background shares: both cosines are 1 when it is. The common code has room for all."""
    data = hidden_groups(observations=600, columns=10, loudness=4.0)
    assert data.background is not None
    x, y = data.observe(torch.arange(600)), data.background.observe(torch.arange(600))
    torch.manual_seed(0)
    encoder, decoder = MLPEncoder((10,), 10, hidden=()), MLPDecoder(10, (10,), hidden=())
    sizes = {"common_dim": 8, "salient_dim": 2}
    method = PrincipledContrast(encoder, decoder, **sizes, **weights, beta=1.0, likelihood=Normal(1.0))
    optimizer = torch.optim.Adam(method.parameters(), lr=0.02)
    for _ in range(400):
        rows = torch.randint(600, (2, 128))
        optimizer.zero_grad()
        method.loss(ContrastBatch(x[rows[0]], y[rows[1]])).total.backward()
        optimizer.step()
    with torch.no_grad():
        drawn = method.decode(torch.eye(10))[8:] - method.decode(torch.zeros(1, 10))
    _, plane = true_directions(columns=10)
    return torch.linalg.svdvals(torch.from_numpy(plane).float() @ torch.linalg.qr(drawn.T)[0])


def test_eq_8_recovers_a_known_salient_plane() -> None:
    assert cosines_with_the_salient_plane(lambda_c=1.0, lambda_z=1.0).min() > 0.97


def test_eq_3_does_not() -> None:
    assert cosines_with_the_salient_plane(lambda_c=0.0, lambda_z=0.0).min() < 0.5
