"""Mouse proteins: trisomic and control mice after a shock, with unshocked control mice as background.

Higuera et al., 2015, Self-Organizing Feature Maps Identify Proteins Critical to Learning in a Mouse Model of Down
Syndrome; split as in contrastive PCA's paper, Abid et al., 2018.
"""

from pathlib import Path
from typing import Literal

import numpy as np
import torch

from unbraid.data.columns import ColumnScaler
from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.remote_file import RemoteFile
from unbraid.data.table import Table, read_table

SOURCE = RemoteFile(
    urls=(
        "https://raw.githubusercontent.com/abidlabs/contrastive/master/experiments/datasets/Data_Cortex_Nuclear.csv",
    ),
    file="mouse-protein/Data_Cortex_Nuclear.csv",  # no hash is published; the loader checks the columns
)
LICENSE = "CC BY 4.0"
NON_PROTEIN_COLUMNS = ("MouseID", "Genotype", "Treatment", "Behavior", "class")
Missing = Literal["mean", "zero"]
Treatment = Literal["saline", "memantine"]
Standardization = Literal["apart", "together", "no"]


def mouse_protein(
    root: Path | None = None,
    *,
    treatment: Treatment = "saline",
    missing: Missing = "mean",
    standardize: Standardization = "apart",
) -> Dataset:
    """Proteins of shocked mice, trisomic or not; the background is unshocked control mice.

    Rows are measurements, 15 per mouse. The label is the genotype.

    Args:
        root: Data root; default: `$UNBRAID_DATA`, otherwise `~/.cache/unbraid`.
        treatment: Injection of the mice: `saline`, as in contrastive PCA's paper, or the drug `memantine`, which
            selects other mice to choose settings on.
        missing: Replacement of missing values: the `mean` of the protein, or `zero` as in contrastive PCA's code.
        standardize: Standardize every protein in target and background separately (`apart`), as in contrastive PCA's
            code, over both (`together`), which keeps the difference of their means, or not (`no`).
    """
    table = read_table(SOURCE.require(root))
    for name in NON_PROTEIN_COLUMNS:
        table.column(name)  # raises if it is missing
    injected = np.array(table.column("Treatment")) == treatment.capitalize()
    behavior, genotype = (np.array(table.column(name)) for name in ("Behavior", "Genotype"))
    # S/C: shock, then context. The paper calls mice with the other order, C/S, unshocked.
    target = injected & (behavior == "S/C")
    background = injected & (behavior == "C/S") & (genotype == "Control")
    values, fill = _protein_values(table, missing)
    proteins = [name for name in table.names if name not in NON_PROTEIN_COLUMNS]
    scalers = [] if standardize != "no" else [ColumnScaler.identity(proteins, fill)]
    for rows in {"apart": (target, background), "together": (target | background,), "no": ()}[standardize]:
        scalers.append(ColumnScaler.fit(values[rows], proteins, fill))
        values[rows] = scalers[-1].transform(values[rows])
    features = torch.from_numpy(values.astype(np.float32))
    trisomic = torch.from_numpy((genotype[target] == "Ts65Dn").astype(np.int64))
    return Dataset(
        features[torch.from_numpy(target)],
        name="-".join(["mouse-protein", *([treatment] if treatment != "saline" else [])]),
        max_value=1,
        factor_space=FactorSpace({"genotype": 2}),
        combinations=trisomic,
        label="genotype",
        value_names={"genotype": ("control", "trisomic")},
        background=Dataset(
            features[torch.from_numpy(background)],
            name="mouse-protein-control",
            max_value=1,
            columns=scalers[-1],
            license=LICENSE,
        ),
        columns=scalers[0],
        license=LICENSE,
    )


def _protein_values(table: Table, missing: Missing) -> tuple[np.ndarray, list[float]]:
    """The protein columns without missing values; and what replaces these: the mean of the column, or zero."""
    proteins = [name for name in table.names if name not in NON_PROTEIN_COLUMNS]
    values = table.numbers(proteins, allow_missing=True)
    fill = table.means(proteins, values) if missing == "mean" else [0.0] * len(proteins)
    return ColumnScaler.identity(proteins, fill).transform(values), fill
