"""A server that has imported everything once, and forks the processes that a test starts through multiprocessing."""

import multiprocessing
from multiprocessing.context import ForkServerContext

PRELOAD = [
    *("torch._dynamo", "unbraid.evaluation", "unbraid.training"),
    *("tests.studies.test_workers", "tests.test_distributed"),  # whose functions the processes run
]


def forkserver() -> ForkServerContext:
    """The context whose processes start in milliseconds; there is one server per test process."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOAD)
    return context
