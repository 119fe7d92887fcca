"""The sampling distribution of a dataset: holdout, correlated factors and training set size.

Unsupervised Disentanglement Learning by Intervention, 2021, App. B: a test set is held out first, and a training set is
then sampled from the remaining observations, with correlated or with independent factors. Any two factors of any
dataset can be correlated, with any strength.
"""

import inspect

from torch import Generator

from unbraid.data.dataset import Dataset
from unbraid.seeds import derive_seed


def apply_sampling(
    dataset: Dataset,
    *,
    correlate: tuple[str, ...] = (),
    correlation_sigma: float = 0.2,
    train_size: int = 0,
    holdout_size: int = 0,
    use_holdout: bool = False,
    split_seed: int = 0,
) -> Dataset:
    """The training observations of a dataset, optionally with two correlated factors, or the held-out observations.

    Args:
        dataset: Any dataset; the held-out observations keep its factor distribution.
        correlate: Two factors to correlate in training, such as pos_x,scale.
        correlation_sigma: Width σ of exp(-(v1 - v2)² / 2σ²), with both scaled to [0, 1]; smaller is more correlated.
        train_size: Number of training observations, sampled once with replacement; 0 uses all.
        holdout_size: Number of test observations held out before correlating. Datasets with instances hold out whole
            instances, as close to the number as possible.
        use_holdout: Use the held-out observations instead of the training set.
        split_seed: Random seed for the holdout split and the resampling.
    """
    if train_size < 0 or holdout_size < 0:
        raise ValueError(
            f"train_size and holdout_size must be at least 0; got {train_size} and {holdout_size}."
        )
    if correlate and (len(correlate) != 2 or correlate[0] == correlate[1]):
        raise ValueError(
            f"correlate takes two different factors, such as pos_x,scale; got {','.join(correlate)}."
        )
    if use_holdout and not holdout_size:
        raise ValueError("--use-holdout requires --holdout-size, the number of observations to hold out.")
    name, kept, held_out = dataset.name, dataset, dataset
    if holdout_size:
        _check_holdout(dataset, holdout_size)
        kept, held_out = dataset.split(holdout_size / len(dataset), _generator(split_seed, "held out"))
    if use_holdout:
        return held_out.replace(name=f"{name}-test")
    if correlate:
        first, second = correlate
        kept = kept.with_factor_distribution(
            lambda space: space.correlated(first, second, sigma=correlation_sigma)
        )
        kept = kept.replace(name=f"{name}-{first}-{second}")
    return kept.resampled(train_size, _generator(split_seed, "resample")) if train_size else kept


def _check_holdout(dataset: Dataset, size: int) -> None:
    """Raises unless the holdout leaves observations, or instances, on both sides."""
    total, count = len(dataset), dataset.num_instances
    if size >= total:
        raise ValueError(
            f"{dataset.name} has {total} observations, so at most {total - 1} can be held out; got holdout_size={size}."
        )
    instances = round(count * size / total)
    if not 0 < instances < count:
        raise ValueError(
            f"{dataset.name} has {total} observations of {count} instances, and whole instances are held out, 1 to "
            f"{count - 1} of them; holdout_size={size} would be {instances}."
        )


def _generator(seed: int, purpose: str) -> Generator:
    return Generator().manual_seed(derive_seed(seed, purpose))


SAMPLING_OPTIONS = {
    name: parameter
    for name, parameter in inspect.signature(apply_sampling).parameters.items()
    if name != "dataset"
}
