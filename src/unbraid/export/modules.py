"""Encoder and decoder as modules that include preprocessing and return strands by name.

Images are uint8 of shape (n, height, width, channels), and decoded images are in [0, 1]. Rows are float64 in the units
of their table.
"""

import torch
from torch import Tensor, nn

from unbraid.data import ColumnScaler
from unbraid.methods import ClassifiesCodes, Method
from unbraid.strands import Strands

Condition = Tensor | None  # known nuisances (n, m) or labels (n,), for conditional methods


class Encoder(nn.Module):
    """Observations to codes: the whole code, each strand by its name, and logits if the method classifies codes.

    Args:
        method: Method to encode with.
        shape: Shape of one observation in the method.
        columns: Scaler of the table's columns, if rows were standardized.
    """

    def __init__(self, method: Method, shape: tuple[int, ...], columns: ColumnScaler | None = None) -> None:
        super().__init__()
        self.method, self.images = method.eval(), len(shape) == 3
        self.outputs, self.strands = output_names(method), _strand_outputs(method.strands)
        for name in self.strands:
            self.register_buffer(f"strand_{name}", torch.tensor(method.strands[name]))
        self.scale = Scale(columns)

    def forward(self, observations: Tensor, condition: Condition = None) -> dict[str, Tensor]:
        codes = self.method.encode(self._preprocess(observations), condition)
        outputs = {"codes": codes}
        for name in self.strands:
            outputs[name] = codes.index_select(1, getattr(self, f"strand_{name}"))
        if isinstance(self.method, ClassifiesCodes):
            outputs["logits"] = self.method.classify(codes)
        return outputs

    def _preprocess(self, observations: Tensor) -> Tensor:
        if self.images:
            return observations.permute(0, 3, 1, 2).to(torch.float32) / 255
        return self.scale.standardize(observations)


class Decoder(nn.Module):
    """Whole codes to images in [0, 1], or to rows in the units of their table."""

    def __init__(self, method: Method, shape: tuple[int, ...], columns: ColumnScaler | None = None) -> None:
        super().__init__()
        self.method, self.images = method.eval(), len(shape) == 3
        self.scale = Scale(columns)

    def forward(self, codes: Tensor, condition: Condition = None) -> Tensor:
        x = self.method.decode(codes, condition)
        return x.clamp(0, 1).permute(0, 2, 3, 1).contiguous() if self.images else self.scale.unstandardize(x)


class Scale(nn.Module):
    """Converts rows between the units of their table and standardized values; fills missing ones, if training did."""

    mean: Tensor
    std: Tensor
    fill: Tensor

    def __init__(self, columns: ColumnScaler | None) -> None:
        super().__init__()
        mean, std = (0.0, 1.0) if columns is None else (columns.mean, columns.std)
        self.fills = columns is not None and bool(columns.fill)
        self.register_buffer("fill", torch.tensor(columns.fill if columns else (), dtype=torch.float64))
        self.register_buffer("mean", torch.tensor(mean, dtype=torch.float64))
        self.register_buffer("std", torch.tensor(std, dtype=torch.float64))

    def standardize(self, rows: Tensor) -> Tensor:
        rows = rows.to(torch.float64)
        rows = torch.where(rows.isnan(), self.fill, rows) if self.fills else rows
        return ((rows - self.mean) / self.std).to(torch.float32)

    def unstandardize(self, rows: Tensor) -> Tensor:
        return rows.to(torch.float64) * self.std + self.mean


def output_names(method: Method) -> tuple[str, ...]:
    """The outputs of an encoder: the whole code, its strands, and logits if the method predicts classes."""
    logits = ("logits",) if isinstance(method, ClassifiesCodes) else ()
    return ("codes", *_strand_outputs(method.strands), *logits)


def condition_columns(method: Method) -> int | None:
    """Columns of the condition: one per known nuisance, 0 for labels (n,), None for unconditional methods."""
    if method.conditions_on == "nuisances":
        if "nuisances" not in method.arguments:
            raise ValueError(
                f"{type(method).__name__} conditions on nuisances, so its constructor must have a parameter "
                "`nuisances`, the number of values of each."
            )
        return len(method.arguments["nuisances"])
    return 0 if method.conditions_on == "labels" else None


def _strand_outputs(strands: Strands) -> list[str]:
    """The strands other than the whole code, and without a strand called `codes`."""
    return [name for name in strands if strands[name] != tuple(range(strands.size)) and name != "codes"]
