"""Disentanglement, completeness, informativeness (DCI). Eastwood and Williams, 2018, A Framework for the
Quantitative Evaluation of Disentangled Representations, ICLR, Sec. 2."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.stats import entropy
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import GridSearchCV

from unbraid.metrics.arrays import as_codes, as_factors, require_protocol, standardize
from unbraid.metrics.boosting import Labels, boost
from unbraid.metrics.histogram_boosting import boost_histograms
from unbraid.metrics.probe import as_columns
from unbraid.metrics.processes import num_processes

REGRESSIONS = ("infogan_cr", "infogan_cr_cv", "infogan_cr_cv_sampled")
PROTOCOLS = ("disentanglement_lib", "histogram", *REGRESSIONS)
DSPRITES_DEPTHS = (4, 2, 4, 2, 2)  # InfoGAN-CR's, for shape, scale, orientation, x, y
CV_DEPTHS = range(2, 16)
MIN_NUMBERS = (
    2_000_000  # samples times dimensions times classes; below, starting processes takes longer than the trees
)
CV_ROWS, CV_TREES = 5_000, 10  # numbers of samples and trees of a sampled cross-validation
TINY = 1e-11  # keeps the entropy of a dimension without importance defined


class DCI(NamedTuple):
    score: float  # disentanglement
    completeness: float
    informativeness: float  # on the test sample: mean accuracy, or mean R² of the regressions
    train_informativeness: float
    importances: Float[
        np.ndarray, "rows k"
    ]  # importance of each dimension, or strand, for each factor; columns sum to 1
    per_dim: Float[np.ndarray, " rows"]  # disentanglement of each dimension or strand
    per_factor: Float[np.ndarray, " k"]  # completeness of each factor
    rows: tuple[str, ...]  # names of the rows: dimension 0, dimension 1, …, or the strands
    n: int
    n_test: int
    protocol: str

    higher_is_better = True
    bounds = (0.0, 1.0)


class _Samples(NamedTuple):
    codes: Float[np.ndarray, "n d"]
    factors: Int[np.ndarray, "n k"]
    test_codes: Float[np.ndarray, "m d"]
    test_factors: Int[np.ndarray, "m k"]


class _Search(NamedTuple):
    """Cross-validation of the depth of a forest."""

    rows: int
    trees: int


class _Fit(NamedTuple):
    importances: Float[np.ndarray, " d"]
    train_score: float
    test_score: float


def dci(
    codes: np.ndarray,
    factors: np.ndarray,
    *,
    test_codes: np.ndarray | None = None,
    test_factors: np.ndarray | None = None,
    protocol: str = "disentanglement_lib",
    rng: np.random.Generator | None = None,
    strands: Mapping[str, Sequence[int]] | None = None,
    depths: Sequence[int] | None = None,
    trees: int = 100,
    processes: int | None = None,
) -> DCI:
    r"""Disentanglement, completeness and informativeness from importances of predictors.

    .. math:: D = \sum_j w_j (1 - H_K(P_{j·})),   C = \sum_k v_k (1 - H_D(P_{·k}))

    P is the importance of each dimension for predicting each factor, with rows or columns scaled to sum to 1; the
    entropies have the number of factors or dimensions as base; w and v are the row and column shares of the total
    importance. D is high if each dimension matters for few factors, C if few dimensions matter for each factor.

    The score depends strongly on the number of samples (five rotated factors: 0.15 with 500, 0.18 with 1,000, 0.24
    with 10,000). Compare only scores of equal `n` and `protocol`:

    - `disentanglement_lib`: gradient-boosted trees, the scores of scikit-learn's
      `GradientBoostingClassifier(random_state=s)`; s is `rng.integers(2**31 - 1)`, drawn for each
      factor, and affects only ties. 10,000 training and 5,000 test samples there.
    - `histogram`: the same model on 64 bins per dimension, with 16 stages of rate 0.3 instead of 100 of 0.1. Much
      faster, with a similar ranking of representations but different values. Not random.
    - `infogan_cr`: random forests on standardized codes and factor values, with one of `depths` per factor (default:
      those of the five dSprites factors); v_k is 1 / K. 73,728 samples there and no test sample: omit the test
      sample to score on the training sample.
    - `infogan_cr_cv`: `infogan_cr` with the best depth of 2 to 15 in three-fold cross-validation. One hour of
      CPU time for six factors and 50,000 samples.
    - `infogan_cr_cv_sampled`: depths are chosen on 5,000 of the samples with forests of 10 trees (one to four
      minutes). The scored forests use all samples and all trees.

    `trees` is the size of the forests (InfoGAN-CR took scikit-learn's default, once 10, now 100). `strands`
    maps names to columns; the importance of a strand is the sum over its dimensions, and other columns are left out.
    Boosted trees are grown in up to `processes` processes, and forests in as many threads; None is one per core. The
    scores do not depend on it.
    """
    require_protocol(protocol, PROTOCOLS)
    samples = _as_samples(codes, factors, test_codes, test_factors, protocol)
    rows = _as_rows(strands, samples.codes.shape[1])
    k = samples.factors.shape[1]
    if len(rows) < 2 or k < 2:
        unit = "strands" if strands is not None else "dimensions"
        raise ValueError(f"DCI needs at least two {unit} and two factors; got {len(rows)} and {k}.")
    order = np.concatenate(list(rows.values()))
    samples = samples._replace(codes=samples.codes[:, order], test_codes=samples.test_codes[:, order])
    fits = _fit(samples, protocol, rng, depths, trees, num_processes(processes))
    per_column = np.array([fit.importances for fit in fits]).T
    starts = np.cumsum([0] + [len(columns) for columns in rows.values()])[:-1]
    importances = np.add.reduceat(per_column, starts, axis=0)
    per_dim = 1 - entropy(importances.T + TINY, base=k)
    per_factor = 1 - entropy(importances + TINY, base=len(rows))
    row_shares = _shares(importances, axis=1)
    column_shares = np.full(k, 1 / k) if protocol in REGRESSIONS else _shares(importances, axis=0)
    return DCI(
        score=float(np.clip(per_dim @ row_shares, 0, 1)),
        completeness=float(np.clip(per_factor @ column_shares, 0, 1)),
        informativeness=float(np.mean([fit.test_score for fit in fits])),
        train_informativeness=float(np.mean([fit.train_score for fit in fits])),
        importances=importances,
        per_dim=per_dim,
        per_factor=per_factor,
        rows=tuple(rows),
        n=len(samples.codes),
        n_test=len(samples.test_codes),
        protocol=protocol,
    )


def _as_rows(
    strands: Mapping[str, Sequence[int]] | None, width: int
) -> dict[str, Int[np.ndarray, " columns"]]:
    """The columns of each row of the importances: those of the strands, or one per dimension."""
    if strands is None:
        return {f"dimension {j}": np.array([j]) for j in range(width)}
    rows = {name: as_columns(columns, width, name) for name, columns in strands.items()}
    chosen = np.concatenate([*rows.values(), np.zeros(0, dtype=np.int64)])
    if len(np.unique(chosen)) < len(chosen):
        raise ValueError(
            f"strands must not share columns; got {dict(strands)}. Score nested strands separately."
        )
    return rows


def _shares(importances: Float[np.ndarray, "rows k"], *, axis: int) -> Float[np.ndarray, " r"]:
    """Share of each factor (axis 0) or row (axis 1) in the total importance; equal shares if all are 0."""
    sums, total = importances.sum(axis=axis), importances.sum()
    return sums / total if total > 0 else np.full(len(sums), 1 / len(sums))


def _as_samples(
    codes: np.ndarray,
    factors: np.ndarray,
    test_codes: np.ndarray | None,
    test_factors: np.ndarray | None,
    protocol: str,
) -> _Samples:
    codes = as_codes(codes)
    factors = as_factors(factors, samples=len(codes))
    if test_codes is None and test_factors is None and protocol in REGRESSIONS:
        return _Samples(codes, factors, codes, factors)
    if test_codes is None or test_factors is None:
        raise ValueError(
            f"DCI with protocol {protocol!r} needs a test sample. Pass both test_codes and test_factors."
        )
    test_codes = as_codes(test_codes, name="test_codes", columns=codes.shape[1])
    test_factors = as_factors(
        test_factors, name="test_factors", samples=len(test_codes), columns=factors.shape[1], varying=False
    )
    return _Samples(codes, factors, test_codes, test_factors)


def _fit(
    samples: _Samples,
    protocol: str,
    rng: np.random.Generator | None,
    depths: Sequence[int] | None,
    trees: int,
    processes: int,
) -> list[_Fit]:
    """Importances of the dimensions for each factor, and the accuracy of the predictor."""
    factors = samples.factors.shape[1]
    columns = zip(samples.factors.T, samples.test_factors.T, strict=True)
    if protocol == "histogram":
        return [_Fit(*boost_histograms(samples.codes, y, samples.test_codes, t)) for y, t in columns]
    if rng is None:
        raise ValueError(f"DCI with protocol {protocol!r} is random. Pass rng=numpy.random.default_rng(0).")
    seeds = [int(seed) for seed in rng.integers(2**31 - 1, size=factors)]
    if protocol == "disentanglement_lib":
        return _boosted(samples, seeds, processes)
    if protocol in ("infogan_cr_cv", "infogan_cr_cv_sampled"):
        search = _Search(len(samples.codes), trees)
        if protocol == "infogan_cr_cv_sampled":
            search = _Search(min(CV_ROWS, len(samples.codes)), CV_TREES)
        return [_forest(samples, k, search, trees, seeds[k], processes) for k in range(factors)]
    if depths is None:
        depths = DSPRITES_DEPTHS
    if len(depths) != factors:
        raise ValueError(
            f"depths must hold one depth for each of {factors} factors; got {len(depths)}. "
            "Pass depths=…, or use protocol 'infogan_cr_cv_sampled'."
        )
    return [_forest(samples, k, depths[k], trees, seeds[k], processes) for k in range(factors)]


def _boosted(samples: _Samples, seeds: list[int], processes: int) -> list[_Fit]:
    """The boosted trees of all factors."""
    labels = [Labels(*each) for each in zip(samples.factors.T, samples.test_factors.T, seeds, strict=True)]
    classes = sum(len(np.unique(each.train)) for each in labels)
    if samples.codes.size * classes < MIN_NUMBERS:
        processes = 1
    fits = boost(samples.codes, samples.test_codes, labels, processes=min(processes, classes))
    return [_Fit(*fit) for fit in fits]


def _forest(
    samples: _Samples, factor: int, depth: "int | _Search", trees: int, seed: int, threads: int
) -> _Fit:
    """A random-forest regression of the given depth, or of the depth with the best cross-validation score."""
    codes, test_codes = standardize(samples.codes, samples.test_codes)
    values, test_values = standardize(
        samples.factors[:, [factor]].astype(np.float64), samples.test_factors[:, [factor]].astype(np.float64)
    )
    values, test_values = values[:, 0], test_values[:, 0]
    if isinstance(depth, _Search):
        rows = np.random.default_rng(seed).choice(len(codes), depth.rows, replace=False)
        jobs = (
            threads if depth.rows > CV_ROWS else 1
        )  # for few rows, starting threads costs more than fitting
        candidate = RandomForestRegressor(depth.trees, random_state=seed, n_jobs=jobs)
        search = GridSearchCV(candidate, {"max_depth": list(CV_DEPTHS)}, cv=3, refit=False)
        depth = int(search.fit(codes[rows], values[rows]).best_params_["max_depth"])
    forest = RandomForestRegressor(trees, max_depth=depth, random_state=seed, n_jobs=threads).fit(
        codes, values
    )
    return _Fit(
        forest.feature_importances_,
        float(forest.score(codes, values)),
        float(forest.score(test_codes, test_values)),
    )
