"""What scores are computed from: arrays by name, made when a metric first asks for them."""

import copy
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from unbraid.data.dataset import Dataset
from unbraid.data.instances import parts
from unbraid.data.sets import Sets
from unbraid.methods.base import Method
from unbraid.seeds import derive

BATCH = 512  # observations encoded at once
BATCH_ON_GPU = 4096  # where small batches leave it waiting
SETS = 1024  # sets of augmentations, at most, for metrics that ask for them


class Missing(ValueError):
    """What a metric needs is not known here."""


class Arrays:
    """Codes with their factors or labels, from anywhere."""

    def __init__(
        self, codes: np.ndarray, factors: np.ndarray | None = None, labels: np.ndarray | None = None
    ) -> None:
        self.codes = codes
        if factors is not None:
            self.factors = factors
        if labels is not None:
            self.labels = labels

    def of_strand(self, strand: str) -> "Arrays":
        raise ValueError(
            f"Arrays have no strands, so {strand!r} is not among them: cut the codes beforehand."
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Missing(f"The files hold no {name}, which this metric needs: choose other metrics.")


class Sample:
    """One sample of a dataset seen through a method; of size 0, all of its observations."""

    def __init__(
        self, method: Method, dataset: Dataset, *, size: int, seed: int, strand: str | None = None
    ) -> None:
        self.method, self.dataset, self.seed = method, dataset, seed
        self.strand = strand or method.strands.default
        self._tables = dataset.to("cpu", observations=False)
        if size < 0:
            raise ValueError(f"A score needs a sample of at least one observation, or 0 for all; got {size}.")
        generator = Generator().manual_seed(derive(seed, "evaluation"))
        self._rows = self._tables.draw(size, generator) if size else self._tables.rows()
        self.size = len(self._rows)
        self._shared: dict[str, Sample] = {}  # by all strands of this sample

    def of_strand(self, strand: str) -> "Sample":
        """The same sample, its codes cut down to a strand."""
        _ = self.whole_codes  # encoded once for all strands
        other = copy.copy(self)
        for name in ("codes", "drawn_codes", "background_codes", "background_drawn_codes"):
            other.__dict__.pop(name, None)
        other.strand = strand
        return other

    def parted(self, test: "Sample") -> tuple["Sample", "Sample"]:
        """What predictors learn from, and what they are tested on.

        Where both samples are of one list of observations, a third of the things that it shows (of its rows, where
        things have no numbers) tests and the others train, so that nothing does both. Samples of a space of factors,
        or of two datasets, stay whole.
        """
        tables = self._tables
        if test.dataset is not self.dataset or (tables.space is not None and tables.combinations is None):
            return self, test
        generator = Generator().manual_seed(derive(self.seed, "parted"))
        _, tested = parts(self._things(tables.rows()).unique(), 1 / 3, generator)
        return self._among(tested, kept=False), test._among(tested, kept=True)

    def _among(self, things: Int[Tensor, " t"], *, kept: bool) -> "Sample":
        """The observations of these things, or of all others."""
        chosen = torch.isin(self._things(self._rows), things) == kept
        if not chosen.any():
            raise Missing(
                f"A sample of {self.size} of {self.dataset.name} is too small to part what trains predictors from what "
                "tests them: take more samples, or test on another part of the data (--test-part)."
            )
        other = self._of(self._rows[chosen])
        other.whole_codes = self.whole_codes[chosen.numpy()]
        return other

    def shuffled(self, most: int) -> "Sample":
        """At most so many of the observations, in an order in which neighbours have nothing in common."""
        generator = Generator().manual_seed(derive(self.seed, "shuffled"))
        return self._of(self._rows[torch.randperm(self.size, generator=generator)[:most]])

    def _of(self, rows: Int[Tensor, " n"]) -> "Sample":
        """The same of some of its rows."""
        other = copy.copy(self)
        for name, member in vars(Sample).items():
            if isinstance(member, cached_property):
                other.__dict__.pop(name, None)
        other._rows, other.size = rows, len(rows)
        return other

    @cached_property
    def whole_codes(self) -> Float[np.ndarray, "n d"]:
        """Every dimension of the code of each observation."""
        return self.over_batches(self.method.encode)

    @cached_property
    def codes(self) -> Float[np.ndarray, "n d"]:
        """The dimensions of the strand."""
        return self.whole_codes[:, list(self.method.strands[self.strand])]

    @cached_property
    def posterior(self) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "n d"]]:
        """Mean and log-variance of q(z|x)."""
        if not hasattr(self.method, "posterior"):
            raise Missing(f"{self.method.name()} has no posterior, so it has no KL: choose other metrics.")
        both = self.over_batches(lambda x, _: torch.cat(self.method.posterior(x), 1))  # type: ignore[operator]
        mean, logvar = np.split(both, 2, axis=1)
        return mean, logvar

    @cached_property
    def drawn_codes(self) -> Float[np.ndarray, "n d"]:
        """One draw from the posterior of each observation, the dimensions of the strand."""
        mean, logvar = self.posterior
        noise = np.random.default_rng(derive(self.seed, "drawn codes")).standard_normal(mean.shape)
        return (mean + np.exp(0.5 * logvar) * noise)[:, list(self.method.strands[self.strand])]

    @property
    def background(self) -> "Sample":
        """The same method on as many observations of the dataset's background."""
        if self.dataset.background is None:
            raise Missing(f"{self.dataset.name} has no background to compare with: choose other metrics.")
        if "background" not in self._shared:
            size = 0 if self.size >= len(self.dataset.background) else self.size
            seed = derive(
                self.seed, "background"
            )  # with the target's, codes would be drawn with the same noise
            self._shared["background"] = Sample(self.method, self.dataset.background, size=size, seed=seed)
        return self._shared["background"]

    @cached_property
    def background_codes(self) -> Float[np.ndarray, "m d"]:
        """The background's codes, the dimensions of the strand."""
        return self.background.of_strand(self.strand).codes

    @cached_property
    def background_drawn_codes(self) -> Float[np.ndarray, "m d"]:
        """One draw from the posterior of each observation of the background, the dimensions of the strand."""
        return self.background.of_strand(self.strand).drawn_codes

    @property
    def class_names(self) -> tuple[str, ...]:
        """What the classes are called."""
        if self.dataset.label is None or self.dataset.label not in self.dataset.value_names:
            raise Missing(f"The classes of {self.dataset.name} have no names.")
        return tuple(self.dataset.value_names[self.dataset.label])

    @cached_property
    def factors(self) -> Int[np.ndarray, "n k"]:
        """The factor values of each observation; factors that take one value are left out, and the instance."""
        factors = self._tables.factors(self._rows)
        if factors is None:
            raise Missing(
                f"{self.dataset.name} has no known factors to compare codes with: choose metrics without "
                "labels, such as reconstruction, kl or active_codes."
            )
        return factors.numpy()[:, self._varying]

    @cached_property
    def labels(self) -> Int[np.ndarray, " n"]:
        """The class of each observation."""
        labels, _ = self._tables.roles(self._tables.factors(self._rows))
        if labels is None:
            raise Missing(f"{self.dataset.name} has no class labels: choose metrics without them.")
        return labels.numpy()

    @cached_property
    def nuisances(self) -> Int[np.ndarray, "n m"]:
        """The known nuisances of each observation."""
        _, nuisances = self._tables.roles(self._tables.factors(self._rows))
        if nuisances is None:
            raise Missing(f"{self.dataset.name} names no nuisance factors: choose metrics without them.")
        return nuisances.numpy()

    @cached_property
    def conditions(self) -> dict[str, np.ndarray]:
        """The unknown nuisances of each observation by name, their values by name where they have names."""
        space, factors = self._tables.space, self._tables.factors(self._rows)
        if space is None or factors is None:
            return {}
        conditions = {}
        for name in self.dataset.unknown:
            values = factors[:, space.column(name)].numpy()
            names = self.dataset.value_names.get(name)
            conditions[name] = values if names is None else np.asarray(names)[values]
        return conditions

    @cached_property
    def instances(self) -> Int[np.ndarray, " n"]:
        """The number of the thing that each observation shows, or of its row where things have none."""
        return self._things(self._rows).numpy()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the factors."""
        names = () if self._tables.space is None else self._tables.space.names
        return tuple(name for name, varies in zip(names, self._varying, strict=True) if varies)

    @property
    def parts(self) -> dict[str, tuple[int, ...]]:
        """The strands that lie within this one, by the columns of its codes that they have."""
        place = {dimension: column for column, dimension in enumerate(self.method.strands[self.strand])}
        inner = {
            name: tuple(place[dimension] for dimension in dimensions)
            for name, dimensions in self.method.strands.items()
            if set(dimensions) < place.keys()
        }
        if not inner:
            raise Missing(
                f"The strand {self.strand} of {self.method.name()} has no parts: choose another one."
            )
        return inner

    @cached_property
    def latents(self) -> Float[np.ndarray, "n k"]:
        """The true latents of each observation."""
        if self._tables.latents is None:
            raise Missing(f"The true latents of {self.dataset.name} are not known: choose other metrics.")
        return self._tables.latents.true(self._rows).numpy()

    @cached_property
    def whole_set_codes(self) -> Float[np.ndarray, "n m d"]:
        """Every dimension of the codes of observations' augmentations, set by set."""
        try:
            Sets().check(self.dataset)
        except ValueError as error:
            raise Missing(str(error)) from None
        device = self.method.step.device
        generator = Generator(device).manual_seed(derive(self.seed, "evaluation sets"))
        draw, step = Sets(redraw=True), self.method.step
        parts = []
        with torch.no_grad():
            for size in [BATCH // 8] * (min(self.size, SETS) // (BATCH // 8)) or [self.size]:
                x = draw(self.dataset, size, generator, step).x[:, 1:]  # without the observation itself
                parts.append(self.method.encode(x.flatten(0, 1)).unflatten(0, x.shape[:2]).float().cpu())
        return torch.cat(parts).numpy()

    @property
    def set_codes(self) -> Float[np.ndarray, "n m d"]:
        """The same, the dimensions of the strand."""
        return self.whole_set_codes[:, :, list(self.method.strands[self.strand])]

    @cached_property
    def predictions(self) -> Int[np.ndarray, " n"]:
        """The class that the method predicts for each observation."""
        if not hasattr(self.method, "predict"):
            raise Missing(f"{self.method.name()} does not predict classes: choose other metrics.")
        logits = self.over_batches(self.method.predict)  # type: ignore[arg-type]
        return logits.argmax(1)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Of each factor whether its values are classes or lie on a scale: classes if it is the label, or if its
        values have names."""
        classes = {self.dataset.label, *self.dataset.value_names}
        return tuple("discrete" if name in classes else "continuous" for name in self.names)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each factor has, of those that vary, whether all combinations occur or not."""
        return () if self._tables.space is None else tuple(n for n in self._tables.space.sizes if n > 1)

    @property
    def blocks(self) -> dict[str, tuple[int, ...]] | None:
        """The strands of several dimensions that stand for one feature each, where the method has such."""
        names = getattr(self.method, "blocks", ())
        whole = self.strand == self.method.strands.default
        return {name: self.method.strands[name] for name in names} if names and whole else None

    @property
    def features(self) -> dict[str, tuple[int, ...]]:
        """The columns of the whole code that each feature of the strand has: those blocks, or one each."""
        codes = {f"code {j}": (j,) for j in self.method.strands[self.strand]}
        return self.blocks or codes

    @cached_property
    def variance(self) -> float:
        """Of the observations, summed over pixels."""

        def moments(x: Tensor, given: Tensor | None) -> Tensor:
            return torch.cat([x.double().sum(0).flatten(), x.double().square().sum().view(1)])[None]

        *total, squares = self.over_batches(moments).sum(0, dtype=np.float64) / self.size
        return float(squares - np.square(total).sum())

    @property
    def device(self) -> str:
        """Where the method is."""
        return str(self.method.step.device)

    @property
    def generate(self) -> Callable[[Float[np.ndarray, "n d"]], np.ndarray]:
        """Codes of all dimensions to observations."""
        method = self.method
        if type(method).decode is Method.decode or method.conditional:
            raise Missing(f"{method.name()} does not decode codes alone: choose other metrics.")

        @torch.no_grad()
        def decode(codes: np.ndarray) -> np.ndarray:
            rows = torch.as_tensor(codes, dtype=torch.float32, device=method.step.device)
            return torch.cat([method.decode(part).float().cpu() for part in rows.split(BATCH)]).numpy()

        return decode

    @property
    def space(self) -> tuple[int, ...]:
        """The sizes of the factors, for metrics that ask for observations of any combination."""
        space = self._tables.space
        if space is None or len(space) < space.combinations:
            lacks = "no known factors" if space is None else "not every combination of its factors"
            raise Missing(
                f"{self.dataset.name} has {lacks}, which this metric draws from: choose other metrics."
            )
        return tuple(size for size in space.sizes if size > 1)

    def represent(self, factors: Int[np.ndarray, "n k"]) -> Float[np.ndarray, "n d"]:
        """The strand's codes of observations with the given values of the factors that vary."""
        assert self._tables.space is not None
        values = torch.zeros(len(factors), len(self._varying), dtype=torch.long)
        values[:, torch.from_numpy(self._varying)] = torch.as_tensor(factors).long()
        rows = self._tables.find(self._tables.space.index(values), Generator().manual_seed(self.seed))
        return self.over_batches(self.method.encode, rows)[:, list(self.method.strands[self.strand])]

    @torch.no_grad()
    def over_batches(
        self, function: Callable[[Tensor, Tensor | None], Tensor], rows: Tensor | None = None
    ) -> np.ndarray:
        """A function of the observations and of what the method is given with them, batch by batch.

        A conditional method is given the known nuisances or the labels, any other None. With `rows`, of those
        instead of the sample's.
        """
        rows, device = self._rows if rows is None else rows, self.method.step.device
        parts = []
        for part in rows.split(BATCH_ON_GPU if device.type == "cuda" else BATCH):
            given = self.method.given(*self._tables.roles(self._tables.factors(part)))
            given = None if given is None else given.to(device)
            parts.append(function(self.dataset.observe(part.to(device)), given).float().cpu())
        return torch.cat(parts).numpy()

    def _things(self, rows: Int[Tensor, " b"]) -> Int[Tensor, " b"]:
        """The number of the thing that each row shows, or of the row itself."""
        space, factors = self._tables.space, self._tables.factors(rows)
        if space is None or factors is None or self.dataset.instance is None:
            return rows
        return factors[:, space.column(self.dataset.instance)]

    @property
    def _varying(self) -> np.ndarray:
        space = self._tables.space
        if space is None:
            return np.zeros(0, dtype=bool)
        found = zip(space.names, space.occurring, strict=True)
        return np.array([len(values) > 1 and name != self.dataset.instance for name, values in found])
