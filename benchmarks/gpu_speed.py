"""Steps per second on one CUDA device: eager, captured, compiled, in bf16, and as a population.

    python benchmarks/gpu_speed.py [--methods beta-vae,…] [--forms …] [--population 8] [--stacks …] [--json]

For every method one row in one run: eager steps a second, those of each faster form, the ratio of the best to eager,
model-steps a second of a population on streams and as a stack, images a second, and what share of the device's
bandwidth and of its matrix rate, both measured in the same run, the best form uses. Bytes and operations of a step are
counted by tracing it: the bytes are those of every input and output of every operation of an eager step, an upper bound
that fusing stays below. A minute or less for one method:

    python benchmarks/gpu_speed.py --methods beta-vae --forms "graph bf16" --population 16 --seconds 1
"""

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Generator, Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from unbraid.data.colored_digits import colored_mnist
from unbraid.data.dataset import Dataset
from unbraid.data.draws import DRAWS, Draw
from unbraid.data.grassy_mnist import grassy_mnist
from unbraid.data.mixture import mixture
from unbraid.data.mnist import digits
from unbraid.data.mnist_stl10 import mnist_stl10
from unbraid.data.sprites import sprites
from unbraid.methods import method_class, method_classes
from unbraid.methods.base import Method, build_method
from unbraid.nn import use_kernels
from unbraid.schedules import Linear
from unbraid.training.cuda_graph import WARMUP_STEPS, CUDAGraphStep
from unbraid.training.population import STEPS_PER_TURN
from unbraid.training.stacked_draw import StackedDraw
from unbraid.training.stacked_step import StackedDetector, StackedStep
from unbraid.training.step import NonFiniteDetector, TrainingStep

FORMS: dict[str, dict[str, Any]] = {
    "eager": {},
    "graph": {"use_graph": True},
    "graph bf16": {"use_graph": True, "precision": "bf16"},
    "compiled": {"use_graph": True, "compiled": True},
    "compiled bf16": {"use_graph": True, "compiled": True, "precision": "bf16"},
}
STACKS = ("graph bf16", "compiled bf16")  # forms of a population as a stack
PREDICTING = ("cnn", "cnn-beta-vae", "vfae", "cai", "cvib", "uai", "recon-contrast")
CONTRASTING = (
    "contrastive-pca",
    "principled-contrast",
    "contrast-vae",
    "cvae",
    "mm-cvae",
    "rb-vae",
    "srb-vae",
)
DATASETS: dict[str, Callable[[], Dataset]] = {  # by row or method, where sprites do not serve
    **dict.fromkeys(PREDICTING, colored_mnist),
    **dict.fromkeys(("simclr", "subinfomax", "independent-subembeddings", "supcon"), mnist_stl10),
    "supervised-subembeddings": mnist_stl10,
    **dict.fromkeys(CONTRASTING, grassy_mnist),
    **dict.fromkeys(("augmented-gin", "gin"), digits),
    "augmented-gin synthetic": mixture,
}
RESNET = {"architecture": "resnet-18"}
SEQUENTIAL: dict[str, Any] = {  # during the training of its first feature
    "architecture": "conv-factor-vae",
    "lambda_translation": 0.0,
    "beta": 1.0,
    "feature_schedule": Linear(1.0, 10.0, 10_000),
    "freeze_learned": True,
}
CASES: dict[str, tuple[str, dict[str, Any]]] = {  # further rows: a method with settings of its own
    "intervention paper": ("intervention", {"architecture": "conv-factor-vae"}),
    "intervention plain": ("intervention", {"architecture": "conv-factor-vae", "lambda_translation": 0.0}),
    "sequential-intervention": ("sequential-intervention", SEQUENTIAL),
    "infogan-cr regularized": ("infogan-cr", {"contrast_start_step": 0}),
    "subinfomax none": ("subinfomax", RESNET),
    "subinfomax infomin": ("subinfomax", RESNET | {"lambda_infomin": 0.1}),
    "subinfomax orthogonality": ("subinfomax", RESNET | {"lambda_orthogonality": 0.1}),
    "subinfomax permuted": ("subinfomax", RESNET | {"lambda_permuted_orthogonality": 0.1}),
    "subinfomax hessian": ("subinfomax", RESNET | {"lambda_hessian": 0.1, "pipeline": "unified"}),
    "subinfomax hessian on r": (
        "subinfomax",
        RESNET | {"lambda_hessian": 0.1, "pipeline": "unified", "regularize_features": ("hessian",)},
    ),
    "independent correlation": ("independent-subembeddings", RESNET | {"lambda_correlation": 5.0}),
    "independent dependence": ("independent-subembeddings", RESNET | {"lambda_dependence": 1.0}),
    "augmented-gin synthetic": ("augmented-gin", {}),
}


def stepper(
    name: str, dataset: Dataset, batch: int, *, seed: int = 0, use_graph: bool = False, **options: Any
) -> Callable[[], object]:
    """One step of a method, in one of the forms."""
    device = torch.device("cuda")
    game, draw, data = (
        TrainingStep(built(name, dataset, seed, device), **options),
        drawing(name),
        Generator(device).manual_seed(seed),
    )

    def step() -> object:
        return game.run(lambda: draw(dataset, batch, data, game.method.step), 0)

    return CUDAGraphStep(step, device, [data]) if use_graph else step


def stacked_stepper(
    name: str,
    dataset: Dataset,
    batch: int,
    models: int,
    *,
    device: str = "cuda",
    use_graph: bool = False,
    compiled: bool = False,
    **options: Any,
) -> Callable[[], object]:
    """Ten steps of several models of a method as a stack, as populations train them."""
    target = torch.device(device)
    noise, data = ([Generator(target).manual_seed(seed) for seed in range(models)] for _ in range(2))
    members = [TrainingStep(built(name, dataset, seed, target), **options) for seed in range(models)]
    game = StackedStep(members, noise, compiled=compiled)
    draws, steps = [drawing(name)] * models, game.buffers["step"]
    draw = StackedDraw(draws, [dataset] * models, batch, data, steps, same_data=True)
    found = StackedDetector([NonFiniteDetector() for _ in members])

    def take() -> object:
        for _ in range(STEPS_PER_TURN):
            terms = game.run(draw, 0)
            found.record(steps, terms)
        return terms

    return CUDAGraphStep(take, target, [*data, *noise]) if use_graph else take


def built(name: str, dataset: Dataset, seed: int, device: torch.device) -> Method:
    known, settings = CASES.get(name, (name, {}))
    return build_method(method_class(known), dataset.shape, seed=seed, **dataset.counts, **settings).to(
        device
    )


def drawing(name: str) -> Draw:
    return DRAWS[method_class(CASES.get(name, (name, {}))[0]).batch_type]()


def stored(dataset: Dataset) -> Dataset:
    """The dataset as bytes on the device; rendering within the step is another benchmark."""
    here = dataset.to("cuda")
    if isinstance(dataset.source, Tensor) or dataset.combinations is not None:
        return here
    rows = torch.arange(len(dataset), device="cuda")
    parts = [here.observe(part).mul(255).round().to(torch.uint8) for part in rows.split(4096)]
    return Dataset(
        torch.cat(parts),
        name=dataset.name,
        factor_space=here.factor_space,
        label=dataset.label,
        nuisances=dataset.nuisances,
    )


def steps_per_second(step: Callable[[], object], seconds: float) -> float:
    for _ in range(WARMUP_STEPS + 5):
        step()
    torch.cuda.synchronize()
    began, done = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        for _ in range(20):
            step()
        done += 20
        torch.cuda.synchronize()
    return done / (time.perf_counter() - began)


def at_once(steps: list[Callable[[], object]], seconds: float) -> float:
    """Model-steps per second of several captured models, each on its own stream."""
    for step in steps:
        for _ in range(WARMUP_STEPS + 2):
            step()
    torch.cuda.synchronize()
    streams = [torch.cuda.Stream() for _ in steps]

    def turn() -> None:
        for step, stream in zip(steps, streams, strict=True):
            with torch.cuda.stream(stream):
                for _ in range(STEPS_PER_TURN):
                    step()

    return STEPS_PER_TURN * len(steps) * steps_per_second(turn, seconds)


class _Bytes(TorchDispatchMode):
    """Counts the bytes of what every operation reads and writes."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        if not func.is_view:
            tensors = [leaf for leaf in tree_leaves((args, kwargs, out)) if isinstance(leaf, Tensor)]
            self.total += sum(tensor.nbytes for tensor in tensors)
        return out


def counted(step: Callable[[], object]) -> tuple[float, float]:
    """Operations and bytes of one eager step."""
    step()
    with FlopCounterMode(display=False) as operations:
        step()
    with _Bytes() as moved:
        step()
    return float(operations.get_total_flops()), float(moved.total)


def peaks() -> tuple[float, float]:
    """The device's matrix rate in bf16 and its bandwidth: operations and bytes a second."""
    a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    b, c = (torch.empty(2**28, device="cuda") for _ in range(2))
    products, copies = steps_per_second(lambda: a @ a, 0.5), steps_per_second(lambda: c.copy_(b), 0.5)
    return products * 2 * 8192**3, copies * 2 * b.nbytes


def stacks(name: str, dataset: Dataset, arguments: argparse.Namespace) -> dict[str, float]:
    """Model-steps per second of a stack, in each of the forms, and the most memory that it held."""
    row, models = {}, arguments.population
    for form in filter(None, arguments.stacks.split(",")):
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        try:
            step = stacked_stepper(name, dataset, arguments.batch_size, models, **FORMS[form])
            row[f"stack, {form}"] = models * STEPS_PER_TURN * steps_per_second(step, arguments.seconds)
            row[f"stack MiB, {form}"] = (torch.cuda.max_memory_allocated() - before) / 2**20
        except Exception as error:
            print(f"{name}, stack, {form}: {type(error).__name__}: {error}"[:600], flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--methods", default=",".join([*method_classes(), *CASES]))
    parser.add_argument("--forms", default=",".join(FORMS))
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--population", type=int, default=8, help="models at once; 0 leaves it out")
    parser.add_argument("--stacks", default=",".join(STACKS), help="forms of the population as a stack")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--kernels", action="store_true", help="convolutions by our own kernels")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    torch.set_float32_matmul_precision("high")
    if arguments.kernels:
        use_kernels(torch.device("cuda"))
    rate, bandwidth = peaks()
    print(f"{torch.cuda.get_device_name()}: {rate / 1e12:.0f} TFLOP/s in bf16, {bandwidth / 1e12:.2f} TB/s")
    rows = []
    for name in arguments.methods.split(","):
        row: dict[str, Any] = {"method": name}
        dataset = stored(DATASETS.get(name, DATASETS.get(CASES.get(name, (name,))[0], sprites))())
        forms = arguments.forms.split(",")
        for form in forms:
            try:
                step = stepper(name, dataset, arguments.batch_size, **FORMS[form])
                row[form] = steps_per_second(step, arguments.seconds)
                if form == "eager":
                    row["operations"], row["bytes"] = counted(step)
            except Exception as error:
                print(f"{name}, {form}: {type(error).__name__}: {error}"[:600], flush=True)
        best = max((row[form] for form in forms if form in row), default=0.0)
        if arguments.population:
            many = [
                stepper(
                    name, dataset, arguments.batch_size, seed=seed, varying=frozenset(), **FORMS[forms[-1]]
                )
                for seed in range(arguments.population)
            ]
            row["population"] = at_once(many, arguments.seconds)
            del many
            row |= stacks(name, dataset, arguments)
        row["images/s"] = best * arguments.batch_size
        if "eager" in row:
            row["ratio"] = best / row["eager"]
            row["matrix share"], row["byte share"] = (
                best * row["operations"] / rate,
                best * row["bytes"] / bandwidth,
            )
        rows.append(row)
        shown = "  ".join(
            f"{key} {value:.2%}"
            if "share" in key
            else f"{key} {value:,.4g}"
            if value < 100
            else f"{key} {value:,.0f}"
            for key, value in row.items()
            if isinstance(value, float) and key not in ("operations", "bytes")
        )
        print(f"{name:<24} {shown}", flush=True)
    if arguments.json:
        print(
            json.dumps(
                {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "rows": rows}, indent=2
            )
        )


if __name__ == "__main__":
    main()
