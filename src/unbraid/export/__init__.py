"""Export of trained models to other tools."""

from unbraid.export.write import FORMATS, Export, export

__all__ = ["FORMATS", "Export", "export"]
