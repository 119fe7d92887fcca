"""What is known about a sample of a dataset: factors, labels, nuisances and instances, as arrays."""

from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from unbraid.data import Dataset
from unbraid.evaluation.arrays import NotAvailable
from unbraid.seeds import derive_seed


class GroundTruth:
    """The ground truth of a sample of a dataset; of size 0, of all observations."""

    def __init__(self, dataset: Dataset, *, size: int, seed: int) -> None:
        if size < 0:
            raise ValueError(f"A sample must have at least 1 observation, or 0 for all; got {size}.")
        self.dataset, self.seed = dataset, seed
        self._tables = dataset.to("cpu", observations=False)
        generator = Generator().manual_seed(derive_seed(seed, "evaluation"))
        self._rows = self._tables.sample_indices(size, generator) if size else self._tables.indices()
        self.size = len(self._rows)

    def distinct(self) -> int:
        """How many different observations are in the sample; of a whole factor space, where drawing one twice is part
        of the published protocols, how many were drawn."""
        return self.size if self._is_factor_space else len(self._observation_ids(self._rows).unique())

    @cached_property
    def factors(self) -> Int[np.ndarray, "n k"]:
        """The factors of each observation, without constant factors and without the instance."""
        factors = self._tables.factors(self._rows)
        if factors is None:
            raise NotAvailable(
                f"This metric needs ground-truth factors, and {self.dataset.name} has none. Use label-free metrics "
                "such as reconstruction, kl or active_dims."
            )
        return factors.numpy()[:, self._varying]

    @cached_property
    def labels(self) -> Int[np.ndarray, " n"]:
        """The class of each observation."""
        labels, _ = self._tables.labels_and_nuisances(self._tables.factors(self._rows))
        if labels is None:
            raise NotAvailable(f"This metric needs class labels, and {self.dataset.name} has none.")
        return labels.numpy()

    @cached_property
    def nuisances(self) -> Int[np.ndarray, "n m"]:
        """The known nuisances of each observation."""
        _, nuisances = self._tables.labels_and_nuisances(self._tables.factors(self._rows))
        if nuisances is None:
            raise NotAvailable(f"This metric needs known nuisances, and {self.dataset.name} has none.")
        return nuisances.numpy()

    @cached_property
    def hidden_nuisances(self) -> dict[str, np.ndarray]:
        """The hidden nuisances of each observation by factor name; value names replace indices where there are any."""
        space, factors = self._tables.factor_space, self._tables.factors(self._rows)
        if space is None or factors is None:
            return {}
        nuisances = {}
        for name in self.dataset.hidden_nuisances:
            values = factors[:, space.column(name)].numpy()
            names = self.dataset.value_names.get(name)
            nuisances[name] = values if names is None else np.asarray(names)[values]
        return nuisances

    @cached_property
    def instances(self) -> Int[np.ndarray, " n"]:
        """The index of the instance that each observation shows; without instances, the index of the row."""
        return self._instance_ids(self._rows).numpy()

    @cached_property
    def rows(self) -> Int[np.ndarray, " n"]:
        """The index of the row of each observation; equal rows have one index."""
        if self._is_factor_space:
            raise NotAvailable(
                f"The observations of {self.dataset.name} are no rows but any combination of factors."
            )
        return self._observation_ids(self._rows).numpy()

    @cached_property
    def latents(self) -> Float[np.ndarray, "n k"]:
        """The true continuous latents of each observation."""
        if self._tables.latents is None:
            raise NotAvailable(
                f"This metric needs true latents, and {self.dataset.name} has none. Choose other metrics."
            )
        return self._tables.latents.informative(self._rows).numpy()

    @property
    def class_names(self) -> tuple[str, ...]:
        """The names of the classes."""
        if self.dataset.label is None or self.dataset.label not in self.dataset.value_names:
            raise NotAvailable(f"The classes of {self.dataset.name} have no names.")
        return tuple(self.dataset.value_names[self.dataset.label])

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the factors."""
        names = () if self._tables.factor_space is None else self._tables.factor_space.names
        return tuple(name for name, varies in zip(names, self._varying, strict=True) if varies)

    @property
    def unordered(self) -> tuple[str, ...]:
        """The names of the factors whose values have no order."""
        return tuple(name for name in self.names if name in self.dataset.unordered)

    @property
    def factor_sizes(self) -> tuple[int, ...]:
        """The number of values of each varying factor, whether or not all combinations occur."""
        space = self._tables.factor_space
        return () if space is None else tuple(size for size in space.sizes if size > 1)

    @property
    def factor_space(self) -> tuple[int, ...]:
        """The sizes of the varying factors, for metrics that need observations of any combination of factors."""
        space = self._tables.factor_space
        if space is None or len(space) < space.num_combinations:
            lacks = "no known factors" if space is None else "not every combination of its factors"
            raise NotAvailable(
                f"This metric samples any combination of factors, and {self.dataset.name} has {lacks}. Choose other "
                "metrics."
            )
        return tuple(size for size in space.sizes if size > 1)

    def _indices_of(self, factors: Int[np.ndarray, "n k"]) -> Tensor:
        """Rows with the given values of the varying factors."""
        space, varying = self._tables.factor_space, self._varying
        assert space is not None
        values = torch.zeros(len(factors), len(varying), dtype=torch.long)
        values[:, torch.from_numpy(varying)] = torch.as_tensor(factors).long()
        return self._tables.indices_of(space.index(values), Generator().manual_seed(self.seed))

    def _instance_ids(self, rows: Int[Tensor, " b"]) -> Int[Tensor, " b"]:
        """The instance that each row shows; without instances, the observation itself."""
        space, factors = self._tables.factor_space, self._tables.factors(rows)
        if space is None or factors is None or self.dataset.instance is None:
            return self._observation_ids(rows)
        return factors[:, space.column(self.dataset.instance)]

    @property
    def _is_factor_space(self) -> bool:
        """Whether the dataset has one observation of each combination of its factors, instead of a list of rows."""
        return self._tables.factor_space is not None and self._tables.combinations is None

    def _observation_ids(self, rows: Int[Tensor, " b"]) -> Int[Tensor, " b"]:
        """The first row with the same observation as each row: a table may list one twice, and so does resampling."""
        return rows if self._first_rows is None else self._first_rows[rows]

    @cached_property
    def _first_rows(self) -> Int[Tensor, " n"] | None:
        source, combinations = self._tables.source, self._tables.combinations
        if isinstance(source, Tensor) and source.ndim == 2:
            values = np.ascontiguousarray(source.cpu().numpy())
            content = values.view([("", f"V{values.itemsize * values.shape[1]}")])[:, 0]
        elif not isinstance(source, Tensor) and combinations is not None:
            content = combinations.numpy()  # a renderer draws one image of each combination
        else:
            return None
        _, first, position = np.unique(content, return_index=True, return_inverse=True)
        return torch.from_numpy(first[position])

    @property
    def _varying(self) -> np.ndarray:
        """Whether each factor takes several values and is not the instance."""
        space = self._tables.factor_space
        if space is None:
            return np.zeros(0, dtype=bool)
        observed = zip(space.names, space.observed_values, strict=True)
        return np.array([len(values) > 1 and name != self.dataset.instance for name, values in observed])
