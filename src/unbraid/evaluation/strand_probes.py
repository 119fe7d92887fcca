"""Linear probes of every strand for the class, the nuisances and all other factors: what each strand encodes."""

import copy
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from unbraid.data import Dataset
from unbraid.evaluation.sample import Sample
from unbraid.metrics import factor_probe
from unbraid.strands import innermost_strands


class StrandProbes(NamedTuple):
    score: float  # mean over strands and factors, from 0 (chance) to 1 (always correct)
    accuracy: Float[np.ndarray, "s k"]  # test accuracy of the probe of each factor on each strand
    chance: Float[np.ndarray, " k"]  # test accuracy of always predicting the most frequent value
    strands: np.ndarray  # the names of the strands
    factors: np.ndarray  # the names of the factors
    roles: np.ndarray  # of each factor: class, known nuisance, hidden nuisance or factor
    n: int
    n_test: int

    higher_is_better = None  # a strand should encode its own factors and no others
    bounds = (0.0, 1.0)


def strand_probes(
    sample: Sample, factors: np.ndarray, rng: np.random.Generator, rows: np.ndarray | None = None
) -> StrandProbes:
    """Accuracy of a linear probe for each factor on each innermost strand, from 0 (chance) to 1 (always correct).

    `factor_probe` on every strand with the same split of the observations. The accuracies of all probes are its
    evidence, which the report shows as a table.
    """
    roles = factor_roles(sample.dataset)
    order = sorted(sample.names, key=list(roles).index)
    factors = factors[:, [sample.names.index(name) for name in order]]
    strands = innermost_strands(sample.method.strands)
    results = [
        factor_probe(
            sample.select_strand(strand).codes,
            factors,
            rng=copy.deepcopy(rng),
            names=order,
            instances=sample.instances,
            rows=rows,
        )
        for strand in strands
    ]
    probed = list(results[0].accuracy)  # without factors of which a value is too rare
    return StrandProbes(
        score=float(np.mean([result.score for result in results])),
        accuracy=np.array([[result.accuracy[name] for name in probed] for result in results]),
        chance=np.array([results[0].chance[name] for name in probed]),
        strands=np.array(strands),
        factors=np.array(probed),
        roles=np.array([roles[name] for name in probed]),
        n=results[0].n,
        n_test=results[0].n_test,
    )


def factor_roles(dataset: Dataset) -> dict[str, str]:
    """The role of each factor: the class first, then known nuisances, hidden nuisances and all other factors."""
    roles = {} if dataset.label is None else {dataset.label: "class"}
    roles |= dict.fromkeys(dataset.nuisances, "known nuisance")
    roles |= dict.fromkeys(dataset.hidden_nuisances, "hidden nuisance")
    names = () if dataset.factor_space is None else dataset.factor_space.names
    return roles | {name: "factor" for name in names if name not in roles}
