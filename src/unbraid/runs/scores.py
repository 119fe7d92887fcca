"""Scores of a run, as a list with a display."""

from typing import Any


class Scores(list[dict[str, Any]]):
    """One entry per score, with its protocol, sample sizes and seed; printed as a table."""

    def __repr__(self) -> str:
        width = max([len(entry["metric"]) for entry in self], default=0)
        lines = [
            f"{entry['metric']:<{width}}  {entry['value']:.4f}  ({_conditions(entry)})" for entry in self
        ]
        return "\n".join(lines) or "no scores"

    def _repr_html_(self) -> str:
        from unbraid.display import scores_html

        return scores_html(self)


def _conditions(entry: dict[str, Any]) -> str:
    test_size = f"tested on {entry['n_test']}" if entry.get("n_test") else ""
    parts = [entry.get("protocol"), f"n={entry.get('n', 0)}", test_size, f"seed {entry.get('seed', 0)}"]
    return ", ".join(part for part in [*parts, entry.get("on")] if part)
