"""What cannot be supplied is said before training, src/unbraid/evaluation/check.py."""

import time
from typing import Any

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from tests.tiny import SHAPE, make
from unbraid.data import Dataset, FactorSpace
from unbraid.evaluation.check import check_metrics
from unbraid.evaluation.metric_names import available_metrics
from unbraid.methods import GIN, BetaVAE, ContrastVAE, SimCLR
from unbraid.methods.base import Method

ROWS = torch.randint(0, 256, (60, *SHAPE), dtype=torch.uint8)
PLAIN = Dataset(ROWS, name="plain")
SPACE = FactorSpace({"a": 3, "b": 4, "c": 5})
KNOWN = Dataset(ROWS, name="known", factor_space=SPACE, label="a", nuisances=("b",))


def test_what_the_dataset_lacks_is_said() -> None:
    method = make(BetaVAE).float()
    for metric, sentence in {
        "mig": "The metric mig needs ground-truth factors, and plain has none",
        "codes:dci": "The metric dci needs ground-truth factors",
        "strand_probes": "The metric strand_probes needs ground-truth factors",
        "class_accuracy": "The metric class_accuracy needs class labels, and plain has none",
        "background_norm": "The metric background_norm needs a background dataset",
        "background_reconstruction": "needs a background dataset, and plain has none",
        "factor_vae_score": "samples any combination of factors, and plain has no known factors",
        "latent_mcc": "needs true latents",
        "mgi": "no metric 'mgi'; did you mean mig",
        "salient:active_dims": "There is no strand 'salient'",
    }.items():
        with pytest.raises(ValueError, match=sentence):
            check_metrics(method, PLAIN, ["active_dims", metric])
    rows = Dataset(torch.rand(20, 3), name="rows", max_value=1)
    with pytest.raises(ValueError, match="std_rank: This method needs sets of augmentations"):
        check_metrics(method, rows, ["std_rank"])
    check_metrics(method, KNOWN, ["mig", "codes:dci", "class_accuracy", "factor_vae_score", "sap"])


def test_what_the_method_lacks_is_said() -> None:
    for method, metric, sentence in (
        (
            BetaVAE,
            "group_accuracy",
            "The metric group_accuracy needs predicted classes, and beta-vae does not",
        ),
        (BetaVAE, "inversion", "The metric inversion needs a flow, and beta-vae has none"),
        (SimCLR, "reconstruction", "The metric reconstruction decodes codes, and simclr has no decoder"),
        (SimCLR, "active_features", "decodes codes, and simclr has no decoder"),
        (SimCLR, "translation_difficulty", "simclr cannot decode codes alone"),
        (GIN, "kl", "The metric kl needs a posterior, and gin has none"),
        (BetaVAE, "disentanglement_gap", "needs strands within a strand"),
    ):
        with pytest.raises(ValueError, match=sentence):
            check_metrics(make(method).float(), KNOWN, [metric])


def test_test_samples_may_lack_labels_or_be_absent() -> None:
    method = make(BetaVAE).float()
    with pytest.raises(ValueError, match="explicitness needs a test sample, and there is none"):
        check_metrics(method, KNOWN, ["explicitness"], protocol="infogan_cr")
    check_metrics(method, KNOWN, ["explicitness"], protocol="infogan_cr", num_test_samples=10)
    with pytest.raises(ValueError, match="probe needs a test sample"):
        check_metrics(method, KNOWN, ["probe"], num_test_samples=0)
    with pytest.raises(ValueError, match="The metric probe needs class labels, and plain has none"):
        check_metrics(method, KNOWN, ["probe"], test_dataset=PLAIN)
    with pytest.raises(ValueError, match="no protocol 'dlib'"):
        check_metrics(method, KNOWN, ["mig"], protocol="dlib")


def test_strands_that_training_defines_are_not_refused() -> None:
    flow = make(GIN).float()
    assert list(flow.strands) == ["codes"]
    check_metrics(flow, KNOWN, ["informative:mig", "codes:disentanglement_gap", "noise:active_dims"])


def test_functions_are_checked_before_training() -> None:
    def mine(codes: Any, labels: Any) -> float:
        raise AssertionError("no metric is computed")

    def misspelled(code: Any) -> float: ...

    check_metrics(make(BetaVAE).float(), KNOWN, [mine])
    with pytest.raises(ValueError, match="The metric mine needs class labels"):
        check_metrics(make(BetaVAE).float(), PLAIN, [mine])
    with pytest.raises(ValueError, match="such as misspelled named 'code'; did you mean codes"):
        check_metrics(make(BetaVAE).float(), KNOWN, [misspelled])


def test_no_network_runs_and_nothing_changes() -> None:
    background = Dataset(ROWS[:30], name="background")
    data, method = KNOWN.with_background(background), make(ContrastVAE).float()

    def forbidden(*_: object) -> None:
        raise AssertionError("a network ran")

    method.encode = method.decode = method.posterior = forbidden  # type: ignore[assignment,method-assign]
    next(iter(method.children())).eval()  # one part in another mode
    modes = [module.training for module in method.modules()]
    weights = {name: value.clone() for name, value in method.state_dict().items()}
    torch_state, numpy_state = torch.get_rng_state(), np.random.get_state()[1].copy()  # type: ignore[index]
    needs_more = ("inversion", "group_accuracy", "latent_mcc", "latent_r2")
    names = [name for name in available_metrics() if name not in needs_more and name != "disentanglement_gap"]
    start = time.perf_counter()
    check_metrics(method, data, [*names, "salient:background_distance"])
    assert time.perf_counter() - start < 1
    assert [module.training for module in method.modules()] == modes
    assert torch.equal(torch.get_rng_state(), torch_state)
    assert np.array_equal(np.random.get_state()[1], numpy_state)  # type: ignore[index]
    for name, value in method.state_dict().items():
        assert_close(value, weights[name], rtol=0, atol=0)


def test_every_metric_that_passes_can_be_given_its_arguments() -> None:
    """The check and the evaluation agree on every metric of Unbraid."""
    from unbraid.evaluation.evaluate import evaluate

    method: Method = make(BetaVAE).float()
    for name in (
        "mig",
        "mcc",
        "probe",
        "kl",
        "reconstruction",
        "inversion",
        "background_norm",
        "std_rank",
        "above_noise",
    ):
        try:
            check_metrics(method, PLAIN, [name])
        except ValueError:
            with pytest.raises(ValueError, match="needs"):
                evaluate(method, PLAIN, [name], num_samples=30, num_test_samples=20)
        else:
            assert evaluate(method, PLAIN, [name], num_samples=30, num_test_samples=20)
