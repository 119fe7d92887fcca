"""What is exported: a trained model with all that its file and its card need."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from unbraid.data.columns import Columns
from unbraid.export.modules import Decoder, Encoder, given_columns, has_decoder
from unbraid.model import Model
from unbraid.reopen import dataset_of
from unbraid.runs import Run

Outputs = dict[str, np.ndarray]


class Inputs(NamedTuple):
    """Observations and, of methods that are given something, what they are given."""

    observations: Tensor
    given: tuple[Tensor, ...] = ()


class Reader(NamedTuple):
    """An exported file, read back: observations to codes and strands, and codes to observations if it can."""

    encode: Callable[..., Outputs]
    decode: Callable[..., np.ndarray] | None


@dataclass(frozen=True)
class Package:
    """A trained model on its way out."""

    model: Model
    run: Run
    columns: Columns | None
    own: Mapping[str, Any] = field(
        default_factory=dict
    )  # the class and the networks from outside the package

    @cached_property
    def encoder(self) -> Encoder:
        return Encoder(self.model.method, self.model.shape, self.columns)

    @cached_property
    def decoder(self) -> Decoder | None:
        if not has_decoder(self.model.method):
            return None
        return Decoder(self.model.method, self.model.shape, self.columns)

    @property
    def images(self) -> bool:
        return len(self.model.shape) == 3

    @property
    def given(self) -> int | None:
        """How many known nuisances the method is given, 0 for its labels, None for nothing."""
        return given_columns(self.model.method)

    def inputs(self, size: int, *, seed: int = 0) -> Inputs:
        """Observations to try the exported model on: noise, in the form that it takes them."""
        rng = np.random.default_rng(seed)
        if self.images:
            channels, height, width = self.model.shape
            pixels = rng.integers(0, 256, (size, height, width, channels), dtype=np.uint8)
            return Inputs(torch.from_numpy(pixels), self._given(size, rng))
        rows = rng.standard_normal((size, *self.model.shape))
        return Inputs(torch.from_numpy(self._in_units(rows)), self._given(size, rng))

    def expected(self, inputs: Inputs) -> tuple[Tensor, Tensor | None]:
        """The codes of the inputs, and what they are decoded to, by the model itself."""
        x, (given,) = inputs.observations.numpy(), inputs.given or (None,)
        if self.images:
            observations = torch.from_numpy(x).movedim(-1, 1).float() / 255
        else:
            observations = torch.from_numpy(x if self.columns is None else self.columns.standardised(x))
        codes = self.model.encode(observations.float(), given=given)
        if self.decoder is None:
            return codes, None
        decoded = self.model.decode(codes, given=given)
        if self.images:
            return codes, decoded.clamp(0, 1).movedim(1, -1)
        return codes, torch.from_numpy(self._in_units(decoded.double().numpy()))

    def _in_units(self, rows: np.ndarray) -> np.ndarray:
        return rows if self.columns is None else self.columns.restored(rows)

    def _given(self, size: int, rng: np.random.Generator) -> tuple[Tensor, ...]:
        arguments = self.model.method.arguments
        if self.given is None:
            return ()
        if self.given == 0:
            return (torch.from_numpy(rng.integers(0, arguments["classes"], size)),)
        columns = [rng.integers(0, values, size) for values in arguments["nuisances"]]
        return (torch.from_numpy(np.stack(columns, 1)),)


def columns_of(run: Run, root: Path | str | None) -> Columns | None:
    """How the rows that a run was trained on were brought to one scale, from the table itself; None for images."""
    data = run.settings["data"]
    if len(data["shape"]) == 3 or data["origin"] is None:
        return None
    try:
        return dataset_of(run, root).columns
    except OSError as error:
        raise ValueError(
            f"The export holds the means and spreads of {run.data_name}, and its table cannot be read: {error}"
        ) from None
