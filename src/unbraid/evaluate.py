"""Evaluation: encode once, score many."""

import copy
import inspect
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from unbraid.data.dataset import Dataset
from unbraid.methods.base import Method
from unbraid.metrics.kl_per_code import KLPerCode, kl_per_code
from unbraid.naming import choose
from unbraid.progress import progress
from unbraid.runs import Run
from unbraid.settings import rebuild

Metric = Callable[..., Any]


class Sample:
    """One sample of a dataset seen through a method; each array is made when it is first asked for."""

    def __init__(
        self, method: Method, dataset: Dataset, *, size: int, seed: int, strand: str | None = None
    ) -> None:
        self.method, self.dataset, self.size, self.seed = method, dataset, size, seed
        self.strand = strand or method.strands.default
        self._tables = dataset.to("cpu", observations=False)
        self._rows = self._tables.draw(size, Generator().manual_seed(seed))

    def of_strand(self, strand: str) -> "Sample":
        """The same sample, its codes cut down to a strand."""
        other = copy.copy(self)
        other.__dict__.pop("codes", None)
        other.strand = strand
        return other

    @cached_property
    def whole_codes(self) -> Float[np.ndarray, "n d"]:
        """Every dimension of the code of each observation."""
        return self.over_batches(lambda x: self.method.encode(x))

    @cached_property
    def codes(self) -> Float[np.ndarray, "n d"]:
        """The dimensions of the strand."""
        return self.whole_codes[:, list(self.method.strands[self.strand])]

    @cached_property
    def posterior(self) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "n d"]]:
        """Mean and log-variance of q(z|x)."""
        if not hasattr(self.method, "posterior"):
            raise ValueError(f"{self.method.name()} has no posterior, so it has no KL: choose other metrics.")
        both = self.over_batches(lambda x: torch.cat(self.method.posterior(x), 1))  # type: ignore
        mean, logvar = np.split(both, 2, axis=1)
        return mean, logvar

    @cached_property
    def factors(self) -> Int[np.ndarray, "n k"]:
        """The factor values of each observation; factors that take one value are left out."""
        factors = self._tables.factors(self._rows)
        if factors is None:
            raise ValueError(
                f"{self.dataset.name} has no known factors to compare codes with: choose metrics without "
                "labels, such as reconstruction, kl or active_codes."
            )
        return factors.numpy()[:, [size > 1 for size in self.dataset.space.sizes]]  # type: ignore[union-attr]

    @cached_property
    def labels(self) -> Int[np.ndarray, " n"]:
        """The class of each observation."""
        labels, _ = self._tables.roles(self._tables.factors(self._rows))
        if labels is None:
            raise ValueError(f"{self.dataset.name} has no class labels: choose metrics without them.")
        return labels.numpy()

    @cached_property
    def nuisances(self) -> Int[np.ndarray, "n m"]:
        """The known nuisances of each observation."""
        _, nuisances = self._tables.roles(self._tables.factors(self._rows))
        if nuisances is None:
            raise ValueError(f"{self.dataset.name} names no nuisance factors: choose metrics without them.")
        return nuisances.numpy()

    @cached_property
    def predictions(self) -> Int[np.ndarray, " n"]:
        """The class that the method predicts for each observation."""
        if not hasattr(self.method, "predict"):
            raise ValueError(f"{self.method.name()} does not predict classes: choose other metrics.")
        return self.over_batches(lambda x: self.method.predict(x).argmax(1))  # type: ignore

    def represent(self, factors: Int[np.ndarray, "n k"]) -> Float[np.ndarray, "n d"]:
        """The strand's codes of observations with the given factor values."""
        assert self._tables.space is not None
        index = self._tables.space.index(torch.as_tensor(factors).long())
        rows = self._tables.find(index, Generator().manual_seed(self.seed))
        return self.over_batches(self.method.encode, rows)[:, list(self.method.strands[self.strand])]

    @torch.no_grad()
    def over_batches(self, function: Callable[[Tensor], Tensor], rows: Tensor | None = None) -> np.ndarray:
        """A function of the observations, batch by batch; of other rows when they are given."""
        rows = self._rows if rows is None else rows
        device = self.method.step.device
        parts = [function(self.dataset.observe(part.to(device))).float().cpu() for part in rows.split(BATCH)]
        return torch.cat(parts).numpy()


def evaluate(
    method: Method,
    dataset: Dataset,
    metrics: Iterable[str | Metric] = ("reconstruction", "kl"),
    *,
    samples: int = 10_000,
    test_samples: int = 5_000,
    seed: int = 0,
    quiet: bool = True,
) -> list[dict[str, Any]]:
    """Scores a method on a dataset, encoding it once for all metrics.

    Each score is one entry with its metric, protocol, value, sample sizes, seed and seconds; a metric's further
    numbers are entries `metric.field`, its arrays the `evidence` of the first.

    Args:
        method: A trained method.
        dataset: What to draw the samples from.
        metrics: Names (`mig`; `strand:mig` for one strand), or functions of one's own whose arguments are named
            like the arrays: codes, factors, labels, test_codes, test_factors, rng, …
        samples: Observations to compute scores on, or to train their predictors on.
        test_samples: Observations to test such predictors on.
        seed: Of the samples, and of metrics that draw.
        quiet: Shows no progress.
    """
    was_training = method.training
    method.eval()
    sample = Sample(method, dataset.to(method.step.device), size=samples, seed=seed)
    test = Sample(method, sample.dataset, size=test_samples, seed=seed + 1)
    chosen = [(metric, *find_metric(metric)) for metric in metrics]
    scores: list[dict[str, Any]] = []
    with progress("scoring", len(chosen), quiet=quiet, unit="metrics") as bar:
        for place, (asked, name, function) in enumerate(chosen, start=1):
            strand, colon, _ = asked.rpartition(":") if isinstance(asked, str) else ("", "", "")
            here = (sample.of_strand(strand), test.of_strand(strand)) if strand else (sample, test)
            began = time.perf_counter()
            result = function(**_arguments(function, *here, seed))
            common = {
                "seed": seed,
                "n": getattr(result, "n", samples),
                "n_test": getattr(result, "n_test", 0),
                "seconds": round(time.perf_counter() - began, 3),
            }
            entries = _entries(
                strand + colon + name, result, common, settings=inspect.signature(function).parameters
            )
            scores += entries
            bar.show(place, {name: entries[0]["value"]})
    method.train(was_training)
    return scores


class Reconstruction(NamedTuple):
    score: float
    protocol: str


def reconstruction(sample: Sample) -> Reconstruction:
    """The loss of decoding what was encoded, a mean over observations: nats where there is a likelihood."""
    method, likelihood = sample.method, getattr(sample.method, "likelihood", None)

    def error(x: Tensor) -> Tensor:
        codes = method.encode(x)
        if likelihood is None:
            return (method.decode(codes) - x).square().sum().view(1)
        return (likelihood.nll(method.decoder(codes), x) * len(x)).view(1)  # type: ignore[operator]

    protocol = "squared_error" if likelihood is None else str(likelihood)
    return Reconstruction(float(sample.over_batches(error).sum()) / sample.size, protocol)


def kl(sample: Sample) -> KLPerCode:
    """The KL divergence of the posterior from the prior, a mean over observations: in all and code by code."""
    return kl_per_code(*sample.posterior)


def find_metric(metric: str | Metric) -> tuple[str, Metric]:
    """The name and the function of a metric."""
    if callable(metric):
        return getattr(metric, "__name__", type(metric).__name__), metric
    name = metric.rpartition(":")[2]
    return name, choose("metric", name, available_metrics())


def available_metrics() -> dict[str, Metric]:
    """Every metric that one trained method can be scored by, by name."""
    from unbraid import metrics

    functions = {name: getattr(metrics, name) for name in metrics.__all__}
    return {"reconstruction": reconstruction, "kl": kl} | {
        name: function
        for name, function in functions.items()
        if inspect.isfunction(function) and _scores(function) and _required(function) <= SUPPLIED
    }


BATCH = 512  # observations encoded at once
SUPPLIED = {
    *("sample", "codes", "factors", "labels", "nuisances", "predictions", "represent", "space", "rng"),
    *("test_codes", "test_factors", "test_labels"),
}


def _scores(function: Metric) -> bool:
    """Whether a function returns a result with a score."""
    result = inspect.signature(function, eval_str=True).return_annotation
    return "score" in getattr(result, "_fields", ())


def _required(function: Metric) -> set[str]:
    parameters = inspect.signature(function).parameters.values()
    return {parameter.name for parameter in parameters if parameter.default is parameter.empty}


def _arguments(function: Metric, sample: Sample, test: Sample, seed: int) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for name in inspect.signature(function).parameters:
        if name == "sample":
            arguments[name] = sample
        elif name == "rng":
            arguments[name] = np.random.default_rng(seed)
        elif name == "space":
            _ = sample.factors  # says so where there are none
            arguments[name] = sample.dataset.space.sizes  # type: ignore[union-attr]
        elif name.startswith("test_") and name in SUPPLIED:
            arguments[name] = getattr(test, name.removeprefix("test_"))
        elif name in SUPPLIED:
            arguments[name] = getattr(sample, name)
    return arguments


def _entries(
    name: str, result: Any, common: Mapping[str, Any], *, settings: Iterable[str]
) -> list[dict[str, Any]]:
    """One entry for the score and one for each further number of a result that is not one of its settings."""
    if isinstance(result, int | float):
        return [{"metric": name, "protocol": "", "value": float(result), **common}]
    fields = result._asdict()
    protocol = str(fields.pop("protocol", ""))
    arrays = {
        key: np.asarray(value).tolist() for key, value in fields.items() if isinstance(value, np.ndarray)
    }
    first = {"metric": name, "protocol": protocol, "value": float(fields.pop("score")), **common}
    further = [
        {"metric": f"{name}.{key}", "protocol": protocol, "value": value, **common}
        for key, value in fields.items()
        if isinstance(value, float) and key not in settings
    ]
    return [first | ({"evidence": arrays} if arrays else {}), *further]


def dataset_of(run: Run, root: Path | str | None = None) -> Dataset:
    """The dataset that a run was trained on, opened again."""
    from unbraid.data.catalogue import open_dataset

    origin = run.settings["data"]["origin"]
    if origin is None:
        raise ValueError(
            f"{run.folder} was trained on {run.data_name}, made in Python: pass that dataset to `evaluate` there."
        )
    return open_dataset(
        origin["name"], root=root, **{key: rebuild(value) for key, value in origin["options"].items()}
    )
