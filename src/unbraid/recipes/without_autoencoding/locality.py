"""Whether a regularizer acts on the layer to which it is applied: on z, as in the paper, and on r.

Burns et al., 2021, Unsupervised Disentanglement without Autoencoding, Sec. 4.1.1: InfoMin on z lowers the accuracies of
z and hardly those of r. Here each regularizer acts on z and on r in turn, with the larger of the paper's weights, and
probes read both. One seed.
"""

from unbraid.recipes.without_autoencoding import plan
from unbraid.studies import Plan, replace

SCALES = ("quick", "short", "paper")
REGULARIZERS: dict[str, dict[str, object]] = {
    "infomin": {"infomin_form": "printed"},
    "orthogonality": {},
    "permuted_orthogonality": {},
    "hessian": {"pipeline": "unified"},
}


def runs(scale: str) -> list[Plan]:
    """Without a regularizer, and each regularizer on z and on r."""
    base = plan(scale, "subinfomax", strands=("r", "z"), seed=0)
    plans = [base, replace(base, pipeline="unified")]
    for name, options in REGULARIZERS.items():
        on_z = replace(base, **{f"lambda_{name}": 0.1}, **options)
        plans += [on_z, replace(on_z, regularize_features=(name,))]
    return plans
