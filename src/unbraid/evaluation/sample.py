"""The arrays from which scores are computed, each computed when a metric first needs it."""

import copy
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor, nn

from unbraid.data import Dataset, random_split
from unbraid.evaluation.arrays import NotAvailable
from unbraid.evaluation.encoding import GridCodes, StrandEncoder, batch_size
from unbraid.evaluation.ground_truth import GroundTruth
from unbraid.evaluation.noisy_codes import NoisyCodes
from unbraid.evaluation.set_codes import SetCodes
from unbraid.methods import FlowMethod, HasPosterior, Method, Predicts, feature_strand_names, has_decoder
from unbraid.metrics import num_processes
from unbraid.nn import background_batch_stats
from unbraid.seeds import derive_seed


class Sample(NoisyCodes, SetCodes, GroundTruth):
    """A sample of a dataset with its codes under a method; of size 0, all observations."""

    def __init__(
        self,
        method: Method,
        dataset: Dataset,
        *,
        size: int,
        seed: int,
        strand: str | None = None,
        processes: int | None = None,
    ) -> None:
        super().__init__(dataset, size=size, seed=seed)
        self.method, self.strand = method, strand or method.strands.default
        self._processes = num_processes(processes)
        self._shared: dict[str, Any] = {}  # by the copies of this sample for other strands
        self._is_background = False

    def select_strand(self, strand: str) -> "Sample":
        """The same observations with the codes of one strand."""
        _ = self.all_codes  # encoded once for all strands
        other = copy.copy(self)
        for name in ("codes", "sampled_codes", "background_codes", "background_sampled_codes"):
            vars(other).pop(name, None)
        other.strand = strand
        return other

    def train_test_split(self, test: "Sample") -> tuple["Sample", "Sample"]:
        """The samples on which predictors are trained and tested.

        If both samples come from one dataset of stored observations, one third of its instances (or different rows,
        without instances) is used for testing and the rest for training, so that no instance is in both. Samples of a
        whole factor space, and samples of two datasets, are returned unchanged.
        """
        if test.dataset is not self.dataset or self._is_factor_space:
            return self, test
        generator = Generator().manual_seed(derive_seed(self.seed, "parted"))
        _, held_out = random_split(self._instance_ids(self._tables.indices()).unique(), 1 / 3, generator)
        return self._with_instances(held_out, keep=False), test._with_instances(held_out, keep=True)

    def _with_instances(self, instances: Int[Tensor, " t"], *, keep: bool) -> "Sample":
        """The observations of these instances or, without `keep`, of all other instances."""
        chosen = torch.isin(self._instance_ids(self._rows), instances) == keep
        if not chosen.any():
            raise NotAvailable(
                f"{self.size} observations of {self.dataset.name} are too few for a train/test split. Increase "
                "--num-samples or set --test-split."
            )
        other = self._with_rows(self._rows[chosen])
        other.all_codes = self.all_codes[chosen.numpy()]
        return other

    def shuffled(self, max_size: int, *, distinct: bool = False) -> "Sample":
        """At most `max_size` of the observations in random order; with `distinct`, each observation once."""
        generator = Generator().manual_seed(derive_seed(self.seed, "shuffled"))
        rows = self._rows[torch.randperm(self.size, generator=generator)]
        if distinct:
            _, first = np.unique(self._observation_ids(rows).numpy(), return_index=True)
            rows = rows[torch.from_numpy(np.sort(first))]
        return self._with_rows(rows[:max_size])

    def _with_rows(self, rows: Int[Tensor, " n"]) -> "Sample":
        """A copy with other rows and nothing computed yet."""
        other = copy.copy(self)
        for name in list(vars(other)):
            if isinstance(getattr(type(self), name, None), cached_property):
                del vars(other)[name]
        other._rows, other.size = rows, len(rows)
        return other

    @cached_property
    def all_codes(self) -> Float[np.ndarray, "n d"]:
        """The whole codes."""
        return self.map_batches(self.method.encode)

    @cached_property
    def codes(self) -> Float[np.ndarray, "n d"]:
        """The codes of the strand."""
        return self.all_codes[:, self._dimensions]

    @cached_property
    def posterior(self) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "n d"]]:
        """Mean and log-variance of q(z|x)."""
        method = self.method
        if not isinstance(method, HasPosterior):
            raise NotAvailable(
                f"This metric needs a posterior, and {method.name()} has none. Choose other metrics."
            )
        both = self.map_batches(lambda x, _: torch.cat(method.posterior(x), 1))
        mean, logvar = np.split(both, 2, axis=1)
        return mean, logvar

    @cached_property
    def sampled_codes(self) -> Float[np.ndarray, "n d"]:
        """One sample of the posterior per observation, in the dimensions of the strand."""
        mean, logvar = self.posterior
        noise = np.random.default_rng(derive_seed(self.seed, "drawn codes")).standard_normal(mean.shape)
        return (mean + np.exp(0.5 * logvar) * noise)[:, self._dimensions]

    @property
    def background(self) -> "Sample":
        """A sample of the dataset's background, with at most as many observations."""
        if self.dataset.background is None:
            raise NotAvailable(
                f"This metric needs a background dataset, and {self.dataset.name} has none. Choose other metrics."
            )
        if "background" not in self._shared:
            size = 0 if self.size >= len(self.dataset.background) else self.size
            seed = derive_seed(self.seed, "background")  # so that the noise differs from that of the target
            background = type(self)(self.method, self.dataset.background, size=size, seed=seed)
            background._is_background = True
            self._shared["background"] = background
        return self._shared["background"]

    @cached_property
    def background_codes(self) -> Float[np.ndarray, "m d"]:
        """The codes of the background, in the dimensions of the strand."""
        return self.background.select_strand(self.strand).codes

    @cached_property
    def background_sampled_codes(self) -> Float[np.ndarray, "m d"]:
        """One sample of the posterior per background observation, in the dimensions of the strand."""
        return self.background.select_strand(self.strand).sampled_codes

    @property
    def inner_strands(self) -> dict[str, tuple[int, ...]]:
        """The strands within this strand, by their columns of its codes."""
        position = {dimension: column for column, dimension in enumerate(self._dimensions)}
        inner = {
            name: tuple(position[dimension] for dimension in dimensions)
            for name, dimensions in self.method.strands.items()
            if set(dimensions) < position.keys()
        }
        if not inner:
            raise NotAvailable(
                f"This metric needs strands within a strand, and {self.strand} of {self.method.name()} has none. "
                "Choose another strand."
            )
        return inner

    @cached_property
    def predictions(self) -> Int[np.ndarray, " n"]:
        """The class that the method predicts for each observation."""
        if not isinstance(self.method, Predicts):
            raise NotAvailable(
                f"This metric needs predicted classes, and {self.method.name()} does not predict classes. Choose other "
                "metrics."
            )
        logits = self.map_batches(self.method.predict)
        return logits.argmax(1)

    @property
    def strands(self) -> dict[str, tuple[int, ...]]:
        """The strands of features with several dimensions, by their columns of the codes."""
        names = feature_strand_names(self.method)
        if not names or self.strand != self.method.strands.default:
            raise NotAvailable(
                f"This metric needs features of several dimensions, and {self.strand} of {self.method.name()} has "
                "none. Choose other metrics."
            )
        return {name: self.method.strands[name] for name in names}

    @property
    def features(self) -> dict[str, tuple[int, ...]]:
        """The dimensions of each feature of the strand: those of `strands`, otherwise single dimensions."""
        try:
            return self.strands
        except NotAvailable:
            return {f"dimension {j}": (j,) for j in self._dimensions}

    @cached_property
    def variance(self) -> float:
        """The variance of the observations, summed over pixels."""

        def moments(x: Tensor, condition: Tensor | None) -> Tensor:
            return torch.cat([x.double().sum(0).flatten(), x.double().square().sum().view(1)])[None]

        *total, squares = self.map_batches(moments).sum(0, dtype=np.float64) / self.size
        return float(squares - np.square(total).sum())

    @property
    def device(self) -> str:
        """The device of the method."""
        return str(self.method.step.device)

    @property
    def processes(self) -> int:
        """The number of processes that a metric may use."""
        return self._processes

    @property
    def decoder(self) -> Callable[[Tensor, Tensor | None], Tensor]:
        """The method's function from whole codes and condition to observations."""
        if not has_decoder(self.method):
            raise NotAvailable(
                f"This metric decodes codes, and {self.method.name()} has no decoder. Choose other metrics."
            )
        return self.method.decode

    @property
    def flow(self) -> nn.Module:
        """The flow of the method, from observations to codes."""
        if not isinstance(self.method, FlowMethod):
            raise NotAvailable(
                f"This metric needs a flow, and {self.method.name()} has none. Choose other metrics."
            )
        return self.method.flow

    @property
    def decode_fn(self) -> Callable[[Float[np.ndarray, "n d"]], np.ndarray]:
        """A function from whole codes to observations."""
        method = self.method
        if not has_decoder(method) or method.conditions_on == "nuisances":
            raise NotAvailable(
                f"This metric decodes codes, and {method.name()} cannot decode codes alone. Choose other metrics."
            )

        @torch.no_grad()
        def decode(codes: np.ndarray) -> np.ndarray:
            rows = torch.as_tensor(codes, dtype=torch.float32, device=method.step.device)
            return torch.cat(
                [method.decode(part).float().cpu() for part in rows.split(self._batch_size)]
            ).numpy()

        return decode

    @property
    def encode_factors(self) -> StrandEncoder:
        """A function from values of the varying factors to codes, in the dimensions of the strand."""

        if "grid" not in self._shared:
            self._shared["grid"] = GridCodes(self._encode_factors, self.factor_sizes)
        return StrandEncoder(self._shared["grid"], self._dimensions)

    def _encode_factors(self, factors: Int[np.ndarray, "n k"]) -> Float[np.ndarray, "n d"]:
        """The whole codes of observations with these values of the varying factors."""
        return self.map_batches(self.method.encode, self._indices_of(factors))

    @torch.no_grad()
    def map_batches(
        self, function: Callable[[Tensor, Tensor | None], Tensor], rows: Tensor | None = None
    ) -> np.ndarray:
        """Applies a function of observations and condition to batches and concatenates the results.

        The condition is None unless the method conditions on nuisances or labels. `rows` replaces the sample's rows.
        """
        rows, device = self._rows if rows is None else rows, self.method.step.device
        results = []
        for part in rows.split(self._batch_size):
            known = self._tables.labels_and_nuisances(self._tables.factors(part))
            condition = self.method.condition_from(*known)
            condition = None if condition is None else condition.to(device)
            with self.batch_stats():
                results.append(function(self.dataset.observe(part.to(device)), condition).float())
        return torch.cat(results).cpu().numpy()  # at the end, so that the host does not wait for every batch

    @property
    def _batch_size(self) -> int:
        return batch_size(self.dataset.shape, self.method.step.device)

    def batch_stats(self) -> AbstractContextManager[None]:
        """Context in which the method's networks normalize these observations: as target or as background."""
        return background_batch_stats(self.method) if self._is_background else nullcontext()

    @property
    def _dimensions(self) -> list[int]:
        """The dimensions of the strand."""
        return list(self.method.strands[self.strand])
