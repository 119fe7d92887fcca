"""Towards Principled Objectives for Contrastive Disentanglement, 2020: the shared datasets and settings.

Grass and faces are substitutes unless the data root has the originals; the datasets' names say which. Grassy-MNIST is
evaluated on test digits over grass that is not in the training split, 500 of each digit.

`paper` has the paper's settings: β = 2, λ = 1, Adam at a constant 1e-3, 128 + 128 images, 200 epochs (78,000 steps of
Grassy-MNIST). Our reading where the paper is silent: batch normalization for its "channel normalization", bf16, and
200 epochs for faces, too. `short` has ours: fewer steps, a learning rate that decays to zero, a lower β, two more
layers. Its settings were chosen by `search`; those of faces were not searched. Digits have three seeds, faces ten.
`quick` uses bundled digits over painted grass, or drawn faces, and is too short to compare methods.
"""

from typing import Any

from unbraid.nn import OVERLAY
from unbraid.optimizers import Adam
from unbraid.schedules import Linear
from unbraid.studies import Plan, replace

METRICS = (
    *("common:clustering", "salient:clustering", "common:background_distance", "salient:background_norm"),
    *("reconstruction", "background_reconstruction"),
    *("common:prior_distance", "prior_samples", "background_prior_samples"),
)
TEST = {"num_samples": 0, "num_test_samples": 0, "on": {"split": "test", "per_digit": 500, "patches": 2000}}
# Training uses no labels, so training images are evaluated, as in the paper: all of them, or fewer where t-SNE is slow.
ALL, SOME = {"num_samples": 0, "num_test_samples": 0}, {"num_samples": 2500, "num_test_samples": 0}
SIZES = {"common_dim": 16, "salient_dim": 8}  # App. A.3, as in its text
PAPER_NETWORK = "conv-contrast"  # five convolutions and one fully connected layer: App. A.3
NETWORK = "conv-contrast-deep"  # the paper's layers, and two more
FACES = "conv-contrast-faces"
FACE_SEEDS = 10  # so that small differences are resolved
PAPER_STEPS = 78_000  # 200 epochs of 49,860 images: Fig. 6
STEPS = {"linear": 8_000, "nonlinear": 5_000, "celeba": 1_500, "expressions": 2_000}
# App. A.3; the precision is our choice.
AS_PRINTED = {"beta": 2.0, "optimizer": Adam(1e-3), "batch_size": 128, "precision": "bf16"}
EQ_7, EQ_8 = {"lambda_z": 0.0}, {"lambda_z": 1.0}
OVERLAY_DECODER = {"architecture": OVERLAY + NETWORK}  # not in the paper; `row` takes the network of the plan
HEAVY = {"lambda_c": 3.0, "lambda_z": 3.0}
# MM-cVAE on small images, from the search; its authors' weights are for faces with 12,288 values.
LIGHT = {"lambda_match": 10.0, "lambda_zero": 1.0}
ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "cVAE": ("cvae", {}),
    "sRb-VAE": ("srb-vae", {}),
    "Eq. 7": ("principled-contrast", EQ_7),
    "Eq. 8": ("principled-contrast", EQ_8),
    "Eq. 3": ("contrast-vae", {}),  # not in the paper: the bound without penalties, and a later method
    "MM-cVAE": ("mm-cvae", {}),
    # Ours, and the same decoder with the other losses.
    "Eq. 8, overlay": ("principled-contrast", HEAVY | OVERLAY_DECODER),
    "cVAE, overlay": ("cvae", OVERLAY_DECODER),
    "Eq. 3, overlay": ("contrast-vae", OVERLAY_DECODER),
}


def schedule(steps: int, batch: int = 128) -> dict[str, Any]:
    """A learning rate that decays to zero, and weights of the divergences that start at zero."""
    optimization = {"optimizer": Adam(1e-3), "lr_schedule": Linear(1.0, 0.0, steps)}
    return {
        "steps": steps,
        "batch_size": batch,
        **optimization,
        "beta_schedule": Linear(0.0, 1.0, max(1, 3 * steps // 10)),
    }


def grassy(mix: str = "linear", *, scale: str, steps: int | None = None) -> Plan:
    """Real digits over photographs of grass; at `quick` scale bundled digits over painted grass."""
    options = SIZES | {"mix": mix, "beta": 0.2}
    photographs = {"digits": "mnist", "grass": "photographs"}
    if scale == "paper":
        options |= {**photographs, **AS_PRINTED, "architecture": PAPER_NETWORK, "steps": steps or PAPER_STEPS}
        return Plan("cvae", "grassy-mnist", options, METRICS, TEST)
    if scale == "short":
        options |= {**photographs, "architecture": NETWORK}
        options |= {**schedule(steps or STEPS[mix]), "precision": "bf16"}
        return Plan("cvae", "grassy-mnist", options, METRICS, TEST)
    options |= {"digits": "bundled", "grass": "painted", "architecture": "mlp-small", **schedule(300, 64)}
    return Plan("cvae", "grassy-mnist", options, METRICS, {"num_samples": 400, "num_test_samples": 0})


def faces(data: str, *, scale: str) -> Plan:
    """Faces with caps or glasses (`celeba`), or with expressions (`expressions`); drawn ones at `quick` scale."""
    if scale != "quick":
        sizes = {
            "celeba": {"common_dim": 16, "salient_dim": 6},
            "expressions": {"common_dim": 32, "salient_dim": 32},
        }[data]
        training = {
            "paper": AS_PRINTED | {"epochs": 200.0},
            "short": {"beta": 0.5, **schedule(STEPS[data]), "precision": "bf16"},
        }[scale]
        options = sizes | {"architecture": FACES} | training
        return Plan("cvae", data, options, METRICS, {"celeba": ALL, "expressions": SOME}[data])
    drawn = {
        "show": {"celeba": "accessories", "expressions": "expressions"}[data],
        "image_size": 28,
        "plain": 400,
    }
    options = {
        "per_class": 200,
        **drawn,
        "common_dim": 8,
        "salient_dim": 4,
        "beta": 0.5,
        "architecture": "mlp-small",
    }
    options |= schedule(300, 64)
    return Plan("cvae", "faces", options, METRICS, ALL)


def rows(plan: Plan, *names: str, seeds: int = 3) -> list[Plan]:
    """The plan for the methods of the given rows; default: all rows."""
    chosen = [ROWS[name] for name in names or ROWS]
    return [row(plan, method, settings, seed=seed) for method, settings in chosen for seed in range(seeds)]


def row(plan: Plan, method: str, settings: dict[str, Any], *, seed: int = 0) -> Plan:
    """The plan for one method with its own settings; an architecture among them is an overlay of the plan's network."""
    if "architecture" in settings:
        settings = settings | {"architecture": OVERLAY + plan.options["architecture"]}
    if method == "mm-cvae" and plan.data != "celeba":
        settings = LIGHT | settings
    return replace(plan, method=method, seed=seed, **settings)
