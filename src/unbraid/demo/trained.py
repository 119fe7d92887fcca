"""A system and its baseline after training: their scores, and charts that compare them."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from unbraid.demo.page import HeadlineScore
from unbraid.progress import duration
from unbraid.recipes.demo import DemoEntry, DemoPair
from unbraid.report import Chart, Figure, about, accuracy_chart, chart_of
from unbraid.runs import Model, Run, load
from unbraid.studies import scores_for

FACTORS = {"background": "texture"}  # names on the page


class TrainedPair(NamedTuple):
    """A system and its baseline, both trained."""

    pair: DemoPair
    system: Run
    baseline: Run

    @property
    def model(self) -> Model:
        """The trained system, for observations of its dataset."""
        return load(self.system.folder, device="cpu").without_columns()

    def headline_score(
        self, name: str, baseline_name: str, description: str, chance: float | None = None
    ) -> HeadlineScore:
        """The score that the demo shows, of the system and of the baseline."""
        system, baseline = (
            score_of(self.pair.system, self.system),
            score_of(self.pair.baseline, self.baseline),
        )
        return HeadlineScore(
            name,
            system["value"],
            baseline["value"],
            baseline_name,
            description,
            chance,
            higher_is_better=system["higher_is_better"],
        )

    def probe_chart(self, metric: str, titles: tuple[str, str], inputs: Mapping[str, str]) -> Chart:
        """Probe accuracies per strand and factor of the baseline and of the system.

        Args:
            metric: Metric that has trained the probes.
            titles: Titles of the baseline's and of the system's table.
            inputs: Names of the metric's inputs on the page.
        """
        tables = {}
        entries = (self.pair.baseline, self.baseline), (self.pair.system, self.system)
        for title, (entry, run) in zip(titles, entries, strict=True):
            scores = {score["metric"]: score["value"] for score in scores_for(entry.plan, run)}
            tables[f"{title}, in %"] = {
                f"{inputs[strand]}.{FACTORS.get(factor, factor)}": value
                for name, value in scores.items()
                if name.startswith(f"{metric}.accuracy.")
                for strand, _, factor in [name.removeprefix(f"{metric}.accuracy.").partition(".")]
            }
        caption = "Accuracy of linear probes on the code and on each strand."
        return chart_of("Probe accuracy per strand and factor", caption, partial(accuracy_chart, tables))

    def descriptions(self) -> list[tuple[str, str]]:
        """A description of both runs, and the commands that repeat them."""
        return [_description(self.pair.system, self.system), _description(self.pair.baseline, self.baseline)]


def score_of(entry: DemoEntry, run: Run) -> Mapping[str, Any]:
    """The entry of the score that the demo shows of a run."""
    entries = [score for score in scores_for(entry.plan, run) if score["metric"] == entry.metric]
    if not entries:
        raise ValueError(f"{run.folder} has no score {entry.metric}. Run the demo again to compute it.")
    return entries[-1]


def rename_rows(figure: Figure, names: Sequence[str], caption: str) -> Figure:
    """The figure with other row labels and another caption."""
    rows = [row._replace(label=name, note="") for row, name in zip(figure.rows, names, strict=True)]
    return figure._replace(rows=tuple(rows), caption=caption)


def _description(entry: DemoEntry, run: Run) -> tuple[str, str]:
    history = run.history()
    took = f" in {duration(history[-1]['seconds'])}" if history else ""
    return f"{about(run)[0]} on {run.data_name}, {run.steps:,} steps{took}:", f"{entry.plan} --out RUN"
