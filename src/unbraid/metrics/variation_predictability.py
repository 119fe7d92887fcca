"""Variation predictability (VP). Zhu et al., 2020, Learning Disentangled Representations with Latent Variation
Predictability, arXiv:2007.12885. No labels are needed."""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from unbraid.metrics.arrays import as_codes
from unbraid.metrics.translation_difficulty import as_features

MIN_PAIRS = 40


class VariationPredictability(NamedTuple):
    score: float  # maximum test accuracy
    last: float  # test accuracy after the last epoch
    chance: float  # accuracy of guessing: 1 / number of features
    curve: Float[np.ndarray, " e"]
    pairs: int
    epochs: int
    rate: float  # learning rate
    width: int
    n: int

    higher_is_better = True
    bounds = (0.0, 1.0)
    undirected = ("chance",)


def variation_predictability(
    decode_fn: Callable[[np.ndarray], np.ndarray],
    all_codes: np.ndarray,
    *,
    features: Mapping[str, Sequence[int]] | None = None,
    rng: np.random.Generator,
    pairs: int = 4_000,
    epochs: int = 20,
    lr: float = 0.01,
    width: int = 64,
    batch: int = 32,
    device: str = "cpu",
) -> VariationPredictability:
    """Accuracy of a small network that predicts in which feature two images differ.

    The images of each pair differ in one feature. A network is trained on a tenth of the differences and tested on the
    others up to five times during training. The score is the maximum accuracy, as in the authors' code. The authors
    train for 200 epochs and test after each; the default here takes one or two minutes on two cores at 64×64.

    Args:
        decode_fn: Function from codes to images.
        all_codes: Codes of observations, (n, d), as `decode_fn` takes them.
        features: Columns of each feature; default: one feature per column.
        rng: Random generator of the pairs, the initial weights and the batches.
        pairs: Number of pairs for training and testing together; default: 4,000.
        epochs: Number of training epochs; default: 20.
        lr: Learning rate of Adam; default: 0.01.
        width: Channels of the first layers; later layers have two and four times as many. Default: 64.
        batch: Number of pairs per training step; default: 32.
        device: Device of the training; default: cpu.
    """
    codes = as_codes(all_codes, name="all_codes")
    chosen = list(as_features(features, codes.shape[1]).values())
    if pairs < MIN_PAIRS or min(epochs, width, batch) < 1:
        raise ValueError(
            f"VP needs at least {MIN_PAIRS} pairs and 1 epoch, channel and pair per step; "
            f"got {pairs}, {epochs}, {width} and {batch}."
        )
    answers = rng.integers(len(chosen), size=pairs)
    rows, others = codes[rng.integers(len(codes), size=(2, pairs))]
    changed = rows.copy()
    for index, columns in enumerate(chosen):
        has_answer = np.flatnonzero(answers == index)[:, None]
        changed[has_answer, columns] = others[has_answer, columns]
    differences = np.asarray(decode_fn(changed), np.float32) - np.asarray(decode_fn(rows), np.float32)
    curve = _learn(differences, answers, len(chosen), rng, epochs, lr, width, batch, device)
    return VariationPredictability(
        float(curve.max()), float(curve[-1]), 1 / len(chosen), curve, pairs, epochs, lr, width, len(codes)
    )


def _learn(
    differences: np.ndarray,
    answers: np.ndarray,
    features: int,
    rng: np.random.Generator,
    epochs: int,
    lr: float,
    width: int,
    batch: int,
    device: str,
) -> Float[np.ndarray, " e"]:
    """Test accuracies at up to five times during training."""
    import torch
    from torch.nn import functional as F

    x, y = torch.from_numpy(differences).to(device), torch.from_numpy(answers).to(device)
    count = len(x) // 10
    with torch.random.fork_rng():
        torch.manual_seed(int(rng.integers(2**31)))
        network = _network(differences.shape[1:], features, width).to(device)
    adam = torch.optim.Adam(network.parameters(), lr=lr)
    curve = []
    pause = -(-epochs // 5)
    for epoch in range(1, epochs + 1):
        order = torch.from_numpy(rng.permutation(count)).to(device)
        network.train()
        for rows in order.split(batch):
            adam.zero_grad()
            F.cross_entropy(network(x[rows]), y[rows]).backward()
            adam.step()
        if epoch % pause and epoch < epochs:
            continue
        curve.append(_accuracy(network, x[count:], y[count:]))
    return np.array(curve)


def _accuracy(network: Any, x: Any, y: Any) -> float:
    """The share of differences that the network predicts, in the batches and the layout that suit the device."""
    import torch

    network, size = copy.deepcopy(network).eval(), 512
    if x.device.type == "cpu":
        network, size = network.to(memory_format=torch.channels_last), 32
    with torch.no_grad():
        correct = [
            (network(a).argmax(1) == b).sum() for a, b in zip(x.split(size), y.split(size), strict=True)
        ]
    return float(sum(correct)) / len(x)


def _network(shape: tuple[int, ...], features: int, width: int) -> Any:
    """The authors' layers for images: one of 7 with stride 2, one of 3, a pooling, two of 3, and a mean over positions.

    All have batch normalization; without it, they do not learn from differences of low contrast.
    """
    from math import prod

    from torch import nn

    if len(shape) != 3 or min(shape[1:]) < 8:
        return nn.Sequential(
            nn.Flatten(), nn.Linear(prod(shape), width), nn.ReLU(), nn.Linear(width, features)
        )

    def normalized(before: int, after: int, kernel: int, stride: int = 1) -> list[nn.Module]:
        convolution = nn.Conv2d(before, after, kernel, stride, kernel // 2, bias=False)
        return [convolution, nn.BatchNorm2d(after), nn.ReLU()]

    return nn.Sequential(
        *normalized(shape[0], width, 7, 2),
        *normalized(width, width, 3),
        nn.MaxPool2d(3, 2, 1),
        *normalized(width, 2 * width, 3),
        *normalized(2 * width, 4 * width, 3),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4 * width, features),
    )
