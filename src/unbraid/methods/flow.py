"""Base of the methods with an invertible flow: the code is as large as the observation, and few dimensions of the
code are informative."""

from collections.abc import Iterable, Mapping, Set
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor, nn

from unbraid.distributed import noise_like
from unbraid.methods.base import B, BuildSpec, Method, Player
from unbraid.nn import HasShape, Invertible, disable_tf32, flow_for
from unbraid.optimizers import Adam
from unbraid.schedules import Schedule
from unbraid.settings import require_nonnegative
from unbraid.strands import Strands
from unbraid.types import Batch, Codes, Observations


class FlowMethod(Method[B]):
    """A method whose code is the output of a volume-preserving flow; subclasses define the loss.

    After training, `discover` finds the informative dimensions by their standard deviation over the data and stores
    them with the weights as the strands `informative` and `noise`, largest first. Before, the only strand is `codes`.
    """

    family = "Flows"
    code_size_options: ClassVar[tuple[str, ...]] = ()  # the code is as large as the observation
    on_train_end_uses_draw: ClassVar[bool] = False
    on_train_end_samples: ClassVar[int] = 10_000
    center: Tensor
    std: Tensor
    num_informative: Tensor

    @classmethod
    def default_arguments(
        cls, spec: BuildSpec, missing: Set[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        arguments: dict[str, Any] = {"n": spec.n, "classes": spec.classes, "nuisances": spec.nuisances}
        if "flow" in missing:
            arguments["flow"] = flow_for(spec.shape, spec.architecture)
        return arguments

    def __init__(
        self, flow: nn.Module, noise: float, noise_schedule: Schedule | None, min_sigma: float
    ) -> None:
        super().__init__()
        require_nonnegative(noise=noise, min_sigma=min_sigma)
        if not isinstance(flow, Invertible) or not isinstance(flow.latent_dim, int):
            raise ValueError(
                "A flow requires an attribute `latent_dim`, the number of dimensions of its code, and a method "
                f"`inverse`; {type(flow).__name__} lacks one of them."
            )
        self.flow, self.noise, self.noise_schedule, self.min_sigma = flow, noise, noise_schedule, min_sigma
        self.register_buffer("center", torch.zeros(flow.latent_dim))
        self.register_buffer("std", torch.ones(flow.latent_dim))
        self.register_buffer(
            "num_informative", torch.zeros((), dtype=torch.long)
        )  # how many; 0 before `discover`

    @property
    def strands(self) -> Strands:
        latent_dim, informative = len(self.std), int(self.num_informative)
        if not informative:
            return Strands.from_sizes(codes=latent_dim)
        order = self.std.argsort(descending=True, stable=True).tolist()
        strands = {
            "informative": order[:informative],
            "noise": order[informative:],
            "codes": range(latent_dim),
        }
        return Strands(strands, size=latent_dim)

    def noisy(self, x: Observations) -> Observations:
        """The observations with fresh noise; without it a flow collapses directions in which the data do not vary."""
        std = self.noise if self.noise_schedule is None else self.noise_schedule(self.step).to(x.dtype)
        return x + std * noise_like(x)

    def encode(self, x: Observations, condition: Tensor | None = None) -> Codes:
        with disable_tf32():
            return self.flow(x)

    def decode(self, codes: Codes, condition: Tensor | None = None) -> Observations:
        with disable_tf32():
            x = self.flow.inverse(codes)  # type: ignore[operator]
        return x.clamp(0, 1) if x.ndim == 4 else x

    def sample_prior(self, size: int) -> Codes:
        """Codes from independent Gaussians with the mean and standard deviation of each dimension over the data."""
        return self.center + self.std * torch.randn(size, len(self.std), device=self.std.device)

    @torch.no_grad()
    def discover(self, codes: Codes) -> None:
        """Finds the informative dimensions, above the knee of the spectrum of standard deviations of the codes."""
        from unbraid.metrics import spectrum

        self.center.copy_(codes.mean(0))
        self.std.copy_(codes.std(0))
        self.num_informative.fill_(int(spectrum(codes.cpu().numpy()).score))

    def on_train_end(self, batches: Iterable[Batch]) -> None:
        self.discover(torch.cat([self.encode(batch.x) for batch in batches]))

    @torch.no_grad()
    def measure(self, x: Observations) -> dict[str, float]:
        """The number of informative dimensions by two rules: the knee of the spectrum, and a multiple of the noise."""
        from unbraid.metrics import NOISE, above_noise, spectrum

        generator = Generator(x.device).manual_seed(0)
        noise = NOISE * torch.randn(x.shape, generator=generator, device=x.device, dtype=x.dtype)
        codes, noisy = (self.encode(rows).double().cpu().numpy() for rows in (x, x + noise))
        return {"knee": spectrum(codes).score, "above_noise": above_noise(codes, noisy).score}

    def figures(self) -> tuple[str, ...]:
        """The figures of its report: traversals of class means for the informative ones of its many dimensions."""
        return ("reconstructions", "variables", "spectrum", "recovery", "joint", "importance")

    def players(self) -> tuple[Player, ...]:
        images = isinstance(self.flow, HasShape) and len(self.flow.shape) == 3
        lr = 3e-4 if images else 1e-2  # of the published code of GIN
        return (Player("model", self.parameters(), self.loss, Adam(lr)),)
