"""The user's own data: a folder of images, an `.npz` or `.npy` file, arrays."""

import zipfile
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Int, Shaped, UInt8
from torch import Tensor

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.progress import progress

if TYPE_CHECKING:
    from PIL.Image import Image

IMAGES = {".bmp", ".gif", ".jpeg", ".jpg", ".pbm", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"}
ARRAYS = (".npz", ".npy")


def folder(path: Path | str, *, size: int = 64, skip_broken: bool = False) -> Dataset:
    """Images of a folder and its subfolders, cropped to a square about the centre and resized.

    Where every image lies in a subfolder, one level down, and there are several of those, the subfolder is
    the label. Images come out grey when all of them are, in colour otherwise.

    Args:
        path: The folder.
        size: Side of the pictures in pixels.
        skip_broken: Leave out images that cannot be read, instead of stopping at the first.
    """
    path = Path(path)
    if size < 1:
        raise ValueError(f"Pictures need at least one pixel a side; got size={size}.")
    if not path.is_dir():
        raise FileNotFoundError(f"{path} is not a folder: give a folder of images.")
    files = image_files(path)

    kept, pictures = [], []
    with ThreadPoolExecutor() as pool, progress(f"reading {path.name}", len(files)) as advance:
        for file, picture in zip(files, pool.map(partial(_read, size=size), files), strict=True):
            advance(1)
            if not isinstance(picture, str):
                kept.append(file)
                pictures.append(picture)
            elif not skip_broken:
                pool.shutdown(cancel_futures=True)
                raise ValueError(
                    f"{file} cannot be read as an image ({picture}): mend or remove it, or leave out broken "
                    "images with skip_broken (--skip-broken)."
                )
    if not kept:
        raise ValueError(f"{path} holds no images that can be read ({', '.join(sorted(IMAGES))}).")
    if any(picture.shape[0] == 3 for picture in pictures):
        pictures = [np.broadcast_to(picture, (3, size, size)) for picture in pictures]
    images = torch.from_numpy(np.stack(pictures))
    owners = [file.relative_to(path).parts[:-1] for file in kept]
    classes = sorted(set(owners))
    if len(classes) < 2 or any(len(owner) != 1 for owner in classes):
        return Dataset(images, name=path.resolve().name)
    return Dataset(
        images,
        name=path.resolve().name,
        space=FactorSpace({"label": len(classes)}),
        combinations=torch.tensor([classes.index(owner) for owner in owners]),
        label="label",
        value_names={"label": [name for (name,) in classes]},
    )


def image_files(path: Path) -> list[Path]:
    """The image files in a folder and its subfolders, by name; hidden ones are left out."""
    files = [file for file in sorted(path.rglob("*")) if file.suffix.lower() in IMAGES and file.is_file()]
    return [file for file in files if not any(part[0] == "." for part in file.relative_to(path).parts)]


def read_image(path: Path, shape: tuple[int, int, int]) -> UInt8[Tensor, "c h w"]:
    """One image file, cropped and resized to the shape (channels, side, side)."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist: give an image file.")
    picture = _read(path, shape[1], grey=shape[0] == 1)
    if isinstance(picture, str):
        raise ValueError(f"{path} cannot be read as an image ({picture}): mend it or choose another.")
    return torch.from_numpy(np.broadcast_to(picture, shape).copy())


def read_images(files: Sequence[Path], shape: tuple[int, int, int], doing: str) -> UInt8[Tensor, "n c h w"]:
    """Many image files, each as `read_image` reads it."""
    with ThreadPoolExecutor() as pool, progress(doing, len(files)) as advance:
        images = []
        for image in pool.map(partial(read_image, shape=shape), files):
            images.append(image)
            advance(1)
    return torch.stack(images)


def _read(path: Path, size: int, *, grey: bool = False) -> np.ndarray | str:
    """The middle square of an image as bytes (1 or 3, size, size), or why it cannot be read."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            return _square(image, size, grey=grey)
    except UnidentifiedImageError:
        return "its content is no image"
    except (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError) as error:
        return str(error)


def _square(image: "Image", size: int, *, grey: bool) -> np.ndarray:
    from PIL import Image, ImageOps

    image.draft(None, (2 * size, 2 * size))  # lets a large JPEG be decoded at a fraction of its size
    image = ImageOps.exif_transpose(image)
    grey = grey or image.mode in ("1", "L", "LA", "F") or image.mode.startswith("I")
    if image.mode.startswith("I") or image.mode == "F":  # deeper than a byte, which convert would clip
        deep = np.asarray(image, np.float64)
        image = Image.fromarray((deep / (257 if deep.max() > 255 else 1)).clip(0, 255).astype(np.uint8))
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "black"), image)
    image = image.convert("L" if grey else "RGB")
    pixels = np.asarray(ImageOps.fit(image, (size, size), Image.Resampling.LANCZOS))
    return pixels[None] if grey else pixels.transpose(2, 0, 1)


def archive(path: Path | str) -> Dataset:
    """The arrays of an `.npz` file: `images` or `rows`, and what is known of them; an `.npy` file is the first alone.

    `images` are (n, h, w), (n, h, w, c) or (n, c, h, w), in bytes or between 0 and 1, or rows (n, f), which may be
    called `rows` too. `factors` are whole numbers (n, k), `names` the k names, `labels` the n classes, and
    `nuisances` known nuisances, (n,) or (n, m).

    Args:
        path: The file.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist: give an .npz file with an array `images`.")
    if path.suffix == ".npy":
        return array(_single(path), name=path.stem)
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{path} is no .npz file, or cut short: write one with np.savez(path, images=…).")
    try:
        with np.load(path, allow_pickle=False) as stored:
            if "images" not in stored and "rows" not in stored:
                raise ValueError(f"it has no array `images`, only {', '.join(stored.files) or 'nothing'}")
            known = ("images", "rows", "factors", "names", "labels", "nuisances")
            arrays = {name: stored[name] for name in known if name in stored}
        if not all(isinstance(array, np.ndarray) for array in arrays.values()):
            raise ValueError("its entries are no arrays")
    except (ValueError, OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} cannot be read as an .npz of images: {_reason(error)}.") from None
    if "rows" in arrays:
        if "images" in arrays:
            raise ValueError(f"{path} has both `images` and `rows`: keep one of them.")
        arrays["images"] = arrays.pop("rows")
    if "names" in arrays:
        arrays["names"] = [str(name) for name in np.atleast_1d(arrays["names"])]
    return array(**arrays, name=path.stem)


def _single(path: Path) -> np.ndarray:
    """The array of an `.npy` file."""
    try:
        found = np.load(path, allow_pickle=False)
        if not isinstance(found, np.ndarray):
            raise ValueError("it is an .npz file, and its name should say so")
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"{path} cannot be read as an .npy of images or rows: {_reason(error)}.") from None
    return found


def _reason(error: Exception) -> str:
    return "it holds Python objects, not numbers" if "pickle" in str(error) else str(error).rstrip(".")


def array(
    images: np.ndarray | Tensor,
    factors: np.ndarray | Tensor | None = None,
    names: Sequence[str] | None = None,
    name: str = "array",
    *,
    labels: np.ndarray | Tensor | None = None,
    nuisances: np.ndarray | Tensor | None = None,
) -> Dataset:
    """A dataset of arrays, on the terms of `archive`.

    Args:
        images: Images (n, h, w), (n, h, w, c) or (n, c, h, w), in bytes or between 0 and 1, or rows (n, f).
        factors: Whole numbers from 0, (n, k).
        names: The names of the factors; one called "label" is the class.
        name: How the dataset is called in runs and reports.
        labels: Classes, whole numbers from 0, (n,): one more factor, "label".
        nuisances: Known nuisances, whole numbers from 0, (n,) or (n, m): further factors, "nuisance" or
            "nuisance_0", ….
    """
    source, white = _observations(_numpy(images), name)
    if factors is None and labels is None and nuisances is None:
        return Dataset(source, name=name, white=white)
    columns = np.zeros((len(source), 0), int) if factors is None else _numpy(factors)
    if columns.ndim != 2 or len(columns) != len(source) or (factors is not None and not columns.shape[1]):
        raise ValueError(
            f"{name} needs factors of shape ({len(source)}, k), a row for each image; got {columns.shape}."
        )
    names = _names(names, columns.shape[1], name)
    if labels is not None:
        if labels.shape != (len(source),):
            raise ValueError(
                f"{name} needs one label for each of its {len(source)} images; got {tuple(labels.shape)}."
            )
        columns, names = np.concatenate([columns, _numpy(labels)[:, None]], 1), [*names, "label"]
    known: list[str] = []
    if nuisances is not None:
        table = _numpy(nuisances)[:, None] if nuisances.ndim == 1 else _numpy(nuisances)
        if table.ndim != 2 or len(table) != len(source) or not table.shape[1]:
            raise ValueError(
                f"{name} needs nuisances of shape ({len(source)},) or ({len(source)}, m), a row for each image; got "
                f"{tuple(nuisances.shape)}."
            )
        known = ["nuisance"] if table.shape[1] == 1 else [f"nuisance_{at}" for at in range(table.shape[1])]
        columns, names = np.concatenate([columns, table], 1), [*names, *known]
    space, combinations = _combinations(columns, names, name)
    return Dataset(
        source,
        name=name,
        white=white,
        space=space,
        combinations=combinations,
        label="label" if "label" in names else None,
        nuisances=known,
    )


def _numpy(values: np.ndarray | Tensor) -> np.ndarray:
    return values.detach().cpu().numpy() if isinstance(values, Tensor) else values


def _combinations(
    columns: Shaped[np.ndarray, "n k"], names: list[str], name: str
) -> tuple[FactorSpace, Int[Tensor, " n"]]:
    """The space of the factors in the columns, and the number of each row's combination."""
    if not np.issubdtype(columns.dtype, np.integer) or columns.min(initial=0) < 0:
        raise ValueError(
            f"The factors of {name} must be whole numbers from 0 on; got {columns.dtype} from {columns.min()}."
        )
    sizes = [int(largest) + 1 for largest in columns.max(0)]
    if sum(np.log2(sizes)) > 62:
        raise ValueError(
            f"The factors of {name} have too many combinations, sizes {sizes}: number their values from 0 on "
            "without gaps."
        )
    space = FactorSpace(dict(zip(names, sizes, strict=True)))
    return space, space.index(torch.from_numpy(columns.astype(np.int64)))


def _names(names: Sequence[str] | None, count: int, name: str) -> list[str]:
    names = [f"factor_{place}" for place in range(count)] if names is None else list(names)
    if len(names) != count or len(set(names)) != count:
        raise ValueError(f"{name} needs {count} different names for its factors; got {', '.join(names)}.")
    return names


def _observations(images: np.ndarray, name: str) -> tuple[Tensor, int]:
    """Images (n, c, h, w) or rows (n, f), and their value of white."""
    if images.ndim not in (2, 3, 4) or images.size == 0:
        raise ValueError(
            f"{name} needs images (n, h, w), (n, h, w, c) or (n, c, h, w), or rows (n, f); "
            f"got {images.shape}."
        )
    if not (np.issubdtype(images.dtype, np.number) or images.dtype == np.bool_):
        raise ValueError(f"{name} must hold numbers; got {images.dtype}.")
    if not np.isfinite(images).all():
        what, cure = "pixels", "mend or take out such images"
        if images.ndim == 2:
            what, cure = "rows", "take them out, or save all as .csv and fill what is missing (--impute mean)"
        row = int(np.flatnonzero(~np.isfinite(images.reshape(len(images), -1)).all(1))[0])
        raise ValueError(f"{name} has {what} that are not finite (NaN or ∞), the first in row {row}: {cure}.")
    if images.ndim == 2:
        return torch.from_numpy(images.astype(np.float32)), 1
    whole = not np.issubdtype(images.dtype, np.floating)
    low, high, most = images.min(), images.max(), 255 if whole else 1
    if low < 0 or high > most:
        raise ValueError(
            f"The pixels of {name} must be whole numbers from 0 to 255 or floats from 0 to 1; got "
            f"{images.dtype} from {low} to {high}."
        )
    if images.ndim == 3:
        images = images[:, None]
    elif not _channels_first(images.shape):
        images = images.transpose(0, 3, 1, 2)
    pixels = np.ascontiguousarray(images, dtype=np.uint8 if whole else np.float32)
    # Binary pictures are often kept as 0 and 1: then 1 is white.
    return torch.from_numpy(pixels), 255 if whole and high > 1 else 1


def _channels_first(shape: tuple[int, ...]) -> bool:
    """Whether images are (n, c, h, w), not (n, h, w, c): few channels, or square pictures."""
    _, first, middle, last = shape
    if (first <= 4) != (last <= 4):
        return first <= 4
    return middle == last
