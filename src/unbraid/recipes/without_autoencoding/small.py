"""Whether the small network encodes the digit in halves of 8 and of 16 dimensions, by length, views and batch.

Burns et al., 2021, Unsupervised Disentanglement without Autoencoding. Minutes that tell what hours of a ResNet-34 would
find: SubInfoMax without a regularizer at 32×32, in both pipelines, with crops and color jitter, with a higher
temperature, and with 1,024 pairs, beside the supervised pipeline. One seed.
"""

from unbraid.recipes.without_autoencoding import plan, supervised_rows, with_steps
from unbraid.studies import Plan, replace

SCALES = ("quick", "short")
EMBEDDINGS = (16, 32)
LENGTHS = (20_000, 60_000)
VARIED: tuple[dict[str, object], ...] = (
    {"pipeline": "unified"},
    {"crop": 0.6, "color_jitter": 0.4},
    {"temperature": 0.5},
    {"batch_size": 1024},
)


def runs(scale: str) -> list[Plan]:
    """Both embeddings at both lengths and, at the first length, with each change; the supervised pipeline."""
    bases = [plan(scale, "subinfomax", embedding_dim=size, strands=("r", "z"), seed=0) for size in EMBEDDINGS]
    if scale == "quick":
        return [*bases, *supervised_rows(scale)]
    plans = [with_steps(base, steps) for steps in LENGTHS for base in bases]
    plans += [replace(base, **change) for change in VARIED for base in bases]
    return plans + supervised_rows(scale)
