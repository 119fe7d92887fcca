"""Where the runs of a study are evaluated, and with how many processes: never beside trainings on a GPU unless told,
and never with more processes at once than there are cores."""

import os

from unbraid.distributed import choose_device
from unbraid.metrics import num_cores


def visible_gpus() -> list[str]:
    """The GPUs that this process may use, in the notation of CUDA_VISIBLE_DEVICES."""
    import torch

    if (visible := os.environ.get("CUDA_VISIBLE_DEVICES")) is not None:
        return [name for name in visible.split(",") if name]
    return [str(number) for number in range(torch.cuda.device_count())]


def evaluation_device(
    device: str, eval_device: str | None, *, trains: bool, population: int, workers: int
) -> str | None:
    """The device of the evaluations; None is that of the trainings.

    Workers that train on one GPU, or evaluate while others train on it, would slow each other down. They therefore
    evaluate on the CPU, unless `eval_device` says otherwise, or nothing is left to train.
    """
    if eval_device is not None or not trains or workers == 1 or choose_device(device).type == "cpu":
        return eval_device
    if population == 1 and workers <= len(visible_gpus()):
        return None  # each worker has a GPU of its own
    return "cpu"


def evaluation_processes(workers: int) -> int:
    """The number of processes of each evaluation, when as many workers may evaluate at once."""
    return max(1, num_cores() // workers)
