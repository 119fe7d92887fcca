"""A trained model on one's own observations."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from unbraid.data.columns import Columns
from unbraid.devices import choose_device
from unbraid.exported import Exported, is_exported
from unbraid.methods.base import Method
from unbraid.naming import choose
from unbraid.runs import Run
from unbraid.settings import rebuild
from unbraid.strands import Strands
from unbraid.types import Codes, Logits, Observations

Views = Float[Tensor, "v b c h w"] | Float[Tensor, "v b f"]  # a row of observations for each value


def load(
    folder: Path | str,
    *,
    weights: str = "model",
    device: str = "auto",
    method: type[Method] | None = None,
    **networks: torch.nn.Module,
) -> "Model":
    """Loads a trained run, or a model exported as safetensors or for the Hugging Face Hub.

    Args:
        folder: The run folder, or that of the export.
        weights: `model`, or `best` by the validation split.
        device: auto, cpu, cuda or mps.
        method: The class, when the run trained a method from outside the package.
        **networks: Networks from outside the package, under their argument's name: `encoder=MyEncoder()`.
    """
    stored = Exported(folder) if is_exported(folder) else Run(folder)
    arguments = stored.settings["method"]["arguments"]
    kept = {name: rebuild(value) for name, value in arguments.items() if name not in networks}
    built = (method or method_class(stored.method_name))(**kept, **networks)
    built.load_state_dict(stored.weights(weights))
    shape = tuple(stored.settings["data"]["shape"])
    if isinstance(stored, Exported):
        return Model(built.to(choose_device(device)), shape, columns=stored.columns)
    return Model(built.to(choose_device(device)), shape, run=stored)


def method_class(name: str) -> type[Method]:
    """The method of a command-line name."""
    return choose("method", name, method_classes())


def method_classes() -> dict[str, type[Method]]:
    """Every method of the package by its command-line name."""
    from unbraid import methods

    return {getattr(methods, entry).name(): getattr(methods, entry) for entry in methods.__all__}


class Model:
    """A method with its weights: arrays or tensors of observations in, tensors out.

    Observations are images (n, c, h, w), (n, h, w, c) or (n, h, w), uint8 or in [0, 1], or rows (n, f); a
    single one may come without n. What a conditional method is `given` are the values of the known nuisances, a
    row for each observation and a column for each nuisance. With `columns`, rows are in the units of their table.
    """

    def __init__(
        self,
        method: Method,
        shape: tuple[int, ...],
        *,
        run: Run | None = None,
        columns: Columns | None = None,
    ) -> None:
        self.method, self.shape, self.run, self.columns = method.eval(), tuple(shape), run, columns

    def __repr__(self) -> str:
        return f"Model({self.method.name()} of observations {self.shape}, {self.strands!r})"

    def _repr_html_(self) -> str:
        from unbraid.display import model_html

        return model_html(self)

    @property
    def strands(self) -> Strands:
        return self.method.strands

    @torch.no_grad()
    def encode(self, x: Tensor | np.ndarray, *, given: Tensor | None = None, batch: int = 512) -> Codes:
        """The codes of the observations."""
        return self._in_batches(self.method.encode, self._observations(x), given, batch)

    @torch.no_grad()
    def decode(
        self, codes: Tensor | np.ndarray, *, given: Tensor | None = None, batch: int = 512
    ) -> Observations:
        """The observations of the codes, images in [0, 1]."""
        rows = torch.atleast_2d(torch.as_tensor(codes, dtype=torch.float32))
        if rows.shape[1] != self.strands.size:
            raise ValueError(f"The codes need {self.strands.size} columns; got shape {tuple(rows.shape)}.")
        decoded = self._in_batches(self.method.decode, rows, given, batch)
        if self.columns is None:
            return decoded
        return torch.from_numpy(self.columns.restored(decoded.double().numpy())).float()

    @torch.no_grad()
    def predict(self, x: Tensor | np.ndarray, *, given: Tensor | None = None, batch: int = 512) -> Logits:
        """A logit for each class and observation, of a method that predicts."""
        if not hasattr(self.method, "predict"):
            raise ValueError(
                f"{self.method.name()} predicts no classes: train a method that does, such as cnn."
            )
        return self._in_batches(self.method.predict, self._observations(x), given, batch)  # type: ignore[arg-type]

    def reconstruct(self, x: Tensor | np.ndarray, *, given: Tensor | None = None) -> Observations:
        """What is left of the observations after encoding and decoding."""
        return self.decode(self.encode(x, given=given), given=given)

    @torch.no_grad()
    def sample(self, size: int, *, seed: int = 0) -> Observations:
        """New observations, decoded from the prior."""
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            codes = self.method.prior(size)
        return self.decode(codes.cpu())

    def traverse(
        self,
        x: Tensor | np.ndarray,
        strand: str | int,
        values: Sequence[float] | Tensor = (-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0),
        *,
        given: Tensor | None = None,
    ) -> Views:
        """Each observation with one code (or strand) set to each value in turn: (values, n, …)."""
        codes = self.encode(x, given=given)
        swept = self.strands.sweep(codes, strand, torch.as_tensor(values, dtype=torch.float32))
        repeated = None if given is None else given.repeat(len(swept), 1)
        return self.decode(swept.flatten(0, 1), given=repeated).unflatten(0, swept.shape[:2])

    def interpolate(
        self,
        a: Tensor | np.ndarray,
        b: Tensor | np.ndarray,
        *,
        strand: str | int | None = None,
        steps: int = 9,
    ) -> Views:
        """From the codes of a to those of b in equal steps, in one strand or in all: (steps, n, …)."""
        start, end = self.encode(a), self.encode(b)
        if strand is not None:
            end, _ = self.strands.swap(start, end, strand)
        path = torch.stack([torch.lerp(start, end, float(t)) for t in torch.linspace(0, 1, steps)])
        return self.decode(path.flatten(0, 1)).unflatten(0, path.shape[:2])

    def swap(
        self,
        a: Tensor | np.ndarray,
        b: Tensor | np.ndarray,
        strand: str | int,
        *,
        given: tuple[Tensor | None, Tensor | None] = (None, None),
    ) -> tuple[Observations, Observations]:
        """Both sets of observations with one strand of their codes exchanged; each keeps what it is given."""
        codes = self.encode(a, given=given[0]), self.encode(b, given=given[1])
        first, second = self.strands.swap(*codes, strand)
        return self.decode(first, given=given[0]), self.decode(second, given=given[1])

    def _observations(self, x: Tensor | np.ndarray) -> Observations:
        if self.columns is None:
            return as_observations(x, self.shape)
        rows = np.atleast_2d(np.asarray(x, dtype=np.float64))
        if rows.shape[1:] == self.shape:
            rows = self.columns.standardised(rows)
        return as_observations(rows, self.shape)

    def _in_batches(
        self, function: Callable[..., Tensor], rows: Tensor, given: Tensor | None, batch: int
    ) -> Float[Tensor, "..."]:
        conditions = [None] * len(rows) if given is None else given.split(batch)
        parts = [
            function(part.to(self._device), None if condition is None else condition.to(self._device))
            for part, condition in zip(rows.split(batch), conditions, strict=False)
        ]
        return torch.cat(parts).cpu()

    @property
    def _device(self) -> torch.device:
        return self.method.step.device


def as_observations(x: Tensor | np.ndarray, shape: tuple[int, ...]) -> Observations:
    """Observations in the shape a model knows, as floats, images in [0, 1]."""
    given = torch.as_tensor(x)
    if (
        given.dtype == torch.uint8 and given.numel() and int(given.max()) > 1
    ):  # bytes of 0 and 1 are black and white
        given = given / 255
    given = given.float()
    candidates = [given, given[None]]
    if len(shape) == 3:
        candidates += [image.movedim(-1, 1) for image in candidates if image.ndim == 4]
        if shape[0] == 1:
            candidates += [grey for grey in (given[:, None], given[None, None]) if grey.ndim == 4]
    for candidate in candidates:
        if tuple(candidate.shape[1:]) == tuple(shape) and len(candidate):
            if not bool(torch.isfinite(candidate).all()):
                raise ValueError(
                    "The observations hold values that are infinite or not a number: clean them first."
                )
            if len(shape) == 3 and (float(candidate.min()) < 0 or float(candidate.max()) > 1):
                raise ValueError(
                    "Images must be uint8, or floats from 0 to 1: divide by the value of white first."
                )
            return candidate.contiguous()
    raise ValueError(
        f"The model takes observations of shape {tuple(shape)}; got {tuple(given.shape)}: resize them first."
    )
