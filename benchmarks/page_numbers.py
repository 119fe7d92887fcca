"""The measured numbers on pages outside docs/results: `python -m benchmarks.page_numbers`, some minutes on one core.

It writes docs/results/rows/page_numbers.csv, one row per value. `make results` puts them into the pages, between marks.
"""

import csv
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch

from tests.sprite_translations import rendered, translation
from unbraid.metrics import clustering, translation_difficulty, w2
from unbraid.objectives import MLPTranslator, Translator

ROWS = Path(__file__).parents[1] / "docs" / "results" / "rows" / "page_numbers.csv"
COLUMNS = ("study", "case", "seed", "metric", "value")
SPRITES = np.array([3, 6, 40, 32, 32])  # values of shape, scale, orientation, x and y
KINDS = ("same", "scale", "orientation", "pos_y", "pos_x", "shape", "pos_x*scale", "unrelated")
PAIRS, SEEDS, BATCHES = range(12), range(3), range(100)
BATCH = 128  # codes in each of two transported batches
MORE_STEPS = MLPTranslator(width=64, steps=50, lr=0.01)

Row = tuple[str, str, int, str, float]


def translators() -> Iterator[Row]:
    """Loss of the translator and of the mean image on held-out sprites, by what source and target differ in."""
    for study, spec, size in (("translator", MLPTranslator(), 64), ("translator, 50 steps", MORE_STEPS, 256)):
        translator = Translator((1, 64, 64), spec)
        for kind in KINDS:
            for seed in PAIRS:
                u, v, u_test, v_test = translation(kind, seed=seed, size=size)
                torch.manual_seed(seed)
                loss = translator.difficulty(u, v, u_test, v_test)
                yield study, kind, seed, "loss", float(loss)
                yield (
                    study,
                    kind,
                    seed,
                    "loss of the mean image",
                    float(translator.mean_difficulty(v, v_test)),
                )


def sprites(z: np.ndarray) -> np.ndarray:
    """Images of five factors that lie on circles; further dimensions are ignored."""
    return rendered(torch.from_numpy((z[:, :5] % 1 * SPRITES).astype(np.int64))).numpy()


def mixed(*pairs: tuple[int, int]) -> Callable[[np.ndarray], np.ndarray]:
    """The same from codes of which each pair moves two factors together."""

    def generate(z: np.ndarray) -> np.ndarray:
        turned = z.copy()
        for a, b in pairs:
            turned[:, a], turned[:, b] = z[:, a] + z[:, b], z[:, a] - z[:, b]
        return sprites(turned)

    return generate


def one_for_all(z: np.ndarray) -> np.ndarray:
    """The first dimension determines everything."""
    return sprites(np.random.default_rng(1).uniform(0, 1, (1000, 5))[(z[:, 0] * 1000).astype(int)])


def faint(z: np.ndarray) -> np.ndarray:
    return 0.5 + 1e-4 * (sprites(z) - 0.5)


def generators() -> Iterator[Row]:
    """The translation difficulty of generators that render sprites from ten dimensions."""
    z = np.random.default_rng(0).uniform(0, 1, (400, 10))
    variance = float(sprites(z).var(0).sum())
    cases = {
        "one dimension per factor": sprites,
        "two factors mixed": mixed((1, 3)),
        "two pairs mixed": mixed((1, 3), (2, 4)),
        "one for all": one_for_all,
        "faint": faint,
    }
    for case, generate in cases.items():
        for seed in SEEDS:
            found = translation_difficulty(generate, z, rng=np.random.default_rng(seed), variance=variance)
            for metric in ("score", "relative", "active_features"):
                yield "generators", case, seed, metric, getattr(found, metric)


def noise() -> Iterator[Row]:
    """What the transport and the clusters of codes without structure score."""
    for dims in (4, 16, 32):
        for seed in BATCHES:
            first, second = np.random.default_rng(seed).standard_normal((2, BATCH, dims))
            yield "transport", f"{dims} dimensions", seed, "w2", w2(first, second).score
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        found = clustering(rng.standard_normal((1000, 10)), rng.integers(0, 10, 1000), rng=rng)
        yield "clustering", "10 dimensions", seed, "silhouette", found.silhouette_map_clusters


def main() -> None:
    with ROWS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for measure in (translators, noise, generators):
            for study, case, seed, metric, value in measure():
                writer.writerow((study, case, seed, metric, f"{value:.4f}"))
    print(ROWS)


if __name__ == "__main__":
    main()
