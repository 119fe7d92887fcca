"""Image files: reading them, and opening a folder of them as a dataset."""

import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import UInt8
from torch import Tensor

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.numpy_files import DAMAGE
from unbraid.data.size_limit import check_size
from unbraid.progress import transient_bar

if TYPE_CHECKING:
    from PIL.Image import Image

IMAGE_SUFFIXES = {".bmp", ".gif", ".jpeg", ".jpg", ".pbm", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"}


def image_folder(path: Path | str, *, image_size: int = 64, skip_broken: bool = False) -> Dataset:
    """Images of a folder and its subfolders, cropped to a square about the center and resized.

    If every image is in a direct subfolder and there are several subfolders, the subfolder is the label. Images are
    gray if all of them are, and in color otherwise.

    Args:
        path: The folder.
        image_size: Side of the images in pixels.
        skip_broken: Skip images that cannot be read, instead of stopping at the first of them.
    """
    path = Path(path)
    if image_size < 1:
        raise ValueError(f"Images need a side of at least 1 pixel; got image_size={image_size}.")
    if not path.is_dir():
        raise FileNotFoundError(f"{path} is not a folder: give a folder of images.")
    files, pixels = _read_folder(path, image_size, skip_broken)
    if any(image.shape[0] == 3 for image in pixels):
        pixels = [np.broadcast_to(image, (3, image_size, image_size)) for image in pixels]
    images = torch.from_numpy(np.stack(pixels))
    folders = [file.relative_to(path).parts[:-1] for file in files]
    classes = sorted(set(folders))
    if len(classes) < 2 or any(len(folder) != 1 for folder in classes):
        return Dataset(images, name=path.resolve().name)
    return Dataset(
        images,
        name=path.resolve().name,
        factor_space=FactorSpace({"label": len(classes)}),
        combinations=torch.tensor([classes.index(folder) for folder in folders]),
        label="label",
        value_names={"label": [name for (name,) in classes]},
    )


def _read_folder(path: Path, size: int, skip_broken: bool) -> tuple[list[Path], list[np.ndarray]]:
    """The image files that can be read, and their pixels."""
    files, kept, pixels = image_files(path), [], []
    with (
        _large_images(),
        ThreadPoolExecutor() as pool,
        transient_bar(f"reading {path.name}", len(files)) as advance,
    ):
        for file, image in zip(files, pool.map(partial(_read, size=size), files), strict=True):
            advance(1)
            if not isinstance(image, str):
                kept.append(file)
                pixels.append(image)
            elif not skip_broken:
                pool.shutdown(cancel_futures=True)
                raise ValueError(
                    f"{file} cannot be read as an image ({image}): repair or remove the file, or skip broken images "
                    "with skip_broken (--skip-broken)."
                )
    if not kept:
        raise ValueError(f"{path} holds no images that can be read ({', '.join(sorted(IMAGE_SUFFIXES))}).")
    return kept, pixels


def image_files(path: Path) -> list[Path]:
    """The image files in a folder and its subfolders, sorted by name, without hidden files."""
    files = [
        file for file in sorted(path.rglob("*")) if file.suffix.lower() in IMAGE_SUFFIXES and file.is_file()
    ]
    return [file for file in files if not any(name[0] == "." for name in file.relative_to(path).parts)]


def read_image(path: Path, shape: tuple[int, int, int]) -> UInt8[Tensor, "c h w"]:
    """One image file, cropped and resized to the shape (channels, side, side)."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist: give an image file.")
    with _large_images():
        return _read_image(path, shape)


def _read_image(path: Path, shape: tuple[int, int, int]) -> UInt8[Tensor, "c h w"]:
    pixels = _read(path, shape[1], gray=shape[0] == 1)
    if isinstance(pixels, str):
        raise ValueError(f"{path} cannot be read as an image ({pixels}): repair it or choose another.")
    return torch.from_numpy(np.broadcast_to(pixels, shape).copy())


def read_images(
    files: Sequence[Path], shape: tuple[int, int, int], activity: str
) -> UInt8[Tensor, "n c h w"]:
    """Many image files, each read by `read_image`; `activity` is the text beside the progress bar."""
    if missing := next((file for file in files if not file.is_file()), None):
        raise FileNotFoundError(f"{missing} does not exist: give an image file.")
    with _large_images(), ThreadPoolExecutor() as pool, transient_bar(activity, len(files)) as advance:
        images = []
        for image in pool.map(partial(_read_image, shape=shape), files):
            images.append(image)
            advance(1)
    return torch.stack(images)


@contextmanager
def _large_images() -> Iterator[None]:
    """Reads photographs of up to 179 million pixels without Pillow's warning; larger ones are refused.

    Filters of warnings belong to the process, so this is not for threads.
    """
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        yield


def _read(path: Path, size: int, *, gray: bool = False) -> np.ndarray | str:
    """The middle square of an image as bytes (1 or 3, size, size), or the reason why it cannot be read."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            return _square(image, path, size, gray=gray)
    except UnidentifiedImageError:
        return "its content is no image"
    except Image.DecompressionBombError:
        return f"it announces more than {2 * (Image.MAX_IMAGE_PIXELS or 0):,} pixels"
    except (*DAMAGE, SyntaxError, MemoryError) as error:
        return str(error).rstrip(".") or type(error).__name__


def _square(image: "Image", path: Path, size: int, *, gray: bool) -> np.ndarray:
    from PIL import Image, ImageOps

    image.draft(None, (2 * size, 2 * size))  # decodes a large JPEG at a fraction of its size
    check_size(path, 8 * image.width * image.height)  # decoded, in color, and converted
    image = ImageOps.exif_transpose(image)
    gray = gray or image.mode in ("1", "L", "LA", "F") or image.mode.startswith("I")
    if image.mode.startswith("I") or image.mode == "F":  # deeper than 8 bits, which convert would clip
        deep = np.asarray(image, np.float64)
        image = Image.fromarray((deep / (257 if deep.max() > 255 else 1)).clip(0, 255).astype(np.uint8))
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "black"), image)
    image = image.convert("L" if gray else "RGB")
    pixels = np.asarray(ImageOps.fit(image, (size, size), Image.Resampling.LANCZOS))
    return pixels[None] if gray else pixels.transpose(2, 0, 1)
