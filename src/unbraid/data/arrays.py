"""Datasets from arrays: in memory, or in an `.npz` or `.npy` file."""

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Int, Shaped
from torch import Tensor

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.numpy_files import DAMAGE, npz_names, read_npy, read_npz
from unbraid.data.size_limit import TooLargeError

ARRAY_SUFFIXES = (".npz", ".npy")


def from_npz(path: Path | str) -> Dataset:
    """Images or rows of an `.npz` file with what is known about them, or of an `.npy` file alone.

    `images` are (n, h, w), (n, h, w, c) or (n, c, h, w), in bytes or between 0 and 1, or rows (n, f), which may also
    be called `rows`. `factors` are whole numbers (n, k), `names` the k factor names, `labels` the n classes, and
    `nuisances` known nuisances, (n,) or (n, m).

    Args:
        path: The file.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist: give an .npz file with an array `images`.")
    if path.suffix == ".npy":
        with _explained(path, "an .npy of images or rows"):
            array = read_npy(path)
        return from_arrays(array, name=path.stem)
    arrays: dict[str, Any] = _read_npz(path)
    if "rows" in arrays:
        if "images" in arrays:
            raise ValueError(f"{path} has both `images` and `rows`: keep one of them.")
        arrays["images"] = arrays.pop("rows")
    if "names" in arrays:
        arrays["names"] = [str(name) for name in np.atleast_1d(arrays["names"])]
    return from_arrays(**arrays, name=path.stem)


def _read_npz(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an `.npz` file whose names have a meaning."""
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{path} is no .npz file, or cut short: write one with np.savez(path, images=…).")
    with _explained(path, "an .npz of images"):
        stored = npz_names(path)
        if "images" not in stored and "rows" not in stored:
            raise ValueError(f"it has no array `images`, only {', '.join(stored) or 'nothing'}")
        names = ("images", "rows", "factors", "names", "labels", "nuisances")
        return read_npz(path, [name for name in names if name in stored])


def read_array(path: Path, member: str) -> np.ndarray:
    """The array of an `.npy` file, or a member of an `.npz` file; an only member may have any name."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist: give an .npz or .npy file with the {member}.")
    with _explained(path, f"an .npz or .npy of {member}"):
        if not zipfile.is_zipfile(path):
            return read_npy(path)
        names = npz_names(path)
        name = names[0] if len(names) == 1 and member not in names else member
        return read_npz(path, [name])[name]


@contextmanager
def _explained(path: Path, kind: str) -> Iterator[None]:
    """Turns any error of reading a file into one sentence that names the file."""
    try:
        yield
    except TooLargeError:
        raise
    except DAMAGE as error:
        reason = str(error).rstrip(".") or "it ends too early"
        raise ValueError(f"{path} cannot be read as {kind}: {reason}.") from None


def from_arrays(
    images: np.ndarray | Tensor,
    factors: np.ndarray | Tensor | None = None,
    names: Sequence[str] | None = None,
    name: str = "array",
    *,
    labels: np.ndarray | Tensor | None = None,
    nuisances: np.ndarray | Tensor | None = None,
    unordered: Sequence[str] = (),
    license: str = "",
) -> Dataset:
    """A dataset of arrays in memory, in the form that `from_npz` describes.

    Args:
        images: Images (n, h, w), (n, h, w, c) or (n, c, h, w), in bytes or between 0 and 1, or rows (n, f).
        factors: Factor values, whole numbers from 0, (n, k).
        names: Names of the factors; a factor named "label" is the class.
        name: Name of the dataset in runs and reports.
        labels: Classes, whole numbers from 0, (n,): one more factor, "label".
        nuisances: Known nuisances, whole numbers from 0, (n,) or (n, m): further factors, "nuisance" or
            "nuisance_0", ….
        unordered: Factors whose values have no order, such as shapes and hues; the label is always one of them.
        license: License of the images or rows, such as "CC BY 4.0"; model cards show it.
    """
    source, max_value = _observations(_numpy(images), name)
    if factors is None and labels is None and nuisances is None:
        return Dataset(source, name=name, max_value=max_value, unordered=unordered, license=license)
    columns = np.zeros((len(source), 0), int) if factors is None else _numpy(factors)
    if columns.ndim != 2 or len(columns) != len(source) or (factors is not None and not columns.shape[1]):
        raise ValueError(
            f"{name} needs factors of shape ({len(source)}, k), one row per image; got {columns.shape}."
        )
    names = _names(names, columns.shape[1], name)
    if labels is not None:
        if labels.shape != (len(source),):
            raise ValueError(
                f"{name} needs one label for each of its {len(source)} images; got {tuple(labels.shape)}."
            )
        columns, names = np.concatenate([columns, _numpy(labels)[:, None]], 1), [*names, "label"]
    nuisance_names: list[str] = []
    if nuisances is not None:
        table = _nuisance_table(nuisances, len(source), name)
        count = table.shape[1]
        nuisance_names = ["nuisance"] if count == 1 else [f"nuisance_{index}" for index in range(count)]
        columns, names = np.concatenate([columns, table], 1), [*names, *nuisance_names]
    space, combinations = _combinations(columns, names, name)
    return Dataset(
        source,
        name=name,
        max_value=max_value,
        factor_space=space,
        combinations=combinations,
        label="label" if "label" in names else None,
        nuisances=nuisance_names,
        unordered=unordered,
        license=license,
    )


def _numpy(values: np.ndarray | Tensor) -> np.ndarray:
    return values.detach().cpu().numpy() if isinstance(values, Tensor) else values


def _nuisance_table(nuisances: np.ndarray | Tensor, rows: int, name: str) -> Shaped[np.ndarray, "n m"]:
    table = _numpy(nuisances)[:, None] if nuisances.ndim == 1 else _numpy(nuisances)
    if table.ndim != 2 or len(table) != rows or not table.shape[1]:
        raise ValueError(
            f"{name} needs nuisances of shape ({rows},) or ({rows}, m), one row per image; got "
            f"{tuple(nuisances.shape)}."
        )
    return table


def _combinations(
    columns: Shaped[np.ndarray, "n k"], names: list[str], name: str
) -> tuple[FactorSpace, Int[Tensor, " n"]]:
    """The space of the factors in the columns, and the combination number of each row."""
    if not np.issubdtype(columns.dtype, np.integer) or columns.min(initial=0) < 0:
        raise ValueError(
            f"The factors of {name} must be whole numbers from 0 on; got {columns.dtype} from {columns.min()}."
        )
    sizes = [int(largest) + 1 for largest in columns.max(0)]
    if sum(np.log2(sizes)) > 62:
        raise ValueError(
            f"The factors of {name} have too many combinations, sizes {sizes}: number the values of each factor from "
            "0 without gaps."
        )
    space = FactorSpace(dict(zip(names, sizes, strict=True)))
    return space, space.index(torch.from_numpy(columns.astype(np.int64)))


def _names(names: Sequence[str] | None, count: int, name: str) -> list[str]:
    names = [f"factor_{index}" for index in range(count)] if names is None else list(names)
    if len(names) != count or len(set(names)) != count:
        raise ValueError(f"{name} needs {count} different names for its factors; got {', '.join(names)}.")
    return names


def _observations(images: np.ndarray, name: str) -> tuple[Tensor, int]:
    """Images (n, c, h, w) or rows (n, f), and the stored value that stands for 1."""
    if images.ndim not in (2, 3, 4) or images.size == 0:
        raise ValueError(
            f"{name} needs images (n, h, w), (n, h, w, c) or (n, c, h, w), or rows (n, f); "
            f"got {images.shape}."
        )
    if not (np.issubdtype(images.dtype, np.number) or images.dtype == np.bool_):
        raise ValueError(f"{name} must hold numbers; got {images.dtype}.")
    _check_finite(images, name)
    if images.ndim == 2:
        return torch.from_numpy(images.astype(np.float32)), 1
    integers = not np.issubdtype(images.dtype, np.floating)
    low, high = images.min(), images.max()
    if low < 0 or high > (255 if integers else 1):
        raise ValueError(
            f"The pixels of {name} must be whole numbers from 0 to 255 or floats from 0 to 1; got "
            f"{images.dtype} from {low} to {high}."
        )
    if images.ndim == 3:
        images = images[:, None]
    elif not _channels_first(images.shape):
        images = images.transpose(0, 3, 1, 2)
    pixels = np.ascontiguousarray(images, dtype=np.uint8 if integers else np.float32)
    # Binary images are often stored as 0 and 1: then 1 is white.
    return torch.from_numpy(pixels), 255 if integers and high > 1 else 1


def _check_finite(images: np.ndarray, name: str) -> None:
    finite = np.isfinite(images)
    if finite.all():
        return
    content, cure = "pixels", "repair or remove the image"
    if images.ndim == 2:
        content, cure = (
            "rows",
            "remove the row, or save the table as .csv and fill missing values (--impute mean)",
        )
    row = int(np.flatnonzero(~finite.reshape(len(images), -1).all(1))[0])
    raise ValueError(f"{name} has {content} that are not finite (NaN or ∞), the first in row {row}: {cure}.")


def _channels_first(shape: tuple[int, ...]) -> bool:
    """Whether images are (n, c, h, w) and not (n, h, w, c): few channels, or square images."""
    _, first, middle, last = shape
    if (first <= 4) != (last <= 4):
        return first <= 4
    return middle == last
