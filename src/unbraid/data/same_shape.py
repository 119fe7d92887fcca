"""Target and background: observations of one shape."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unbraid.data.dataset import Dataset


def require_same_shape(target: "Dataset", background: "Dataset") -> None:
    """Raises unless the observations of target and background have one shape."""
    if background.shape == target.shape:
        return
    both = "resize one of them, or make both gray or both colored"
    cures = "give both the same columns", "give images for both, or rows for both", both
    cure = cures[target.images + background.images]
    raise ValueError(
        f"Target and background need observations of one shape; {target.name} has {target.shape} and "
        f"{background.name} {background.shape}: {cure}."
    )
