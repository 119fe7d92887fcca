"""Speed of the metrics beside their straightforward scikit-learn and NumPy forms, in one run.

    python benchmarks/metrics_speed.py                # the full protocols; about half an hour on two cores
    python benchmarks/metrics_speed.py --quick        # small samples, two minutes
    python benchmarks/metrics_speed.py --only sap irs --json

Codes and factors are random: 10 codes of five factors with dSprites' sizes, more or less mixed, bent and
noisy. Every row gives the seconds of both forms, their ratio, and how far their scores lie apart. The full
suite at the end takes the metrics as `unbraid evaluate` would, with the fast DCI.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.stats import spearmanr
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mutual_info_score
from sklearn.svm import LinearSVC

from unbraid import metrics

SIZES = (3, 6, 40, 32, 32)
CODES = 10


class Row(NamedTuple):
    name: str
    straightforward: float  # seconds
    ours: float
    target: float  # at least this ratio
    agreement: str

    @property
    def ratio(self) -> float:
        return self.straightforward / self.ours


class Data(NamedTuple):
    codes: np.ndarray
    factors: np.ndarray
    test_codes: np.ndarray
    test_factors: np.ndarray


def represent(factors: np.ndarray, seed: int) -> np.ndarray:
    """Codes that mix the factors more or less, bend some and add noise; the seed says how."""
    rng = np.random.default_rng(seed)
    sizes, k = np.array(SIZES), len(SIZES)
    scaled = (factors - (sizes - 1) / 2) / np.sqrt((sizes**2 - 1) / 12)
    mix = rng.uniform()
    own = np.zeros((k, CODES))
    own[np.arange(k), rng.permutation(CODES)[:k]] = rng.choice([-1, 1], k)
    spread = rng.standard_normal((k, CODES)) * (rng.random((k, CODES)) < rng.uniform(0.2, 1))
    codes = scaled @ ((1 - mix) * own + mix * spread)
    codes = np.where(rng.random(CODES) < 0.5, np.tanh(codes), codes)
    return codes + rng.uniform(0.05, 0.5) * rng.standard_normal(codes.shape)


def draw(n: int, n_test: int, seed: int) -> Data:
    rng = np.random.default_rng(seed)
    factors = np.stack([rng.integers(0, size, n + n_test) for size in SIZES], axis=1)
    codes = represent(factors, seed)
    return Data(codes[:n], factors[:n], codes[n:], factors[n:])


def timed(work: Callable, repeats: int = 1) -> tuple[float, object]:
    """The least wall time of `repeats` calls, and what the last of them gave."""
    best, result = np.inf, None
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return best, result


def plain_mig(data: Data) -> float:
    binned = np.stack([np.digitize(c, np.histogram(c, 20)[1][:-1]) for c in data.codes.T])
    information = np.array([[mutual_info_score(f, b) for f in data.factors.T] for b in binned])
    entropies = [mutual_info_score(f, f) for f in data.factors.T]
    top = np.sort(information, axis=0)[::-1]
    return float(np.mean((top[0] - top[1]) / entropies))


def plain_modularity(data: Data) -> float:
    binned = np.stack([np.digitize(c, np.histogram(c, 20)[1][:-1]) for c in data.codes.T])
    information = np.array([[mutual_info_score(f, b) for f in data.factors.T] for b in binned])
    squared, best = information**2, information.max(axis=1) ** 2
    return float(np.mean(1 - (squared.sum(axis=1) - best) / (best * (len(SIZES) - 1))))


def plain_sap(data: Data) -> float:
    scores = np.zeros((CODES, len(SIZES)))
    for j in range(CODES):
        for k in range(len(SIZES)):
            model = LinearSVC(C=0.01, class_weight="balanced", dual="auto")
            model.fit(data.codes[:, [j]], data.factors[:, k])
            scores[j, k] = np.mean(model.predict(data.test_codes[:, [j]]) == data.test_factors[:, k])
    top = np.sort(scores, axis=0)[::-1]
    return float(np.mean(top[0] - top[1]))


def plain_irs(data: Data) -> float:
    binned = np.stack([np.digitize(f, np.histogram(f, 20)[1][:-1]) for f in data.factors.T], axis=1)
    largest = np.max(np.abs(data.codes - data.codes.mean(axis=0)), axis=0)
    typical = np.zeros((CODES, len(SIZES)))
    for k in range(len(SIZES)):
        values = np.unique(binned[:, k], axis=0)
        for value in values:
            group = data.codes[binned[:, k] == value]
            deviation = np.abs(group - group.mean(axis=0))
            typical[:, k] += np.percentile(deviation, q=99, axis=0) / len(values)
    return float(np.average((1 - typical / largest[:, None]).max(axis=1), weights=largest))


def plain_dci(data: Data, seed: int) -> float:
    rng = np.random.default_rng(seed)
    importances = []
    for k, random_state in enumerate(rng.integers(2**31 - 1, size=len(SIZES))):
        model = GradientBoostingClassifier(random_state=int(random_state))
        model.fit(data.codes, data.factors[:, k])
        np.mean(model.predict(data.codes) == data.factors[:, k])
        np.mean(model.predict(data.test_codes) == data.test_factors[:, k])
        importances.append(np.abs(model.feature_importances_))
    table = np.array(importances).T
    shares = (table + 1e-11) / (table + 1e-11).sum(axis=1, keepdims=True)
    per_dim = 1 + (shares * np.log(shares)).sum(axis=1) / np.log(len(SIZES))
    return float(per_dim @ table.sum(axis=1) / table.sum())


def our_dci(data: Data, protocol: str, seed: int = 0) -> metrics.DCI:
    return metrics.dci(
        data.codes,
        data.factors,
        test_codes=data.test_codes,
        test_factors=data.test_factors,
        protocol=protocol,
        rng=np.random.default_rng(seed),
    )


def our_sap(data: Data) -> metrics.SAP:
    return metrics.sap(data.codes, data.factors, test_codes=data.test_codes, test_factors=data.test_factors)


def small_rows(scale: argparse.Namespace) -> list[Row]:
    """MIG, modularity, SAP and IRS, their agreement over all representations."""
    rows = []
    forms = {
        "mig": (plain_mig, lambda data: metrics.mig(data.codes, data.factors), 5, 1e-9),
        "modularity": (plain_modularity, lambda data: metrics.modularity(data.codes, data.factors), 5, 1e-9),
        "sap": (plain_sap, our_sap, 3, 0.002),
        "irs": (plain_irs, lambda data: metrics.irs(data.codes, data.factors), 5, 1e-6),
    }
    for name, (plain, ours, target, bound) in forms.items():
        if wanted(scale, name):
            slow, fast, gaps = [], [], []
            for seed in range(scale.representations):
                data = draw(scale.n, scale.n_test, seed)
                repeats = 3 if seed == 0 else 1
                slow_time, slow_score = timed(lambda d=data, f=plain: f(d), repeats)
                fast_time, result = timed(lambda d=data, f=ours: f(d), repeats)
                slow.append(slow_time)
                fast.append(fast_time)
                gaps.append(abs(slow_score - result.score))  # type: ignore[operator, union-attr]
            note = f"largest difference {max(gaps):.1e} over {len(gaps)} representations (bound {bound:g})"
            rows.append(Row(name, float(np.median(slow)), float(np.median(fast)), target, note))
    return rows


def dci_rows(scale: argparse.Namespace) -> list[Row]:
    rows = []
    data = draw(scale.n, scale.n_test, 0)
    slow, classical = timed(lambda: plain_dci(data, 0))
    ours, result = timed(lambda: our_dci(data, "disentanglement_lib"))
    gap = abs(classical - result.score)  # type: ignore[operator, union-attr]
    rows.append(Row("dci, classical", slow, ours, 1.8, f"difference {gap:.1e}"))
    fast, _ = timed(lambda: our_dci(data, "histogram"), 2)
    exact, binned = [], []
    for seed in range(scale.representations):
        data = draw(scale.n, scale.n_test, seed)
        exact.append(our_dci(data, "disentanglement_lib").score)
        binned.append(our_dci(data, "histogram").score)
        progress(f"dci {seed + 1} of {scale.representations}: {exact[-1]:.3f} and {binned[-1]:.3f}")
    rank = spearmanr(exact, binned)[0]
    gap = np.abs(np.subtract(exact, binned)).max()
    note = f"Spearman {rank:.3f} over {len(exact)} representations, largest difference {gap:.3f}"
    rows.append(Row("dci, histogram", slow, fast, 50, note))
    return rows


class Encoder:
    """The usual convolutional encoder on 64 x 64 images of a bar, drawn on the fly from its factors."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        shapes = [(1, 32), (32, 32), (32, 64), (64, 64)]
        layers = [m for a, b in shapes for m in (torch.nn.Conv2d(a, b, 4, 2, 1), torch.nn.ReLU())]
        head = [torch.nn.Flatten(), torch.nn.Linear(1024, 256), torch.nn.ReLU(), torch.nn.Linear(256, CODES)]
        self.network = torch.nn.Sequential(*layers, *head)
        self.encoded = 0
        # One sprite for each shape, scale and orientation on a canvas of 96; position picks the window.
        shape, scale, turn = np.indices(SIZES[:3]).reshape(3, -1, 1, 1)
        y, x = np.mgrid[-48:48, -48:48] / 16
        angle = turn * (2 * np.pi / SIZES[2])
        along, across = x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)
        half = 0.5 + scale / 10
        self.sprites = ((np.abs(along) < half * (1 + shape)) & (np.abs(across) < half)).astype(np.uint8)

    def __call__(self, factors: np.ndarray) -> np.ndarray:
        shape, scale, turn, x, y = factors.T
        windows = np.lib.stride_tricks.sliding_window_view(self.sprites, (64, 64), axis=(1, 2))
        images = windows[np.ravel_multi_index((shape, scale, turn), SIZES[:3]), 31 - y, 31 - x]
        self.encoded += len(factors)
        with torch.inference_mode():
            codes = self.network(torch.from_numpy(images[:, None]).float())
        return (
            500 * codes.double().numpy()
        )  # untrained, so nearly flat: brought to a standard deviation near 1


def plain_factor_vae(encode: Callable, votes: int, test_votes: int, rng: np.random.Generator) -> float:
    def sample(n: int) -> np.ndarray:
        return np.stack([rng.integers(0, size, n) for size in SIZES], axis=1)

    codes = np.concatenate([encode(sample(64)) for _ in range(max(2, votes // 64))])
    variance = np.var(codes, axis=0, ddof=1)
    active = np.sqrt(variance) >= 0.05

    def vote() -> tuple[int, int]:
        factor = int(rng.integers(len(SIZES)))
        factors = sample(64)
        factors[:, factor] = factors[0, factor]
        local = np.var(encode(factors), axis=0, ddof=1)
        return int(np.argmin(local[active] / variance[active])), factor

    if not active.any():
        return 0.0
    table = np.zeros((CODES, len(SIZES)))
    for _ in range(votes):
        table[vote()] += 1
    guess = table.argmax(axis=1)
    return float(np.mean([guess[code] == factor for code, factor in (vote() for _ in range(test_votes))]))


def plain_beta_vae(encode: Callable, count: int, test_count: int, rng: np.random.Generator) -> float:
    features, shared = [], []
    for _ in range(count + test_count):
        factor = int(rng.integers(len(SIZES)))
        one, other = (np.stack([rng.integers(0, size, 64) for size in SIZES], axis=1) for _ in range(2))
        other[:, factor] = one[:, factor]
        features.append(np.mean(np.abs(encode(one) - encode(other)), axis=0))
        shared.append(factor)
    model = LogisticRegression(max_iter=1000).fit(features[:count], shared[:count])
    return float(model.score(features[count:], shared[count:]))


def voting_rows(scale: argparse.Namespace) -> list[Row]:
    """Both voting scores with a convolutional encoder, and `grid` against the full protocol by table."""
    rows = []
    grid = np.indices(SIZES).reshape(len(SIZES), -1).T
    forms = {
        "factor_vae_score": (plain_factor_vae, metrics.factor_vae_score, ("votes", "test_votes")),
        "beta_vae_score": (plain_beta_vae, metrics.beta_vae_score, ("differences", "test_differences")),
    }
    for name, (plain, ours, arguments) in forms.items():
        if not wanted(scale, name):
            continue
        sizes = dict(zip(arguments, (scale.votes, scale.votes // 2), strict=True))
        encoder = Encoder()
        slow, slow_score = timed(
            lambda f=plain, s=sizes, e=encoder: f(e, *s.values(), np.random.default_rng(0))
        )
        asked = encoder.encoded
        progress(f"{name}: {asked} images encoded one vote at a time in {slow:.1f} s")
        full, result = timed(
            lambda f=ours, s=sizes, e=encoder: f(e, SIZES, rng=np.random.default_rng(1), **s)
        )
        note = f"{asked} images and {result.encoded}; {slow_score:.3f} and {result.score:.3f}"  # type: ignore[union-attr]
        rows.append(Row(f"{name}, full", slow, full, 1.5, note))
        quick, result = timed(
            lambda f=ours, e=encoder: f(
                e, SIZES, rng=np.random.default_rng(1), protocol="grid", images=scale.images
            )
        )
        gaps, spread = [], []
        for seed in range(scale.representations):
            table = represent(grid, seed)
            scores = [ours(table, SIZES, rng=np.random.default_rng(i)).score for i in range(scale.seeds)]
            thin = ours(
                lambda f, t=table: t[np.ravel_multi_index(tuple(f.T), SIZES)],
                SIZES,
                rng=np.random.default_rng(99),
                protocol="grid",
                images=scale.images,
            )
            gaps.append(abs(thin.score - np.mean(scores)))
            spread.append(max(scores) - min(scores))
            progress(f"{name} {seed + 1}: full {np.mean(scores):.4f}, grid {thin.score:.4f}")
        note = (
            f"{result.encoded} images; largest difference {max(gaps):.4f} over {len(gaps)} representations "  # type: ignore[union-attr]
            f"(mean of {scale.seeds} seeds, which themselves differ by up to {max(spread):.4f})"
        )
        rows.append(Row(f"{name}, grid", slow, quick, 10, note))
    return rows


def suite_row(scale: argparse.Namespace) -> Row:
    """Every metric of codes and factors, once, with the fast DCI; the votes are taken from a table of codes."""
    data = draw(scale.n, scale.n_test, 0)
    table = represent(np.indices(SIZES).reshape(len(SIZES), -1).T, 0)
    tested: dict[str, Any] = {"test_codes": data.test_codes, "test_factors": data.test_factors}
    rng = np.random.default_rng(0)
    works: dict[str, Callable] = {
        "mig": lambda: metrics.mig(data.codes, data.factors),
        "sap": lambda: our_sap(data),
        "dci": lambda: our_dci(data, "histogram"),
        "irs": lambda: metrics.irs(data.codes, data.factors),
        "modularity": lambda: metrics.modularity(data.codes, data.factors),
        "explicitness": lambda: metrics.explicitness(data.codes, data.factors, **tested),
        "mcc": lambda: metrics.mcc(data.codes, data.factors),
        "info_mec": lambda: metrics.info_mec(data.codes, data.factors),
        "factor_vae_score": lambda: metrics.factor_vae_score(table, SIZES, rng=rng),
        "beta_vae_score": lambda: metrics.beta_vae_score(table, SIZES, rng=rng),
    }
    seconds = {name: timed(work)[0] for name, work in works.items()}
    note = ", ".join(f"{name} {value:.2f}" for name, value in seconds.items())
    return Row("whole suite (target 20 s)", 20.0, sum(seconds.values()), 1, note)


def memory_rows(scale: argparse.Namespace) -> list[Row]:
    """Ten times the samples: the ratio of times, which n log n puts near 12."""
    rows = []
    small, large = (draw(n, n // 2, 0) for n in (scale.n, 10 * scale.n))
    works = {"sap": our_sap, "irs": lambda d: metrics.irs(d.codes, d.factors)}
    works["dci, histogram"] = lambda d: our_dci(d, "histogram")
    for name, work in works.items():
        one, ten = timed(lambda f=work: f(small))[0], timed(lambda f=work: f(large))[0]
        note = f"{scale.n} and {10 * scale.n} samples: {ten / one:.1f} times the time"
        rows.append(Row(f"{name}, ten times n", ten, one, 0, note))
    return rows


def wanted(scale: argparse.Namespace, name: str) -> bool:
    return not scale.only or name in scale.only


def progress(line: str) -> None:
    print(f"  {line}", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small samples and few representations")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--only",
        nargs="+",
        help="of: mig sap irs dci factor_vae_score beta_vae_score suite growth",
        default=[],
    )
    parser.add_argument("--representations", type=int, help="how many random representations (30; quick 3)")
    parser.add_argument(
        "--votes", type=int, help="votes and differences of the plain forms (10000; quick 100)"
    )
    scale = parser.parse_args()
    scale.representations = scale.representations or (3 if scale.quick else 30)
    scale.n, scale.n_test = (1000, 500) if scale.quick else (10_000, 5_000)
    scale.votes = scale.votes or (100 if scale.quick else 10_000)
    scale.seeds, scale.images = (2, 2048) if scale.quick else (3, None)
    rows = small_rows(scale)
    if wanted(scale, "dci"):
        rows += dci_rows(scale)
    rows += voting_rows(scale)
    if wanted(scale, "suite"):
        rows.append(suite_row(scale))
    if wanted(scale, "growth"):
        rows += memory_rows(scale)
    if scale.json:
        print(json.dumps([row._asdict() | {"ratio": row.ratio} for row in rows], indent=1))
        return
    print(f"{os.cpu_count()} cores, n = {scale.n} and {scale.n_test} test samples, {CODES} codes, {SIZES}")
    print(f"{'metric':28} {'plain s':>9} {'ours s':>9} {'ratio':>7} {'target':>7}  agreement")
    for row in rows:
        numbers = f"{row.straightforward:9.3f} {row.ours:9.3f} {row.ratio:7.1f} {row.target:7.1f}"
        print(f"{row.name:28} {numbers}  {row.agreement}")


if __name__ == "__main__":
    main()
