"""Methods and batches small enough to compute by hand, in float64."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from unittest.mock import patch

import torch
from torch import Tensor, nn

from unbraid.data import Dataset
from unbraid.methods import method_classes
from unbraid.methods.base import Method, build_method
from unbraid.methods.flow import FlowMethod
from unbraid.methods.predictor import Predictor
from unbraid.nn import Critic, MLPDecoder, MLPEncoder, MLPFeatures, RowFlow
from unbraid.objectives import MLPTranslator
from unbraid.types import Batch, ContrastBatch, Gaussian, Observations, PairBatch, SetBatch, Terms, ViewBatch

M = TypeVar("M", bound=Method)

SHAPE, CODES, N = (1, 3, 3), 4, 100
LARGER = (1, 28, 28)
CLASSES, NUISANCES = 3, (2, 3)
SMALL: dict[str, dict[str, Any]] = {  # options of methods that have a code size of their own
    "cai": {"feature_dim": 4},
    "cnn": {"feature_dim": 4},
    "infogan": {"code_dim": 3, "noise_dim": 1},
    "infogan-cr": {"code_dim": 3, "noise_dim": 1, "contrast_start_step": 0},
    "independent-subembeddings": {"embedding_dim": 4, "temperature": 0.5, "lambda_dependence": 0.1},
    "intervention": {"num_features": 4, "translator": MLPTranslator(width=2, steps=2)},
    "sequential-intervention": {"num_features": 4, "translator": MLPTranslator(width=2, steps=2)},
    "recon-contrast": {"predictive_dim": 2, "nuisance_dim": 2},
    "uai": {"e1_dim": 2, "e2_dim": 2},
    "vfae": {"z1_dim": 3, "z2_dim": 1},
    "simclr": {"embedding_dim": 4},
    "subinfomax": {"embedding_dim": 4, "lambda_orthogonality": 0.1, "lambda_hessian": 0.01},
    "supcon": {"embedding_dim": 4},
    **{
        name: {"common_dim": 2, "salient_dim": 2}
        for name in ("contrast-vae", "cvae", "mm-cvae", "principled-contrast", "rb-vae", "srb-vae")
    },
}
BUILT = {  # networks that `default_arguments` must build
    "contrastive-pca": ("encoder",),
    "infogan-cr": ("critic",),
    "intervention": ("encoder", "decoder"),
    "sequential-intervention": ("encoder", "decoder"),
    "srb-vae": ("critic",),
    "svae": ("critic",),
}
METHODS: list[type[Method]] = list(method_classes().values())


def images(size: int = 8, *, seed: int = 1) -> Observations:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(size, *SHAPE, generator=generator, dtype=torch.float64)


@dataclass(frozen=True)
class Same:
    """A draw that always returns one batch."""

    batch: Any

    def check(self, dataset: Dataset) -> None:
        pass

    def __call__(self, dataset: Dataset, size: int, generator: torch.Generator, step: Tensor) -> Any:
        return self.batch


def batch_for(cls: type[Method], size: int = 8, *, seed: int = 1) -> Any:
    """A batch of the method's batch type."""
    x = images(size, seed=seed)
    if cls.batch_type is Batch:
        return Batch(x, *roles(size, seed=seed))
    if cls.batch_type is PairBatch:
        k = torch.ones(size, dtype=torch.long)
        return PairBatch(x, images(size, seed=seed + 1000), k, *roles(size, seed=seed))
    if cls.batch_type is ViewBatch:
        labels, nuisances = roles(size, seed=seed)
        first, second = (torch.stack([labels, nuisances[:, 0], index], 1) for index in nuisances.T)
        return ViewBatch(x, images(size, seed=seed + 1000), labels, nuisances, first, second)
    if cls.batch_type is ContrastBatch:
        return ContrastBatch(x, images(size, seed=seed + 1000), *roles(size, seed=seed))
    if cls.batch_type is SetBatch:
        sets = torch.stack([x, *(images(size, seed=seed + 1000 * index) for index in (1, 2))], 1)
        return SetBatch(sets, *roles(size, seed=seed))
    raise ValueError(f"There is no tiny {cls.batch_type.__name__} yet: add it here.")


def roles(size: int = 8, *, seed: int = 1) -> tuple[Tensor, Tensor]:
    """A label and two nuisances for each observation; an unsupervised loss never reads them."""
    generator = torch.Generator().manual_seed(seed)
    values = [torch.randint(count, (size,), generator=generator) for count in (CLASSES, *NUISANCES)]
    return values[0], torch.stack(values[1:], 1)


def networks(architecture: str, shape: tuple[int, ...], latent_dim: int) -> tuple[MLPEncoder, MLPDecoder]:
    """An encoder and a decoder of a few weights, whatever the architecture."""
    return MLPEncoder(shape, latent_dim, hidden=(16,)), MLPDecoder(latent_dim, shape, hidden=(16,))


def make(cls: type[M], *, seed: int = 0, **settings: Any) -> M:
    """A method with networks of a few weights, determined by the seed."""
    torch.manual_seed(seed)
    settings = SMALL.get(cls.name(), {}) | settings
    if issubclass(cls, FlowMethod):
        settings = {"flow": RowFlow(SHAPE, blocks=2, width=8, identity=False)} | settings
    elif not issubclass(cls, Predictor) and cls.conditions_on != "labels":
        # the `default_arguments` of the others choose sizes that fit
        parts = {
            "encoder": MLPEncoder(SHAPE, CODES, hidden=(16,)),
            "decoder": MLPDecoder(CODES, SHAPE, hidden=(16,)),
            "critic": Critic(CODES, width=16, layers=2),
        }
        if cls.batch_type is ViewBatch:
            parts["encoder"] = MLPFeatures(SHAPE, hidden=(32, 16))
        missing = inspect.signature(cls).parameters.keys() - BUILT.get(cls.name(), ())
        settings = {name: part for name, part in parts.items() if name in missing} | settings
    with patch("unbraid.methods.base.build_networks", networks):
        sizes: dict[str, Any] = {"n": N, "classes": CLASSES, "nuisances": NUISANCES, "latent_dim": CODES}
        method = build_method(cls, SHAPE, **sizes, **settings)
    with torch.no_grad():  # posteriors that are not all nearly alike
        for parameter in method.parameters():
            parameter.mul_(3)
    return method.double()


def normalized(cls: type[M], **settings: Any) -> M:
    """A method whose networks have batch normalization, for images of 28 by 28."""
    torch.manual_seed(0)
    sizes: dict[str, Any] = {"n": N, "classes": CLASSES, "nuisances": NUISANCES}
    settings = (
        ({"latent_dim": CODES} if "latent_dim" in cls.code_size_options else {})
        | SMALL.get(cls.name(), {})
        | settings
    )
    return build_method(cls, LARGER, architecture="conv-contrast", **sizes, **settings)


def larger_images(size: int = 4, *, seed: int = 1) -> Observations:
    """Images for `normalized` methods."""
    return torch.rand(size, *LARGER, generator=torch.Generator().manual_seed(seed))


def batches_remembered(network: nn.Module) -> set[int]:
    """How many batches the running statistics of its batch normalization have seen."""
    buffers = network.named_buffers()
    return {int(buffer) for name, buffer in buffers if name.endswith("num_batches_tracked")}


class Itself(nn.Module):
    """A posterior of each row whose means are the row and whose variances are 1, for numbers by hand."""

    def __init__(self, latent_dim: int) -> None:
        super().__init__()
        self.latent_dim = latent_dim

    def forward(self, x: Tensor) -> Gaussian:
        return Gaussian(x, torch.zeros_like(x))


class Formula(nn.Module):
    """A network that is a function without weights."""

    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, z: Tensor) -> Tensor:
        return self.function(z)


@contextmanager
def without_noise() -> Iterator[None]:
    """Posteriors whose samples are their means."""
    with patch("unbraid.types.noise_like", torch.zeros_like):
        yield


def loss(method: Method, *batches: Any, seed: int = 2) -> Terms:
    """The loss with the same noise at every call."""
    torch.manual_seed(seed)
    return method.loss(*batches)
