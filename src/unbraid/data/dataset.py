"""Datasets: observations, and what is known of them."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Int, UInt8
from torch import Generator, Tensor

from unbraid.data.columns import Columns
from unbraid.data.factors import FactorSpace
from unbraid.data.instances import Kin, parts
from unbraid.data.latents import Latents
from unbraid.types import Observations


@runtime_checkable
class Renderer(Protocol):
    """Makes the images of factor combinations when they are asked for, on the device of the values.

    One that holds tensors has `to(device)` and `nbytes`, so that they move with the dataset.
    """

    @property
    def shape(self) -> tuple[int, int, int]: ...

    def __call__(self, values: Int[Tensor, "n k"]) -> UInt8[Tensor, "n c h w"]: ...


WHOLE = 1 << 28  # bytes up to which a fingerprint reads every observation; above, a thousand of them


class Dataset:
    """Observations by row number: images, table rows, or images rendered on demand.

    With a `space`, row i shows the combination `combinations[i]`, or the combination i itself when that is
    None. Combinations that no row shows do not occur. Labels and nuisances are factors: `label`, `nuisances`
    and `unknown` say which.

    Args:
        source: Images (n, c, h, w), rows (n, f), or a renderer of factor values.
        name: How the dataset is called in runs and reports.
        white: The stored value that stands for 1.
        space: The factors, where they are known.
        combinations: The number of each row's combination in the space.
        label: The factor that is the class.
        nuisances: The factors that are known nuisances; accuracy is given for groups by class and the first.
        unknown: The factors that are nuisances and kept from methods; accuracy is given for each of their values.
        instance: The factor that numbers the things drawn, where several rows show the same one: pairs are two
            rows of one thing, a split never parts them, and scores of factors leave it out.
        value_names: What the values of a factor are called, of those that have names.
        origin: The name or path and the options with which `open_dataset` opens it again.
        background: Other observations of the same shape, which lack what is looked for in these.
        latents: What each row was made of, where it was made here.
        columns: What the columns of a table are called, and how they were brought to one scale.
    """

    def __init__(
        self,
        source: Tensor | Renderer,
        *,
        name: str,
        white: int | float = 255,
        space: FactorSpace | None = None,
        combinations: Int[Tensor, " n"] | None = None,
        label: str | None = None,
        nuisances: Sequence[str] = (),
        unknown: Sequence[str] = (),
        instance: str | None = None,
        value_names: Mapping[str, Sequence[str]] | None = None,
        origin: Mapping[str, Any] | None = None,
        background: "Dataset | None" = None,
        latents: Latents | None = None,
        columns: Columns | None = None,
    ) -> None:
        if not isinstance(source, Tensor) and space is None:
            raise ValueError("A renderer needs a factor space: pass space=FactorSpace({...}).")
        if isinstance(source, Tensor) and space is not None:
            rows = space.combinations if combinations is None else len(combinations)
            if len(source) != rows:
                raise ValueError(f"{name} has {len(source)} observations but factors for {rows}.")
        if combinations is not None:
            if space is None:
                raise ValueError(f"{name} has combinations of factors but no factor space: pass space=.")
            space = space.among(combinations)
        self.source, self.name, self.white = source, name, white
        self.space, self.combinations = space, combinations
        self.label, self.nuisances, self.unknown = label, tuple(nuisances), tuple(unknown)
        self.instance, self.value_names, self.origin = instance, dict(value_names or {}), origin
        self.latents, self.columns = latents, columns
        self.shape: tuple[int, ...] = tuple(source.shape[1:] if isinstance(source, Tensor) else source.shape)
        if background is not None and background.shape != self.shape:
            cure = "give both the same columns"
            if self.images and background.images:
                cure = "resize one, or make both grey or both coloured"
            elif self.images or background.images:
                cure = "give images for both, or rows for both"
            raise ValueError(
                f"Target and background need observations of one shape; {name} has {self.shape} and "
                f"{background.name} {background.shape}: {cure}."
            )
        self.background = background
        self._columns = {} if space is None else {name: space.column(name) for name in space.names}
        for role in (label, instance, *self.nuisances, *self.unknown):
            if role is not None and role not in self._columns:
                raise ValueError(f"{name} has no factor {role!r} to be a label, a nuisance or an instance.")
        self._order: Tensor | None = None
        self._row_cumulative: Tensor | None = None
        if space is not None and combinations is not None:
            self._order = combinations.argsort(stable=True)
            self._sorted = combinations[self._order]
            weight = space.weight(combinations)
            if bool((weight != weight[0]).any()):
                self._row_cumulative = weight.cumsum(0)

    def __len__(self) -> int:
        """How many observations can be drawn."""
        return self._length

    @cached_property
    def _length(self) -> int:  # kept: counting on a device makes the host wait
        if self.space is not None and self.combinations is None:
            return len(self.space)
        if self.space is not None and self.combinations is not None:
            return int((self.space.weight(self.combinations) > 0).sum())
        return self._stored

    def __repr__(self) -> str:
        return f"Dataset({self.name}: {len(self)} of shape {self.shape}, {self.space or 'no known factors'})"

    def _repr_html_(self) -> str:
        from unbraid.display import dataset_html

        return dataset_html(self)

    @property
    def images(self) -> bool:
        """Whether the observations are images, not rows."""
        return len(self.shape) == 3

    @property
    def bytes(self) -> int:
        """The memory the stored observations take, the background's too; of rendered ones, what the renderer holds."""
        return getattr(self.source, "nbytes", 0) + (0 if self.background is None else self.background.bytes)

    @property
    def sizes(self) -> dict[str, Any]:
        """How many observations, classes and values of each nuisance there are, as methods are assembled for."""
        sizes = {} if self.space is None else dict(zip(self.space.names, self.space.sizes, strict=True))
        return {
            "n": len(self),
            "classes": sizes[self.label] if self.label else 0,
            "nuisances": tuple(sizes[name] for name in self.nuisances),
        }

    def observe(self, rows: Int[Tensor, " b"]) -> Observations:
        """The observations at the given rows: images in [0, 1], or table rows as they are."""
        if isinstance(self.source, Tensor):
            stored = self.source.index_select(0, rows.to(self.source.device)).to(rows.device)
        else:
            values = self.factors(rows)
            assert values is not None
            stored = self.source(values)
        return stored.float() / self.white if self.white != 1 else stored.float()

    def factors(self, rows: Int[Tensor, " b"]) -> Int[Tensor, "b k"] | None:
        """The factor values at the given rows, where they are known."""
        if self.space is None:
            return None
        return self.space.values(rows if self.combinations is None else self.combinations[rows])

    def roles(self, factors: Int[Tensor, "b k"] | None) -> tuple[Tensor | None, Tensor | None]:
        """Labels and nuisances among the factor values; None for what is not known."""
        if factors is None:
            return None, None
        labels = None if self.label is None else factors[:, self._columns[self.label]]
        columns = [self._columns[name] for name in self.nuisances]
        return labels, torch.stack([factors[:, column] for column in columns], 1) if columns else None

    def rows(self) -> Int[Tensor, " n"]:
        """The numbers of all rows that can be drawn, in order."""
        if self.space is None or (self.combinations is None and self.space.support is None):
            return torch.arange(len(self))
        if self.combinations is None:
            assert self.space.support is not None
            return self.space.support
        return self.space.weight(self.combinations).nonzero()[:, 0]

    def draw(self, size: int, generator: Generator) -> Int[Tensor, " b"]:
        """Row numbers drawn independently from the dataset's distribution."""
        if self.space is not None and self.combinations is None:
            return self.space.draw(size, generator)
        if self._row_cumulative is None:
            return torch.randint(self._stored, (size,), generator=generator, device=generator.device)
        u = torch.rand(size, generator=generator, device=generator.device, dtype=torch.float64)
        place = torch.searchsorted(self._row_cumulative, u * self._row_cumulative[-1], right=True)
        return place.clamp(max=len(self._row_cumulative) - 1)

    def find(self, combinations: Int[Tensor, " b"], generator: Generator) -> Int[Tensor, " b"]:
        """A row for each combination, drawn among those that show it."""
        if self._order is None:
            return combinations
        first = torch.searchsorted(self._sorted, combinations)
        count = torch.searchsorted(self._sorted, combinations, right=True) - first
        u = torch.rand(len(combinations), generator=generator, device=generator.device)
        return self._order[(first + (u * count).long()).clamp(max=len(self._order) - 1)]

    @cached_property
    def kin(self) -> Kin:
        """Which rows show the same instance."""
        if self.instance is None or self.combinations is None or self.space is None:
            raise ValueError(f"{self.name} has no rows that show the same instance.")
        instances = self.space.values(self.combinations)[:, self._columns[self.instance]]
        return Kin.of(instances, self.rows())

    def description(self) -> dict[str, Any]:
        """What a run records of the dataset: where it came from, its form, and a fingerprint of its content."""
        if isinstance(self.source, Tensor):
            content = hashlib.sha256(f"{self.white}".encode())
            whole = self.source.nbytes <= WHOLE
            rows = (
                torch.arange(len(self.source))
                if whole
                else torch.linspace(0, len(self.source) - 1, 1024).long()
            )
            content.update(self.source[rows.to(self.source.device)].cpu().numpy().tobytes())
        else:
            content = hashlib.sha256(repr(self.source).encode())
        law = () if self.space is None else (self.space.support, self.space.weights)
        made_of = () if self.latents is None else (self.latents.directions, self.latents.spreads)
        for table in (*law, self.combinations, *made_of):
            content.update(b"" if table is None else table.cpu().numpy().tobytes())
        space = self.space
        return {
            "name": self.name,
            "origin": None if self.origin is None else dict(self.origin),
            "observations": len(self),
            "shape": list(self.shape),
            "factors": {} if space is None else dict(zip(space.names, space.sizes, strict=True)),
            "fingerprint": content.hexdigest()[:16],
            **({} if self.instance is None else {"instance": self.instance}),
            **({} if self.background is None else {"background": self.background.description()}),
        }

    def to(self, device: torch.device | str, *, observations: bool = True) -> "Dataset":
        """The same dataset with its tables on a device, and its observations too unless told otherwise."""
        source = self.source
        if observations and (isinstance(source, Tensor) or hasattr(source, "to")):
            source = source.to(device)  # type: ignore[union-attr]
        return self._with(
            source=source,
            space=None if self.space is None else self.space.to(device),
            combinations=None if self.combinations is None else self.combinations.to(device),
            background=None
            if self.background is None
            else self.background.to(device, observations=observations),
            latents=None if self.latents is None else self.latents.to(device),
        )

    def against(self, background: "Dataset") -> "Dataset":
        """The same observations as a target, beside a background of the same shape."""
        return self._with(background=background._with(background=None))

    def under(self, law: Callable[[FactorSpace], FactorSpace]) -> "Dataset":
        """The same observations under another distribution of their factors.

        `dataset.under(lambda space: space.correlated("scale", "pos_x"))`
        """
        if self.space is None:
            raise ValueError(f"{self.name} has no known factors, so their distribution cannot be changed.")
        return self._with(space=law(self.space), origin=None)

    def called(self, name: str) -> "Dataset":
        """The same dataset under another name."""
        return self._with(name=name)

    def drawn_once(self, size: int, generator: Generator) -> "Dataset":
        """As many observations as asked for, drawn from the dataset's distribution once and then equally likely."""
        rows = self.draw(size, generator)
        if self.space is None:
            return self._rows(rows)
        numbers = rows if self.combinations is None else self.combinations[rows]
        sizes = dict(zip(self.space.names, self.space.sizes, strict=True))
        source = self.source[rows.to(self.source.device)] if isinstance(self.source, Tensor) else self.source
        return self._with(source=source, space=FactorSpace(sizes), combinations=numbers, origin=None)

    @property
    def things(self) -> int:
        """How many different things the observations show: its instances, or the observations themselves."""
        if self.space is None or self.instance is None:
            return len(self)
        return len(self.space.occurring[self.space.column(self.instance)])

    def split(self, fraction: float, generator: Generator) -> tuple["Dataset", "Dataset"]:
        """Two datasets without a common observation; the second has the given fraction of them.

        Where rows show instances, it is the instances that are parted. A background is split alike, and each part
        keeps its own.
        """
        if self.background is not None:
            own = self._with(background=None).split(fraction, generator)
            others = self.background.split(fraction, generator)
            return own[0].against(others[0]), own[1].against(others[1])
        if self.space is not None and self.instance is not None:
            return self._split_instances(self.space, self.instance, fraction, generator)
        if self.space is not None and self.combinations is None:
            kept, held_out = self.space.split(fraction, generator)
            return self._with(space=kept, origin=None), self._with(space=held_out, origin=None)
        device = generator.device if self.combinations is None else self.combinations.device
        kept, held_out = parts(torch.arange(self._stored, device=device), fraction, generator)
        return self._rows(kept), self._rows(held_out)

    def _split_instances(
        self, space: FactorSpace, instance: str, fraction: float, generator: Generator
    ) -> tuple["Dataset", "Dataset"]:
        column = space.column(instance)
        both = parts(space.occurring[column], fraction, generator)
        if self.combinations is None:
            laws = [space.only(**{instance: part.tolist()}) for part in both]
            return self._with(space=laws[0], origin=None), self._with(space=laws[1], origin=None)
        number = space.values(self.combinations)[:, column]
        rows = [torch.isin(number, part).nonzero()[:, 0] for part in both]
        return self._rows(rows[0]), self._rows(rows[1])

    def _rows(self, rows: Int[Tensor, " n"]) -> "Dataset":
        source = self.source[rows.to(self.source.device)] if isinstance(self.source, Tensor) else self.source
        combinations = None if self.combinations is None else self.combinations[rows]
        latents = None if self.latents is None else self.latents.of(rows)
        return self._with(source=source, combinations=combinations, latents=latents, origin=None)

    @property
    def _stored(self) -> int:
        """How many rows there are, drawn or not."""
        if self.combinations is not None:
            return len(self.combinations)
        assert isinstance(self.source, Tensor)
        return len(self.source)

    def _with(self, **changes: object) -> "Dataset":
        same = dict(
            source=self.source,
            name=self.name,
            white=self.white,
            space=self.space,
            combinations=self.combinations,
            label=self.label,
            nuisances=self.nuisances,
            unknown=self.unknown,
            instance=self.instance,
            value_names=self.value_names,
            origin=self.origin,
            background=self.background,
            latents=self.latents,
            columns=self.columns,
        )
        return Dataset(**(same | changes))  # type: ignore[arg-type]
