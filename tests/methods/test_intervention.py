"""Interventions that undo themselves, gradients that stay on their side, src/unbraid/methods/intervention.py."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector
from torch.testing import assert_close

from tests.tiny import SHAPE, batch_for, batches_remembered, images, larger_images, make, normalised
from unbraid.data import Dataset
from unbraid.game import Game
from unbraid.methods import Intervention
from unbraid.methods.assemble import assemble
from unbraid.nn import Features, Joined, MLPDecoder, MLPEncoder
from unbraid.objectives import Bernoulli, Normal, kl_to_standard_normal, two_of
from unbraid.optimisers import Adam
from unbraid.schedules import Linear
from unbraid.train import train
from unbraid.types import Batch, Gaussian


class Ideal(nn.Module):
    """Rows that are their own code."""

    codes, shape = 4, (4,)

    def forward(self, x: Tensor) -> Tensor:
        return x


class Thousandth(Normal):
    """Everything that is decoded, a thousand times smaller."""

    def mean(self, parameters: Tensor) -> Tensor:
        return parameters / 1000


class Judge(nn.Module):
    """The same logit, or log W, for every row."""

    def __init__(self, value: float) -> None:
        super().__init__()
        self.value = nn.Parameter(torch.tensor(value, dtype=torch.float64))

    def forward(self, x: Tensor) -> Tensor:
        return self.value.expand(len(x), 1)


def ideal(**settings: float) -> Intervention:
    plain = {"features": 2, "dimensions": 2, "translation": 0.0, "likelihood": Normal()} | settings
    return Intervention(Ideal(), Ideal(), Judge(0.0), Judge(0.0), **plain)  # type: ignore[arg-type]


def rows(seed: int = 0, size: int = 6) -> Batch:
    return Batch(torch.randn(size, 4, generator=torch.Generator().manual_seed(seed), dtype=torch.float64))


def test_intervening_twice_returns_the_original_of_a_perfect_autoencoder() -> None:
    """Prop. 1: what L_in compares with the image is the image, so that it is what no error costs."""
    method, batch = ideal(), rows()
    terms = method.loss(batch, rows(1))
    exact = Normal().nll(batch.x, batch.x)
    assert_close(terms.parts["undo"], exact)
    assert_close(terms.parts["nll"], exact)


def test_an_intervention_sets_one_whole_feature_from_the_other_image() -> None:
    method, batch, other = ideal(), rows(size=400), rows(1, 400)
    x_hat, x_do = method.intervened(batch, other)
    assert_close(x_hat, batch.x)
    changed = (x_do != batch.x).view(-1, 2, 2)
    assert torch.equal(changed[..., 0], changed[..., 1]) and (changed[..., 0].sum(1) == 1).all()
    assert_close(torch.where(changed.flatten(1), other.x, batch.x), x_do)
    assert 150 < int(changed[:, 0, 0].sum()) < 250  # both equally often


def test_the_total_is_that_of_eq_3() -> None:
    method, batch, other = make(Intervention), batch_for(Intervention), batch_for(Intervention, seed=5)
    names = "undo", "adversary", "translation"
    for first, weights in ((1.0, (0.25, 10.0, 1.0)), (1.0, (0.0, 3.0, 2.0)), (0.0, (4.0, 0.0, 0.0))):
        method.reconstruct, method.undo, method.adversary, method.translation = bool(first), *weights
        torch.manual_seed(2)
        total, parts, _ = method.loss(batch, other)
        counted = {name: weight for name, weight in zip(names, weights, strict=True) if weight}
        assert parts.keys() == {"nll", *counted, "active"}
        terms = (weight * parts[name] for name, weight in counted.items())
        assert_close(total, sum(terms, start=first * parts["nll"]))


@pytest.mark.parametrize("saturating", [True, False])
def test_every_player_s_loss_by_hand(saturating: bool) -> None:
    """Networks that are far from ideal: the second intervention encodes what the first made, L_adv has W and Disc of
    that too, the discriminator maximises it with reconstructions as what is real, and W minimises it."""
    method = make(Intervention, adversary=1.0, translation=0.0, saturating=saturating)
    batch, other = batch_for(Intervention), batch_for(Intervention, seed=5)
    torch.manual_seed(1)
    parts = method.loss(batch, other).parts
    torch.manual_seed(1)
    z, z_r = method.encode(batch.x), method.encode(other.x)
    chosen = method.choose(z)
    x_hat, x_do = method.decode(z), method.decode(torch.where(chosen, z_r, z))
    back = method.decode(torch.where(chosen, z, method.encode(x_do)))
    expected = nn.functional.binary_cross_entropy(back, batch.x, reduction="sum") / len(back)
    assert_close(parts["undo"], expected)
    assert (expected - parts["nll"]).abs() > 0.01
    real, fake = (method.discriminator(x)[:, 0].sigmoid() for x in (x_hat, x_do))
    w = method.weights(x_do)[:, 0].exp()
    w = w / w.mean()
    assert w.std() > 0.01 and (real.mean() - fake.mean()).abs() > 1e-3
    against = (w * (1 - fake).log()).mean()
    assert_close(parts["adversary"], against if saturating else -(w * fake.log()).mean())
    given = batch, other, x_hat, x_do
    assert_close(method.discriminator_loss(*given).total, -(real.log().mean() + against))
    assert_close(method.weights_loss(*given).total, against)


def test_an_odd_batch_alone_is_cut_in_halves_without_its_last() -> None:
    method, x = make(Intervention), images(9)
    torch.manual_seed(1)
    alone = method.loss(Batch(x)).total
    torch.manual_seed(1)
    assert_close(alone, method.loss(Batch(x[:4]), Batch(x[4:8])).total)


def test_no_one_plays_for_a_term_that_is_left_out() -> None:
    everyone = "autoencoder", "discriminator", "weights"
    left_out: tuple[tuple[dict[str, Any], int], ...] = (
        ({"adversary": 0.0}, 1),
        ({"reweigh": False}, 2),
        ({"undo": 0.0}, 3),
    )
    for setting, players in left_out:
        found = tuple(player.name for player in make(Intervention, **setting).players())
        assert found == everyone[:players]


def test_the_adversarial_loss_of_a_guess() -> None:
    """Disc = ½ everywhere: log ½ for the intervened, and for the discriminator 2 log 2 in all."""
    method = ideal(adversary=1.0, undo=0.0)
    log2 = torch.log(torch.tensor(2.0, dtype=torch.float64))
    assert_close(method.loss(rows(), rows(1)).parts["adversary"], -log2)
    assert_close(method.discriminator_loss(rows(), rows(1)).total, 2 * log2)
    assert_close(method.weights_loss(rows(), rows(1)).parts["largest"], torch.ones_like(log2))


def test_gradients_stay_on_their_side() -> None:
    """The discriminator's loss reaches it alone, and so do those of the others; the loop takes them so."""
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
    assert method.players()[2].optimiser.rate == 1e-5


def test_real_images_pass_gradients_only_when_asked() -> None:
    torch.manual_seed(0)
    method = make(Intervention, undo=0.0, adversary=1.0, translation=0.0)
    batches = batch_for(Intervention), batch_for(Intervention, seed=5)

    def gradient() -> Tensor:
        torch.manual_seed(1)
        return torch.autograd.grad(
            method.loss(*batches).parts["adversary"], [*method.decoder.parameters()][-1]
        )[0]

    without = gradient()
    method.real_gradient = True
    assert not torch.allclose(gradient(), without)


def test_without_reweighing_all_weights_are_one_and_nobody_owns_them() -> None:
    method = make(Intervention, reweigh=False)
    assert_close(method.log_weights(images()), torch.zeros(8, dtype=torch.float64))
    assert [player.name for player in method.players()] == ["autoencoder", "discriminator"]


def test_dead_features_are_counted_out() -> None:
    """Two features of two dimensions. The second makes none of the variance, half of it, and a part in ten thousand; a
    decoder that makes everything a thousand times smaller leaves none of the observations' variance to either."""
    for part, expected in ((0.0, 1), (1.0, 2), (0.01, 1)):
        method, scale = ideal(), torch.tensor([1.0, 1.0, part, part], dtype=torch.float64)
        batch, other = (Batch(rows(seed, 64).x * scale) for seed in (0, 1))
        assert method.loss(batch, other).parts["active"] == expected
    collapsed = ideal()
    collapsed.likelihood = Thousandth()
    assert collapsed.loss(rows(0, 64), rows(1, 64)).parts["active"] == 0


def test_the_translator_learns_within_the_loss() -> None:
    """More steps of the inner loop leave less difficulty on average."""
    few, many = (make(Intervention, inner_steps=steps, inner_width=16) for steps in (1, 40))
    z, z_test = (few.encode(images(32, seed=seed)) for seed in (1, 2))

    def mean(method: Intervention) -> float:
        torch.manual_seed(0)
        return torch.stack([method.difficulty(z, z_test) for _ in range(8)]).mean().item()

    assert mean(many) < 0.5 * mean(few)


def test_the_printed_difficulty_is_the_cross_entropy_by_plain_descent() -> None:
    """Algorithm 1 in a slow form: the network with PyTorch's own descent, tested by Eq. 2."""
    method = make(
        Intervention, inner_adam=False, inner_rate=0.3, inner_steps=3, inner_shrink=1, above_entropy=False
    )
    z, z_test = (method.encode(images(8, seed=seed)) for seed in (1, 2))
    torch.manual_seed(0)
    found = method.difficulty(z, z_test)
    torch.manual_seed(0)
    a, b = two_of(z)
    chosen = method.one_free(torch.rand(1, 4)).expand(8, -1)
    u, v, u_test, v_test = (
        method.decode(torch.where(chosen, value.expand_as(codes), codes)).detach()
        for codes in (z, z_test)
        for value in (a, b)
    )
    weights = method._translator.fresh(v).requires_grad_()
    descent = torch.optim.SGD([weights], lr=0.3)
    for _ in range(3):
        descent.zero_grad()
        (method._translator.loss(weights, u, v) / 9).backward()
        descent.step()
    logits = method._translator.translate(weights, u_test)
    assert_close(found, nn.functional.binary_cross_entropy_with_logits(logits, v_test, reduction="sum") / 8)


def test_images_are_shrunk_by_what_divides_their_sides() -> None:
    with pytest.raises(ValueError, match=r"divides their height and width; got 3 for \(1, 8, 8\)"):
        assemble(Intervention, (1, 8, 8), n=10, inner_shrink=3, architecture="mlp-small")


def test_unrolled_and_first_order_give_the_same_loss_and_other_gradients() -> None:
    first, unrolled = make(Intervention), make(Intervention, unrolled=True)
    batches = batch_for(Intervention), batch_for(Intervention, seed=5)
    results = []
    for method in (first, unrolled):
        torch.manual_seed(1)
        difficulty = method.loss(*batches).parts["translation"]
        results.append((difficulty, torch.autograd.grad(difficulty, [*method.decoder.parameters()])[-1]))
    assert_close(results[0][0], results[1][0])
    assert not torch.allclose(results[0][1], results[1][1])


def test_a_bottleneck_draws_codes_and_pays_for_them() -> None:
    method = make(Intervention, bottleneck=2.0, translation=0.0, undo=0.0, adversary=0.0)
    total, parts, _ = method.loss(batch_for(Intervention), batch_for(Intervention, seed=5))
    assert_close(total, parts["nll"] + 2 * parts["kl"])
    assert method.encode(images()).shape == (8, 4) and method.prior(3).shape == (3, 4)
    with pytest.raises(ValueError, match="no prior to draw codes from"):
        make(Intervention).prior(3)


def test_a_bottleneck_opens_by_its_schedule() -> None:
    alone = {"bottleneck": 2.0, "translation": 0.0, "undo": 0.0, "adversary": 0.0}
    method = make(Intervention, opening=Linear(10.0, 1.0, 100), **alone)
    for step, weight in ((0, 20.0), (50, 11.0), (100, 2.0), (500, 2.0)):
        method.step.fill_(step)
        total, parts, _ = method.loss(batch_for(Intervention), batch_for(Intervention, seed=5))
        assert_close(total, parts["nll"] + weight * parts["kl"])
    with pytest.raises(ValueError, match="opening needs a bottleneck"):
        make(Intervention, opening=Linear(10.0, 1.0, 100))


@pytest.mark.parametrize("bottleneck", [0.0, 2.0])
def test_features_are_freed_one_after_the_other(bottleneck: float) -> None:
    """Those that are held carry nothing, cost nothing, and are not set to those of other images."""
    method = make(Intervention, features=3, dimensions=2, free=Linear(0.0, 4.0, 100), bottleneck=bottleneck)
    for step, free in ((0, 1), (49, 1), (50, 2), (75, 3), (500, 3)):
        method.step.fill_(step)
        z, z_r, kl = method.drawn(batch_for(Intervention), batch_for(Intervention, seed=5))
        for codes in (z, z_r, method.encode(images())):
            assert codes[:, : 2 * free].all() and not codes[:, 2 * free :].any()
        counts = torch.cat([method.choose(z) for _ in range(50)]).sum(0)
        assert counts[: 2 * free].all() and not counts[2 * free :].any()
        assert method.loss(batch_for(Intervention), batch_for(Intervention, seed=5)).total.isfinite()
        if kl is not None:
            out = method.encoder(batch_for(Intervention).x)
            assert_close(kl.sum(), kl_to_standard_normal(Gaussian(*(part[:, : 2 * free] for part in out))))


def test_a_feature_settles_when_the_next_one_is_free() -> None:
    """No loss moves its encoder any more, and it tells without noise what it tells; the newest one is drawn."""
    given = {"features": 3, "dimensions": 2, "bottleneck": 1.0, "free": Linear(1.0, 3.0, 10), "settled": True}
    method = normalised(Intervention, **given)
    encoder = method.encoder
    assert isinstance(encoder, Joined) and isinstance(encoder.first, Joined)
    own = [encoder.first.first, encoder.first.second, encoder.second]
    assert [part.codes for part in own] == [2, 2, 2] and len({id(part) for part in own}) == 3
    batches = Batch(larger_images()), Batch(larger_images(seed=5))
    for step, moving in ((0, [True, False, False]), (5, [False, True, False]), (10, [False, False, True])):
        method.zero_grad()
        method.step.fill_(step)
        codes = method.encode(batches[0].x)
        assert codes[:, : 2 * (1 + step // 5)].all()
        method.loss(*batches).total.backward()
        moved = [any(p.grad is not None and bool(p.grad.any()) for p in part.parameters()) for part in own]
        assert moved == moving
        means = method.encode(torch.cat([batch.x for batch in batches]))
        exact = torch.cat(method.drawn(*batches)[:2]).isclose(means)
        assert exact[:, : 2 * (step // 5)].all() and not exact[:, 2 * (step // 5) : 2 * (1 + step // 5)].any()
    for settings in ({"free": None}, {"bottleneck": 0.0}):
        with pytest.raises(ValueError, match="Features settle when the next one is freed"):
            normalised(Intervention, **given | settings)


def test_only_the_encoder_whose_turn_it_is_learns() -> None:
    """Also where the optimiser has momentum and decay."""
    method = small_in_turn()
    assert isinstance(method.encoder, Joined)
    game = Game(method, optimiser=Adam(1e-2, decay=0.1))
    kept = [parameters_to_vector(own.parameters()).clone() for own in method.encoder.encoders]
    for step in range(15):
        game.step(lambda: batch_for(Intervention), step)
        now = [parameters_to_vector(own.parameters()).clone() for own in method.encoder.encoders]
        assert [not before.equal(after) for before, after in zip(kept, now, strict=True)] == [
            place == step // 5 for place in range(3)
        ]
        kept = now
    assert not make(Intervention, features=3, free=Linear(1.0, 3.0, 10)).resting(0)


def test_settled_codes_that_tell_next_to_nothing_are_zero_for_those_after_them() -> None:
    """In training too: what is not encoded in the end cannot stand for what later features should tell."""
    method = small_in_turn(least=0.5)
    assert method.told is not None
    method.told.copy_(torch.tensor([0.4, 0.6, 0.1, 0.1, 0.1, 0.1]))
    for step, zero in ((4, {2, 3, 4, 5}), (5, {0, 4, 5}), (10, {0, 2, 3})):
        method.step.fill_(step)
        z, z_r, kl = method.drawn(batch_for(Intervention), batch_for(Intervention, seed=5))
        assert kl is not None
        for codes in (z, z_r, method.encode(images()), kl[None]):
            assert set((codes == 0).all(0).nonzero()[:, 0].tolist()) == zero


def test_settled_features_need_an_encoder_each() -> None:
    shared, two = MLPEncoder(SHAPE, 4), Joined(MLPEncoder(SHAPE, 1), MLPEncoder(SHAPE, 3))
    networks = MLPDecoder(4, SHAPE), Features(MLPEncoder(SHAPE, 1)), Features(MLPEncoder(SHAPE, 1))
    given = {"features": 2, "dimensions": 2, "bottleneck": 1.0, "free": Linear(1.0, 2.0, 5)}
    for encoder, got in ((shared, "got MLPEncoder"), (two, r"got Joined of \[1, 3\]")):
        with pytest.raises(ValueError, match=rf"Joined of 2 encoders with 2 codes each; {got}\."):
            Intervention(encoder, *networks, settled=True, **given)
    Game(Intervention(two, *networks, translation=0.0, **given).double()).step(
        lambda: batch_for(Intervention), 0
    )


def small_in_turn(**settings: Any) -> Intervention:
    """Three features of two dimensions that settle after five steps each."""
    given = {"features": 3, "dimensions": 2, "bottleneck": 1.0, "translation": 0.0, **settings}
    return make(Intervention, free=Linear(1.0, 3.0, 10), settled=True, **given)


def test_codes_that_tell_next_to_nothing_are_not_encoded() -> None:
    """What each tells is remembered from training; there, and with no such limit, all are encoded."""
    method = make(Intervention, features=2, dimensions=2, bottleneck=2.0, least=0.5)
    batches = batch_for(Intervention), batch_for(Intervention, seed=5)
    _, _, kl = method.drawn(*batches)
    assert kl is not None and method.told is not None
    assert not method.eval().encode(images()).any()  # before training nothing is known to be told
    method.loss(*batches)
    assert not method.told.any()  # only training is listened to
    method.train()
    for _ in range(800):
        method.listen(kl)
    assert_close(method.told, kl.detach(), rtol=1e-2, atol=0)
    method.told.copy_(torch.tensor([0.4, 0.6, 0.5, 0.1]))
    assert method.encode(images()).all()
    codes = method.eval().encode(images())
    assert not codes[:, [0, 3]].any() and codes[:, 1:3].all()
    assert make(Intervention, bottleneck=2.0).eval().encode(images()).all()
    with pytest.raises(ValueError, match="Without a bottleneck"):
        make(Intervention, least=0.5)


def test_a_guarded_feature_must_change_the_image() -> None:
    """What is missing of its share of the variance is paid for, by those alone that are free."""
    batches = batch_for(Intervention), batch_for(Intervention, seed=5)
    for free, missing in ((None, 0.3 + 0.1), (Linear(2.0, 4.0, 10), 0.3)):
        method = make(Intervention, features=3, guard=0.4, free=free, translation=0.0)
        shares = torch.tensor([0.1, 0.5, 0.3], dtype=torch.float64, requires_grad=True)
        lack = method.missing(shares)
        assert_close(lack, lack.new_tensor(missing))
        lack.backward()
        assert shares.grad is not None and shares.grad.tolist() == [-1, 0, 0 if free else -1]
    method, plain = (make(Intervention, guard=guard, translation=0.0, seed=3) for guard in (100.0, 0.0))
    totals = []
    for each in (method, plain):
        torch.manual_seed(1)
        totals.append(each.loss(*batches).total)
    assert totals[0] - totals[1] > 4e5 - 1e4  # four features, next to nothing of a hundred times the variance
    with pytest.raises(ValueError, match="guard"):
        make(Intervention, guard=-0.1)


def test_features_of_several_dimensions_are_strands() -> None:
    method = make(Intervention, features=2, dimensions=3)
    assert dict(method.strands) == {"codes": tuple(range(6)), "z0": (0, 1, 2), "z1": (3, 4, 5)}
    assert method.blocks == ("z0", "z1") and method.strands.default == "codes"
    assert make(Intervention).blocks == ()
    with pytest.raises(ValueError, match="There is no strand 'z2'"):
        method.strands["z2"]
    with pytest.raises(ValueError, match="Code 6 does not exist: the code has dimensions 0 to 5"):
        method.strands[6]


def test_bad_sizes_are_refused() -> None:
    encoder, decoder = Features(MLPEncoder((4,), 5, hidden=())), MLPDecoder(5, (4,), hidden=())
    judges = Judge(0.0), Judge(0.0)
    with pytest.raises(
        ValueError, match=r"strands have 6 codes in all, and the encoder puts out 5: .* or an encoder of 6"
    ):
        Intervention(encoder, decoder, *judges, features=3, dimensions=2)
    with pytest.raises(ValueError, match="Linear does not say how many codes it puts out"):
        Intervention(nn.Linear(4, 6), decoder, *judges, features=3, dimensions=2)
    six = MLPEncoder((4,), 6, hidden=())
    with pytest.raises(ValueError, match="are 6 codes, and the decoder takes 5: give a decoder of 6 codes"):
        Intervention(Features(six), decoder, *judges, features=3, dimensions=2)
    with pytest.raises(ValueError, match=r"has no spread: give unbraid\.nn\.Features of an encoder"):
        Intervention(six, MLPDecoder(6, (4,), hidden=()), *judges, features=3, dimensions=2)
    with pytest.raises(ValueError, match=r"at least 2 features of at least 1 dimension.*features=1"):
        assemble(Intervention, (4,), n=1, architecture="mlp", features=1)
    with pytest.raises(ValueError, match="inner_steps=0"):
        make(Intervention, inner_steps=0)


def test_fewer_images_than_two_batches_are_refused_before_training(tmp_path: Path) -> None:
    dataset = Dataset(torch.zeros(15, 1, 3, 3, dtype=torch.uint8), name="few")
    with pytest.raises(ValueError, match="needs 2 batches of different observations, 16 of them; few has 15"):
        train(make(Intervention).float(), dataset, out=tmp_path / "run", steps=1, batch=8, device="cpu")
    dataset = Dataset(torch.zeros(20, 1, 3, 3, dtype=torch.uint8), name="few")
    settings = {"steps": 1, "batch": 8, "device": "cpu", "validation": 0.5}
    with pytest.raises(
        ValueError, match=r"few has 10 to train on: .* a smaller validation part, or more data"
    ):
        train(make(Intervention).float(), dataset, out=tmp_path / "run", **settings)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("unrolled", [False, True])
def test_the_loop_trains_all_three_networks(unrolled: bool, tmp_path: Path) -> None:
    """With the translator inside the step, whose memory the loop measures first."""
    dataset = Dataset(torch.randint(0, 256, (40, 1, 3, 3), dtype=torch.uint8), name="noise")
    method = make(Intervention, unrolled=unrolled).float()
    before = [parameter.clone() for parameter in method.parameters()]
    train(method, dataset, out=tmp_path / "run", steps=2, batch=8, device="cpu", quiet=True)
    changed = [not torch.equal(*pair) for pair in zip(before, method.parameters(), strict=True)]
    assert all(changed)


def test_networks_are_those_of_the_papers_tables() -> None:
    method = assemble(Intervention, (1, 64, 64), n=1, architecture="conv-factor-vae")
    sizes = {name: sum(p.numel() for p in part.parameters()) for name, part in method.named_children()}
    trunk = (16 * 32 + 32) + (32 * 16 * 32 + 32) + (32 * 16 * 64 + 64) + (64 * 16 * 64 + 64) + 1025 * 128
    assert sizes["encoder"] == trunk + 129 * 10  # Table 4: the mean alone
    assert sizes["discriminator"] == sizes["weights"] == trunk + 129  # Table 5
    assert isinstance(method.likelihood, Bernoulli)


def test_running_statistics_are_of_images_and_single_interventions() -> None:
    """Not of what is encoded and decoded again, nor of what is translated."""
    method = normalised(Intervention, reweigh=False, adversary=0.0)
    method.loss(Batch(larger_images(seed=1)), Batch(larger_images(seed=2)))
    assert batches_remembered(method.encoder) == batches_remembered(method.decoder) == {1}
