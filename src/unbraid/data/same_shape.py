"""Target and background: observations of one shape, and tables with the same columns."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unbraid.data.dataset import Dataset


def require_same_shape(target: "Dataset", background: "Dataset") -> None:
    """Raises unless the observations of target and background have one shape and, in tables, the same columns."""
    if background.shape == target.shape:
        _require_same_columns(target, background)
        return
    both = "resize one of them, or make both gray or both colored"
    cures = "give both the same columns", "give images for both, or rows for both", both
    cure = cures[target.images + background.images]
    raise ValueError(
        f"Target and background need observations of one shape; {target.name} has {target.shape} and "
        f"{background.name} {background.shape}: {cure}."
    )


def _require_same_columns(target: "Dataset", background: "Dataset") -> None:
    if target.columns is None or background.columns is None:
        return
    names, others = target.columns.names, background.columns.names
    if names != others:
        raise ValueError(
            f"Target and background need the same columns in the same order; {target.name} has {', '.join(names)} "
            f"and {background.name} has {', '.join(others)}. Rename the columns, or use with_background, which orders "
            "them."
        )
