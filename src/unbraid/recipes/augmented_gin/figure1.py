"""Latents of the mixture found again, over ten trials: augmented along both, along one, and along one with noise.

Self-supervised Disentangled Representation Learning, 2021, Sec. 4.2 and Fig. 1, which has no numbers. `plain` settings
train as the paper has it, the others with noise that cools and sets that are redrawn. Beyond the paper: spreads that
vary from point to point, which tell the axes; the plane turned before the network, which constant spreads cannot see;
baselines. Schedules were chosen on trials 0 to 19. `python benchmarks/augmented_gin.py STUDY` sums up.
"""

from unbraid.objectives import Normal
from unbraid.optimisers import Adam
from unbraid.plan import Plan, replace
from unbraid.schedules import Cosine, Drop, Geometric

METRICS = ("codes:latent_r2", "codes:latent_mcc", "codes:spectrum", "codes:spread_rank", "inversion")
BASE = Plan("augmented-gin", "mixture", {"batch": 300, "along": (0, 1)}, METRICS)
ALONG_ONE: dict[str, object] = {"along": (0,)}
VARYING: dict[str, object] = {"spreads": "varying"}
TURNED: dict[str, object] = {"turn": 45.0}


def cooled(start: float, end: float, steps: int = 600, **more: object) -> dict[str, object]:
    """Noise that falls in the first 60 % of the steps, a rate that falls to 0."""
    cooling, rate = Geometric(start, end, steps * 3 // 5), Cosine(1.0, 0.0, steps)
    return {"steps": steps, "cooling": cooling, "optimiser": Adam(1e-2), "rate": rate, **more}


def plain(noise: float) -> dict[str, object]:
    """80 epochs of ten steps, the rate a tenth in the last 30 (Sec. 4.2)."""
    return {"noise": noise, "steps": 800, "batch": 1000, "optimiser": Adam(1e-2), "rate": Drop(1.0, 0.1, 500)}


SETTINGS: tuple[dict[str, object], ...] = (
    cooled(0.5, 0.1, 1500, redraw=True),
    cooled(0.5, 1e-4, redraw=True) | ALONG_ONE,
    cooled(0.5, 1e-2, redraw=True) | ALONG_ONE,
    cooled(0.5, 0.05, redraw=True) | VARYING,
    cooled(0.5, 0.05, redraw=True) | TURNED,
    cooled(0.5, 0.1, 1500, redraw=True) | VARYING | TURNED,
    plain(0.0) | ALONG_ONE,
    plain(1e-2) | ALONG_ONE,
    cooled(1.0, 0.1, redraw=True) | ALONG_ONE,
    plain(0.0),
)
LEARNING = {"optimiser": Adam(1e-3), "steps": 1000, "batch": 100}
IVAE = {"architecture": "mlp", "codes": 2, "likelihood": Normal(0.1), **LEARNING}
BASELINES = (
    replace(BASE, method="gin", **cooled(0.5, 1e-2, batch=1000)),
    replace(BASE, method="ivae", metrics=METRICS[:2], **IVAE),
)


def runs(scale: str) -> list[Plan]:
    """Every setting for trials 20 to 29; the first three for two trials at quick scale."""
    if scale == "quick":
        plans, trials = [replace(BASE, **options) for options in SETTINGS[:3]], range(2)
    else:
        plans, trials = [replace(BASE, **options) for options in SETTINGS], range(20, 30)
        plans += BASELINES
    return [replace(plan, trial=trial, seed=trial) for plan in plans for trial in trials]
