"""The losses and players of intervention autoencoders, src/unbraid/methods/intervention_losses.py."""

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from tests.tiny import batch_for, images, make
from unbraid.data import Dataset
from unbraid.methods import Intervention
from unbraid.objectives import Normal
from unbraid.training.train import train
from unbraid.types import Batch


class Identity(nn.Module):
    """Rows whose code and reconstruction are the rows."""

    latent_dim, shape = 4, (4,)

    def forward(self, x: Tensor) -> Tensor:
        return x


class Thousandth(Normal):
    """Means of one thousandth of the decoder output."""

    def mean(self, parameters: Tensor) -> Tensor:
        return parameters / 1000


class ConstantHead(nn.Module):
    """The same logit, or log W, for every row."""

    def __init__(self, value: float) -> None:
        super().__init__()
        self.value = nn.Parameter(torch.tensor(value, dtype=torch.float64))

    def forward(self, x: Tensor) -> Tensor:
        return self.value.expand(len(x), 1)


def ideal(**settings: float) -> Intervention:
    plain = {
        "num_features": 2,
        "feature_dim": 2,
        "lambda_translation": 0.0,
        "likelihood": Normal(),
    } | settings
    return Intervention(Identity(), Identity(), ConstantHead(0.0), ConstantHead(0.0), **plain)  # type: ignore[arg-type]


def rows(seed: int = 0, size: int = 6) -> Batch:
    return Batch(torch.randn(size, 4, generator=torch.Generator().manual_seed(seed), dtype=torch.float64))


def test_intervening_twice_returns_the_original_of_a_perfect_autoencoder() -> None:
    """Prop. 1: L_in compares the image with itself, so its value is that of an exact reconstruction."""
    method, batch = ideal(), rows()
    terms = method.loss(batch, rows(1))
    exact = Normal().nll(batch.x, batch.x)
    assert_close(terms.by_name["cycle"], exact)
    assert_close(terms.by_name["nll"], exact)


def test_an_intervention_sets_all_dimensions_of_one_feature() -> None:
    method, batch, other = ideal(), rows(size=400), rows(1, 400)
    x_hat, x_do = method.intervened(batch, other)
    assert_close(x_hat, batch.x)
    changed = (x_do != batch.x).view(-1, 2, 2)
    assert torch.equal(changed[..., 0], changed[..., 1]) and (changed[..., 0].sum(1) == 1).all()
    assert_close(torch.where(changed.flatten(1), other.x, batch.x), x_do)
    assert 150 < int(changed[:, 0, 0].sum()) < 250  # both equally often


@pytest.mark.parametrize("saturating", [True, False])
def test_every_player_s_loss_by_hand(saturating: bool) -> None:
    """Networks that are far from ideal: the second intervention encodes what the first made, L_adv has W and Disc of
    that too, the discriminator maximizes it with reconstructions as what is real, and W minimizes it."""
    method = make(Intervention, lambda_adv=1.0, lambda_translation=0.0, saturating=saturating)
    batch, other = batch_for(Intervention), batch_for(Intervention, seed=5)
    torch.manual_seed(1)
    parts = method.loss(batch, other).by_name
    torch.manual_seed(1)
    z, z_r = method.encode(batch.x), method.encode(other.x)
    chosen = method.sample_feature_mask(z)
    x_hat, x_do = method.decode(z), method.decode(torch.where(chosen, z_r, z))
    back = method.decode(torch.where(chosen, z, method.encode(x_do)))
    expected = nn.functional.binary_cross_entropy(back, batch.x, reduction="sum") / len(back)
    assert_close(parts["cycle"], expected)
    assert (expected - parts["nll"]).abs() > 0.01
    real, fake = (method.discriminator(x)[:, 0].sigmoid() for x in (x_hat, x_do))
    w = method.weights(x_do)[:, 0].exp()
    w = w / w.mean()
    assert w.std() > 0.01 and (real.mean() - fake.mean()).abs() > 1e-3
    against = (w * (1 - fake).log()).mean()
    assert_close(parts["adversarial"], against if saturating else -(w * fake.log()).mean())
    given = batch, other, x_hat, x_do
    assert_close(method.discriminator_loss(*given).total, -(real.log().mean() + against))
    assert_close(method.weights_loss(*given).total, against)


def test_an_odd_batch_alone_is_cut_in_halves_without_its_last() -> None:
    method, x = make(Intervention), images(9)
    torch.manual_seed(1)
    alone = method.loss(Batch(x)).total
    torch.manual_seed(1)
    assert_close(alone, method.loss(Batch(x[:4]), Batch(x[4:8])).total)


def test_the_adversarial_loss_of_a_guess() -> None:
    """Disc = ½ everywhere: log ½ for the intervened, and for the discriminator 2 log 2 in all."""
    method = ideal(lambda_adv=1.0, lambda_cycle=0.0)
    log2 = torch.log(torch.tensor(2.0, dtype=torch.float64))
    assert_close(method.loss(rows(), rows(1)).by_name["adversarial"], -log2)
    assert_close(method.discriminator_loss(rows(), rows(1)).total, 2 * log2)
    assert_close(method.weights_loss(rows(), rows(1)).by_name["max_weight"], torch.ones_like(log2))


def test_gradients_reach_the_parameters_of_the_player_only() -> None:
    """Each loss has a gradient for the parameters of its player."""
    method = make(Intervention)
    batches = batch_for(Intervention), batch_for(Intervention, seed=5)
    names = {id(parameter): name.split(".")[0] for name, parameter in method.named_parameters()}
    for loss, own in ((method.discriminator_loss, {"discriminator"}), (method.weights_loss, {"weights"})):
        method.zero_grad()
        loss(*batches).total.backward()
        reached = {names[id(p)] for p in method.parameters() if p.grad is not None and p.grad.any()}
        others = {"discriminator"} if own == {"weights"} else set()  # through which W's loss is computed
        assert own <= reached <= own | others
    assert [player.name for player in method.players()] == ["autoencoder", "discriminator", "weights"]
    owned = [{names[id(p)] for p in player.parameters} for player in method.players()]
    assert owned == [{"encoder", "decoder"}, {"discriminator"}, {"weights"}]
    assert method.players()[2].optimizer.lr == 1e-5


def test_real_images_pass_gradients_only_when_asked() -> None:
    torch.manual_seed(0)
    method = make(Intervention, lambda_cycle=0.0, lambda_adv=1.0, lambda_translation=0.0)
    batches = batch_for(Intervention), batch_for(Intervention, seed=5)

    def gradient() -> Tensor:
        torch.manual_seed(1)
        return torch.autograd.grad(
            method.loss(*batches).by_name["adversarial"], [*method.decoder.parameters()][-1]
        )[0]

    without = gradient()
    method.real_gradient = True
    assert not torch.allclose(gradient(), without)


def test_dead_features_are_counted_out() -> None:
    """Two features of two dimensions. The second makes none of the variance, half of it, and a part in ten thousand; a
    decoder that makes everything a thousand times smaller leaves none of the observations' variance to either."""
    for part, expected in ((0.0, 1), (1.0, 2), (0.01, 1)):
        method, scale = ideal(), torch.tensor([1.0, 1.0, part, part], dtype=torch.float64)
        batch, other = (Batch(rows(seed, 64).x * scale) for seed in (0, 1))
        assert method.loss(batch, other).by_name["active"] == expected
    collapsed = ideal()
    collapsed.likelihood = Thousandth()
    assert collapsed.loss(rows(0, 64), rows(1, 64)).by_name["active"] == 0


def test_unrolled_and_first_order_give_the_same_loss_and_other_gradients() -> None:
    first, unrolled = make(Intervention), make(Intervention, unrolled=True)
    batches = batch_for(Intervention), batch_for(Intervention, seed=5)
    results = []
    for method in (first, unrolled):
        torch.manual_seed(1)
        difficulty = method.loss(*batches).by_name["translation"]
        results.append((difficulty, torch.autograd.grad(difficulty, [*method.decoder.parameters()])[-1]))
    assert_close(results[0][0], results[1][0])
    assert not torch.allclose(results[0][1], results[1][1])


def test_fewer_images_than_two_batches_are_refused_before_training(tmp_path: Path) -> None:
    dataset = Dataset(torch.zeros(15, 1, 3, 3, dtype=torch.uint8), name="few")
    needed = "intervention needs 16 observations for 2 batches of 8, and the training split of few has 15"
    with pytest.raises(ValueError, match=needed):
        train(make(Intervention).float(), dataset, out=tmp_path / "run", steps=1, batch_size=8, device="cpu")
    dataset = Dataset(torch.zeros(20, 1, 3, 3, dtype=torch.uint8), name="few")
    settings = {"steps": 1, "batch_size": 8, "device": "cpu", "val_fraction": 0.5}
    with pytest.raises(
        ValueError,
        match=r"training split of few has 10\. .* a smaller --batch-size or --val-fraction, or more data",
    ):
        train(make(Intervention).float(), dataset, out=tmp_path / "run", **settings)
    assert not (tmp_path / "run").exists()
