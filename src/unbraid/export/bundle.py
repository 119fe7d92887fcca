"""A trained model with all inputs of the exporters and of the model card."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from unbraid.export.modules import Decoder, Encoder, condition_columns
from unbraid.methods import has_decoder
from unbraid.runs import Model, Run

Outputs = dict[str, np.ndarray]


class Inputs(NamedTuple):
    """Observations and, for conditional methods, their condition."""

    observations: Tensor
    condition: tuple[Tensor, ...] = ()  # empty, or one tensor


class Reader(NamedTuple):
    """Exported files, loaded again, as functions: `encode` returns outputs by name, `decode` observations."""

    encode: Callable[..., Outputs]
    decode: Callable[..., np.ndarray] | None


@dataclass(frozen=True)
class ExportBundle:
    """A trained model to be exported."""

    model: Model
    run: Run
    custom_networks: Mapping[str, Any] = field(
        default_factory=dict
    )  # and the custom method: arguments of `load`

    @cached_property
    def encoder(self) -> Encoder:
        return Encoder(self.model.method, self.model.shape, self.model.columns)

    @cached_property
    def decoder(self) -> Decoder | None:
        if not has_decoder(self.model.method):
            return None
        return Decoder(self.model.method, self.model.shape, self.model.columns)

    @property
    def images(self) -> bool:
        """Whether the observations are images instead of rows."""
        return len(self.model.shape) == 3

    @property
    def condition_columns(self) -> int | None:
        """Columns of the condition: one per known nuisance, 0 for labels (n,), None for unconditional methods."""
        return condition_columns(self.model.method)

    def inputs(self, size: int, *, seed: int = 0) -> Inputs:
        """Random observations in the input format of the exported model."""
        rng = np.random.default_rng(seed)
        if self.images:
            channels, height, width = self.model.shape
            pixels = rng.integers(0, 256, (size, height, width, channels), dtype=np.uint8)
            return Inputs(torch.from_numpy(pixels), self._condition(size, rng))
        rows, columns = rng.standard_normal((size, *self.model.shape)), self.model.columns
        rows = rows if columns is None else columns.inverse_transform(rows)
        if columns is not None and columns.fill:
            rows[0, 0] = np.nan  # a missing value, which the model fills
        return Inputs(torch.from_numpy(rows), self._condition(size, rng))

    def expected(self, inputs: Inputs) -> tuple[Tensor, Tensor | None]:
        """The codes and decoded observations that the exported files must reproduce, computed by the model."""
        x, (condition,) = inputs.observations, inputs.condition or (None,)
        codes = self.model.encode(x.movedim(-1, 1).float() / 255 if self.images else x, condition=condition)
        if self.decoder is None:
            return codes, None
        decoded = self.model.decode(codes, condition=condition)
        if self.images:
            return codes, decoded.clamp(0, 1).movedim(1, -1)
        return codes, decoded.double()

    def _condition(self, size: int, rng: np.random.Generator) -> tuple[Tensor, ...]:
        arguments = self.model.method.arguments
        if self.condition_columns is None:
            return ()
        if self.condition_columns == 0:
            return (torch.from_numpy(rng.integers(0, arguments["classes"], size)),)
        columns = [rng.integers(0, values, size) for values in arguments["nuisances"]]
        return (torch.from_numpy(np.stack(columns, 1)),)
