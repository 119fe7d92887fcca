"""Towards Principled Objectives for Contrastive Disentanglement, 2020: the data and settings that its recipes share.

Grass and faces are substitutes where the data root has no others; the datasets' names say so. The paper trains 200
epochs, 78,000 steps of 128 + 128 images at a rate of 1e-3 and with β = 2; here the rate falls to zero over fewer steps,
in bf16, and β is lower. Grassy-MNIST is scored on test digits over grass that training did not show, 500 of each
digit. What settings were chosen by is in `search`; those of faces were not searched. `quick` takes bundled digits over
painted grass, or drawn faces, and is too short to say which method is better.
"""

from typing import Any

from unbraid.optimisers import Adam
from unbraid.plan import Plan, replace
from unbraid.schedules import Linear

METRICS = (
    *("common:clustering", "salient:clustering", "common:background_distance", "salient:background_norm"),
    *("reconstruction", "background_reconstruction"),
)
TEST = {"samples": 0, "test_samples": 0, "on": {"part": "test", "per_digit": 500, "patches": 2000}}
# No labels are used in training, so images that it saw are scored, as in the paper: all of them, or some where t-SNE
# would take long.
ALL, SOME = {"samples": 0, "test_samples": 0}, {"samples": 2500, "test_samples": 0}
SIZES = {"common": 16, "salient": 8}  # App. A.3, as its sentence says in words
NETWORK = "conv-contrast-deep"  # the paper's layers, and two of ours
FACES = "conv-contrast-faces"
STEPS = {"linear": 8_000, "nonlinear": 5_000, "celeba": 1_500, "expressions": 2_000}
EQ_7, EQ_8 = {"lambda_z": 0.0}, {"lambda_z": 1.0}
LAYERS = {"layers": NETWORK}  # not in the paper; with other networks those of the network
HEAVY = {"lambda_c": 3.0, "lambda_z": 3.0}
# MM-cVAE's on small images, by the search; its authors' are for faces of 12,288 numbers.
LIGHT = {"match": 10.0, "zero": 1.0}
ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "cVAE": ("cvae", {}),
    "sRb-VAE": ("srb-vae", {}),
    "Eq. 7": ("principled-contrast", EQ_7),
    "Eq. 8": ("principled-contrast", EQ_8),
    "Eq. 3": ("contrast-vae", {}),  # beside the paper's rows: the bare bound, and a later method
    "MM-cVAE": ("mm-cvae", {}),
    # Ours, and what its decoder does without it.
    "Eq. 8, layers": ("principled-contrast", HEAVY | LAYERS),
    "cVAE, layers": ("cvae", LAYERS),
    "Eq. 3, layers": ("contrast-vae", LAYERS),
}


def schedule(steps: int, batch: int = 128) -> dict[str, Any]:
    """A rate that falls to zero, and divergences that cost nothing at first."""
    settled = {"optimiser": Adam(1e-3), "rate": Linear(1.0, 0.0, steps)}
    return {"steps": steps, "batch": batch, **settled, "warm_up": Linear(0.0, 1.0, max(1, 3 * steps // 10))}


def grassy(mix: str = "linear", *, scale: str = "paper", steps: int | None = None) -> Plan:
    """Real digits over photographs of grass; at `quick` scale bundled digits over painted grass."""
    options = SIZES | {"mix": mix, "beta": 0.2}
    if scale == "paper":
        options |= {"digits": "mnist", "grass": "photographs", "architecture": NETWORK}
        options |= {**schedule(steps or STEPS[mix]), "precision": "bf16"}
        return Plan("cvae", "grassy-mnist", options, METRICS, TEST)
    options |= {"digits": "bundled", "grass": "painted", "architecture": "mlp-small", **schedule(300, 64)}
    return Plan("cvae", "grassy-mnist", options, METRICS, {"samples": 400, "test_samples": 0})


def faces(data: str, *, scale: str = "paper") -> Plan:
    """Faces with caps or glasses (`celeba`), or with expressions (`expressions`); drawn ones at `quick` scale."""
    if scale == "paper":
        sizes = {"celeba": {"common": 16, "salient": 6}, "expressions": {"common": 32, "salient": 32}}[data]
        options = sizes | {"beta": 0.5, "architecture": FACES, **schedule(STEPS[data]), "precision": "bf16"}
        return Plan("cvae", data, options, METRICS, {"celeba": ALL, "expressions": SOME}[data])
    drawn = {"show": {"celeba": "accessories", "expressions": "expressions"}[data], "size": 28, "plain": 400}
    options = {"per_class": 200, **drawn, "common": 8, "salient": 4, "beta": 0.5, "architecture": "mlp-small"}
    options |= schedule(300, 64)
    return Plan("cvae", "faces", options, METRICS, ALL)


def rows(plan: Plan, *names: str, seeds: int = 3) -> list[Plan]:
    """The plan for methods by the names of their rows, all of them by default."""
    chosen = [ROWS[name] for name in names or ROWS]
    return [row(plan, method, own, seed=seed) for method, own in chosen for seed in range(seeds)]


def row(plan: Plan, method: str, own: dict[str, Any], *, seed: int = 0) -> Plan:
    """The plan for one method with settings of its own; layers are those of the plan's network."""
    if "layers" in own:
        own = own | {"layers": plan.options["architecture"]}
    if method == "mm-cvae" and plan.data != "celeba":
        own = LIGHT | own
    return replace(plan, method=method, seed=seed, **own)
