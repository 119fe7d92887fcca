"""The five systems of the demo as its page shows them: words, a picture and a number each."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from torch import Generator

from unbraid.metrics.latents import widest
from unbraid.model import Model, load
from unbraid.plan import Plan
from unbraid.progress import duration
from unbraid.recipes.demo import Contest, Side
from unbraid.reopen import dataset_of
from unbraid.report.contrast import strands_apart
from unbraid.report.exhibition import Exhibit, Measure
from unbraid.report.figures import Figure, swaps
from unbraid.report.flows import recovery_chart
from unbraid.report.intervention import interventions
from unbraid.report.pictures import Chart, chart_of
from unbraid.report.subembeddings import accuracy_chart, view_pairs
from unbraid.report.subjects import about
from unbraid.results import scores_of
from unbraid.runs import Run

TITLE = "Five systems in five minutes"
OPENING = (
    "A model that learns from pictures writes each of them as a list of numbers, its code. Left to itself it mixes "
    "everything: what is drawn, in which colour, on what ground. Each of the five systems on this page pulls one such "
    "mixture apart into strands, parts of the code with a meaning of their own.",
    "All five were trained on this computer within minutes, on data made here, each beside a plain model that lacks "
    "what the system adds. The bars in each section are the system's number and the plain model's.",
)
AFTER = (
    "These are small models after a short training, one of each: enough to see what a system does. "
    "The command unbraid study demo/seeds trains each three times and shows the spread.",
)
HALVES = {"whole": "whole", "r0": "half 1", "r1": "half 2"}
PARTS = {"whole": "whole", "z0": "part 1", "z1": "part 2"}
VIEWS = "Columns are pairs: the same digit and the same texture, in another place."
FACTORS = {"background": "texture", "location": "place"}


class Trained(NamedTuple):
    """A system and its plain model, both trained."""

    contest: Contest
    ours: Run
    plain: Run

    @property
    def model(self) -> Model:
        return load(self.ours.folder, device="cpu")


def exhibits(
    contests: Mapping[str, Contest], runs: Callable[[Plan], Run], explorers: Mapping[str, str]
) -> list[Exhibit]:
    """Every system with its words, picture and number.

    Args:
        contests: The systems and their plain models.
        runs: The run of a plan.
        explorers: Where the explorer of each system lies, from the page.
    """
    made = []
    for key, contest in contests.items():
        trained = Trained(contest, runs(contest.ours.plan), runs(contest.plain.plan))
        exhibit = SHOWN[key](trained)
        method, citation, _ = about(trained.ours)
        made.append(
            exhibit._replace(
                key=key,
                method=method,
                citation=citation,
                explorer=explorers.get(key),
                trained=[_trained(contest.ours, trained.ours), _trained(contest.plain, trained.plain)],
            )
        )
    return made


def swapped_strands(trained: Trained) -> Exhibit:
    """Recon-contrast on coloured digits."""
    model, dataset = trained.model, dataset_of(trained.ours)
    figure = swaps(model, dataset, strands=("predictive", "nuisance"), count=8, seed=1)
    names = ("a digit", "another", "its digit replaced", "its colours replaced")
    figure = _renamed(
        figure, names, "Columns are pairs. Below, the first digit with one strand of the other's code."
    )
    return _exhibit(
        "Swap a strand",
        "Written digits in bright colours. The system sees the same digit twice, in other colours, and learns a code "
        "of two strands: one tells which digit it is, the other everything that changed.",
        "A classifier that reads the first strand alone is hard to fool by colours that it has never seen.",
        measure=_measure(
            trained,
            "Accuracy where it is worst",
            "plain CNN",
            "Both models are tested on grounds that training did not show, and judged by the digit and ground on "
            "which they do worst.",
            chance=0.1,
        ),
        figure=figure,
        look="The third row takes the digit of the second and keeps the colours of the first; the fourth takes the "
        "colours and keeps the digit.",
        commands=(
            (
                "Images with a class and something that should not matter, in an .npz file with the arrays images, "
                "labels and nuisances:",
                "unbraid train recon-contrast --data my-images.npz --steps 20000 --out my-run\n"
                "unbraid evaluate my-run --metrics group_accuracy",
            ),
        ),
    )


def an_intervention(trained: Trained) -> Exhibit:
    """The intervention autoencoder on digits whose hue goes with what they are."""
    figure = interventions(trained.model, dataset_of(trained.ours), count=8, seed=1)
    names = ("a digit", "another", "decoded", "part 1 replaced", "set back", "part 2 replaced", "set back")
    caption = "One part of each code is replaced by the other digit's, decoded, encoded again and set back."
    return _exhibit(
        "Intervene",
        "Digits in ten hues, and no labels. Hue and digit go together here: a zero is mostly red, a nine mostly pink. "
        "A plain model has little reason to tell the two apart.",
        "The system replaces one part of a code by that of another picture, and asks for two things: what is decoded "
        "could be a picture, and setting the part back gives the first one again.",
        measure=_measure(
            trained,
            "How much of an intervention can be undone",
            "plain autoencoder",
            "The share of what replacing a part has changed that setting it back takes away again; 1 is all. Tested on "
            "digits that come in all hues alike. This is what the system asks for; whether the parts come apart, the "
            "chart says.",
        ),
        figure=_renamed(figure, names, caption),
        chart=_halves(trained, "disentanglement_gap", ("autoencoder", "with interventions"), PARTS),
        look="At best one of the two parts holds the hue alone: replacing the other one changes the digit and leaves "
        "its colour. A training as short as this one often does not get there, and then each part tells some of both.",
        commands=(
            (
                "A folder of square images is all that is needed:",
                "unbraid train intervention --data my-images/ --steps 20000 --out my-run\nunbraid report my-run",
            ),
        ),
    )


def salient_against_common(trained: Trained) -> Exhibit:
    """Principled contrast on digits over grass."""
    figure = strands_apart(trained.model, dataset_of(trained.ours), count=8, seed=1)
    names = ("a digit over grass", "decoded", "common strand alone", "salient strand alone")
    caption = (
        "Pictures, and what the decoder makes of the whole code and of each strand with the other at zero."
    )
    return _exhibit(
        "Find what is new",
        "Two heaps of pictures without labels: digits under a layer of grass, and grass alone. The system learns which "
        "part of the code both heaps need, the common strand, and which part only the first one needs, the salient "
        "strand.",
        "Grass makes up most of every pixel, so a plain model spends its code on grass.",
        measure=_measure(
            trained,
            "Digits found without labels",
            "plain VAE",
            "Codes are sorted into ten heaps, and the number says how many pictures lie in the heap of their digit. "
            "Ours are the salient codes alone.",
        ),
        figure=_renamed(figure, names, caption),
        look="The common strand gives grass without a digit, the salient strand a digit without its grass.",
        commands=(
            (
                "Two folders of square images, the second without what you are looking for:",
                "unbraid train principled-contrast --data patients/ --background controls/ --steps 20000 --out my-run"
                "\nunbraid report my-run",
            ),
        ),
    )


def recovered_latents(trained: Trained) -> Exhibit:
    """Augmented GIN on the mixture."""
    dataset = dataset_of(trained.ours).to("cpu")
    rows = dataset.draw(4000, Generator().manual_seed(0))
    x, latents = dataset.observe(rows), dataset.latents
    assert latents is not None and dataset.combinations is not None
    true, component = latents.true(rows).numpy(), dataset.combinations[rows].numpy()
    untrained, found = (
        load(run.folder, device="cpu").encode(x).numpy() for run in (trained.plain, trained.ours)
    )
    codes = {"untrained": untrained[:, widest(untrained, true.shape[1])], "trained": found}
    chart = chart_of(
        "Latents found again",
        "Points by their two true numbers, and by two of the directions that are observed; by the two widest codes "
        "before and after training; last, how wide each of the ten codes is, the widest first.",
        partial(recovery_chart, x.numpy(), true, component, codes, columns=3),
    )
    return _exhibit(
        "Recover what was hidden",
        "Each point was made from two numbers, and an unknown network bent them into the ten that are observed. The "
        "system sees points and slightly changed copies of them, and learns to bend everything back. It can be run "
        "both ways without loss.",
        "Nobody tells it how many numbers there were: two of its codes stay wide, and eight shrink.",
        measure=_measure(
            trained,
            "Agreement with the true numbers",
            "untrained flow",
            "The correlation between true numbers and codes, each with its best partner.",
        ),
        chart=chart,
        look="After training the points should lie as their true numbers do, up to mirroring and stretching.",
        commands=(
            (
                "A table of numbers, or images, of which slightly changed copies can be made:",
                "unbraid train augmented-gin --data my-images/ --steps 20000 --out my-run\nunbraid report my-run",
            ),
        ),
    )


def subembeddings_apart(trained: Trained) -> Exhibit:
    """Supervised subembeddings on digits over textures."""
    return _exhibit(
        "Halves that know different things",
        "Digits on textures, and no decoder at all: the system compares pictures with one another. One half of its "
        "code draws pictures of the same digit together, the other half pictures with the same texture.",
        "A plain contrastive model sees the same pairs. Both of its halves learn the same.",
        measure=_measure(
            trained,
            "How far apart the halves are",
            "plain SimCLR",
            "By how much each half tells its own factor better than the other half does; 1 is complete, 0 is not at "
            "all.",
        ),
        figure=_renamed(view_pairs(dataset_of(trained.ours), count=8, seed=1), ("view 1", "view 2"), VIEWS),
        chart=_halves(trained, "r:disentanglement_gap", ("plain SimCLR", "subembeddings"), HALVES),
        look="In the right table the first half is good at digits and poor at textures, the second the other way "
        "round.",
        commands=(
            (
                "Images with two known factors, in an .npz file with the arrays images, factors and names:",
                "unbraid train supervised-subembeddings --data my-images.npz --architecture resnet-18 --steps 20000 "
                "--out my-run\nunbraid evaluate my-run --metrics r:disentanglement_gap",
            ),
        ),
    )


SHOWN: dict[str, Callable[[Trained], Exhibit]] = {
    "recon-contrast": swapped_strands,
    "intervention": an_intervention,
    "principled-contrast": salient_against_common,
    "augmented-gin": recovered_latents,
    "subembeddings": subembeddings_apart,
}


def score_of(side: Side, run: Run) -> float:
    """The score that the demo shows of a run."""
    found = [score["value"] for score in scores_of(side.plan, run) if score["metric"] == side.metric]
    if not found:
        raise ValueError(f"{run.folder} has no score {side.metric}: run the demo again, which scores it.")
    return float(found[-1])


def _exhibit(title: str, *paragraphs: str, measure: Measure, **shown: Any) -> Exhibit:
    """An exhibit without what is the same for all."""
    return Exhibit("", title, "", "", paragraphs, measure, **shown)


def _measure(trained: Trained, name: str, instead: str, meaning: str, chance: float | None = None) -> Measure:
    contest = trained.contest
    ours, plain = score_of(contest.ours, trained.ours), score_of(contest.plain, trained.plain)
    return Measure(name, ours, plain, instead, meaning, chance)


def _renamed(figure: Figure, names: Sequence[str], caption: str) -> Figure:
    """The figure with rows that a newcomer can read."""
    rows = [row._replace(label=name, note="") for row, name in zip(figure.rows, names, strict=True)]
    return figure._replace(rows=tuple(rows), caption=caption)


def _halves(trained: Trained, metric: str, titles: tuple[str, str], parts: Mapping[str, str]) -> Chart:
    """What each part of both codes tells, the plain model's first, by a metric that has probed them."""
    sides = (trained.contest.plain, trained.plain), (trained.contest.ours, trained.ours)
    tables = {}
    for title, (side, run) in zip(titles, sides, strict=True):
        found = {score["metric"]: score["value"] for score in scores_of(side.plan, run)}
        tables[f"{title}, in %"] = {
            f"{parts[part]}.{FACTORS.get(factor, factor)}": value
            for name, value in found.items()
            if name.startswith(f"{metric}.accuracy.")
            for part, _, factor in [name.removeprefix(f"{metric}.accuracy.").partition(".")]
        }
    caption = "How often a linear probe reads each factor off the whole code and off each part of it."
    return chart_of("What each part tells", caption, partial(accuracy_chart, tables))


def _trained(side: Side, run: Run) -> tuple[str, str]:
    history = run.history()
    took = f" in {duration(history[-1]['seconds'])}" if history else ""
    return f"{about(run)[0]} on {run.data_name}, {run.steps:,} steps{took}:", f"{side.plan} --out RUN"
