"""The rows of the study of mouse proteins, with the mice on the wrong side.

    unbraid study principled-contrast/mouse-protein --scale paper --out studies/mice
    python -m benchmarks.mouse_rows studies/mice --commit 3913cfc --out docs/results/rows/p3_mouse_protein.csv

Beside every score, `wrong.MOUSE` is the share of a mouse's 15 measurements that are in the cluster of the other
genotype, by the clusters that `clustering` stored as its evidence.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from benchmarks.study_rows import arguments, provenance, study_rows, write_rows
from unbraid.data.mouse_protein import SOURCE, mouse_protein
from unbraid.data.table import read_table
from unbraid.studies.aggregate import scores_for
from unbraid.studies.results import StudyFolder, open_study

OPTIONS = ("alpha", "architecture", "salient_dim")
CLUSTERING = "salient:clustering"


def mice(root: Path | None) -> list[str]:
    """The mouse of each observation of the target, in the order of the dataset."""
    table = read_table(SOURCE.require(root))
    columns = (table.column(name) for name in ("MouseID", "Treatment", "Behavior"))
    return [
        mouse.split("_")[0]
        for mouse, treatment, behavior in zip(*columns, strict=True)
        if (treatment, behavior) == ("Saline", "S/C")
    ]


def wrong_shares(
    clusters: Int[np.ndarray, " n"], labels: Int[np.ndarray, " n"], names: list[str]
) -> Mapping[str, float]:
    """The share of each mouse's measurements outside the cluster of its genotype; two clusters, matched as one."""
    wrong = clusters != labels
    wrong = ~wrong if wrong.mean() > 0.5 else wrong
    of = np.array(names)
    return {name: float(wrong[of == name].mean()) for name in dict.fromkeys(names)}


def mouse_rows(study: StudyFolder, labels: Int[np.ndarray, " n"], names: list[str], commit: str) -> list[Any]:
    """One row per run and mouse."""
    found = []
    for plan, run in study.finished:
        [score] = [entry for entry in scores_for(plan, run) if entry["metric"] == CLUSTERING]
        shares = wrong_shares(np.array(score["evidence"]["clusters"]), labels, names)
        shared = provenance(study, plan, run, commit=commit, options=OPTIONS)
        found += [
            shared
            | {"metric": f"wrong.{mouse}", "value": share, "protocol": CLUSTERING, "n": names.count(mouse)}
            for mouse, share in shares.items()
        ]
    return found


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--data-root", type=Path, help="data root")
    args = parser.parse_args()
    study, dataset = open_study(args.study), mouse_protein(args.data_root)
    labels = dataset.factors(dataset.indices())
    assert labels is not None
    rows = study_rows(study, commit=args.commit, options=OPTIONS)
    rows += mouse_rows(study, labels[:, 0].numpy(), mice(args.data_root), args.commit)
    write_rows(args.out, rows, OPTIONS)


if __name__ == "__main__":
    main()
