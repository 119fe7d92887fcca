"""Hyperparameters for the accuracy tables: as many settings for every method, judged on held-out training digits.

The digits that judge are in the training's own colours and angles: test colours choose nothing. `quick` takes one
setting of each method.
"""

from unbraid.plan import Plan, replace
from unbraid.recipes.recon_contrast.table1 import BASE, SETTINGS

GRID: dict[str, list[dict[str, object]]] = {
    "cnn": [{"features": features, "batch": batch} for features in (32, 128, 512) for batch in (64, 128)],
    "cnn-beta-vae": [{"prediction": p, "beta": b} for p in (100.0, 1000.0) for b in (0.1, 1.0, 4.0)],
    "vfae": [{"prediction": p, "invariance": i} for p in (100.0, 1000.0) for i in (10.0, 100.0, 1000.0)],
    "cai": [{"features": f, "invariance": i} for f in (32, 128) for i in (0.1, 1.0, 10.0)],
    "cvib": [{"prediction": p, "invariance": i} for p in (100.0, 1000.0) for i in (0.1, 1.0, 10.0)],
    "uai": [{"prediction": p, "invariance": i} for p in (100.0, 1000.0) for i in (0.1, 1.0, 10.0)],
    "recon-contrast": [{"contrast": c, "average": a} for c in (100.0, 300.0, 1000.0) for a in (1.0, 10.0)],
}
HELD_OUT = replace(BASE, scoring={"samples": 0, "on": {"part": "validation"}})


def runs(scale: str) -> list[Plan]:
    if scale == "quick":
        small = replace(HELD_OUT, digits="bundled", held_out=288, steps=50)
        return [replace(small, method=method, **_settings(method)[0]) for method in GRID]
    base = replace(HELD_OUT, digits="mnist", held_out=10_000)
    return [
        replace(base, data=data, method=method, seed=seed, **settings)
        for data in ("colored-mnist", "rotation-colored-mnist")
        for method in GRID
        for settings in _settings(method)
        for seed in range(2)
    ]


def _settings(method: str) -> list[dict[str, object]]:
    return [{**SETTINGS.get(method, {}), **settings} for settings in GRID[method]]
