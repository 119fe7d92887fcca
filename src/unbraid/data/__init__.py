"""Data: factor spaces, datasets, and the draws that make each kind of batch."""

from unbraid.data.catalogue import DATASETS, check_dataset, get_dataset, open_dataset
from unbraid.data.coloured_digits import colored_mnist, rotation_colored_mnist
from unbraid.data.credit import credit
from unbraid.data.dataset import Dataset, Renderer
from unbraid.data.draws import DRAWS, Draw, Pairs, Samples
from unbraid.data.dsprites import dsprites
from unbraid.data.emnist import emnist
from unbraid.data.factors import FactorSpace
from unbraid.data.files import archive, array, folder
from unbraid.data.flowers102 import flowers102
from unbraid.data.hue_mnist import hue_mnist
from unbraid.data.law import under_law
from unbraid.data.mixture import mixture
from unbraid.data.mnist import digits, read_digits
from unbraid.data.mnist_stl10 import mnist_stl10
from unbraid.data.mpi3d import mpi3d
from unbraid.data.rooms import rooms
from unbraid.data.sets import Sets
from unbraid.data.shapes3d import shapes3d
from unbraid.data.sprites import sprites
from unbraid.data.table import read_table, table
from unbraid.data.views import Views

__all__ = [
    "DATASETS",
    "DRAWS",
    "Dataset",
    "Draw",
    "FactorSpace",
    "Pairs",
    "Renderer",
    "Samples",
    "Sets",
    "Views",
    "archive",
    "array",
    "check_dataset",
    "colored_mnist",
    "credit",
    "digits",
    "dsprites",
    "emnist",
    "flowers102",
    "folder",
    "get_dataset",
    "hue_mnist",
    "mixture",
    "mnist_stl10",
    "mpi3d",
    "open_dataset",
    "read_digits",
    "read_table",
    "rooms",
    "rotation_colored_mnist",
    "shapes3d",
    "sprites",
    "table",
    "under_law",
]
