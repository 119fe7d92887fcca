"""What the methods of invertible flows share: a code as large as the observation, of which few dimensions say much."""

from collections.abc import Iterable, Mapping, Set
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from unbraid.distributed import noise_like
from unbraid.methods.base import B, Facts, Method, Player
from unbraid.nn.flows import exactly, flow_for
from unbraid.optimisers import Adam
from unbraid.schedules import Schedule
from unbraid.settings import require_nonnegative
from unbraid.strands import Strands
from unbraid.types import Batch, Codes, Observations


class FlowMethod(Method[B]):
    """A method whose code is what a volume-preserving flow makes of an observation; its loss is left to the method.

    Which dimensions are informative is found after training, by their spread over the data (`discover`), and kept
    with the weights: the strands `informative` and `noise`, widest first. Until then there is one strand, `codes`.
    """

    sizes_strands: ClassVar[bool] = True  # the code is as large as the observation
    centre: Tensor
    spread: Tensor
    informative: Tensor

    @classmethod
    def parts(cls, facts: Facts, wanted: Set[str], settings: Mapping[str, Any]) -> dict[str, Any]:
        parts: dict[str, Any] = {"n": facts.n, "classes": facts.classes, "nuisances": facts.nuisances}
        if "flow" in wanted:
            parts["flow"] = flow_for(facts.shape, facts.architecture)
        return parts

    def __init__(self, flow: nn.Module, noise: float, cooling: Schedule | None, floor: float) -> None:
        super().__init__()
        require_nonnegative(noise=noise, floor=floor)
        codes = getattr(flow, "codes", None)
        if not isinstance(codes, int) or not hasattr(flow, "inverse"):
            raise ValueError(
                "A flow needs an attribute `codes`, the number of dimensions of its code, and a method `inverse`; "
                f"{type(flow).__name__} lacks one of them."
            )
        self.flow, self.noise, self.cooling, self.floor = flow, noise, cooling, floor
        self.register_buffer("centre", torch.zeros(codes))
        self.register_buffer("spread", torch.ones(codes))
        self.register_buffer("informative", torch.zeros((), dtype=torch.long))  # how many; 0 until found

    @property
    def strands(self) -> Strands:
        codes, informative = len(self.spread), int(self.informative)
        if not informative:
            return Strands.cut(codes=codes)
        order = self.spread.argsort(descending=True, stable=True).tolist()
        parts = {"informative": order[:informative], "noise": order[informative:], "codes": range(codes)}
        return Strands(parts, size=codes)

    def noisy(self, x: Observations) -> Observations:
        """The observations with fresh noise, without which a flow finds directions in which nothing varies."""
        spread = self.noise if self.cooling is None else self.cooling(self.step).to(x.dtype)
        return x + spread * noise_like(x)

    def encode(self, x: Observations, given: Tensor | None = None) -> Codes:
        with exactly():
            return self.flow(x)

    def decode(self, codes: Codes, given: Tensor | None = None) -> Observations:
        with exactly():
            x = self.flow.inverse(codes)  # type: ignore[operator]
        return x.clamp(0, 1) if x.ndim == 4 else x

    def prior(self, size: int) -> Codes:
        """Independent Gaussians with the mean and spread that each code has over the data."""
        return self.centre + self.spread * torch.randn(size, len(self.spread), device=self.spread.device)

    @torch.no_grad()
    def discover(self, codes: Codes) -> None:
        """Finds the informative dimensions, those above the knee of the spectrum, from codes of the data."""
        from unbraid.metrics.spectrum import spectrum

        self.centre.copy_(codes.mean(0))
        self.spread.copy_(codes.std(0))
        self.informative.fill_(int(spectrum(codes.cpu().numpy()).score))

    def finish(self, batches: Iterable[Batch]) -> None:
        self.discover(torch.cat([self.encode(batch.x) for batch in batches]))

    def players(self) -> tuple[Player, ...]:
        images = len(getattr(self.flow, "shape", ())) == 3
        rate = 3e-4 if images else 1e-2  # of the published code of GIN
        return (Player("model", self.parameters(), self.loss, Adam(rate)),)
