"""Difficulty of translating images with one value of a feature into images with another. Unsupervised
Disentanglement Learning by Intervention, 2021, Sec. 3 and Algorithm 1. No labels are needed."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from unbraid.metrics.arrays import as_codes
from unbraid.metrics.probe import as_columns

Generate = Callable[[np.ndarray], np.ndarray]


class TranslationDifficulty(NamedTuple):
    score: float  # mean over features, in nats per image
    relative: (
        float  # mean loss relative to that of the mean image, over active features; 1 without active ones
    )
    active_features: float  # number of active features
    per_feature: Float[np.ndarray, " k"]
    relative_per_feature: Float[np.ndarray, " k"]  # 1 if the mean image predicts as well
    change: Float[np.ndarray, " k"]  # mean squared distance between the images of two values of a feature
    active: Bool[np.ndarray, " k"]
    features: tuple[str, ...]
    steps: int
    rate: float  # learning rate
    width: int
    values: int
    images: int
    n: int

    higher_is_better = False
    bounds = (0.0, None)
    undirected = ("active_features",)


def translation_difficulty(
    decode_fn: Generate,
    all_codes: np.ndarray,
    *,
    features: Mapping[str, Sequence[int]] | None = None,
    variance: float | None = None,
    rng: np.random.Generator,
    steps: int = 5,
    lr: float = 0.05,
    width: int = 32,
    values: int = 10,
    images: int = 64,
    device: str = "cpu",
) -> TranslationDifficulty:
    r"""Loss of a small network that translates between two values of a feature, in nats per image.

    .. math:: E_{k, a, b} \; KL(\tilde v \,\|\, M(\tilde u)), \quad \tilde u = \hat x(Z_k = z_k^a),\;
              \tilde v = \hat x(Z_k = z_k^b)

    For each feature and each of `values` repetitions, two values of the feature are taken from random codes. The
    feature of `images` codes is set to either value, and a new network M is trained for `steps` steps of Adam to
    translate one image into the other. It is tested on as many other codes. This is the loss L_diff of the intervention
    autoencoder (`unbraid.objectives.Translator`), on images resized to 16×16 pixels. The entropy of the target is
    subtracted from the cross-entropy of Eq. 2, so that images with gray pixels are not harder.

    Known limits: a feature that does not affect the image is easy to translate, and so is a feature that determines all
    of it. A decoder with constant output therefore has the best score. To choose a model, use `relative` (lower is
    better): it averages over active features only, and is 1 if the network is no better than the mean image. Features
    with a small effect remain easy, so compare only models of one kind.

    Args:
        decode_fn: Function from codes to images, which are clipped to [0, 1], or to rows, with a normal likelihood.
        all_codes: Codes of observations, (n, d), as `decode_fn` takes them; at least twice as many as `images`.
        features: Columns of each feature; default: one feature per column.
        variance: Variance of the observations, summed over pixels; a feature that causes more than a hundredth of it
            is active. Default: the variance of decoded images, for which features of a nearly constant decoder can be
            active.
        rng: Random generator of the values, the codes and the initial weights.
        steps: Number of training steps; default: 5.
        lr: Learning rate of Adam; default: 0.05.
        width: Width of the hidden layer; default: 32.
        values: Number of pairs of values per feature; default: 10.
        images: Number of training images, and of test images; default: 64.
        device: Device of the training; default: cpu.
    """
    import torch

    from unbraid.objectives import ACTIVE_VARIANCE_SHARE, variance_shares

    codes = as_codes(all_codes, name="all_codes")
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
    for repetition in range(values):
        for index, columns in enumerate(chosen.values()):
            a, b = codes[rng.choice(len(codes), 2, replace=False)][:, columns]
            rows = codes[rng.choice(len(codes), 2 * images, replace=False)]
            u, v = (_decoded(decode_fn, with_columns(rows, columns, value)) for value in (a, b))
            missed[repetition, index], by_mean[repetition, index] = _missed(
                u, v, rng, steps, lr, width, device
            )
            change[repetition, index] = np.square(u - v).reshape(len(u), -1).sum(1).mean()
    if variance is None:
        variance = float(_decoded(decode_fn, codes[: 2 * images]).var(0).sum())
    shares = variance_shares(torch.from_numpy(change.mean(0)), torch.tensor(variance))
    active = (shares > ACTIVE_VARIANCE_SHARE).numpy()
    per_feature, mean_loss = missed.mean(0), by_mean.mean(0)
    relative = np.divide(per_feature, mean_loss, out=np.ones(len(chosen)), where=mean_loss > per_feature)
    relative = relative.clip(min=0)
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
        lr,
        width,
        values,
        images,
        len(codes),
    )


def as_features(features: Mapping[str, Sequence[int]] | None, columns: int) -> dict[str, np.ndarray]:
    """The columns of each feature; raises for fewer than two features."""
    chosen = {f"dimension {j}": [j] for j in range(columns)} if features is None else features
    checked = {name: as_columns(feature, columns, name) for name, feature in chosen.items()}
    if len(checked) < 2:
        raise ValueError(f"Features are compared, so there must be at least 2; got {len(checked)}.")
    return checked


def with_columns(codes: np.ndarray, columns: np.ndarray, value: np.ndarray) -> np.ndarray:
    """A copy of the codes with some columns set to a value."""
    changed = codes.copy()
    changed[:, columns] = value
    return changed


def _decoded(decode_fn: Generate, codes: np.ndarray) -> np.ndarray:
    decoded = np.asarray(decode_fn(codes), np.float32)
    if len(decoded) != len(codes):
        raise ValueError(
            f"decode_fn must return one observation per code; got {len(decoded)} of {len(codes)}."
        )
    return decoded.clip(0, 1) if decoded.ndim == 4 else decoded


def _missed(
    u: np.ndarray,
    v: np.ndarray,
    rng: np.random.Generator,
    steps: int,
    lr: float,
    width: int,
    device: str,
) -> tuple[float, float]:
    """Test loss of a network trained on the first half of the images, and of the mean of that half."""
    import torch

    from unbraid.objectives import Bernoulli, MLPTranslator, Normal, Translator

    (u_train, u_test), (v_train, v_test) = (torch.from_numpy(images).to(device).chunk(2) for images in (u, v))
    likelihood = Bernoulli() if u.ndim == 4 else Normal()
    translator = Translator(u.shape[1:], MLPTranslator(width, steps, lr), likelihood=likelihood)
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(int(rng.integers(2**31)))
        missed = translator.difficulty(u_train, v_train, u_test, v_test)
    return float(missed), float(translator.mean_difficulty(v_train, v_test))
