"""Published protocols, src/unbraid/evaluation/protocols.py."""

import inspect

from unbraid import metrics
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
