"""The five systems of `unbraid demo`, each beside a plain model, on data that needs no download.

All settings of the demo are here. They were chosen by looking at pictures and at training and validation data, never at
what the numbers are of, so that the five trainings fit into a few minutes on two cores. docs/results/demo.md has the
rules, and what came out on seeds that no choice has seen.
"""

from typing import Any, NamedTuple

from unbraid.objectives import Normal, Pixels
from unbraid.optimisers import Adam
from unbraid.plan import Plan, replace
from unbraid.schedules import Cosine, Geometric, Linear

SEED = 0  # the first there is, not the one that looks best


class Side(NamedTuple):
    """A plan and the score that the demo shows of it."""

    plan: Plan
    metric: str


class Contest(NamedTuple):
    """A system and what is trained instead to see what it adds."""

    ours: Side
    plain: Side


def contests(seed: int = SEED) -> dict[str, Contest]:
    """The five systems by name."""
    return {
        "recon-contrast": _colours(seed),
        "intervention": _intervention(seed),
        "principled-contrast": _grass(seed),
        "augmented-gin": _latents(seed),
        "subembeddings": _subembeddings(seed),
    }


def plans(seed: int = SEED) -> list[Plan]:
    """Every run, those that take longest first."""
    pairs = contests(seed).values()
    return [*(pair.ours.plan for pair in pairs), *(pair.plain.plan for pair in pairs)]


def _colours(seed: int) -> Contest:
    """Digits on grounds that the test does not have. With 32 pairs a step shows as many images as for the plain CNN."""
    common: dict[str, Any] = {"digits": "bundled", "steps": 600, "seed": seed}
    own: dict[str, Any] = {
        "predictive": 128,
        "contrast": 300.0,
        "prediction": 1000.0,
        "likelihood": Normal(0.1),
    }
    own |= {"architecture": "mlp-small", "reader": "conv-channelwise", "batch": 32}
    scoring = {"samples": 0, "on": {"part": "test"}}
    ours = Plan("recon-contrast", "colored-mnist", common | own, ("group_accuracy",), scoring)
    plain = Plan("cnn", "colored-mnist", common | {"batch": 64}, ("group_accuracy",), scoring)
    return Contest(*(Side(plan, "group_accuracy.worst") for plan in (ours, plain)))


def _intervention(seed: int) -> Contest:
    """Digits whose hue goes with what they are; scored on test digits that come in all hues alike, as in the paper.

    Six codes in all leave no room to hold everything twice.
    """
    common: dict[str, Any] = {"digits": "bundled", "correlate": ("digit", "hue"), "seed": seed}
    common |= {"architecture": "mlp-small", "steps": 3500, "batch": 32, "optimiser": Adam(2e-3)}
    common |= {"features": 2, "dimensions": 3, "translation": 0.0}  # as the runs on the demo's page have it
    own: dict[str, Any] = {"undo": 4.0, "adversary": 30.0, "saturating": False}
    scoring = {"samples": 1500, "test_samples": 1000, "on": {"part": "test", "correlate": ()}}
    metrics = ("undone", "disentanglement_gap", "sap")
    ours = Plan("intervention", "hue-mnist", common | own, metrics, scoring)
    plain = replace(ours, undo=0.0, adversary=0.0)
    return Contest(*(Side(plan, "undone") for plan in (ours, plain)))


def _grass(seed: int) -> Contest:
    """Digits over grass, against grass alone; so much grass that a plain code is about grass."""
    steps = 2000
    common: dict[str, Any] = {"digits": "bundled", "grass": "painted", "rho": 0.7, "seed": seed}
    common |= {"architecture": "mlp-small", "likelihood": Pixels(0.1), "steps": steps, "batch": 64}
    common |= {"optimiser": Adam(2e-3), "rate": Linear(1.0, 0.0, steps)}
    own: dict[str, Any] = {"common": 8, "salient": 6, "beta": 2.0, "lambda_c": 30.0, "lambda_z": 30.0}
    own |= {"warm_up": Linear(0.0, 1.0, 3 * steps // 10)}
    scoring = {"samples": 0, "test_samples": 0, "on": {"part": "test", "patches": 1000}}
    metrics = ("salient:clustering", "common:clustering")
    ours = Plan("principled-contrast", "grassy-mnist", common | own, metrics, scoring)
    plain = Plan("vae", "grassy-mnist", common | {"codes": 14}, ("clustering",), scoring)
    return Contest(Side(ours, "salient:clustering"), Side(plain, "clustering"))


def _latents(seed: int) -> Contest:
    """Two latents behind ten columns: for each seed others, behind another network."""
    steps = 1500
    common: dict[str, Any] = {"along": (0, 1), "spreads": "varying", "turn": 45.0, "trial": seed}
    common |= {"redraw": True, "batch": 300, "seed": seed}
    own: dict[str, Any] = {"steps": steps, "optimiser": Adam(1e-2), "rate": Cosine(1.0, 0.0, steps)}
    own |= {"cooling": Geometric(0.5, 0.1, 3 * steps // 5)}
    metrics = ("codes:latent_mcc", "codes:latent_r2", "codes:spectrum")
    ours = Plan("augmented-gin", "mixture", common | own, metrics)
    untrained = Plan("augmented-gin", "mixture", common | {"steps": 1, "optimiser": Adam(1e-9)}, metrics)
    return Contest(*(Side(plan, "codes:latent_mcc") for plan in (ours, untrained)))


def _subembeddings(seed: int) -> Contest:
    """Digits on textures; halves of the code that are told what to tell, and halves that are not."""
    steps = 300
    common: dict[str, Any] = {"variant": "dc-bc", "digits": "bundled", "backgrounds": "textures", "size": 32}
    common |= {
        "pairs": 20_000,
        "crop": 1.0,
        "colour": 0.0,
        "architecture": "conv",
        "batch": 128,
        "seed": seed,
    }
    common |= {"steps": steps, "optimiser": Adam(3e-3), "rate": Cosine(1.0, 0.0, steps)}
    scoring = {"samples": 4_000, "test_samples": 4_000, "test_part": "test"}
    methods = "supervised-subembeddings", "simclr"
    metric = "r:disentanglement_gap"
    return Contest(*(Side(Plan(name, "mnist-stl10", common, (metric,), scoring), metric) for name in methods))
