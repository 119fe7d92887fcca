"""Data: factor spaces, datasets, and the draws that make each kind of batch."""

from unbraid.data.dataset import Dataset, Renderer
from unbraid.data.draws import DRAWS, Draw, Pairs, Samples
from unbraid.data.factors import FactorSpace

__all__ = ["DRAWS", "Dataset", "Draw", "FactorSpace", "Pairs", "Renderer", "Samples"]
