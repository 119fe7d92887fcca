"""The five systems of `unbraid demo` and their baselines, on data that needs no download.

All settings of the demo are here. They were chosen on images, training data and validation data, without looking at the
scores that the demo reports, so that the five trainings take a few minutes on 2 CPU cores. docs/results/demo.md states
the rules and the results on seeds that were not used for any choice.
"""

from typing import Any, NamedTuple

from unbraid.objectives import Normal, Pixels
from unbraid.optimizers import Adam
from unbraid.schedules import Cosine, Exponential, Linear
from unbraid.studies import Plan, replace

SEED = 0  # the first seed, not a selected one


class DemoEntry(NamedTuple):
    """A plan and the score of it that the demo shows."""

    plan: Plan
    metric: str


class DemoPair(NamedTuple):
    """A system and its baseline."""

    system: DemoEntry
    baseline: DemoEntry


def demo_pairs(seed: int = SEED) -> dict[str, DemoPair]:
    """The five systems and their baselines by name."""
    return {
        "recon-contrast": _colors(seed),
        "intervention": _intervention(seed),
        "principled-contrast": _grass(seed),
        "augmented-gin": _latents(seed),
        "subembeddings": _subembeddings(seed),
    }


def plans(seed: int = SEED) -> list[Plan]:
    """All runs, the slowest first."""
    pairs = demo_pairs(seed).values()
    return [*(pair.system.plan for pair in pairs), *(pair.baseline.plan for pair in pairs)]


def _colors(seed: int) -> DemoPair:
    """Digits on background colors that the test does not have. 32 pairs per step are as many images as the CNN's 64."""
    common: dict[str, Any] = {"digits": "bundled", "steps": 600, "seed": seed}
    specific: dict[str, Any] = {
        "predictive_dim": 128,
        "lambda_swap": 0.02,  # per unit of a distance that σ = 0.1 multiplies by 50
        "lambda_average": 0.02,
        "lambda_contrast": 300.0,
        "lambda_class": 1000.0,
        "likelihood": Normal(0.1),
    }
    specific |= {"architecture": "mlp-small", "predictive_encoder": "conv-channelwise", "batch_size": 32}
    evaluation = {"num_samples": 0, "on": {"split": "test"}}
    system = Plan("recon-contrast", "colored-mnist", common | specific, ("group_accuracy",), evaluation)
    baseline = Plan("cnn", "colored-mnist", common | {"batch_size": 64}, ("group_accuracy",), evaluation)
    return DemoPair(*(DemoEntry(plan, "group_accuracy.worst") for plan in (system, baseline)))


def _intervention(seed: int) -> DemoPair:
    """Digits with a correlated hue, tested on digits with independent hues, as in the paper.

    Six dimensions are too few to encode each factor twice.
    """
    common: dict[str, Any] = {"digits": "bundled", "correlate": ("digit", "hue"), "seed": seed}
    common |= {"architecture": "mlp-small", "steps": 3500, "batch_size": 32, "optimizer": Adam(2e-3)}
    common |= {
        "num_features": 2,
        "feature_dim": 3,
        "lambda_translation": 0.0,
    }  # as for the runs on the demo page
    specific: dict[str, Any] = {"lambda_cycle": 4.0, "lambda_adv": 30.0, "saturating": False}
    evaluation = {"num_samples": 1500, "num_test_samples": 1000, "on": {"split": "test", "correlate": ()}}
    metrics = ("intervention_reversibility", "disentanglement_gap", "sap")
    system = Plan("intervention", "hue-mnist", common | specific, metrics, evaluation)
    baseline = replace(system, lambda_cycle=0.0, lambda_adv=0.0)
    return DemoPair(*(DemoEntry(plan, "intervention_reversibility") for plan in (system, baseline)))


def _grass(seed: int) -> DemoPair:
    """Digits over grass and grass alone, with so much grass that a plain VAE encodes mostly grass."""
    steps = 2000
    common: dict[str, Any] = {"digits": "bundled", "grass": "painted", "rho": 0.7, "seed": seed}
    common |= {"architecture": "mlp-small", "likelihood": Pixels(0.1), "steps": steps, "batch_size": 64}
    common |= {"optimizer": Adam(2e-3), "lr_schedule": Linear(1.0, 0.0, steps)}
    specific: dict[str, Any] = {
        "common_dim": 8,
        "salient_dim": 6,
        "beta": 2.0,
        "lambda_c": 30.0,
        "lambda_z": 30.0,
    }
    specific |= {"beta_schedule": Linear(0.0, 1.0, 3 * steps // 10)}
    evaluation = {"num_samples": 0, "num_test_samples": 0, "on": {"split": "test", "patches": 1000}}
    metrics = ("salient:clustering", "common:clustering")
    system = Plan("principled-contrast", "grassy-mnist", common | specific, metrics, evaluation)
    baseline = Plan("vae", "grassy-mnist", common | {"latent_dim": 14}, ("clustering",), evaluation)
    return DemoPair(DemoEntry(system, "salient:clustering"), DemoEntry(baseline, "clustering"))


def _latents(seed: int) -> DemoPair:
    """Two latents behind ten columns; each seed has its own latents and mixing network."""
    steps = 1500
    common: dict[str, Any] = {
        "augmented_latents": (0, 1),
        "augmentation_std": "varying",
        "rotation_degrees": 45.0,
        "data_seed": seed,
    }
    common |= {"fresh_each_step": True, "batch_size": 300, "seed": seed}
    specific: dict[str, Any] = {
        "steps": steps,
        "optimizer": Adam(1e-2),
        "lr_schedule": Cosine(1.0, 0.0, steps),
    }
    specific |= {"noise_schedule": Exponential(0.5, 0.1, 3 * steps // 5)}
    metrics = ("codes:latent_mcc", "codes:latent_r2", "codes:spectrum")
    system = Plan("augmented-gin", "mixture", common | specific, metrics)
    untrained = Plan("augmented-gin", "mixture", common | {"steps": 1, "optimizer": Adam(1e-9)}, metrics)
    return DemoPair(*(DemoEntry(plan, "codes:latent_mcc") for plan in (system, untrained)))


def _subembeddings(seed: int) -> DemoPair:
    """Digits on textures, with a factor assigned to each half of the features, and without."""
    steps = 300
    common: dict[str, Any] = {
        "variant": "dc-bc",
        "digits": "bundled",
        "backgrounds": "textures",
        "image_size": 32,
    }
    common |= {
        "pairs": 20_000,
        "crop": 1.0,
        "color_jitter": 0.0,
        "architecture": "conv",
        "batch_size": 128,
        "seed": seed,
    }
    common |= {"steps": steps, "optimizer": Adam(3e-3), "lr_schedule": Cosine(1.0, 0.0, steps)}
    evaluation = {"num_samples": 4_000, "num_test_samples": 4_000, "test_split": "test"}
    methods = "supervised-subembeddings", "simclr"
    metric = "r:disentanglement_gap"
    return DemoPair(
        *(DemoEntry(Plan(name, "mnist-stl10", common, (metric,), evaluation), metric) for name in methods)
    )
