"""The sections of the demo page: text, figures and the score of each of the five systems."""

from collections.abc import Callable, Mapping
from functools import partial

from torch import Generator

from unbraid.demo.page import DemoSection
from unbraid.demo.trained import TrainedPair, rename_rows
from unbraid.recipes.demo import DemoPair
from unbraid.report import (
    about,
    chart_of,
    interventions,
    recovered_latents,
    recovery_chart,
    strands_apart,
    swaps,
    view_pairs,
)
from unbraid.runs import Run, load, training_dataset
from unbraid.studies import Plan

TITLE = "Five systems in five minutes"
OPENING = (
    "An encoder maps each image to a vector of numbers, its code. A plain encoder mixes shape, color and background in "
    "every dimension. Each system below separates one such mixture into strands: named sets of dimensions, each meant "
    "to capture one factor.",
    "All models were trained on this computer within minutes, on generated data. Each system is compared with a "
    "baseline that lacks what the system adds. The bars in each section show both scores.",
)
AFTER = (
    "These are small models after a short training with one seed. They show what each system does, not how well it "
    "performs. The command unbraid study demo/seeds trains three seeds and reports standard deviations.",
)


def demo_sections(
    pairs: Mapping[str, DemoPair], run_of: Callable[[Plan], Run], explorers: Mapping[str, str]
) -> list[DemoSection]:
    """One section per system.

    Args:
        pairs: Systems and their baselines.
        run_of: Returns the run of a plan.
        explorers: Path of each system's explorer, relative to the page.
    """
    sections = []
    for key, pair in pairs.items():
        trained = TrainedPair(pair, run_of(pair.system.plan), run_of(pair.baseline.plan))
        method, citation, _ = about(trained.system)
        section = SECTIONS[key](trained)._replace(key=key, method=method, citation=citation)
        sections.append(section._replace(explorer=explorers.get(key), trained=trained.descriptions()))
    return sections


def recon_contrast(trained: TrainedPair) -> DemoSection:
    """Recon-contrast on colored digits."""
    model, dataset = trained.model, training_dataset(trained.system)
    figure = swaps(model, dataset, strands=("predictive", "nuisance"), count=8, seed=1)
    return DemoSection(
        "Swap a strand",
        (
            "Handwritten digits in bright colors. In training, the system sees each digit in two colorings. Its code "
            "has two strands: the predictive strand encodes the digit, the nuisance strand everything that changed.",
            "A classifier on the predictive strand is robust to colors that are not in the training split.",
        ),
        trained.headline_score(
            "Worst-group accuracy",
            "plain CNN",
            "Accuracy on the combination of digit and background color with the most errors. The test uses background "
            "colors that are not in the training split.",
            chance=0.1,
        ),
        figure=rename_rows(
            figure,
            ("first digit", "second digit", "predictive strand swapped", "nuisance strand swapped"),
            "Columns are pairs. Bottom rows: the first digit, decoded with one strand of the second digit's code.",
        ),
        what_to_look_for="The third row should show the digit of the second row in the colors of the first, and the "
        "fourth row the digit of the first row in the colors of the second.",
        commands=(
            (
                "Images with a class and a nuisance factor, in an .npz file with the arrays images, labels and "
                "nuisances:",
                "unbraid train recon-contrast --data my-images.npz --steps 20000 --out my-run\n"
                "unbraid evaluate my-run --metrics group_accuracy",
            ),
        ),
    )


def intervention(trained: TrainedPair) -> DemoSection:
    """The intervention autoencoder on digits with a correlated hue."""
    figure = interventions(trained.model, training_dataset(trained.system), count=8, seed=1)
    rows = ("first digit", "second digit", "decoded")
    rows += ("strand 1 replaced", "strand 1 restored", "strand 2 replaced", "strand 2 restored")
    return DemoSection(
        "Intervene on a strand",
        (
            "Digits in ten hues, without labels. Digit and hue are correlated: zeros are mostly red, nines mostly "
            "pink. A plain autoencoder has little reason to separate the two.",
            "The system replaces one strand of a code by that of another image. Training has two goals: the decoded "
            "image must look real, and restoring the strand must restore the original image.",
        ),
        trained.headline_score(
            "Intervention reversibility",
            "plain autoencoder",
            "Fraction of the change caused by replacing a strand that disappears when the strand is restored (1: fully "
            "reversed, 0: not at all), on test digits with independent hues. The chart shows whether "
            "the strands separate digit and hue.",
        ),
        figure=rename_rows(
            figure,
            rows,
            "One strand of each code is replaced by that of the second digit, decoded, encoded again and restored.",
        ),
        chart=trained.probe_chart(
            "disentanglement_gap",
            ("autoencoder", "with interventions"),
            {"whole": "code", "z0": "strand 1", "z1": "strand 2"},
        ),
        what_to_look_for="Ideally one strand encodes only the hue: replacing the other strand then changes the digit "
        "and keeps its color. After a short training both strands often encode some of both factors.",
        commands=(
            (
                "A folder of square images:",
                "unbraid train intervention --data my-images/ --steps 20000 --out my-run\nunbraid report my-run",
            ),
        ),
    )


def principled_contrast(trained: TrainedPair) -> DemoSection:
    """Principled contrast on digits over grass."""
    figure = strands_apart(trained.model, training_dataset(trained.system), count=8, seed=1)
    return DemoSection(
        "Find what only one dataset has",
        (
            "Two unlabeled image collections: the target shows digits under a layer of grass, the background grass "
            "alone. The common strand encodes what both have, the salient strand what only the target has.",
            "Grass makes up most of each pixel, so a plain VAE encodes mostly grass.",
        ),
        trained.headline_score(
            "Clustering accuracy",
            "plain VAE",
            "k-means groups the codes into ten clusters; the score is the fraction of images in the cluster of their "
            "digit. For the system, only the salient strand is used.",
        ),
        figure=rename_rows(
            figure,
            ("digit over grass", "decoded", "common strand only", "salient strand only"),
            "Target images, decoded from the code and from each strand with the other set to zero.",
        ),
        what_to_look_for="The common strand should give grass without a digit, and the salient strand a digit without "
        "grass.",
        commands=(
            (
                "Two folders of square images, the second without what you are looking for:",
                "unbraid train principled-contrast --data patients/ --background controls/ --steps 20000 --out my-run"
                "\nunbraid report my-run",
            ),
        ),
    )


def augmented_gin(trained: TrainedPair) -> DemoSection:
    """Augmented GIN on the mixture."""
    dataset = training_dataset(trained.system).to("cpu")
    rows = dataset.sample_indices(4000, Generator().manual_seed(0))
    x, latents = dataset.observe(rows), dataset.latents
    assert latents is not None and dataset.combinations is not None
    true, component = latents.informative(rows).numpy(), dataset.combinations[rows].numpy()
    before, after = (
        recovered_latents(run, load(run.folder, device="cpu").without_columns().encode(x).numpy())
        for run in (trained.baseline, trained.system)
    )
    recovered = {"untrained": before._replace(spectrum=None), "trained": after}
    return DemoSection(
        "Recover the latent variables",
        (
            "Each point is generated from two latent variables by an unknown network with ten outputs. The system sees "
            "the points and slightly changed copies of them, and learns to invert the network with an invertible flow.",
            "The number of latent variables is not given: two dimensions keep a high variance, and eight shrink.",
        ),
        trained.headline_score(
            "Correlation with the true latents",
            "untrained flow",
            "Mean correlation between each true latent variable and its best-matching dimension.",
        ),
        chart=chart_of(
            "Recovered latent variables",
            "Points by their two true latents, by two of the ten observed values, and by the two dimensions with the "
            "highest variance before and after training. Last: the standard deviation of each dimension, sorted.",
            partial(recovery_chart, x.numpy(), true, component, recovered, columns=3),
        ),
        what_to_look_for="After training, the points should be arranged like their true latents, up to reflection and "
        "scaling.",
        commands=(
            (
                "A table of numbers, or images, for which slightly changed copies can be generated:",
                "unbraid train augmented-gin --data my-images/ --steps 20000 --out my-run\nunbraid report my-run",
            ),
        ),
    )


def subembeddings(trained: TrainedPair) -> DemoSection:
    """Supervised subembeddings on digits over textures."""
    figure = view_pairs(training_dataset(trained.system), count=8, seed=1)
    return DemoSection(
        "Assign a factor to each half",
        (
            "Digits on textures, and no decoder: contrastive learning. In one half of the features, images of the same "
            "digit are positives, in the other half images with the same texture.",
            "A plain contrastive model is trained on the same pairs. Both of its halves encode the same factors.",
        ),
        trained.headline_score(
            "Disentanglement gap",
            "plain SimCLR",
            "Difference in probe accuracy for a factor between the half that is assigned to it and the other half (1: "
            "fully separated, 0: not at all).",
        ),
        figure=rename_rows(
            figure,
            ("view 1", "view 2"),
            "Columns are pairs: the same digit and the same texture at another location.",
        ),
        chart=trained.probe_chart(
            "r:disentanglement_gap",
            ("plain SimCLR", "subembeddings"),
            {"whole": "features", "r0": "half 1", "r1": "half 2"},
        ),
        what_to_look_for="In the right table the first half should have a high accuracy for digits and a low one for "
        "textures, and the second half the opposite.",
        commands=(
            (
                "Images with two known factors, in an .npz file with the arrays images, factors and names:",
                "unbraid train supervised-subembeddings --data my-images.npz --architecture resnet-18 --steps 20000 "
                "--out my-run\nunbraid evaluate my-run --metrics r:disentanglement_gap",
            ),
        ),
    )


SECTIONS: dict[str, Callable[[TrainedPair], DemoSection]] = {
    "recon-contrast": recon_contrast,
    "intervention": intervention,
    "principled-contrast": principled_contrast,
    "augmented-gin": augmented_gin,
    "subembeddings": subembeddings,
}
