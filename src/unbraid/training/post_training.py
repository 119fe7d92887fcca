"""The post-training hook: what a method computes once after the last step, from samples of the data."""

import math

import torch
from torch import Generator, Tensor

from unbraid.data import DRAWS, Dataset, Draw, IIDDraw
from unbraid.methods import HasPostTraining, Method
from unbraid.seeds import derive_seed

BATCH_SIZE = 500


def run_post_training(
    method: Method, dataset: Dataset, *, draw: Draw | None = None, seed: int = 0, samples: int | None = None
) -> None:
    """Calls the method's post-training hook, if it has one; a flow determines its informative dimensions there.

    Args:
        method: A trained method.
        dataset: The training data.
        draw: How batches were sampled, for methods whose hook uses the same draw.
        seed: Random seed for the samples.
        samples: Number of observations, or of pairs; by default as many as the method's `on_train_end_samples`.
    """
    if not isinstance(method, HasPostTraining):
        return
    device = method.step.device
    sampled: Draw = (draw or DRAWS[method.batch_type]()) if method.on_train_end_uses_draw else IIDDraw()
    batches = math.ceil((method.on_train_end_samples if samples is None else samples) / BATCH_SIZE)
    dataset = dataset.to(device)
    generator = Generator(device).manual_seed(derive_seed(seed, "finish"))
    was_training = method.training
    method.eval()
    with torch.no_grad():
        method.on_train_end(sampled(dataset, BATCH_SIZE, generator, method.step) for _ in range(batches))
    method.train(was_training)


def weights_if_ended(
    method: Method, dataset: Dataset, *, draw: Draw | None = None, seed: int = 0
) -> dict[str, Tensor]:
    """The weights that the method would have if its training ended now. The method and its noise stay as they are."""
    if not isinstance(method, HasPostTraining):
        return method.state_dict()
    before = {name: tensor.clone() for name, tensor in method.state_dict().items()}
    devices = [method.step.device] if method.step.device.type == "cuda" else []
    with torch.random.fork_rng(devices):
        run_post_training(method, dataset, draw=draw, seed=seed)
    ended = {name: tensor.clone() for name, tensor in method.state_dict().items()}
    method.load_state_dict(before)
    return ended
