"""Mouse proteins: trisomic and control mice after a shock, against control mice without one. Higuera et al., 2015,
Self-Organizing Feature Maps Identify Proteins Critical to Learning in a Mouse Model of Down Syndrome; split as in
contrastive PCA's paper, Abid et al., 2018."""

from pathlib import Path
from typing import Literal

import numpy as np
import torch

from unbraid.data.columns import Columns
from unbraid.data.dataset import Dataset
from unbraid.data.download import Source
from unbraid.data.factors import FactorSpace
from unbraid.data.table import Table, read_table

SOURCE = Source(
    url="https://raw.githubusercontent.com/abidlabs/contrastive/master/experiments/datasets/Data_Cortex_Nuclear.csv",
    sha256=None,
    file="mouse-protein/Data_Cortex_Nuclear.csv",
)
ROLES = ("MouseID", "Genotype", "Treatment", "Behavior", "class")
Missing = Literal["mean", "zero"]
Treatment = Literal["saline", "memantine"]
Scale = Literal["apart", "together", "no"]


def mouse_protein(
    root: Path | None = None,
    *,
    treatment: Treatment = "saline",
    missing: Missing = "mean",
    standardise: Scale = "apart",
) -> Dataset:
    """Proteins of shocked mice, trisomic or not, with unshocked control mice as the background.

    Rows are measurements, 15 of each mouse. The label is the genotype.

    Args:
        root: The data root; `UNBRAID_DATA` or the user's cache folder by default.
        treatment: The injection that all of the mice had: `saline`, no drug, as in contrastive PCA's paper, or the drug
            `memantine`: other mice, on which settings can be tried.
        missing: What a missing value becomes: the `mean` of its protein, or `zero` as in contrastive PCA's code.
        standardise: Every protein is brought to mean 0 and variance 1 in target and background `apart`, as in
            contrastive PCA's code, `together`, which leaves their means different, or not at all (`no`).
    """
    table = read_table(SOURCE.locate(root))
    for name in ROLES:
        table.column(name)
    injected = np.array(table.column("Treatment")) == treatment.capitalize()
    behaviour, genotype = (np.array(table.column(name)) for name in ("Behavior", "Genotype"))
    target = injected & (behaviour == "S/C")  # shock, then context; the paper calls the other order unshocked
    background = injected & (behaviour == "C/S") & (genotype == "Control")
    values = _values(table, missing)
    proteins = [name for name in table.names if name not in ROLES]
    scales = []
    for part in {"apart": (target, background), "together": (target | background,), "no": ()}[standardise]:
        scales.append(Columns.of(values[part], proteins))
        values[part] = scales[-1].standardised(values[part])
    rows = torch.from_numpy(values.astype(np.float32))
    trisomic = torch.from_numpy((genotype[target] == "Ts65Dn").astype(np.int64))
    return Dataset(
        rows[torch.from_numpy(target)],
        name="-".join(["mouse-protein", *([treatment] if treatment != "saline" else [])]),
        white=1,
        space=FactorSpace({"genotype": 2}),
        combinations=trisomic,
        label="genotype",
        value_names={"genotype": ("control", "trisomic")},
        background=Dataset(rows[torch.from_numpy(background)], name="mouse-protein-control", white=1),
        columns=scales[0] if scales else Columns.plain(proteins),  # the target's own
    )


def _values(table: Table, missing: Missing) -> np.ndarray:
    proteins = [name for name in table.names if name not in ROLES]
    if missing == "mean":
        return table.numbers(proteins, impute="mean")
    filled = Table(
        table.path, table.names, [[cell if cell.strip() else "0" for cell in row] for row in table.cells]
    )
    return filled.numbers(proteins)
