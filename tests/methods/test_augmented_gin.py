"""Eq. 7 of augmented GIN, src/unbraid/methods/augmented_gin.py."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from tests.commandline import CommandLine
from tests.tiny import SHAPE, batch_for, loss, make
from unbraid.methods.augmented_gin import AugmentedGIN
from unbraid.methods.base import build_method
from unbraid.methods.gin import GIN
from unbraid.nn import RowFlow
from unbraid.types import Batch, SetBatch


def test_eq_7_by_hand() -> None:
    """A flow that is a permutation, one set {(0, 0, 0), (2, 0, 4)}: spreads 1, floor and 2."""
    method = AugmentedGIN(RowFlow((3,), blocks=1), noise=0.0, min_sigma=0.5).double()
    batch = SetBatch(torch.tensor([[[0.0, 0.0, 0.0], [2.0, 0.0, 4.0]]], dtype=torch.float64))
    expected = (0.5 + math.log(1)) + math.log(0.5) + (0.5 + math.log(2)) + 1.5 * math.log(2 * math.pi)
    assert_close(method.loss(batch).total.item(), expected)


def test_each_set_is_a_class_of_supervised_gin() -> None:
    batch = batch_for(AugmentedGIN, 3)
    augmented, supervised = make(AugmentedGIN, noise=0.0), make(GIN, noise=0.0)
    supervised.load_state_dict(augmented.state_dict())
    labels = torch.arange(3).repeat_interleave(3)
    flat = Batch(batch.x.flatten(0, 1), labels)
    assert_close(loss(supervised, flat).total, loss(augmented, batch).total)


def test_sets_do_not_mix() -> None:
    """The loss is the mean of the losses of the sets alone."""
    method, batch = make(AugmentedGIN, noise=0.0), batch_for(AugmentedGIN)
    alone = [loss(method, SetBatch(one[None])).total for one in batch.x]
    assert_close(loss(method, batch).total, torch.stack(alone).mean())


def test_an_encoder_that_outputs_the_moments_of_the_set_changes_nothing() -> None:
    """Its last layer puts out the very mean and log-variance of the one set there is."""
    method = make(AugmentedGIN, moments="encoder", noise=0.0)
    batch = SetBatch(batch_for(AugmentedGIN, 1).x)
    own = AugmentedGIN(method.flow, noise=0.0).double()
    z = method.encode(batch.x[0])
    heads = method.encoder.heads  # type: ignore[union-attr]
    with torch.no_grad():
        heads.weight.zero_()  # type: ignore[union-attr]
        heads.bias.copy_(torch.cat([z.mean(0), z.var(0, correction=0).log()]))  # type: ignore[union-attr]
    assert_close(loss(method, batch).total, loss(own, batch).total)
    with torch.no_grad():  # the set's own moments are the most likely ones
        heads.bias.add_(0.1)  # type: ignore[union-attr]
    assert loss(method, batch).total > loss(own, batch).total


def test_the_encoder_gets_a_gradient() -> None:
    method, batch = make(AugmentedGIN, moments="encoder"), batch_for(AugmentedGIN)
    gradients = torch.autograd.grad(loss(method, batch).total, list(method.parameters()))
    assert all(gradient.isfinite().all() and gradient.any() for gradient in gradients)


def test_an_encoder_goes_with_its_moments() -> None:
    with pytest.raises(
        ValueError, match="moments='encoder' and not allowed otherwise; got moments='encoder' and no encoder"
    ):
        AugmentedGIN(RowFlow((3,)), moments="encoder")
    method = build_method(AugmentedGIN, SHAPE, n=1, architecture="mlp", moments="encoder")
    assert method.encoder is not None and method.encoder.latent_dim == 9
    assert build_method(AugmentedGIN, SHAPE, n=1, architecture="mlp").encoder is None


@pytest.mark.parametrize(
    ("words", "message"),
    (
        (("--data", "mixture", "--set-size", 1), "A set needs at least 2 members"),
        (("--data", "mixture", "--augmented-latents", "0,12"), "different latents from 0 to 9; got (0, 12)"),
        (("--data", "mixture", "--augmentation-std", "wild"), "wild"),
        (("--data", "sprites", "--image-size", 18), "both sides must be multiples of 4; got (1, 18, 18)"),
        (("--data", "sprites", "--image-size", 16, "--transforms", "bend"), "'bend'"),
        (("--data", "credit"), "the rows of credit have no known latents"),
        (("--data", "broken.npz"), "not finite (NaN or ∞), the first in row 3"),
    ),
)
def test_bad_input_is_reported_in_one_sentence(
    unbraid: CommandLine,
    words: tuple[object, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    images = np.zeros((6, 8, 8), dtype=np.float32)
    images[3, 0, 0] = np.nan
    np.savez("broken.npz", images=images)
    answer = unbraid("train", "augmented-gin", *words, "--steps", 1, "--batch-size", 2, "--out", "run")
    assert message in answer.sentence and not Path("run").exists()
