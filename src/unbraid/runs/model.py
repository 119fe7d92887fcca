"""A trained model: encode, decode and edit your observations."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from unbraid.data import ColumnScaler, DataFrame
from unbraid.distributed import choose_device
from unbraid.methods import Method, Predicts
from unbraid.runs.exported_model import ExportedModel, is_exported
from unbraid.runs.folder import Run
from unbraid.runs.rebuild import trained_method
from unbraid.strands import Strands
from unbraid.types import Codes, Logits, Observations

Views = Float[Tensor, "v b c h w"] | Float[Tensor, "v b f"]  # one batch of observations per value


def load(
    folder: Path | str,
    *,
    weights: str | int = "last",
    device: str = "auto",
    method: type[Method] | None = None,
    **networks: torch.nn.Module,
) -> "Model":
    """Loads the model of a run, or a model exported as safetensors or for the Hugging Face Hub.

    Args:
        folder: Folder of the run or of the export.
        weights: Weights: last, best (lowest validation loss), or a step of --keep-weights. Default: last.
        device: Device: auto, cpu, cuda, cuda:N or mps. Default: auto.
        method: Class of the method, if the run trained your own method and `unbraid.use` has not named it.
        **networks: Custom networks by argument name: `encoder=MyEncoder()`.
    """
    stored = ExportedModel(folder) if is_exported(folder) else Run(folder)
    built = trained_method(stored, weights, method, networks)
    if (chosen := choose_device(device)) != built.step.device:
        built.to(chosen)
    data, run = stored.settings["data"], stored if isinstance(stored, Run) else None
    condition_values = _condition_values(data, built)
    return Model(
        built,
        tuple(data["shape"]),
        run=run,
        columns=stored.columns,
        condition_values=condition_values,
    )


def _condition_values(data: Mapping[str, Any], method: Method) -> dict[str, tuple[str, ...]]:
    """The columns of a table that are the method's condition, with the names of their values in order."""
    labels = [data.get("label")] if data.get("label") else []
    names = {"labels": labels, "nuisances": data.get("nuisances", ()), None: ()}[method.conditions_on]
    values = data.get("value_names", {})
    return {name: tuple(values[name]) for name in names if name in values}


class Model:
    """A trained method. Takes arrays or tensors of observations and returns tensors.

    Observations are images (n, c, h, w), (n, h, w, c) or (n, h, w), uint8 or float in [0, 1], or rows (n, f); a single
    observation may omit n. A conditional method takes the values of the known nuisances as `condition`, with one row
    per observation and one column per nuisance.

    Rows are in the units of the table that the method was trained on, and so are decoded rows: the model standardizes
    by the means and standard deviations of its `columns`. An array has the columns in their order; the columns of a
    data frame are matched by name, and further ones are left out. `dataset.raw(rows)` are rows of a dataset in these
    units; `dataset.observe(rows)` are standardized already, for `without_columns()`.
    """

    def __init__(
        self,
        method: Method,
        shape: tuple[int, ...],
        *,
        run: Run | None = None,
        columns: ColumnScaler | None = None,
        condition_values: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.method, self.shape, self.run, self.columns = method.eval(), tuple(shape), run, columns
        self.condition_values = condition_values or {}  # of the columns of a table that are the condition

    def __repr__(self) -> str:
        return f"Model({self.method.name()} of observations {self.shape}, {self.strands!r})"

    def _repr_html_(self) -> str:
        from unbraid.display import model_html

        return model_html(self)

    @property
    def strands(self) -> Strands:
        return self.method.strands

    def without_columns(self) -> "Model":
        """The model of rows that are standardized already, as `Dataset.observe` returns them."""
        return Model(self.method, self.shape, run=self.run, condition_values=self.condition_values)

    @torch.no_grad()
    def encode(
        self, x: Tensor | np.ndarray | DataFrame, *, condition: Tensor | None = None, batch_size: int = 512
    ) -> Codes:
        """The codes of the observations."""
        return self._in_batches(self.method.encode, self._observations(x), condition, batch_size)

    @torch.no_grad()
    def decode(
        self, codes: Tensor | np.ndarray, *, condition: Tensor | None = None, batch_size: int = 512
    ) -> Observations:
        """The decoded observations; images in [0, 1]."""
        rows = torch.atleast_2d(torch.as_tensor(codes, dtype=torch.float32))
        if rows.shape[1] != self.strands.size:
            raise ValueError(f"Codes must have {self.strands.size} columns; got shape {tuple(rows.shape)}.")
        decoded = self._in_batches(self.method.decode, rows, condition, batch_size)
        if self.columns is None:
            return decoded
        return torch.from_numpy(self.columns.inverse_transform(decoded.double().numpy())).float()

    @torch.no_grad()
    def predict(
        self, x: Tensor | np.ndarray | DataFrame, *, condition: Tensor | None = None, batch_size: int = 512
    ) -> Logits:
        """One logit per class and observation, from a method that predicts classes."""
        if not isinstance(self.method, Predicts):
            raise ValueError(
                f"{self.method.name()} does not predict classes. Train a method that does, such as cnn."
            )
        return self._in_batches(self.method.predict, self._observations(x), condition, batch_size)

    def reconstruct(
        self, x: Tensor | np.ndarray | DataFrame, *, condition: Tensor | None = None
    ) -> Observations:
        """The observations after encoding and decoding."""
        return self.decode(self.encode(x, condition=condition), condition=condition)

    @torch.no_grad()
    def sample(self, size: int, *, seed: int = 0) -> Observations:
        """Observations decoded from codes of the prior."""
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            codes = self.method.sample_prior(size)
        return self.decode(codes.cpu())

    def traverse(
        self,
        x: Tensor | np.ndarray | DataFrame,
        strand: str | int,
        values: Sequence[float] | Tensor = (-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0),
        *,
        condition: Tensor | None = None,
    ) -> Views:
        """Decodes each observation with one dimension or strand set to each value: (values, n, …)."""
        codes = self.encode(x, condition=condition)
        traversal = self.strands.traverse(codes, strand, torch.as_tensor(values, dtype=torch.float32))
        repeated = None if condition is None else condition.repeat(len(traversal), 1)
        return self.decode(traversal.flatten(0, 1), condition=repeated).unflatten(0, traversal.shape[:2])

    def interpolate(
        self,
        a: Tensor | np.ndarray | DataFrame,
        b: Tensor | np.ndarray | DataFrame,
        *,
        strand: str | int | None = None,
        steps: int = 9,
    ) -> Views:
        """Decodes codes between a and b in equal steps, in one strand or in the whole code: (steps, n, …)."""
        start, end = self.encode(a), self.encode(b)
        if strand is not None:
            end, _ = self.strands.swap(start, end, strand)
        path = torch.stack([torch.lerp(start, end, float(t)) for t in torch.linspace(0, 1, steps)])
        return self.decode(path.flatten(0, 1)).unflatten(0, path.shape[:2])

    def swap(
        self,
        a: Tensor | np.ndarray | DataFrame,
        b: Tensor | np.ndarray | DataFrame,
        strand: str | int,
        *,
        conditions: tuple[Tensor | None, Tensor | None] = (None, None),
    ) -> tuple[Observations, Observations]:
        """Decodes a and b with one strand exchanged; each keeps its own condition."""
        codes = self.encode(a, condition=conditions[0]), self.encode(b, condition=conditions[1])
        first, second = self.strands.swap(*codes, strand)
        return self.decode(first, condition=conditions[0]), self.decode(second, condition=conditions[1])

    def _observations(self, x: Tensor | np.ndarray | DataFrame) -> Observations:
        if self.columns is None:
            return as_observations(np.array(x.to_numpy()) if isinstance(x, DataFrame) else x, self.shape)
        rows = self.columns.rows_of(x) if isinstance(x, DataFrame) else _as_float64(x)
        if rows.shape[1:] == self.shape:
            self.columns.check_present(rows)
            rows = self.columns.transform(rows)
        return as_observations(rows, self.shape)

    def _in_batches(
        self, function: Callable[..., Tensor], rows: Tensor, condition: Tensor | None, batch_size: int
    ) -> Float[Tensor, "..."]:
        device, outputs = self.method.step.device, []
        conditions = [None] * len(rows) if condition is None else condition.split(batch_size)
        for batch, values in zip(rows.split(batch_size), conditions, strict=False):
            outputs.append(function(batch.to(device), None if values is None else values.to(device)))
        return torch.cat(outputs).cpu()


def _as_float64(x: Tensor | np.ndarray) -> Float[np.ndarray, "n ..."]:
    """Rows in the precision of their table, so that a large mean does not swallow their differences."""
    return np.atleast_2d(np.asarray(x.cpu() if isinstance(x, Tensor) else x, dtype=np.float64))


def as_observations(x: Tensor | np.ndarray, shape: tuple[int, ...]) -> Observations:
    """Observations as floats in the shape of the model; images in [0, 1]."""
    values = torch.as_tensor(x)
    if (
        values.dtype == torch.uint8 and values.numel() and int(values.max()) > 1
    ):  # uint8 of 0 and 1 is black and white
        values = values / 255
    values = values.float()
    candidates = [values, values[None]]
    if len(shape) == 3:
        candidates += [image.movedim(-1, 1) for image in candidates if image.ndim == 4]
        if shape[0] == 1:
            candidates += [gray for gray in (values[:, None], values[None, None]) if gray.ndim == 4]
    for candidate in candidates:
        if tuple(candidate.shape[1:]) == tuple(shape) and len(candidate):
            if not bool(torch.isfinite(candidate).all()):
                raise ValueError(
                    "Observations must be finite; these contain NaN or infinite values. Remove them first."
                )
            if len(shape) == 3 and (float(candidate.min()) < 0 or float(candidate.max()) > 1):
                raise ValueError(
                    "Images must be uint8, or float in [0, 1]. Divide by the maximum pixel value first."
                )
            return candidate.contiguous()
    raise ValueError(
        f"The model takes observations of shape {tuple(shape)}; got {tuple(values.shape)}. Resize them first."
    )
