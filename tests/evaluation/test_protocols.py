"""Published protocols, src/unbraid/evaluation/protocols.py."""

import inspect

import torch

from unbraid import metrics
from unbraid.data import Dataset, FactorSpace
from unbraid.evaluation.ground_truth import GroundTruth
from unbraid.evaluation.protocols import DSPRITES, PROTOCOLS


def test_every_variant_belongs_to_a_metric_with_protocols() -> None:
    for protocol in PROTOCOLS.values():
        for name in protocol.metrics:
            assert "protocol" in inspect.signature(getattr(metrics, name)).parameters


def test_sample_sizes_are_those_of_the_papers() -> None:
    assert PROTOCOLS["disentanglement_lib"][:2] == PROTOCOLS["fast"][:2] == (10_000, 5_000)
    assert PROTOCOLS["infogan_cr"][:2] == (73_728, 0)  # a tenth of the images of dSprites
    assert PROTOCOLS["infogan_cr"].num_samples * 10 == 3 * 6 * 40 * 32 * 32 == np_prod(DSPRITES)


def np_prod(sizes: tuple[int, ...]) -> int:
    product = 1
    for size in sizes:
        product *= size
    return product


def test_variants_follow_the_factors_of_the_sample() -> None:
    space = FactorSpace(dict(zip("abcde", DSPRITES, strict=True)))
    for factors, dci in ((space, "infogan_cr"), (FactorSpace({"a": 3, "b": 4}), "infogan_cr_cv_sampled")):
        rows = torch.zeros(4, 2)
        combinations = torch.tensor([0, 1, len(factors) - 1, len(factors) - 2])
        data = Dataset(
            rows, name="rows", factor_space=factors, combinations=combinations, label="a", unordered=("b",)
        )
        known = GroundTruth(data, size=0, seed=0)
        variants = {name: variant(known) for name, variant in PROTOCOLS["infogan_cr"].metrics.items()}
        assert variants["dci"] == {"protocol": dci}
        types = tuple("discrete" if name in ("a", "b") else "continuous" for name in known.names)
        assert variants["sap"] == {"protocol": "infogan_cr", "factor_types": types}
        assert variants["beta_vae_score"] == variants["factor_vae_score"] == {"protocol": "infogan_cr"}
