"""The plain CNN, src/unbraid/methods/cnn.py."""

import torch
from torch.nn import functional as F
from torch.testing import assert_close

from tests.tiny import batch_for, loss, make
from unbraid.methods.base import build_method
from unbraid.methods.cnn import CNN
from unbraid.nn import DeterministicEncoder
from unbraid.optimizers import Adam


def test_the_loss_is_the_cross_entropy_of_its_features() -> None:
    method, batch = make(CNN), batch_for(CNN)
    features = method.encoder(batch.x)
    terms = loss(method, batch)
    assert_close(terms.total, F.cross_entropy(method.classifier(features), batch.labels))
    assert_close(method.encode(batch.x), features)
    assert features.min() >= 0  # after a ReLU


def test_features_are_the_code() -> None:
    method = build_method(CNN, (3, 28, 28), n=1, classes=10)
    assert dict(method.strands) == {"features": tuple(range(128))}
    assert isinstance(method.encoder, DeterministicEncoder) and method.classifier.latent_dim == 128
    (player,) = method.players()
    assert player.optimizer == Adam(1e-3)


def test_it_learns_which_pixel_is_the_brightest() -> None:
    torch.manual_seed(0)
    x = torch.rand(256, 1, 3, 3)
    labels = x.flatten(1)[:, :3].argmax(1)
    method = make(CNN).float()
    optimizer = torch.optim.Adam(method.parameters(), lr=1e-2)
    batch = batch_for(CNN)._replace(x=x, labels=labels)
    for _ in range(200):
        optimizer.zero_grad()
        method.loss(batch).total.backward()
        optimizer.step()
    assert method.loss(batch).by_name["accuracy"] > 0.9
