"""Variation predictability (VP). Zhu et al., 2020, Learning Disentangled Representations with Latent Variation
Predictability, arXiv:2007.12885. No labels are needed."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from unbraid.metrics.arrays import as_codes
from unbraid.metrics.translation_difficulty import as_features

FEWEST = 40  # pairs, so that a tenth of them are a few


class VariationPredictability(NamedTuple):
    score: float  # the best test accuracy
    last: float  # the accuracy after the last one
    chance: float  # of a guess
    curve: Float[np.ndarray, " e"]
    pairs: int
    epochs: int
    rate: float
    width: int
    n: int


def variation_predictability(
    generate: Callable[[np.ndarray], np.ndarray],
    whole_codes: np.ndarray,
    *,
    features: Mapping[str, Sequence[int]] | None = None,
    rng: np.random.Generator,
    pairs: int = 4_000,
    epochs: int = 20,
    rate: float = 0.01,
    width: int = 64,
    batch: int = 32,
    device: str = "cpu",
) -> VariationPredictability:
    """How often a small network tells from two images which feature they differ in.

    Pairs of images are made that differ in one feature. A network learns from a tenth of their differences and is
    tested on the others, five times while it learns; the best accuracy counts, as in the authors' code. There 200
    epochs are made, and each is tested; here as many as take a minute or two on two cores at 64×64.

    Args:
        generate: Codes to images.
        whole_codes: Codes of observations, (n, d), as `generate` takes them.
        features: The columns of each feature; each column is one by default.
        rng: Of the pairs, the network's weights and its batches.
        pairs: To learn from and to test on together.
        epochs: Of training.
        rate: Of Adam.
        width: Channels of the network's first layers; later ones have two and four times as many.
        batch: Pairs in a step.
        device: Where to train.
    """
    codes = as_codes(whole_codes, name="whole_codes")
    chosen = list(as_features(features, codes.shape[1]).values())
    if pairs < FEWEST or min(epochs, width, batch) < 1:
        raise ValueError(
            f"VP needs at least {FEWEST} pairs and 1 epoch, channel and pair a step; got {pairs}, {epochs}, {width} "
            f"and {batch}."
        )
    answers = rng.integers(len(chosen), size=pairs)
    rows, others = codes[rng.integers(len(codes), size=(2, pairs))]
    changed = rows.copy()
    for place, columns in enumerate(chosen):
        here = np.flatnonzero(answers == place)[:, None]
        changed[here, columns] = others[here, columns]
    differences = np.asarray(generate(changed), np.float32) - np.asarray(generate(rows), np.float32)
    curve = _learn(differences, answers, len(chosen), rng, epochs, rate, width, batch, device)
    return VariationPredictability(
        float(curve.max()), float(curve[-1]), 1 / len(chosen), curve, pairs, epochs, rate, width, len(codes)
    )


def _learn(
    differences: np.ndarray,
    answers: np.ndarray,
    features: int,
    rng: np.random.Generator,
    epochs: int,
    rate: float,
    width: int,
    batch: int,
    device: str,
) -> Float[np.ndarray, " e"]:
    """Test accuracy, five times in training at most."""
    import torch
    from torch.nn import functional as F

    x, y = torch.from_numpy(differences).to(device), torch.from_numpy(answers).to(device)
    count = len(x) // 10
    with torch.random.fork_rng():
        torch.manual_seed(int(rng.integers(2**31)))
        network = _network(differences.shape[1:], features, width).to(device)
    adam = torch.optim.Adam(network.parameters(), lr=rate)
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
        network.eval()
        with torch.no_grad():
            right = [
                (network(part).argmax(1) == z).sum()
                for part, z in zip(x[count:].split(512), y[count:].split(512), strict=True)
            ]
        curve.append(float(sum(right)) / (len(x) - count))
    return np.array(curve)


def _network(shape: tuple[int, ...], features: int, width: int) -> Any:
    """The authors' layers for images: one of 7 with stride 2, one of 3, a pooling, two of 3, and a mean over places.

    All are normalised over the batch: without that, differences of little contrast teach them nothing.
    """
    from math import prod

    from torch import nn

    if len(shape) != 3 or min(shape[1:]) < 8:
        return nn.Sequential(
            nn.Flatten(), nn.Linear(prod(shape), width), nn.ReLU(), nn.Linear(width, features)
        )

    def normalised(before: int, after: int, kernel: int, stride: int = 1) -> list[nn.Module]:
        convolution = nn.Conv2d(before, after, kernel, stride, kernel // 2, bias=False)
        return [convolution, nn.BatchNorm2d(after), nn.ReLU()]

    return nn.Sequential(
        *normalised(shape[0], width, 7, 2),
        *normalised(width, width, 3),
        nn.MaxPool2d(3, 2, 1),
        *normalised(width, 2 * width, 3),
        *normalised(2 * width, 4 * width, 3),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4 * width, features),
    )
