"""Encode once, score many, src/unbraid/evaluation/evaluate.py."""

import functools
from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from tests.tiny import CODES, SHAPE, make
from unbraid.data import Dataset, FactorSpace, sprites
from unbraid.evaluation.arrays import Arrays
from unbraid.evaluation.evaluate import evaluate, score
from unbraid.evaluation.metric_names import available_metrics, find_metric
from unbraid.evaluation.sample import Sample
from unbraid.methods import BetaVAE, ContrastVAE, FactorVAE, build_method
from unbraid.objectives import Normal

SPACE = FactorSpace({"a": 3, "b": 4, "fixed": 1, "c": 5})


def dataset() -> Dataset:
    images = torch.randint(0, 256, (60, *SHAPE), dtype=torch.uint8)
    return Dataset(images, name="noise", factor_space=SPACE, label="a", nuisances=("b",))


def test_the_sample_is_encoded_once_for_all_metrics() -> None:
    method, encodings = make(BetaVAE).float(), []
    encode = method.encode
    method.encode = lambda x, condition=None: encodings.append(len(x)) or encode(x, condition)  # type: ignore[method-assign]
    evaluate(method, dataset(), ["mig", "modularity", "active_dims"], num_samples=300)
    assert sum(encodings) == 300


def test_factors_that_take_one_value_are_left_out() -> None:
    sample = Sample(make(BetaVAE).float(), dataset(), size=50, seed=0)
    assert sample.factors.shape == (50, 3)
    assert sample.labels.shape == (50,) and sample.nuisances.shape == (50, 1)


def test_factors_are_encoded() -> None:
    method, data = make(BetaVAE).float(), dataset()
    sample = Sample(method, data, size=10, seed=0)
    factors = np.array([[2, 3, 4], [0, 0, 0]])  # of the three that vary
    with torch.no_grad():
        expected = method.encode(data.observe(torch.tensor([59, 0])))
    assert_close(sample.encode_factors(factors), expected.numpy())


def test_a_metric_gets_the_number_of_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    def count(codes: np.ndarray, processes: int, test_processes: int) -> float:
        assert processes == test_processes
        return float(processes)

    monkeypatch.setattr("unbraid.metrics.processes.num_cores", lambda: 4)
    for given, expected in ((None, 4), (1, 1), (3, 3), (99, 4)):
        (score,) = evaluate(make(BetaVAE).float(), dataset(), [count], num_samples=9, processes=given)
        assert score["value"] == expected
    with pytest.raises(ValueError, match="processes must be at least 1; got -2"):
        evaluate(make(BetaVAE).float(), dataset(), [count], num_samples=9, processes=-2)


class CustomResult(NamedTuple):
    score: float
    spread: float
    means: np.ndarray

    higher_is_better = False


def custom_metric(codes: np.ndarray, factors: np.ndarray, rng: np.random.Generator) -> CustomResult:
    """A metric whose parameters are named like the arrays."""
    return CustomResult(float(len(codes)), float(rng.random()), codes.mean(0))


def test_a_custom_metric() -> None:
    first, further = evaluate(make(BetaVAE).float(), dataset(), [custom_metric], num_samples=30)
    assert (first["metric"], first["value"], further["metric"]) == (
        "custom_metric",
        30.0,
        "custom_metric.spread",
    )
    assert len(first["evidence"]["means"]) == CODES
    assert first["higher_is_better"] is further["higher_is_better"] is False


class Width:
    """Mean range of the codes, above a threshold."""

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold

    def __call__(self, codes):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN204
        return max(np.ptp(codes, axis=0).mean() - self.threshold, 0)


def test_plain_functions_objects_and_partial_functions_are_printed() -> None:
    def share(codes, test_codes, level=1.0):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        return np.float32(len(test_codes) / len(codes) * level)

    half = functools.partial(share, level=0.5)
    method = make(BetaVAE).float()
    scores = evaluate(
        method, dataset(), [share, half, Width(0.0), "mig"], num_samples=30, num_test_samples=15
    )
    assert [entry["metric"] for entry in scores if "." not in entry["metric"]] == [
        "share",
        "share",
        "Width",
        "mig",
    ]
    assert [entry["higher_is_better"] for entry in scores][:4] == [None, None, None, True]
    lines = str(scores).splitlines()
    assert lines[0].split() == ["share", "0.5000", "(n=30,", "tested", "on", "15,", "seed", "0)"]
    assert lines[1].split()[1:3] == ["0.2500", "(level=0.5,"] and "(n=30, seed 0)" in lines[2]
    assert len({line.index("(") for line in lines}) == 1


def test_wrong_functions_are_refused_before_anything_is_encoded() -> None:
    def misspelled(code: np.ndarray) -> float: ...
    def worded(codes: np.ndarray) -> str:
        return "good"

    method = make(BetaVAE).float()
    with pytest.raises(ValueError, match="named 'code'; did you mean codes"):
        evaluate(method, dataset(), ["mig", misspelled], num_samples=30)
    with pytest.raises(ValueError, match="worded returned 'good'"):
        evaluate(method, dataset(), [worded], num_samples=30, skip_missing=True)


def test_the_method_keeps_its_mode_when_a_metric_fails() -> None:
    method = make(BetaVAE).float().train()
    with pytest.raises(ValueError, match="does not predict classes"):
        evaluate(method, dataset(), ["group_accuracy"], num_samples=30)
    assert method.training


def test_a_metric_of_one_strand_carries_its_name() -> None:
    scores = evaluate(make(BetaVAE).float(), dataset(), ["codes:active_dims"], num_samples=30)
    assert scores[0]["metric"] == "codes:active_dims"


def test_missing_arrays_are_named() -> None:
    method = make(BetaVAE).float()
    plain = Dataset(torch.zeros(60, *SHAPE), name="mine", max_value=1)
    with pytest.raises(ValueError, match="needs ground-truth factors, and mine has none"):
        evaluate(method, plain, ["mig"], num_samples=30)
    with pytest.raises(ValueError, match="no metric 'mgi'; did you mean mig"):
        evaluate(method, plain, ["mgi"], num_samples=30)
    with pytest.raises(ValueError, match="beta-vae does not predict classes"):
        evaluate(method, dataset(), ["group_accuracy"], num_samples=30)
    with pytest.raises(ValueError, match="There is no strand 'salient'"):
        evaluate(method, dataset(), ["salient:mig"], num_samples=30)


def test_the_metrics_of_one_model_are_available_by_name() -> None:
    names = set(available_metrics())
    assert names >= {"reconstruction", "kl", "mig", "modularity", "explicitness", "mcc", "active_dims"}
    assert not names & {"udr", "model_centrality", "discretize", "entropy", "bootstrap", "w2"}


def test_the_fast_protocol_uses_fast_variants_and_names_them() -> None:
    scores = {
        score["metric"]: score
        for score in evaluate(
            make(BetaVAE).float(),
            dataset(),
            ["dci", "sap", "factor_vae_score"],
            protocol="fast",
            num_samples=200,
            num_test_samples=100,
        )
    }
    mig = evaluate(make(BetaVAE).float(), dataset(), ["mig"], num_samples=200)[0]
    assert mig["protocol"] == "bins=20, binning=equal_width"  # the settings, without a named protocol
    assert scores["dci"]["protocol"] == "histogram" and scores["factor_vae_score"]["protocol"] == "grid"
    assert scores["sap"]["protocol"] == "disentanglement_lib"
    assert (scores["dci"]["n"], scores["dci"]["n_test"]) == (200, 100)
    assert scores["factor_vae_score"]["n"] == 40_000  # votes
    assert {"dci.completeness", "dci.informativeness"} <= set(scores)


def test_infogan_crs_protocol_scores_on_the_training_sample() -> None:
    method = make(BetaVAE).float()
    sap, dci = (
        next(score for score in evaluate(method, dataset(), [name], protocol="infogan_cr", num_samples=300))
        for name in ("sap", "dci")
    )
    assert sap["protocol"].startswith("infogan_cr, 1 of ") and sap["n"] == 300
    assert dci["protocol"] == "infogan_cr_cv_sampled"  # not dSprites' factors: depths are chosen
    with pytest.raises(ValueError, match="explicitness needs a test sample"):
        evaluate(method, dataset(), ["explicitness"], protocol="infogan_cr", num_samples=300)
    with pytest.raises(ValueError, match="no protocol 'dlib'"):
        evaluate(method, dataset(), ["sap"], protocol="dlib")


class Seen(NamedTuple):
    score: float  # how many different observations both train and test
    n: int
    n_test: int


def seen(codes: np.ndarray, test_codes: np.ndarray) -> Seen:
    train, test = ({tuple(row) for row in table} for table in (codes, test_codes))
    return Seen(float(len(train & test)), len(codes), len(test))


def listed(**roles: str) -> Dataset:
    """90 rows of 30 objects, three per object."""
    space = FactorSpace({"a": 3, "object": 30})
    rows = torch.rand(90, *SHAPE, generator=torch.Generator().manual_seed(0))
    return Dataset(
        rows, name="list", max_value=1, factor_space=space, combinations=torch.arange(90), label="a", **roles
    )


def test_predictors_are_tested_on_held_out_rows() -> None:
    """One third of the rows is held out; metrics without predictors use all rows."""
    method, sizes = make(BetaVAE).float(), {"num_samples": 0, "num_test_samples": 2_000}
    plain = Dataset(torch.rand(90, *SHAPE), name="plain", max_value=1)
    for data in (listed(), plain):
        found = evaluate(method, data, [seen], **sizes)[0]
        assert (found["value"], found["n"], found["n_test"]) == (0.0, 60, 30)
    assert evaluate(method, listed(), [custom_metric], **sizes)[0]["value"] == 90.0
    with pytest.raises(
        ValueError, match=r"1 observations of list are too few for a train/test split\. .*--test-split"
    ):
        for seed in range(9):
            evaluate(method, listed(), [seen], num_samples=1, num_test_samples=1, seed=seed)


def test_factor_spaces_and_two_datasets_are_not_split() -> None:
    method, sizes = make(BetaVAE).float(), {"num_samples": 0, "num_test_samples": 2_000}
    space = evaluate(method, dataset(), [seen], **sizes)[0]
    assert (space["value"], space["n"], space["n_test"]) == (60.0, 60, 60)
    two = evaluate(method, listed(), [seen], test_dataset=listed(), **sizes)[0]
    assert (two["value"], two["n"], two["n_test"]) == (90.0, 90, 90)


def test_instances_are_not_split() -> None:
    method, data = make(BetaVAE).float(), listed(instance="object")
    whole, other = (Sample(method, data, size=size, seed=size) for size in (0, 500))
    train, test = whole.train_test_split(other)
    objects = set(train.instances.tolist()), set(test.instances.tolist())
    assert not objects[0] & objects[1] and (len(objects[0]), len(objects[1])) == (20, 10)
    chosen = np.isin(whole.instances, list(objects[0]))
    assert_close(train.codes, whole.codes[chosen])
    assert_close(train.labels, whole.labels[chosen])
    assert train.size == 60 and whole.size == 90
    probe = evaluate(method, data, ["probe"], num_samples=0)[0]
    assert (probe["n"], probe["n_test"]) == (60, 30)  # and not a third of 5,000 draws


def table(rows: torch.Tensor) -> Dataset:
    space, numbers = FactorSpace({"kind": 2, "other": 3}), torch.arange(len(rows))
    return Dataset(
        rows,
        name="table",
        max_value=1,
        factor_space=space,
        combinations=space.index(torch.stack([numbers % 2, numbers % 3], 1)),
        label="kind",
        background=Dataset(torch.randn(7, 3), name="background", max_value=1),
    )


def row_method() -> ContrastVAE:
    torch.manual_seed(0)
    spec = {"common_dim": 2, "salient_dim": 2, "architecture": "mlp-small", "likelihood": Normal()}
    return build_method(ContrastVAE, (3,), n=27, seed=0, **spec)


def test_sizes_count_each_row_once() -> None:
    """Of 10,000 and 5,000 draws of 27 rows, 18 train and 9 test; the background has 7."""
    names = ["probe", "factor_probe", "strand_probes", "reconstruction", "mig", seen]
    names += ["salient:background_norm", "background_reconstruction", "active_features"]
    scores = evaluate(row_method(), table(torch.randn(27, 3)), names)
    sizes = {score["metric"]: (score["n"], score["n_test"]) for score in scores}
    for name in ("probe", "factor_probe", "strand_probes", "seen"):
        assert sizes[name] == (18, 9), name
    for name in ("reconstruction", "mig", "active_features"):
        assert sizes[name][0] == 27, name
    assert sizes["salient:background_norm"][0] == sizes["background_reconstruction"][0] == 7


def test_rows_that_a_table_repeats_stay_in_one_part() -> None:
    rows = torch.randn(20, 3)
    data = table(torch.cat([rows, rows, rows[:10]]))  # 20 different rows
    found = evaluate(row_method(), data, [seen, "factor_probe"])
    assert (found[0]["value"], found[0]["n"], found[0]["n_test"]) == (0.0, 13, 7)
    assert found[1]["n"] + found[1]["n_test"] == 20


def test_images_that_resampling_repeats_stay_in_one_part() -> None:
    """Of a renderer, which draws one image of each combination."""
    data = sprites(image_size=28).with_factor_distribution(
        lambda space: space.only(shape=[0], scale=[1], pos_x=[3])
    )
    data = data.resampled(300, torch.Generator().manual_seed(0))
    method = build_method(BetaVAE, data.shape, n=50, seed=0, architecture="mlp-small")
    first, second = (Sample(method, data, size=200, seed=seed) for seed in (0, 1))
    train, test = first.train_test_split(second)
    combinations = data.combinations
    assert combinations is not None
    parts = [set(combinations[part._rows].tolist()) for part in (train, test)]
    assert not parts[0] & parts[1]
    assert [part.distinct() for part in (train, test)] == [len(part) for part in parts]


def test_draws_of_a_factor_space_are_counted() -> None:
    score = evaluate(make(BetaVAE).float(), dataset(), ["factor_probe"], num_samples=600)[0]
    assert score["n"] + score["n_test"] == 600 > len(dataset())


def test_metrics_that_do_not_apply_are_skipped(capsys: pytest.CaptureFixture[str]) -> None:
    """Because of a missing array, while they are computed, or because of the sample size."""
    names = ["mig", "group_accuracy", "background_reconstruction", "translation_difficulty", "active_dims"]
    scores = evaluate(
        make(BetaVAE).float(), dataset(), names, num_samples=100, skip_missing=True, quiet=False
    )
    assert {score["metric"].partition(".")[0] for score in scores} == {"mig", "active_dims"}
    errors = capsys.readouterr().err
    assert "Skipped: The metric group_accuracy needs predicted classes" in errors
    assert "Skipped: The metric background_reconstruction needs a background dataset" in errors
    assert "translation_difficulty skipped: " in errors and "128; got 100" in errors
    partial = dataset().with_factor_distribution(lambda space: space.only(a=[0, 1]))
    with pytest.raises(ValueError, match="not every combination of its factors"):
        evaluate(make(BetaVAE).float(), partial, ["factor_vae_score"], num_samples=50)


class Reader(BetaVAE):
    """Predicts one class for bright images and another for dark ones."""

    def predict(self, x: torch.Tensor, condition: torch.Tensor | None = None) -> torch.Tensor:
        bright = x.flatten(1).mean(1)
        return torch.stack([bright, 1 - bright, torch.zeros_like(bright)], 1)


def test_all_observations_are_scored_by_group() -> None:
    """Bright images are called class 0. Row i is bright unless its b is 3: right are a = 0 with b < 3, and a = 1
    with b = 3. Each has 5 rows of 60, and conditions give c by name."""
    images = torch.full((60, *SHAPE), 230, dtype=torch.uint8)
    images[SPACE.values(torch.arange(60))[:, 1] == 3] = 10
    names = {"c": ["v", "w", "x", "y", "z"]}
    data = Dataset(
        images,
        name="n",
        factor_space=SPACE,
        label="a",
        nuisances=("b",),
        hidden_nuisances=("c",),
        value_names=names,
    )
    scores = {
        entry["metric"]: entry["value"]
        for entry in evaluate(make(Reader).float(), data, ["group_accuracy"], num_samples=0)
    }
    assert_close(scores["group_accuracy"], 4 * 5 / 60)
    assert_close(scores["group_accuracy.worst"], 0.0)
    assert_close(scores["group_accuracy.worst_nuisance"], 1 / 3)
    assert_close(scores["group_accuracy.accuracy_at.c=x"], 4 / 12)
    assert_close(scores["group_accuracy.worst_at.c=z"], 0.0)


def test_probes_are_named_by_factor() -> None:
    data = Dataset(
        torch.randint(0, 256, (60, *SHAPE), dtype=torch.uint8), name="n", factor_space=SPACE, instance="c"
    ).with_factor_distribution(lambda space: space.only(b=[2]))
    scores = evaluate(make(BetaVAE).float(), data, ["codes:factor_probe"], num_samples=400)
    assert [entry["metric"] for entry in scores] == [
        "codes:factor_probe",
        "codes:factor_probe.accuracy.a",
        "codes:factor_probe.chance.a",
    ]


def test_instances_and_constant_factors_are_not_scored() -> None:
    data = Dataset(torch.zeros(60, *SHAPE, dtype=torch.uint8), name="n", factor_space=SPACE, instance="b")
    sample = Sample(
        make(BetaVAE).float(), data.with_factor_distribution(lambda space: space.only(a=[1])), size=0, seed=0
    )
    assert sample.size == 20 and sample.names == ("c",)
    assert sample.factors.shape == (20, 1) and set(sample.instances.tolist()) == {0, 1, 2, 3}


def test_strands_of_several_dimensions_are_scored_as_units() -> None:
    method = make(FactorVAE, feature_dim=2).float()
    scores = evaluate(method, dataset(), ["sap"], protocol="infogan_cr", num_samples=200)
    assert np.shape(scores[0]["evidence"]["scores"]) == (2, 3)  # two strands, three factors
    plain = evaluate(make(FactorVAE).float(), dataset(), ["sap"], protocol="infogan_cr", num_samples=200)
    assert np.shape(plain[0]["evidence"]["scores"]) == (4, 3)


def test_metrics_without_labels_decode() -> None:
    """On data without factors, and with the settings of the metric as the protocol of its score."""
    plain = Dataset(torch.randint(0, 256, (200, *SHAPE), dtype=torch.uint8), name="plain")
    scores = evaluate(make(BetaVAE).float(), plain, ["translation_difficulty"], num_samples=200)
    assert (
        scores[0]["metric"] == "translation_difficulty" and scores[0]["n"] == 119
    )  # different ones in 200 draws
    assert "steps=5" in scores[0]["protocol"] and "width=32" in scores[0]["protocol"]
    assert len(scores[0]["evidence"]["per_feature"]) == 4


def test_arrays_are_scored_with_the_fast_protocol() -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 3, (200, 2))
    train, test = Arrays(factors[:100] * 1.0, factors[:100]), Arrays(factors[100:] * 1.0, factors[100:])
    (dci,) = score(train, test, ["dci"], protocol="fast")[:1]
    assert dci["protocol"] == "histogram" and (dci["n"], dci["n_test"]) == (100, 100)
    with pytest.raises(ValueError, match="needs labels, and the files contain none"):
        score(train, None, ["class_accuracy"], protocol="fast")


def test_metrics_are_found_by_name_or_given_as_functions() -> None:
    assert find_metric("z:mig") == find_metric("mig") and find_metric("mig")[0] == "mig"
    assert find_metric(custom_metric) == ("custom_metric", custom_metric)


def test_a_score_that_is_not_finite_is_refused_after_the_others_were_kept() -> None:
    def broken(codes: np.ndarray) -> float:
        return float("inf")

    kept: list[dict[str, object]] = []
    with pytest.raises(
        ValueError, match=r"Scores must be finite, and broken is inf; the other scores are complete"
    ):
        evaluate(make(BetaVAE).float(), dataset(), [broken, "kl"], num_samples=50, on_scores=kept.extend)
    assert [entry["metric"] for entry in kept] == ["kl"]
