"""Recovery of the mixture's latents over ten trials: augmented along both latents, along one, and along one with noise.

Self-supervised Disentangled Representation Learning, 2021, Sec. 4.2 and Fig. 1, which has no numbers. The `plain`
settings train as in the paper; the others decay the noise and resample the sets at each step. Not in the paper:
augmentation standard deviations that vary between points, which identify the axes; a rotation before the network, which
constant standard deviations cannot detect; baselines. Schedules were chosen on trials 0 to 19.
`python benchmarks/augmented_gin.py STUDY` summarizes a study.
"""

from unbraid.objectives import Normal
from unbraid.optimizers import Adam
from unbraid.schedules import Cosine, Exponential, StepDecay
from unbraid.studies import Plan, replace

METRICS = ("codes:latent_r2", "codes:latent_mcc", "codes:spectrum", "codes:std_rank", "inversion")
BASE = Plan("augmented-gin", "mixture", {"batch_size": 300, "augmented_latents": (0, 1)}, METRICS)
ALONG_ONE: dict[str, object] = {"augmented_latents": (0,)}
VARYING: dict[str, object] = {"augmentation_std": "varying"}
ROTATED: dict[str, object] = {"rotation_degrees": 45.0}


def decayed(start: float, end: float, steps: int = 600, **more: object) -> dict[str, object]:
    """Noise that decays over the first 60 % of the steps, and a learning rate that decays to 0."""
    noise, lr = Exponential(start, end, steps * 3 // 5), Cosine(1.0, 0.0, steps)
    return {"steps": steps, "noise_schedule": noise, "optimizer": Adam(1e-2), "lr_schedule": lr, **more}


def plain(noise: float) -> dict[str, object]:
    """80 epochs of ten steps; the learning rate is divided by ten for the last 30 (Sec. 4.2). The noise is added to the
    sets once, before training."""
    return {
        "noise": 0.0,
        "fixed_noise": noise,
        "steps": 800,
        "batch_size": 1000,
        "optimizer": Adam(1e-2),
        "lr_schedule": StepDecay(1.0, 0.1, 500),
    }


SETTINGS: tuple[dict[str, object], ...] = (
    decayed(0.5, 0.1, 1500, fresh_each_step=True),
    decayed(0.5, 1e-4, fresh_each_step=True) | ALONG_ONE,
    decayed(0.5, 1e-2, fresh_each_step=True) | ALONG_ONE,
    decayed(0.5, 0.05, fresh_each_step=True) | VARYING,
    decayed(0.5, 0.05, fresh_each_step=True) | ROTATED,
    decayed(0.5, 0.1, 1500, fresh_each_step=True) | VARYING | ROTATED,
    plain(0.0) | ALONG_ONE,
    plain(1e-2) | ALONG_ONE,
    decayed(1.0, 0.1, fresh_each_step=True) | ALONG_ONE,
    plain(0.0),
)
TRAINING = {"optimizer": Adam(1e-3), "steps": 1000, "batch_size": 100}
IVAE = {"architecture": "mlp", "latent_dim": 2, "likelihood": Normal(0.1), **TRAINING}
BASELINES = (
    replace(BASE, method="gin", **decayed(0.5, 1e-2, batch_size=1000)),
    replace(BASE, method="ivae", metrics=METRICS[:2], **IVAE),
)


def runs(scale: str) -> list[Plan]:
    """All settings for trials 20 to 29; at quick scale the first three for two trials."""
    if scale == "quick":
        plans, trials = [replace(BASE, **options) for options in SETTINGS[:3]], range(2)
    else:
        plans, trials = [replace(BASE, **options) for options in SETTINGS], range(20, 30)
        plans += BASELINES
    return [replace(plan, data_seed=trial, seed=trial) for plan in plans for trial in trials]
