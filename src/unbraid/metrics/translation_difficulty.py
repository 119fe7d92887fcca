"""How hard it is to translate images in which one feature is set to a value into those in which it is set to
another. Unsupervised Disentanglement Learning by Intervention, 2021, Sec. 3 and Algorithm 1. No labels are needed.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from unbraid.metrics.arrays import as_codes
from unbraid.metrics.probe import as_columns

if TYPE_CHECKING:
    from torch import Tensor

Generate = Callable[[np.ndarray], np.ndarray]
DEAD = 0.05  # of the largest change that a feature makes


class TranslationDifficulty(NamedTuple):
    score: float  # mean over features, in nats per image; the lower, the easier, and the better the features come apart
    per_feature: Float[np.ndarray, " k"]
    change: Float[np.ndarray, " k"]  # how far the images of a feature's two values lie apart: squares, summed
    active: Bool[np.ndarray, " k"]  # whether a feature changes the image at all
    features: tuple[str, ...]
    steps: int
    rate: float
    width: int
    values: int
    images: int
    n: int


def translation_difficulty(
    generate: Generate,
    whole_codes: np.ndarray,
    *,
    features: Mapping[str, Sequence[int]] | None = None,
    rng: np.random.Generator,
    steps: int = 100,
    rate: float = 3e-3,
    width: int = 8,
    values: int = 1,
    images: int = 256,
    batch: int = 64,
    device: str = "cpu",
) -> TranslationDifficulty:
    r"""What a small network that learns to translate still misses on other images.

    .. math:: E_{k, a, b} \; KL(\tilde v \,\|\, M(\tilde u)), \quad \tilde u = \hat x(Z_k = z_k^a),\;
              \tilde v = \hat x(Z_k = z_k^b)

    For each feature, `values` times: two of its values are taken from random codes, `images` codes have it set to
    either, and a fresh network M learns from one image to the other for some `steps` of Adam on batches; as many
    other codes test it. The entropy of the target is subtracted from the cross-entropy of Eq. 2, so that images
    with grey pixels are not harder. Lower is better.

    Known limits: what makes no difference to the image is easily translated, and so is what decides all of it. A
    model with few active features may come out better than it is: see `active`.

    Args:
        generate: Codes to images between 0 and 1.
        whole_codes: Codes of observations, (n, d), as `generate` takes them; at least two batches of them.
        features: The columns of each feature; each column is one by default.
        rng: Of the values, the codes, the network's weights and its batches.
        steps: Of training.
        rate: Of Adam.
        width: Channels of the network's first layer.
        values: Pairs of values for each feature.
        images: To learn from, and as many to test on.
        batch: Images in a step.
        device: Where to train.
    """
    codes = as_codes(whole_codes, name="whole_codes")
    chosen = as_features(features, codes.shape[1])
    if len(codes) < 2 * batch:
        raise ValueError(
            f"A translation is learned from one batch of {batch} images and tested on another; got {len(codes)} codes: "
            "pass more, or a smaller batch."
        )
    if min(steps, width, values) < 1 or images < batch:
        raise ValueError(
            f"steps, width and values must be at least 1 and images at least a batch of {batch}; got {steps}, {width}, "
            f"{values} and {images}."
        )
    count = min(images, len(codes) // 2)
    difficulty, change = np.zeros((values, len(chosen))), np.zeros((values, len(chosen)))
    for turn in range(values):
        for place, columns in enumerate(chosen.values()):
            a, b = codes[rng.choice(len(codes), 2, replace=False)][:, columns]
            rows = codes[rng.choice(len(codes), 2 * count, replace=False)]
            u, v = (_decoded(generate, rows, columns, value) for value in (a, b))
            difficulty[turn, place] = _miss(u, v, rng, steps, rate, width, batch, device)
            change[turn, place] = np.square(u - v).reshape(len(u), -1).sum(1).mean()
    moved = change.mean(0)
    return TranslationDifficulty(
        float(difficulty.mean()),
        difficulty.mean(0),
        moved,
        moved > DEAD * moved.max(),
        tuple(chosen),
        steps,
        rate,
        width,
        values,
        images,
        len(codes),
    )


def as_features(features: Mapping[str, Sequence[int]] | None, columns: int) -> dict[str, np.ndarray]:
    """The columns of each feature, of which there must be two."""
    chosen = {f"code {j}": [j] for j in range(columns)} if features is None else features
    checked = {name: as_columns(part, columns, name) for name, part in chosen.items()}
    if len(checked) < 2:
        raise ValueError(f"Features are compared, so there must be at least 2; got {len(checked)}.")
    return checked


def with_columns(codes: np.ndarray, columns: np.ndarray, value: np.ndarray) -> np.ndarray:
    """The codes with some columns set."""
    changed = codes.copy()
    changed[:, columns] = value
    return changed


def _decoded(generate: Generate, codes: np.ndarray, columns: np.ndarray, value: np.ndarray) -> np.ndarray:
    pictures = np.asarray(generate(with_columns(codes, columns, value)), np.float32)
    if len(pictures) != len(codes) or pictures.min() < 0 or pictures.max() > 1:
        raise ValueError("generate must give one image between 0 and 1 for each code: choose another metric.")
    return pictures


def _miss(
    u: np.ndarray,
    v: np.ndarray,
    rng: np.random.Generator,
    steps: int,
    rate: float,
    width: int,
    batch: int,
    device: str,
) -> float:
    """What is missed on the second half of the images after learning from the first."""
    import torch

    from unbraid.nn.translator import Translator

    half = len(u) // 2
    sources, targets = (torch.from_numpy(pictures).to(device) for pictures in (u, v))
    with torch.random.fork_rng():
        torch.manual_seed(int(rng.integers(2**31)))
        translator = Translator(u.shape[1:], width=width).to(device)
    adam = torch.optim.Adam(translator.parameters(), lr=rate)
    for _ in range(steps):
        rows = torch.from_numpy(rng.choice(half, batch, replace=False)).to(device)
        adam.zero_grad()
        _divergence(translator(sources[rows]), targets[rows]).backward()
        adam.step()
    with torch.no_grad():
        return float(_divergence(translator(sources[half:]), targets[half:]))


def _divergence(logits: "Tensor", target: "Tensor") -> "Tensor":
    """The cross-entropy less the target's entropy, summed over pixels, a mean over images."""
    import torch
    from torch.nn import functional as F

    crossed = F.binary_cross_entropy_with_logits(logits, target, reduction="sum")
    entropy = torch.special.entr(target).sum() + torch.special.entr(1 - target).sum()
    return (crossed - entropy) / len(target)
