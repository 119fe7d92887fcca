"""Checks and conversions of the arguments that metrics take."""

from collections.abc import Collection

import numpy as np
from jaxtyping import Bool, Float, Int


def as_codes(
    codes: np.ndarray, *, name: str = "codes", samples: int | None = None, columns: int | None = None
) -> Float[np.ndarray, "n d"]:
    """The codes as float64, one row per sample and one column per dimension.

    `samples` and `columns` are the required numbers of rows and columns, if other arrays determine them.
    """
    codes = np.asarray(codes)
    if codes.ndim != 2:
        advice = f"; write {name}[:, None] for a single column" if codes.ndim == 1 else ""
        raise ValueError(f"{name} must be a table (samples, columns); got shape {codes.shape}{advice}.")
    if codes.dtype.kind not in "fiub":
        raise ValueError(f"{name} must be real numbers; got dtype {codes.dtype}; convert them to float64.")
    if codes.shape[1] == 0:
        raise ValueError(f"{name} must have at least one column; got shape {codes.shape}.")
    _check_samples(len(codes), samples, name)
    if columns is not None and codes.shape[1] != columns:
        raise ValueError(
            f"{name} must have {columns} columns like the codes they go with; got shape {codes.shape}."
        )
    codes = codes.astype(np.float64, copy=False)
    if not np.isfinite(codes).all():
        bad = np.flatnonzero(~np.isfinite(codes).all(axis=0))
        raise ValueError(
            f"{name} must be finite; columns {bad.tolist()} hold NaN or infinity; "
            "drop those samples or look for a run that diverged."
        )
    return codes


def as_factors(
    factors: np.ndarray,
    *,
    samples: int | None = None,
    columns: int | None = None,
    name: str = "factors",
    varying: bool = True,
) -> Int[np.ndarray, "n k"]:
    """The factors as int64, one row per sample and one column per factor.

    `samples` and `columns` are the required numbers of rows and columns. With `varying`, a factor with a single value
    raises an error, because its score is undefined.
    """
    factors = np.asarray(factors)
    if factors.ndim != 2:
        advice = f"; write {name}[:, None] for a single factor" if factors.ndim == 1 else ""
        raise ValueError(f"{name} must be a table (samples, factors); got shape {factors.shape}{advice}.")
    if factors.shape[1] == 0:
        raise ValueError(f"{name} must have at least one column; got shape {factors.shape}.")
    factors = _as_integers(factors, name)
    _check_samples(len(factors), samples, name)
    if columns is not None and factors.shape[1] != columns:
        raise ValueError(
            f"{name} must have {columns} columns like the factors they go with; got shape {factors.shape}."
        )
    if varying and (constant := np.flatnonzero((factors == factors[0]).all(axis=0))).size:
        raise ValueError(
            f"{name} must each take at least two values; columns {constant.tolist()} take one; drop them."
        )
    return factors


def as_labels(
    labels: np.ndarray, *, samples: int | None = None, name: str = "labels"
) -> Int[np.ndarray, " n"]:
    """One integer per sample, as int64."""
    labels = np.asarray(labels)
    if labels.ndim != 1:
        raise ValueError(f"{name} must be one integer per sample; got shape {labels.shape}; pick one column.")
    labels = _as_integers(labels, name)
    _check_samples(len(labels), samples, name)
    return labels


def once_each(instances: np.ndarray | None, samples: int) -> Int[np.ndarray, " m"]:
    """The first sample of each instance, in the order of the samples; all samples if `instances` is None.

    Sampling with replacement may select an instance twice. If one copy were in the training fold and one in the test
    fold, a classifier could memorize it; duplicates also are not independent evidence.
    """
    if instances is None:
        return np.arange(samples)
    instances = as_labels(instances, samples=samples, name="instances")
    return np.sort(np.unique(instances, return_index=True)[1])


def varying(codes: Float[np.ndarray, "n d"]) -> Bool[np.ndarray, " d"]:
    """Mask of the dimensions that take more than one value."""
    return (codes != codes[0]).any(axis=0)


def standardize(
    codes: Float[np.ndarray, "n d"], *others: Float[np.ndarray, "_ d"]
) -> tuple[Float[np.ndarray, "_ d"], ...]:
    """Codes with mean 0 and variance 1, and `others` transformed by the same map; a constant dimension becomes 0."""
    mean, std, alive = codes.mean(axis=0), codes.std(axis=0), varying(codes)
    scale = np.divide(1.0, std, out=np.zeros_like(std), where=alive & (std >= np.finfo(float).tiny))
    return tuple((table - mean) * scale for table in (codes, *others))


def _as_integers(values: np.ndarray, name: str) -> np.ndarray:
    if values.dtype.kind not in "iub":
        raise ValueError(
            f"{name} must be integers; got dtype {values.dtype}; "
            "pass class indices, or bin continuous values with unbraid.metrics.discretize."
        )
    return values.astype(np.int64, copy=False)


def require_protocol(protocol: str, protocols: Collection[str]) -> None:
    """Raises unless the metric has the protocol."""
    if protocol not in protocols:
        raise ValueError(f"protocol must be one of {', '.join(protocols)}; got {protocol!r}.")


def _check_samples(rows: int, required: int | None, name: str) -> None:
    if required is not None and rows != required:
        raise ValueError(
            f"{name} must have one row per sample; got {rows} rows for {required} samples; "
            "pass arrays of equal length."
        )
    if rows < 2:
        raise ValueError(f"{name} must have at least two samples; got {rows}.")
