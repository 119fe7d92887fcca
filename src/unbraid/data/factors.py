"""Factor spaces: the combinations of factor values in a dataset, and how often each is sampled."""

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor

FULL_FINGERPRINT_BYTES = 1 << 28  # larger sources are hashed by a sample of their rows
SAMPLED_ROWS = 1024


class FactorSpace:
    """Named factors with finitely many values, and a distribution over their combinations.

    Combinations are numbered in mixed radix, the last factor varying fastest. Without a `support` every combination
    occurs; without `weights` the combinations that occur are equally likely.

    >>> space = FactorSpace({"shape": 3, "scale": 6})
    >>> space.index(torch.tensor([[2, 5]])), space.values(torch.tensor([17]))
    (tensor([17]), tensor([[2, 5]]))
    >>> len(space), len(space.only(shape=[0, 1]))
    (18, 12)
    """

    def __init__(
        self,
        sizes: Mapping[str, int],
        *,
        support: Int[Tensor, " n"] | None = None,
        weights: Float[Tensor, " n"] | None = None,
    ) -> None:
        if not sizes or min(sizes.values()) < 1:
            raise ValueError(
                f"A factor space needs at least one factor, each with a value; got {dict(sizes)}."
            )
        self.names, self.sizes = tuple(sizes), tuple(sizes.values())
        self.num_combinations = math.prod(self.sizes)
        if weights is not None and not bool((weights >= 0).all() & weights.isfinite().all()):
            raise ValueError("Weights of factor combinations must be finite and at least 0.")
        if weights is not None and not bool((weights > 0).any()):
            raise ValueError("No combination of factors has a weight above 0: allow more combinations.")
        if support is not None:
            support, order = support.sort()
            weights = None if weights is None else weights[order]
        self.support = support  # numbers of the combinations that occur, sorted; None for all
        self.weights = weights  # one for each of the support
        self._cumulative = None if weights is None else weights.double().cumsum(0)
        strides = [math.prod(self.sizes[index + 1 :]) for index in range(len(self.sizes))]
        tables = [table for table in (support, weights) if table is not None]
        device = tables[0].device if tables else torch.device("cpu")
        self._strides = torch.tensor(strides, device=device)
        self._sizes = torch.tensor(self.sizes, device=device)

    def __len__(self) -> int:
        """How many combinations occur."""
        return self.num_combinations if self.support is None else len(self.support)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}: {size}" for name, size in zip(self.names, self.sizes, strict=True))
        kind = "uniform" if self.weights is None else "weighted"
        return f"FactorSpace({sizes}; {len(self)} of {self.num_combinations} combinations, {kind})"

    def to(self, device: torch.device | str) -> "FactorSpace":
        """The same space with its tables on a device."""
        moved = self._with(
            None if self.support is None else self.support.to(device),
            None if self.weights is None else self.weights.to(device),
        )
        moved._strides, moved._sizes = self._strides.to(device), self._sizes.to(device)
        moved.__dict__["observed_values"] = tuple(values.to(device) for values in self.observed_values)
        return moved

    def column(self, name: str) -> int:
        """The column of a factor among the factor values."""
        if name not in self.names:
            raise ValueError(f"There is no factor {name!r}; the factors are {', '.join(self.names)}.")
        return self.names.index(name)

    def index(self, values: Int[Tensor, "n k"]) -> Int[Tensor, " n"]:
        """The combination numbers of factor values."""
        return (values * self._strides).sum(1)

    def values(self, index: Int[Tensor, " n"]) -> Int[Tensor, "n k"]:
        """The factor values of combination numbers."""
        return index[:, None] // self._strides % self._sizes

    def weight(self, index: Int[Tensor, " n"]) -> Float[Tensor, " n"]:
        """The weight of each combination, up to a common scale; 0 for combinations that do not occur."""
        if self.support is None:
            inside = torch.ones_like(index, dtype=torch.float64)
            return inside if self.weights is None else self.weights[index].double()
        position = torch.searchsorted(self.support, index).clamp(max=len(self.support) - 1)
        inside = (self.support[position] == index).double()
        return inside if self.weights is None else inside * self.weights[position]

    def draw(self, size: int, generator: Generator) -> Int[Tensor, " n"]:
        """Combination numbers sampled from the distribution, on the device of the generator."""
        device = generator.device
        if self._cumulative is None:
            torch_device = torch.randint(len(self), (size,), generator=generator, device=device)
        else:
            u = torch.rand(size, generator=generator, device=device, dtype=torch.float64)
            torch_device = torch.searchsorted(self._cumulative, u * self._cumulative[-1], right=True)
            torch_device = torch_device.clamp(max=len(self) - 1)
        return torch_device if self.support is None else self.support[torch_device]

    @cached_property
    def observed_values(self) -> tuple[Int[Tensor, " v"], ...]:
        """The values of each factor that occur in some combination, in order."""
        if self.support is None:
            return tuple(torch.arange(size, device=self._strides.device) for size in self.sizes)
        return tuple(column.unique() for column in self.values(self.support).unbind(1))

    @property
    def is_product(self) -> bool:
        """Whether all combinations of the observed values occur, equally often."""
        return self.weights is None and len(self) == math.prod(map(len, self.observed_values))

    def redraw(
        self, values: Int[Tensor, "n k"], u: Float[Tensor, "n k"], *, other: bool = False
    ) -> Int[Tensor, "n k"]:
        """For each value an observed value of the same factor, chosen by u in [0, 1).

        With `other` the new value differs from the old one, if the factor has several. Nothing waits for the device.
        """
        table, counts = self._choices
        if other:
            old = torch.searchsorted(table, values.T.contiguous()).T
            chosen = (old + 1 + (u * (counts - 1)).long()) % counts
        else:
            chosen = (u * counts).long()
        return table.gather(1, chosen.T).T.contiguous()

    @cached_property
    def _choices(self) -> tuple[Int[Tensor, "k v"], Int[Tensor, " k"]]:
        """The observed values of each factor as a row, padded with larger numbers, and their counts."""
        counts = [len(values) for values in self.observed_values]
        table = self._strides.new_full((len(counts), max(counts)), max(self.sizes))
        for row, values in enumerate(self.observed_values):
            table[row, : len(values)] = values
        return table, torch.tensor(counts, device=table.device)

    def only(self, **allowed: Iterable[int]) -> "FactorSpace":
        """The space in which each named factor takes only the given values."""
        return self._keep(self._takes(allowed).all(1))

    def without(self, **held_out: Iterable[int]) -> "FactorSpace":
        """The space in which no named factor takes any of the given values."""
        return self._keep(~self._takes(held_out).any(1))

    def restricted_to(self, index: Int[Tensor, " n"]) -> "FactorSpace":
        """The space in which only the given combination numbers occur."""
        if self.support is not None or self.weights is not None:
            kept = torch.isin(self._numbers(), index)
            return self if bool(kept.all()) else self._keep(kept)
        numbers = index.unique()  # not all combinations: there may be more than fit in memory
        return self if len(numbers) == self.num_combinations else self._with(numbers, None)

    def correlated(self, first: str, second: str, *, sigma: float = 0.2) -> "FactorSpace":
        """Two factors correlated by the weight exp(-(v1 - v2)² / 2σ²), with both scaled to [0, 1].

        Träuble et al., 2021, arXiv:2006.07886. A smaller σ is a stronger correlation.
        """
        if not 0 < sigma < math.inf:
            raise ValueError(f"The width σ of a correlation must be finite and above 0; got {sigma}.")
        columns = self.column(first), self.column(second)
        scaled = self.values(self._numbers()).double() / (self._sizes - 1).clamp(min=1)
        gap = scaled[:, columns[0]] - scaled[:, columns[1]]
        weights = torch.exp(-gap.square() / (2 * sigma**2))
        if not bool((weights > 0).any()):
            raise ValueError(
                f"No combination that occurs has {first} and {second} close enough for the width σ = {sigma}: give a "
                "larger σ."
            )
        return self._reweigh(weights)

    def weighted(self, table: Float[Tensor, "..."], *factors: str) -> "FactorSpace":
        """The space with a joint distribution of the named factors (default: all), given as a table of weights."""
        columns = [self.column(name) for name in factors or self.names]
        shape = tuple(self.sizes[column] for column in columns)
        if tuple(table.shape) != shape:
            raise ValueError(f"The table needs the factors' sizes {shape}; got {tuple(table.shape)}.")
        if not bool(torch.isfinite(table).all()) or bool((table < 0).any()) or not bool((table > 0).any()):
            raise ValueError("A table of weights needs finite entries of at least 0, one of them above 0.")
        values = self.values(self._numbers())
        return self._reweigh(table.to(values.device)[tuple(values[:, column] for column in columns)].double())

    def split(self, fraction: float, generator: Generator) -> tuple["FactorSpace", "FactorSpace"]:
        """Two spaces without a common combination; the second holds the given fraction."""
        if not 0 < fraction < 1:
            raise ValueError(f"A split needs a fraction between 0 and 1; got {fraction}.")
        if not 0 < round(fraction * len(self)) < len(self):
            raise ValueError(f"A fraction of {fraction} of {len(self)} combinations leaves one split empty.")
        order = torch.randperm(len(self), generator=generator, device=generator.device)
        chosen = torch.zeros(len(self), dtype=torch.bool, device=self._strides.device)
        chosen[order[: round(fraction * len(self))].to(chosen.device)] = True
        return self._keep(~chosen), self._keep(chosen)

    def _numbers(self) -> Int[Tensor, " n"]:
        if self.support is not None:
            return self.support
        return torch.arange(self.num_combinations, device=self._strides.device)

    def _takes(self, wanted: Mapping[str, Iterable[int]]) -> Bool[Tensor, "n w"]:
        values, columns = self.values(self._numbers()), []
        for name, choices in wanted.items():
            column, choices = self.column(name), list(choices)
            if not all(0 <= choice < self.sizes[column] for choice in choices):
                raise ValueError(
                    f"Factor {name!r} takes values 0 to {self.sizes[column] - 1}; got {choices}."
                )
            chosen = torch.tensor(choices, dtype=torch.long, device=values.device)
            columns.append(torch.isin(values[:, column], chosen))
        return torch.stack(columns, 1)

    def _keep(self, kept: Bool[Tensor, " n"]) -> "FactorSpace":
        if not bool(kept.any()):
            raise ValueError("No combination of factors remains: allow more values.")
        weights = None if self.weights is None else self.weights[kept]
        return self._with(self._numbers()[kept], weights)

    def _reweigh(self, factor: Float[Tensor, " n"]) -> "FactorSpace":
        weights = factor if self.weights is None else self.weights * factor
        if bool((weights > 0).all()):
            return self._with(self.support, weights)
        return self._with(self._numbers()[weights > 0], weights[weights > 0])

    def _with(self, support: Tensor | None, weights: Tensor | None) -> "FactorSpace":
        sizes: Sequence[tuple[str, int]] = list(zip(self.names, self.sizes, strict=True))
        return FactorSpace(dict(sizes), support=support, weights=weights)


def check_source(source: object, name: str, space: FactorSpace | None, combinations: Tensor | None) -> None:
    """Raises unless observations, factor space and combinations go together."""
    if space is None and not isinstance(source, Tensor):
        raise ValueError("A renderer needs a factor space: pass factor_space=FactorSpace({...}).")
    if space is None and combinations is not None:
        raise ValueError(f"{name} has combinations of factors but no factor space: pass factor_space=.")
    if isinstance(source, Tensor) and space is not None:
        rows = space.num_combinations if combinations is None else len(combinations)
        if len(source) != rows:
            raise ValueError(f"{name} has {len(source)} observations but factors for {rows}.")


def fingerprint(source: object, max_value: int | float, tables: Iterable[Tensor | None]) -> str:
    """The first 16 hexadecimal digits of a SHA-256 over the observations, or over a renderer's `repr`, and tables."""
    if isinstance(source, Tensor):
        rows = torch.arange(len(source))
        if source.nbytes > FULL_FINGERPRINT_BYTES:
            rows = torch.linspace(0, len(source) - 1, SAMPLED_ROWS).long()
        content = hashlib.sha256(f"{max_value}".encode())
        content.update(source[rows.to(source.device)].cpu().numpy().tobytes())
    else:
        content = hashlib.sha256(repr(source).encode())
    for table in tables:
        content.update(b"" if table is None else table.cpu().numpy().tobytes())
    return content.hexdigest()[:16]
