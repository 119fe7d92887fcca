"""Factor spaces, datasets, and the draws that sample each type of batch."""

from unbraid.data.arrays import ARRAY_SUFFIXES, from_arrays, from_npz, read_array
from unbraid.data.auto_sources import Sources, find_once, find_sources
from unbraid.data.colored_digits import colored_mnist, rotation_colored_mnist
from unbraid.data.columns import ColumnScaler, DataFrame
from unbraid.data.credit import credit
from unbraid.data.dataset import Dataset
from unbraid.data.dataset_files import check_dataset, download_dataset
from unbraid.data.draws import (
    DRAWS,
    ChecksBatchSize,
    ChecksCUDAGraph,
    ChoosesClass,
    ContrastDraw,
    CountsLabels,
    Draw,
    IIDDraw,
    SeesBackground,
    draw_class,
)
from unbraid.data.dsprites import dsprites
from unbraid.data.emnist import emnist
from unbraid.data.factors import FactorSpace
from unbraid.data.flowers102 import flowers102
from unbraid.data.hue_mnist import hue_mnist
from unbraid.data.image_folder import image_files, image_folder, read_image
from unbraid.data.links import check_links
from unbraid.data.mixture import mixture
from unbraid.data.mnist import digits, read_digits
from unbraid.data.mnist_stl10 import DIGIT_SIDE, LEFTS, TOPS, mnist_stl10
from unbraid.data.mpi3d import mpi3d
from unbraid.data.pair_draw import PairDraw
from unbraid.data.palettes import DIGIT_COLORS, TRAIN
from unbraid.data.registry import (
    DATASETS,
    ENTRY_POINTS,
    constructor,
    dataset_entry,
    dataset_name,
    open_dataset,
)
from unbraid.data.renderer import GENERATED, Renderer
from unbraid.data.rooms import rooms
from unbraid.data.same_instance import random_split
from unbraid.data.sampling_distribution import SAMPLING_OPTIONS, apply_sampling
from unbraid.data.set_draw import SetDraw
from unbraid.data.shapes3d import shapes3d
from unbraid.data.sprites import sprites
from unbraid.data.table import TABLE_SUFFIXES, Table, from_csv, read_table
from unbraid.data.view_draw import ViewDraw

__all__ = [
    "ARRAY_SUFFIXES",
    "DATASETS",
    "DIGIT_COLORS",
    "DIGIT_SIDE",
    "DRAWS",
    "ENTRY_POINTS",
    "GENERATED",
    "LEFTS",
    "SAMPLING_OPTIONS",
    "TABLE_SUFFIXES",
    "TOPS",
    "TRAIN",
    "ChecksBatchSize",
    "ChecksCUDAGraph",
    "ChoosesClass",
    "ColumnScaler",
    "ContrastDraw",
    "CountsLabels",
    "DataFrame",
    "Dataset",
    "Draw",
    "FactorSpace",
    "IIDDraw",
    "PairDraw",
    "Renderer",
    "SeesBackground",
    "SetDraw",
    "Sources",
    "Table",
    "ViewDraw",
    "apply_sampling",
    "check_dataset",
    "check_links",
    "colored_mnist",
    "constructor",
    "credit",
    "dataset_entry",
    "dataset_name",
    "digits",
    "download_dataset",
    "draw_class",
    "dsprites",
    "emnist",
    "find_once",
    "find_sources",
    "flowers102",
    "from_arrays",
    "from_csv",
    "from_npz",
    "hue_mnist",
    "image_files",
    "image_folder",
    "mixture",
    "mnist_stl10",
    "mpi3d",
    "open_dataset",
    "random_split",
    "read_array",
    "read_digits",
    "read_image",
    "read_table",
    "rooms",
    "rotation_colored_mnist",
    "shapes3d",
    "sprites",
]
