"""A synthetic table for fairness: loans whose features encode the borrower's district. The district predicts the class
in training and misleads in the test, the situation for which VFAE and CVIB were designed."""

from typing import Literal

import numpy as np
import torch
from jaxtyping import Float

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.renderer import GENERATED
from unbraid.seeds import derive_seed

Split = Literal["train", "test"]
FEATURES, FAIR, LEAKY = 12, 5, 4  # columns in total, of which encode the class, of which encode the district


def credit(
    *,
    split: Split = "train",
    observations: int = 4000,
    districts: int = 2,
    bias: float = 0.8,
    test_bias: float = -0.8,
    table_seed: int = 0,
) -> Dataset:
    """Synthetic loans, paid back or not; the district predicts the class in training and misleads in the test.

    Args:
        split: The training rows (`train`) or the test rows (`test`).
        observations: Number of rows in the split.
        districts: Number of districts; paid-back loans favor the second, others the first.
        bias: Dependence of the district on the class in training: 0 none, 1 full, -1 full and reversed.
        test_bias: Dependence of the district on the class in the test.
        table_seed: Random seed for the rows.
    """
    if districts < 2 or observations < 2:
        raise ValueError(
            f"The table needs at least 2 districts and 2 rows; got districts={districts}, observations={observations}."
        )
    for name, value in (("bias", bias), ("test_bias", test_bias)):
        if not -1 <= value <= 1:
            raise ValueError(f"{name} must be between -1 and 1; got {name}={value}.")
    rng = np.random.default_rng(derive_seed(table_seed, split))
    label = rng.integers(0, 2, observations)
    favored = rng.random(observations) < (1 + (bias if split == "train" else test_bias)) / 2
    # Rows outside the favored district take any other district.
    other = (label + rng.integers(1, districts, observations)) % districts
    district = np.where(favored, label, other)
    space = FactorSpace({"paid": 2, "district": districts})
    combinations = space.index(torch.from_numpy(np.stack([label, district], 1)))
    return Dataset(
        torch.from_numpy(_features(label, district, districts, rng).astype(np.float32)),
        name="credit" if split == "train" else "credit-test",
        max_value=1,
        factor_space=space,
        combinations=combinations,
        label="paid",
        nuisances=("district",),
        value_names={"paid": ("no", "yes"), "district": [f"district {n + 1}" for n in range(districts)]},
        unordered=("district",),
        license=GENERATED,
    )


def _features(
    label: np.ndarray, district: np.ndarray, districts: int, rng: np.random.Generator
) -> Float[np.ndarray, "n f"]:
    """Some columns encode the class weakly, some the district strongly, others neither; then all are mixed."""
    columns = rng.standard_normal((len(label), FEATURES))
    columns[:, :FAIR] += 1.0 * (label[:, None] - 0.5)
    position = np.eye(districts)[district] - 1 / districts
    mixing_rng = np.random.default_rng(0)  # the same mixing for every split and seed
    columns[:, FAIR : FAIR + LEAKY] += position @ mixing_rng.choice([-2.0, 2.0], (districts, LEAKY))
    mixing, _ = np.linalg.qr(mixing_rng.standard_normal((FEATURES, FEATURES)))
    return columns @ mixing
