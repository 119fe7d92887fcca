"""What the smallest run folder holds: the settings of a run, and a score."""

from typing import Any

SETTINGS: dict[str, Any] = {
    "method": {"name": "beta-vae", "arguments": {"beta": 4.0}},
    "data": {
        "name": "sprites",
        "origin": None,
        "observations": 10,
        "shape": [1, 8, 8],
        "factors": {},
        "unordered": [],
        "license": "",
        "fingerprint": "0" * 16,
    },
    "draw": {"name": "IIDDraw", "arguments": {}},
    "training": {"steps": 10, "batch_size": 2, "seed": 3},
    "init_from": None,
}

PLAN: dict[str, Any] = {
    "method": "beta-vae",
    "data": "sprites",
    "draw": None,
    "options": {owner: {} for owner in ("method", "network", "data", "draw", "training")},
}


def score_entry(metric: str, value: float, **changes: Any) -> dict[str, Any]:
    """A score as `evaluate` stores it."""
    entry = {"metric": metric, "protocol": "", "value": value, "higher_is_better": None, "n": 10, "n_test": 0}
    return entry | {"seed": 0, "seconds": 0.1} | changes
