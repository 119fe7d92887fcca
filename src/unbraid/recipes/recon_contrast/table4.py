"""SW-VAE without a warm-up, with the first, and with both (Table 4).

Reconstruction for Disentanglement, Contrast for Invariance, 2022, Table 4: 3D Shapes; here also rendered rooms. Length,
batches, rate and the middle of the warm-ups are our reading, as in Table 3; `paper` has the weights of Eq. 6 and those
that `search` chose, `short` the latter, with 10,000 steps, three seeds and rooms only.
"""

from unbraid.recipes.recon_contrast import SCALES as SCALES
from unbraid.recipes.recon_contrast import over_seeds, warm_ups
from unbraid.recipes.recon_contrast.table3 import CHOSEN_WEIGHTS, METRICS, PRINTED_WEIGHTS, base
from unbraid.studies import Plan, replace


def runs(scale: str) -> list[Plan]:
    if scale == "quick":
        return over_seeds(plans(base(scale)), scale)
    data = ("rooms", "shapes3d") if scale == "paper" else ("rooms",)
    weights = (CHOSEN_WEIGHTS, PRINTED_WEIGHTS) if scale == "paper" else (CHOSEN_WEIGHTS,)
    every = [
        plan for name in data for chosen in weights for plan in plans(replace(base(scale, name), **chosen))
    ]
    return over_seeds(every, scale)


def plans(plan: Plan) -> list[Plan]:
    """Without warm-ups, with the first, with both."""
    both = warm_ups(plan.options["steps"])
    none = dict.fromkeys(both)
    return [replace(plan, **(none | dict(list(both.items())[:count]))) for count in range(3)]


TABLE = """
    0.492 0.096 0.661 0.902 0.697
    0.512 0.126 0.674 0.944 0.781
    0.716 0.156 0.784 0.996 0.919
"""
PUBLISHED: dict[tuple[str, ...], float] = {}
for _scale, _weights in (("short", {}), ("paper", CHOSEN_WEIGHTS), ("paper", PRINTED_WEIGHTS)):
    for _plan, _line in zip(plans(base(_scale)), TABLE.strip().splitlines(), strict=True):
        _settings = {name: _plan.options[name] for name in ("swap_schedule", "k_schedule")} | _weights
        _key = ", ".join(
            f"{name}={_settings[name]}" for name in sorted(_settings)
        )  # as a study names its rows
        PUBLISHED |= {
            ("sw-vae", "shapes3d", _key, metric): float(value)
            for metric, value in zip(METRICS, _line.split(), strict=True)
        }
