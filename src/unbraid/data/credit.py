"""A made-up table for fairness: loans whose features tell the borrower's district, and districts that tell the
class in training and mislead in the test. The reason why VFAE and CVIB were made is tables such as this one."""

from typing import Literal

import numpy as np
import torch
from jaxtyping import Float

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.seeds import derive

Part = Literal["train", "test"]
FEATURES, FAIR, LEAKY = 12, 5, 4  # columns in all, those that tell the class, those that tell the district


def credit(
    *,
    part: Part = "train",
    observations: int = 4000,
    districts: int = 2,
    bias: float = 0.8,
    test_bias: float = -0.8,
    table_seed: int = 0,
) -> Dataset:
    """Made-up loans, paid back or not, from districts that tell which in training and mislead in the test.

    Args:
        part: The training rows or the test rows.
        observations: How many rows the part has.
        districts: How many districts there are; paid-back loans favour the second, others the first.
        bias: How far the district tells the class in training: 0 not at all, 1 always, -1 the other way round.
        test_bias: The same in the test.
        table_seed: Of the rows.
    """
    if districts < 2 or observations < 2:
        raise ValueError(
            f"The table needs at least 2 districts and 2 rows; got districts={districts}, observations={observations}."
        )
    for name, value in (("bias", bias), ("test_bias", test_bias)):
        if not -1 <= value <= 1:
            raise ValueError(f"A bias lies between -1 and 1; got {name}={value}.")
    rng = np.random.default_rng(derive(table_seed, part))
    label = rng.integers(0, 2, observations)
    favoured = rng.random(observations) < (1 + (bias if part == "train" else test_bias)) / 2
    # Unfavoured rows take any of the other districts; with two, the other one.
    other = (label + rng.integers(1, districts, observations)) % districts
    district = np.where(favoured, label, other)
    space = FactorSpace({"paid": 2, "district": districts})
    combinations = space.index(torch.from_numpy(np.stack([label, district], 1)))
    return Dataset(
        torch.from_numpy(_features(label, district, districts, rng).astype(np.float32)),
        name="credit" if part == "train" else "credit-test",
        white=1,
        space=space,
        combinations=combinations,
        label="paid",
        nuisances=("district",),
        value_names={"paid": ("no", "yes"), "district": [f"district {n + 1}" for n in range(districts)]},
    )


def _features(
    label: np.ndarray, district: np.ndarray, districts: int, rng: np.random.Generator
) -> Float[np.ndarray, "n f"]:
    """Some columns tell the class weakly, some the district strongly, the rest nothing; then all are mixed."""
    columns = rng.standard_normal((len(label), FEATURES))
    columns[:, :FAIR] += 1.0 * (label[:, None] - 0.5)
    place = np.eye(districts)[district] - 1 / districts
    law = np.random.default_rng(0)  # the same world for every part and seed
    columns[:, FAIR : FAIR + LEAKY] += place @ law.choice([-2.0, 2.0], (districts, LEAKY))
    mixing, _ = np.linalg.qr(law.standard_normal((FEATURES, FEATURES)))
    return columns @ mixing
