"""Hyperparameters for the accuracy tables: as many settings for every method, judged by a rehearsal of the test.

A rehearsal leaves one of the training's grounds out and judges held-out training digits on it, each ground in turn;
with turned digits the outer angles are left out too. Test grounds, angles and digits choose nothing. Every row of the
tables has four settings: recon-contrast and the plain CNN with each reader, too. `quick` takes one setting of each
method and one ground.
"""

from unbraid.data.coloured_digits import TRAIN
from unbraid.plan import Plan, replace
from unbraid.recipes.recon_contrast.table1 import BASE, METHODS, OURS, SAME_READER, SETTINGS
from unbraid.recipes.recon_contrast.table2 import READER, TURNED

GRID: dict[str, list[dict[str, object]]] = {
    "cnn": [{"features": f, "batch": b} for f in (32, 128) for b in (128, 256)],
    "cnn-beta-vae": [{"prediction": p, "beta": b} for p in (100.0, 1000.0) for b in (1.0, 4.0)],
    "vfae": [{"prediction": p, "invariance": i} for p in (100.0, 1000.0) for i in (10.0, 1000.0)],
    "cai": [{"features": f, "invariance": i} for f in (32, 128) for i in (0.1, 1.0)],
    "cvib": [{"prediction": p, "invariance": i} for p in (100.0, 1000.0) for i in (0.1, 1.0)],
    "uai": [{"prediction": p, "invariance": i} for p in (100.0, 1000.0) for i in (0.1, 1.0)],
    "recon-contrast": [{"contrast": c, "redraw": r} for c in (300.0, 1000.0) for r in (0.0, 1.0)],
}
PAPERS = [{"contrast": c, "average": a} for c in (300.0, 1000.0) for a in (1.0, 10.0)]
REHEARSAL = replace(BASE, steps=2_500, scoring={"samples": 0, "on": {"part": "rehearsal"}})


def runs(scale: str) -> list[Plan]:
    if scale == "quick":
        (fold, *_), small = folds(BASE.data), replace(REHEARSAL, digits="bundled", held_out=288)
        return [replace(small, **fold, steps=50, **_entries(method, BASE.data)[0]) for method in METHODS]
    base = replace(REHEARSAL, digits="mnist", held_out=5_000)
    return [
        replace(base, data=data, **fold, **entry)
        for data in (BASE.data, TURNED.data)
        for method in METHODS
        for entry in _entries(method, data)
        for fold in folds(data)
    ]


def folds(data: str) -> list[dict[str, object]]:
    """Every way to leave one of the training's grounds out."""
    turned = data == TURNED.data
    angles = {"angles": (0.0, 22.5, -22.5), "test_angles": (45.0, -45.0)} if turned else {}
    return [
        {
            "backgrounds": tuple(ground for ground in TRAIN if ground != left_out),
            "test_backgrounds": (left_out,),
            **angles,
        }
        for left_out in TRAIN
    ]


def _entries(method: str, data: str) -> list[dict[str, object]]:
    grid, readers = GRID[method], [str(OURS["reader"])]
    if data == TURNED.data:
        readers.append(READER)
    if method == "recon-contrast":
        grid = [*(settings | {"reader": reader} for reader in readers for settings in grid), *PAPERS]
    if method == "cnn":  # so that what a network does is not taken for what the method does
        same = [SAME_READER | {"architecture": reader} | settings for reader in readers for settings in grid]
        grid = [*grid, *same]
    return [{"method": method, **SETTINGS.get(method, {}), **settings} for settings in grid]
