"""Encoder and decoder as modules that stand alone: pre-processing inside, strands named.

Pictures are taken as most tools have them, uint8 of shape (n, height, width, channels), and given back in [0, 1];
rows in float64, in the units of their table.
"""

import torch
from torch import Tensor, nn

from unbraid.data.columns import Columns
from unbraid.methods.base import Method
from unbraid.strands import Strands

Given = Tensor | None  # the known nuisances (n, m) or the labels (n,), of methods that are given them


class Encoder(nn.Module):
    """Observations to codes: all of them, each strand by its name, and logits where the method predicts.

    Args:
        method: What to encode with.
        shape: The shape of one observation as the method sees it.
        columns: How the rows of a table were brought to one scale, if they were.
    """

    def __init__(self, method: Method, shape: tuple[int, ...], columns: Columns | None = None) -> None:
        super().__init__()
        self.method, self.images = method.eval(), len(shape) == 3
        self.outputs, self.parts = output_names(method), _parts(method.strands)
        for name in self.parts:
            self.register_buffer(f"strand_{name}", torch.tensor(method.strands[name]))
        self.scale = Scale(columns)

    def forward(self, observations: Tensor, given: Given = None) -> dict[str, Tensor]:
        codes = self.method.encode(self._seen(observations), given)
        found = {"codes": codes}
        for name in self.parts:
            found[name] = codes.index_select(1, getattr(self, f"strand_{name}"))
        if "logits" in self.outputs:
            found["logits"] = self.method.classify(codes)  # type: ignore[operator]
        return found

    def _seen(self, observations: Tensor) -> Tensor:
        """The observations as the method sees them."""
        if self.images:
            return observations.permute(0, 3, 1, 2).to(torch.float32) / 255
        return self.scale.down(observations)


class Decoder(nn.Module):
    """Codes of all dimensions to pictures in [0, 1], or to rows in the units of their table."""

    def __init__(self, method: Method, shape: tuple[int, ...], columns: Columns | None = None) -> None:
        super().__init__()
        self.method, self.images = method.eval(), len(shape) == 3
        self.scale = Scale(columns)

    def forward(self, codes: Tensor, given: Given = None) -> Tensor:
        x = self.method.decode(codes, given)
        return x.clamp(0, 1).permute(0, 2, 3, 1).contiguous() if self.images else self.scale.up(x)


class Scale(nn.Module):
    """Rows in the units of their table to what a method sees, and back."""

    mean: Tensor
    spread: Tensor

    def __init__(self, columns: Columns | None) -> None:
        super().__init__()
        mean, spread = (0.0, 1.0) if columns is None else (columns.mean, columns.spread)
        self.register_buffer("mean", torch.tensor(mean, dtype=torch.float64))
        self.register_buffer("spread", torch.tensor(spread, dtype=torch.float64))

    def down(self, rows: Tensor) -> Tensor:
        return ((rows.to(torch.float64) - self.mean) / self.spread).to(torch.float32)

    def up(self, rows: Tensor) -> Tensor:
        return rows.to(torch.float64) * self.spread + self.mean


def has_decoder(method: Method) -> bool:
    """Whether codes can be decoded."""
    return type(method).decode is not Method.decode


def output_names(method: Method) -> tuple[str, ...]:
    """What an encoder puts out: the whole code, its strands, and logits where the method predicts."""
    return ("codes", *_parts(method.strands), *(("logits",) if hasattr(method, "classify") else ()))


def given_columns(method: Method) -> int | None:
    """How many known nuisances a method is given, 0 for its labels, None where it is given nothing."""
    if method.conditional:
        return len(method.arguments["nuisances"])
    return 0 if method.auxiliary else None


def _parts(strands: Strands) -> list[str]:
    """The strands that are not the whole code in its own order; one that is called as the whole is left out."""
    return [name for name in strands if strands[name] != tuple(range(strands.size)) and name != "codes"]
