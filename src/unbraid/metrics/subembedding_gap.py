"""The gap between subembeddings, |C(z0) - C(z1)|. Burns et al., 2021, Unsupervised Disentanglement without
Autoencoding, ICML workshop, Secs. 3.3 and 4."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from unbraid.metrics.arrays import as_codes, as_factors
from unbraid.metrics.probe import probe


class SubembeddingGap(NamedTuple):
    score: float  # mean gap over factors, in [0, 1]
    per_factor: Float[np.ndarray, " k"]
    accuracy: Float[np.ndarray, "s k"]  # of a probe on each subembedding
    whole: Float[np.ndarray, " k"]  # of a probe on all codes
    best: Int[np.ndarray, " k"]  # the subembedding that reads each factor best
    diagonal: bool  # the paper's diagonal trend: every factor is read best off a subembedding of its own
    n: int
    n_test: int


def subembedding_gap(
    codes: np.ndarray,
    factors: np.ndarray,
    *,
    test_codes: np.ndarray,
    test_factors: np.ndarray,
    subembeddings: Sequence[Sequence[int]],
    inverse_penalty: float = 1.0,
) -> SubembeddingGap:
    r"""By how much one part of the code reads a factor better than the others.

    .. math:: 1/K \sum_k |C_k(z_0) - C_k(z_1)|

    with C_k the test accuracy of a linear probe for factor k. `subembeddings` lists the columns of each
    part. Of more than two parts, the gap is that of the best two.
    """
    if len(subembeddings) < 2:
        raise ValueError(f"a gap needs at least two subembeddings; got {len(subembeddings)}.")
    codes = as_codes(codes)
    factors = as_factors(factors, samples=len(codes))
    test_codes = as_codes(test_codes, name="test_codes", columns=codes.shape[1])
    test_factors = as_factors(
        test_factors, samples=len(test_codes), columns=factors.shape[1], name="test_factors", varying=False
    )
    strands = {f"subembedding {s}": columns for s, columns in enumerate(subembeddings)}
    probes = [
        probe(
            codes,
            labels,
            test_codes=test_codes,
            test_labels=test_labels,
            strands=strands,
            inverse_penalty=inverse_penalty,
        )
        for labels, test_labels in zip(factors.T, test_factors.T, strict=True)
    ]
    accuracy = np.array([list(result.per_strand.values()) for result in probes]).T
    second, first = np.sort(accuracy, axis=0)[-2:]
    best = accuracy.argmax(axis=0)
    return SubembeddingGap(
        score=float((first - second).mean()),
        per_factor=first - second,
        accuracy=accuracy,
        whole=np.array([result.score for result in probes]),
        best=best,
        diagonal=bool(len(np.unique(best)) == len(best) and (first > second).all()),
        n=len(codes),
        n_test=len(test_codes),
    )
