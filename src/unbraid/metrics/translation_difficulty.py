"""How hard it is to translate images in which one feature is set to a value into those in which it is set to
another. Unsupervised Disentanglement Learning by Intervention, 2021, Sec. 3 and Algorithm 1. No labels are needed.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from unbraid.metrics.arrays import as_codes
from unbraid.metrics.probe import as_columns

Generate = Callable[[np.ndarray], np.ndarray]


class TranslationDifficulty(NamedTuple):
    score: float  # mean over features, in nats per image
    relative: float  # the share of what the mean image misses that is missed, over active features; 1 if there are none
    active_features: float  # how many
    per_feature: Float[np.ndarray, " k"]
    relative_per_feature: Float[np.ndarray, " k"]  # 1 where nothing is left that the mean image does not tell
    change: Float[np.ndarray, " k"]  # how far the images of a feature's two values lie apart: squares, summed
    active: Bool[np.ndarray, " k"]
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
    variance: float | None = None,
    rng: np.random.Generator,
    steps: int = 5,
    rate: float = 0.05,
    width: int = 32,
    values: int = 10,
    images: int = 64,
    device: str = "cpu",
) -> TranslationDifficulty:
    r"""What a small network that learns to translate still misses on other images.

    .. math:: E_{k, a, b} \; KL(\tilde v \,\|\, M(\tilde u)), \quad \tilde u = \hat x(Z_k = z_k^a),\;
              \tilde v = \hat x(Z_k = z_k^b)

    For each feature, `values` times: two of its values are taken from random codes, `images` codes have it set to
    either, and a fresh network M makes some `steps` of Adam from one image to the other; as many other codes test it.
    So it is the intervention autoencoder's loss L_diff (`unbraid.objectives.Translator`), on images shrunk to 16 pixels
    a side. The entropy of the target is subtracted from the cross-entropy of Eq. 2, so that images with grey pixels are
    not harder. Lower is better.

    Known limits: what makes no difference to the image is easily translated, and so is what decides all of it. So a
    decoder that decodes nothing has the best score there is. To choose a model, take `relative`: it counts active
    features alone, and what the mean image tells as well counts as missed. Features that change little stay easy, so
    compare models of one kind.

    Args:
        generate: Codes to images, which are cut off at 0 and 1, or to rows, whose likelihood is normal.
        whole_codes: Codes of observations, (n, d), as `generate` takes them; at least twice as many as `images`.
        features: The columns of each feature; each column is one by default.
        variance: Of the observations, summed over pixels; a feature that makes a hundredth of it is active. That of
            decoded images by default, which calls features of a decoder active that decodes nearly nothing.
        rng: Of the values, the codes and the network's weights.
        steps: Of training.
        rate: Of Adam.
        width: Of the network's hidden layer.
        values: Pairs of values for each feature.
        images: To learn from, and as many to test on.
        device: Where to train.
    """
    import torch

    from unbraid.objectives.feature_changes import LEAST, variance_shares

    codes = as_codes(whole_codes, name="whole_codes")
    chosen = as_features(features, codes.shape[1])
    if min(steps, width, values, images) < 1:
        raise ValueError(
            f"steps, width, values and images must be at least 1; got {steps}, {width}, {values} and {images}."
        )
    if len(codes) < 2 * images:
        raise ValueError(
            f"A translation is learned from {images} images and tested on as many others, which takes a sample of "
            f"{2 * images}; got {len(codes)}."
        )
    missed, by_mean, change = np.zeros((3, values, len(chosen)))
    for turn in range(values):
        for place, columns in enumerate(chosen.values()):
            a, b = codes[rng.choice(len(codes), 2, replace=False)][:, columns]
            rows = codes[rng.choice(len(codes), 2 * images, replace=False)]
            u, v = (_decoded(generate, with_columns(rows, columns, value)) for value in (a, b))
            missed[turn, place], by_mean[turn, place] = _missed(u, v, rng, steps, rate, width, device)
            change[turn, place] = np.square(u - v).reshape(len(u), -1).sum(1).mean()
    if variance is None:
        variance = float(_decoded(generate, codes[: 2 * images]).var(0).sum())
    shares = variance_shares(torch.from_numpy(change.mean(0)), torch.tensor(variance))
    active = (shares > LEAST).numpy()
    per_feature, told = missed.mean(0), by_mean.mean(0)
    relative = np.divide(per_feature, told, out=np.ones(len(chosen)), where=told > per_feature).clip(min=0)
    return TranslationDifficulty(
        float(per_feature.mean()),
        float(relative[active].mean()) if active.any() else 1.0,
        float(active.sum()),
        per_feature,
        relative,
        change.mean(0),
        active,
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


def _decoded(generate: Generate, codes: np.ndarray) -> np.ndarray:
    found = np.asarray(generate(codes), np.float32)
    if len(found) != len(codes):
        raise ValueError(
            f"generate must give one observation for each code; got {len(found)} of {len(codes)}."
        )
    return found.clip(0, 1) if found.ndim == 4 else found


def _missed(
    u: np.ndarray,
    v: np.ndarray,
    rng: np.random.Generator,
    steps: int,
    rate: float,
    width: int,
    device: str,
) -> tuple[float, float]:
    """What a network that learned from the first half of the images, and what their mean, misses on the second."""
    import torch

    from unbraid.objectives import Bernoulli, Normal, Translator

    (u_train, u_test), (v_train, v_test) = (torch.from_numpy(part).to(device).chunk(2) for part in (u, v))
    likelihood = Bernoulli() if u.ndim == 4 else Normal()
    translator = Translator(u.shape[1:], width=width, likelihood=likelihood)
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(int(rng.integers(2**31)))
        missed = translator.difficulty(u_train, v_train, u_test, v_test, steps=steps, rate=rate)
    return float(missed), float(translator.mean_difficulty(v_train, v_test))
