"""The named datasets, and opening a dataset by name or path."""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unbraid.custom_code import (
    is_reference,
    known,
    location,
    plugin,
    plugin_name,
    plugins,
    reference,
    require_known,
    use,
)
from unbraid.data.arrays import ARRAY_SUFFIXES, from_npz
from unbraid.data.auto_sources import AUTO, RESOLVERS, find_once, find_source
from unbraid.data.celeba import SOURCE as CELEBA
from unbraid.data.celeba import celeba
from unbraid.data.colored_digits import colored_mnist, rotation_colored_mnist
from unbraid.data.columns import ColumnScaler
from unbraid.data.credit import credit
from unbraid.data.dataset import Dataset
from unbraid.data.dsprites import SOURCE as DSPRITES
from unbraid.data.dsprites import dsprites
from unbraid.data.emnist import SOURCE as EMNIST
from unbraid.data.emnist import emnist
from unbraid.data.expressions import SOURCE as EXPRESSIONS
from unbraid.data.expressions import expressions
from unbraid.data.faces import faces
from unbraid.data.flowers102 import FILES as FLOWERS102
from unbraid.data.flowers102 import flowers102
from unbraid.data.grassy_mnist import grassy_mnist
from unbraid.data.hidden_groups import hidden_groups
from unbraid.data.hue_mnist import hue_mnist
from unbraid.data.image_folder import image_folder
from unbraid.data.manual_download import ManualDownload
from unbraid.data.mixture import mixture
from unbraid.data.mnist import digits
from unbraid.data.mnist import source as digits_source
from unbraid.data.mnist_stl10 import mnist_stl10
from unbraid.data.mouse_protein import SOURCE as MOUSE_PROTEIN
from unbraid.data.mouse_protein import mouse_protein
from unbraid.data.mpi3d import SOURCES as MPI3D
from unbraid.data.mpi3d import mpi3d
from unbraid.data.mpi3d import source as mpi3d_source
from unbraid.data.remote_file import RemoteFile, RemoteFiles
from unbraid.data.rooms import rooms
from unbraid.data.sampling_distribution import SAMPLING_OPTIONS, apply_sampling
from unbraid.data.shapes3d import SOURCE as SHAPES3D
from unbraid.data.shapes3d import shapes3d
from unbraid.data.sprites import sprites
from unbraid.data.table import TABLE_SUFFIXES, from_csv, read_table
from unbraid.options import first_sentence, require_values, with_arguments_of
from unbraid.settings import lookup


@dataclass(frozen=True)
class DatasetEntry:
    """A named dataset: its constructor, its official files, and what replaces missing files."""

    constructor: Callable[..., Dataset]
    # Returns the official files for the constructor's options.
    source: Callable[..., RemoteFile | RemoteFiles | ManualDownload | None] | None = None
    fallback: str = ""  # what replaces missing files; empty if the files are required
    variants: tuple[str, ...] = ()  # the values of `variant`, if each has a file of its own

    @property
    def summary(self) -> str:
        """The first sentence of the constructor's documentation."""
        return first_sentence(self.constructor)


ENTRY_POINTS = "unbraid.datasets"
BUNDLED = "from scikit-learn's bundled digits"
DATASETS = {
    "sprites": DatasetEntry(sprites),
    "dsprites": DatasetEntry(dsprites, lambda **_: DSPRITES),
    "rooms": DatasetEntry(rooms),
    "shapes3d": DatasetEntry(shapes3d, lambda **_: SHAPES3D),
    "mpi3d": DatasetEntry(mpi3d, mpi3d_source, variants=tuple(MPI3D)),
    "digits": DatasetEntry(digits, digits_source, BUNDLED),
    "colored-mnist": DatasetEntry(colored_mnist, digits_source, BUNDLED),
    "rotation-colored-mnist": DatasetEntry(rotation_colored_mnist, digits_source, BUNDLED),
    "hue-mnist": DatasetEntry(hue_mnist, digits_source, BUNDLED),
    "mnist-stl10": DatasetEntry(
        mnist_stl10, digits_source, f"{BUNDLED}, and from textures if there are no photographs"
    ),
    "flowers102": DatasetEntry(flowers102, lambda **_: FLOWERS102),
    "credit": DatasetEntry(credit),
    "grassy-mnist": DatasetEntry(grassy_mnist, digits_source, BUNDLED),
    "celeba": DatasetEntry(celeba, lambda **_: CELEBA),
    "expressions": DatasetEntry(expressions, lambda **_: EXPRESSIONS),
    "faces": DatasetEntry(faces),
    "mouse-protein": DatasetEntry(mouse_protein, lambda **_: MOUSE_PROTEIN),
    "hidden-groups": DatasetEntry(hidden_groups),
    "emnist": DatasetEntry(emnist, lambda **_: EMNIST),
    "mixture": DatasetEntry(mixture),
}


def dataset_entry(name: str) -> DatasetEntry | None:
    """The entry of a dataset of Unbraid, of an installed package, or of your own code; None for a path."""
    if name in DATASETS:
        return DATASETS[name]
    if is_reference(name):
        code = require_known(name, option="--data")
    else:
        installed = plugin(ENTRY_POINTS, name)
        code = None if installed is None else installed.code
    if code is None or isinstance(code, DatasetEntry):
        return code
    if not callable(code):
        raise ValueError(f"A dataset is a function that returns an unbraid.Dataset; {name} is {code!r:.60}.")
    return DatasetEntry(code)  # type: ignore[arg-type]


def constructor(name_or_path: str) -> Callable[..., Dataset]:
    """The constructor of a dataset, extended by the sampling options.

    Args:
        name_or_path: The name of a dataset, the reference of your own function (`own.py:stripes`) once it was named, a
            folder of images, or an `.npz`, `.npy` or `.csv` file. The constructor for a path takes the path as its
            first argument.
    """
    if (entry := dataset_entry(name_or_path)) is not None:
        return add_sampling_options(entry.constructor)
    path = Path(name_or_path).expanduser()
    if path.is_dir():
        return add_sampling_options(image_folder)
    if path.suffix in ARRAY_SUFFIXES:
        return add_sampling_options(from_npz)
    if path.suffix in TABLE_SUFFIXES:
        return add_sampling_options(from_csv)
    if path.name != name_or_path:
        raise ValueError(
            f"There is no folder {name_or_path}: give a folder of images, an .npz, .npy or .csv file, or the name of a "
            "dataset."
        )
    return lookup(
        "dataset",
        name_or_path,
        DATASETS | {name: DatasetEntry(installed.code) for name, installed in plugins(ENTRY_POINTS).items()},
        or_else=", a folder of images, an .npz or .npy file, a .csv file, or your own FILE.py:FUNCTION",
    ).constructor


def add_sampling_options(make: Callable[..., Dataset]) -> Callable[..., Dataset]:
    """The constructor of a dataset that also takes the sampling options."""

    @with_arguments_of(apply_sampling, SAMPLING_OPTIONS)
    @functools.wraps(make)
    def constructor(*args: Any, **options: Any) -> Dataset:
        sampling = {name: options.pop(name) for name in SAMPLING_OPTIONS if name in options}
        dataset = make(*args, **options)
        return apply_sampling(dataset, **sampling) if sampling else dataset

    return constructor


def open_dataset(
    name_or_path: str | Callable[..., Dataset],
    *,
    root: Path | str | None = None,
    background: str | None = None,
    **options: Any,
) -> Dataset:
    """Opens a dataset by name, by your own function, or from a folder of images or an `.npz`, `.npy` or `.csv` file.

    Args:
        name_or_path: The name of a dataset, a path, or a function that returns a dataset.
        root: Data root of official files; default: `$UNBRAID_DATA`, otherwise `~/.cache/unbraid`.
        background: Background dataset (name or path), for target/background methods. Options that both datasets have
            apply to both. A background table takes the means and standard deviations of the target.
        options: Arguments of the dataset's constructor, and sampling options.
    """
    if not isinstance(name_or_path, str):
        name_or_path = dataset_name(name_or_path)
    if background is None:
        return _open(name_or_path, root, options)
    target_options, background_options = _split_options(name_or_path, background, options)
    with find_once():
        dataset = _open(name_or_path, root, target_options)
        background_dataset = _open(background, root, background_options)
    assert dataset.origin is not None and background_dataset.origin is not None
    if dataset.shape == background_dataset.shape and _scaling(dataset) != _scaling(background_dataset):
        alternative = ", or disable standardization (--no-standardize)"
        raise ValueError(
            f"The rows of {name_or_path} and {background} must be standardized with the same means and standard "
            "deviations, which requires .csv files. Pass both as .csv files with the same columns"
            f"{alternative if dataset.origin['name'].endswith(TABLE_SUFFIXES) else ''}."
        )
    origin = {
        "name": dataset.origin["name"],
        "options": {**options, "background": background_dataset.origin["name"]},
    }
    dataset = dataset.with_background(background_dataset)
    dataset.origin = origin
    return dataset


def dataset_name(make: Callable[..., Dataset]) -> str:
    """The name of a dataset function: that of Unbraid or of an installed package, otherwise its reference."""
    for name, entry in DATASETS.items():
        if entry.constructor is make:
            return name
    return plugin_name(ENTRY_POINTS, make) or location(use(make))


def _scaling(dataset: Dataset) -> tuple[tuple[float, ...], ...] | None:
    """The means and standard deviations by which rows were standardized; None if they were not."""
    columns = dataset.columns
    if columns is None or columns == ColumnScaler.identity(columns.names):
        return None
    return columns.mean, columns.std


def _open(name_or_path: str, root: Path | str | None, options: Mapping[str, Any]) -> Dataset:
    make = checked_constructor(name_or_path, options)
    if dataset_entry(name_or_path) is None:
        path = Path(name_or_path).expanduser().resolve()
        dataset = make(path, **options)
        dataset.origin = {"name": str(path), "options": _not_default(make, options)}
        return dataset
    options = with_sources(make, options, root)
    root_option = {"root": None if root is None else Path(root)} if "root" in _parameters(make) else {}
    dataset = make(**root_option, **options)
    if not isinstance(dataset, Dataset):
        raise ValueError(
            f"A dataset function returns an unbraid.Dataset; {name_or_path} returned {dataset!r:.60}."
        )
    is_custom = ":" in name_or_path and is_reference(name_or_path)
    name = reference(known(name_or_path)) if is_custom else name_or_path
    dataset.origin = {"name": name, "options": _not_default(make, options)}
    return dataset


def with_sources(
    make: Callable[..., Dataset], options: Mapping[str, Any], root: Path | str | None
) -> dict[str, Any]:
    """The options of a dataset of Unbraid with the sources under the data root in place of `auto`."""
    if not make.__module__.startswith("unbraid."):
        return dict(options)
    defaults = {name: parameter.default for name, parameter in inspect.signature(make).parameters.items()}
    values = {name: options.get(name, defaults[name]) for name in defaults.keys() & RESOLVERS.keys()}
    return {**options, **{name: find_source(name, root) for name in values if values[name] == AUTO}}


def _not_default(make: Callable[..., Dataset], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that differ from their defaults, so that an explicit default gives the same run."""
    parameters = inspect.signature(make).parameters
    return {name: value for name, value in options.items() if value != parameters[name].default}


def _split_options(
    target: str, background: str, options: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of the target and of the background; a background .csv file needs no label and nuisance columns."""
    target_options, make = dict(options), constructor(background)
    shared = {name: value for name, value in options.items() if name in _parameters(make)}
    shared.pop("correlate", None)  # applies to factors of the target
    if any(function.__wrapped__ is not from_csv for function in (make, constructor(target))):  # type: ignore[attr-defined]
        return target_options, shared
    label_columns = {shared.pop("label", ""), *shared.pop("nuisances", ())} - {""}
    drop = shared.get("drop", ())
    target_columns, background_columns = (
        read_table(Path(path).expanduser()).names for path in (target, background)
    )
    if drop:  # columns that only the background has cannot be dropped from the target
        target_options["drop"] = tuple(
            name for name in drop if name in target_columns or name not in background_columns
        )
    reference = str(Path(target).expanduser().resolve())
    return target_options, {
        "reference_table": reference,
        **shared,
        "drop": (*drop, *sorted(label_columns.difference(drop))),
    }


def checked_constructor(name_or_path: str, options: Mapping[str, Any]) -> Callable[..., Dataset]:
    """The constructor of a dataset; raises if it does not take one of the options, or requires another one."""
    make = constructor(name_or_path)
    allowed = [name for name in _parameters(make) if name not in ("root", "path")]
    if unknown := [name for name in options if name not in allowed]:
        raise ValueError(
            f"The dataset {name_or_path} has no option {', '.join(unknown)}; its options are {', '.join(allowed)}."
        )
    require_values(f"The dataset {name_or_path}", make, {*options, "path"})
    return make


def _parameters(make: Callable[..., Dataset]) -> list[str]:
    return list(inspect.signature(make).parameters)
