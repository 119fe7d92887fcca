"""Encode once, score many, src/unbraid/evaluate.py."""

from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from tests.tiny import CODES, SHAPE, make
from unbraid.data import Dataset, FactorSpace
from unbraid.evaluate import available_metrics, evaluate
from unbraid.methods import BetaVAE, FactorVAE
from unbraid.samples import Sample

SPACE = FactorSpace({"a": 3, "b": 4, "fixed": 1, "c": 5})


def dataset() -> Dataset:
    images = torch.randint(0, 256, (60, *SHAPE), dtype=torch.uint8)
    return Dataset(images, name="noise", space=SPACE, label="a", nuisances=("b",))


def test_the_sample_is_encoded_once_for_all_metrics() -> None:
    method, encodings = make(BetaVAE).float(), []
    encode = method.encode
    method.encode = lambda x, given=None: encodings.append(len(x)) or encode(x, given)  # type: ignore[method-assign]
    evaluate(method, dataset(), ["mig", "modularity", "active_codes"], samples=300)
    assert sum(encodings) == 300


def test_factors_that_take_one_value_are_left_out() -> None:
    sample = Sample(make(BetaVAE).float(), dataset(), size=50, seed=0)
    assert sample.factors.shape == (50, 3)
    assert sample.labels.shape == (50,) and sample.nuisances.shape == (50, 1)


def test_represent_encodes_the_combinations_it_is_given() -> None:
    method, data = make(BetaVAE).float(), dataset()
    sample = Sample(method, data, size=10, seed=0)
    factors = np.array([[2, 3, 4], [0, 0, 0]])  # of the three that vary
    with torch.no_grad():
        expected = method.encode(data.observe(torch.tensor([59, 0])))
    assert_close(sample.represent(factors), expected.numpy())


class Own(NamedTuple):
    score: float
    spread: float
    means: np.ndarray


def own_metric(codes: np.ndarray, factors: np.ndarray, rng: np.random.Generator) -> Own:
    """One's own metric, whose arguments are named like the arrays."""
    return Own(float(len(codes)), float(rng.random()), codes.mean(0))


def test_ones_own_metric_is_scored_like_the_others() -> None:
    first, further = evaluate(make(BetaVAE).float(), dataset(), [own_metric], samples=30)
    assert (first["metric"], first["value"], further["metric"]) == ("own_metric", 30.0, "own_metric.spread")
    assert len(first["evidence"]["means"]) == CODES


def test_a_metric_of_one_strand_carries_its_name() -> None:
    scores = evaluate(make(BetaVAE).float(), dataset(), ["codes:active_codes"], samples=30)
    assert scores[0]["metric"] == "codes:active_codes"


def test_what_a_metric_lacks_is_said() -> None:
    method = make(BetaVAE).float()
    plain = Dataset(torch.zeros(60, *SHAPE), name="mine", white=1)
    with pytest.raises(ValueError, match="mine has no known factors to compare codes with"):
        evaluate(method, plain, ["mig"], samples=30)
    with pytest.raises(ValueError, match="no metric 'mgi'; did you mean mig"):
        evaluate(method, plain, ["mgi"], samples=30)
    with pytest.raises(ValueError, match="beta-vae does not predict classes"):
        evaluate(method, dataset(), ["group_accuracy"], samples=30)
    with pytest.raises(ValueError, match="There is no strand 'salient'"):
        evaluate(method, dataset(), ["salient:mig"], samples=30)


def test_the_metrics_of_one_model_are_available_by_name() -> None:
    names = set(available_metrics())
    assert names >= {"reconstruction", "kl", "mig", "modularity", "explicitness", "mcc", "active_codes"}
    assert not names & {"udr", "model_centrality", "discretize", "entropy", "bootstrap", "w2"}


def test_the_fast_protocol_takes_the_quick_forms_and_says_so() -> None:
    scores = {
        score["metric"]: score
        for score in evaluate(
            make(BetaVAE).float(),
            dataset(),
            ["dci", "sap", "factor_vae_score"],
            protocol="fast",
            samples=200,
            test_samples=100,
        )
    }
    mig = evaluate(make(BetaVAE).float(), dataset(), ["mig"], samples=200)[0]
    assert mig["protocol"] == "bins=20, binning=equal_width"  # no name, but what decides the number
    assert scores["dci"]["protocol"] == "histogram" and scores["factor_vae_score"]["protocol"] == "grid"
    assert scores["sap"]["protocol"] == "disentanglement_lib"
    assert (scores["dci"]["n"], scores["dci"]["n_test"]) == (200, 100)
    assert scores["factor_vae_score"]["n"] == 40_000  # votes
    assert {"dci.completeness", "dci.informativeness"} <= set(scores)


def test_infogan_crs_protocol_scores_on_the_training_sample() -> None:
    method = make(BetaVAE).float()
    sap, dci = (
        next(score for score in evaluate(method, dataset(), [name], protocol="infogan_cr", samples=300))
        for name in ("sap", "dci")
    )
    assert sap["protocol"] == "infogan_cr" and sap["n"] == 300
    assert dci["protocol"] == "infogan_cr_cv_sampled"  # not dSprites' factors: depths are chosen
    with pytest.raises(ValueError, match="explicitness needs a test sample"):
        evaluate(method, dataset(), ["explicitness"], protocol="infogan_cr", samples=300)
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
    """90 rows of 30 things, three of each."""
    space = FactorSpace({"a": 3, "thing": 30})
    rows = torch.rand(90, *SHAPE, generator=torch.Generator().manual_seed(0))
    return Dataset(rows, name="list", white=1, space=space, combinations=torch.arange(90), label="a", **roles)


def test_predictors_are_tested_on_rows_of_a_list_that_they_have_not_seen() -> None:
    """A third of the rows tests; what trains nothing is scored on all of them."""
    method, how = make(BetaVAE).float(), {"samples": 0, "test_samples": 2_000}
    plain = Dataset(torch.rand(90, *SHAPE), name="plain", white=1)
    for data in (listed(), plain):
        found = evaluate(method, data, [seen], **how)[0]
        assert (found["value"], found["n"], found["n_test"]) == (0.0, 60, 30)
    assert evaluate(method, listed(), [own_metric], **how)[0]["value"] == 90.0
    with pytest.raises(ValueError, match=r"A sample of 1 of list is too small .* \(--test-part\)"):
        for seed in range(9):
            evaluate(method, listed(), [seen], samples=1, test_samples=1, seed=seed)


def test_spaces_of_factors_and_two_datasets_are_drawn_from_freely() -> None:
    method, how = make(BetaVAE).float(), {"samples": 0, "test_samples": 2_000}
    space = evaluate(method, dataset(), [seen], **how)[0]
    assert (space["value"], space["n"], space["n_test"]) == (60.0, 60, 60)
    two = evaluate(method, listed(), [seen], test_dataset=listed(), **how)[0]
    assert (two["value"], two["n"], two["n_test"]) == (90.0, 90, 90)


def test_things_that_rows_show_train_or_test_as_a_whole() -> None:
    method, data = make(BetaVAE).float(), listed(instance="thing")
    whole, other = (Sample(method, data, size=size, seed=size) for size in (0, 500))
    train, test = whole.parted(other)
    things = set(train.instances.tolist()), set(test.instances.tolist())
    assert not things[0] & things[1] and (len(things[0]), len(things[1])) == (20, 10)
    kept = np.isin(whole.instances, list(things[0]))
    assert_close(train.codes, whole.codes[kept])
    assert_close(train.labels, whole.labels[kept])
    assert train.size == 60 and whole.size == 90
    probe = evaluate(method, data, ["probe"], samples=0)[0]
    assert probe["n"] == 60 and 1_300 < probe["n_test"] < 2_000  # a third of 5,000 draws


def test_metrics_that_do_not_apply_are_left_out_when_asked(capsys: pytest.CaptureFixture[str]) -> None:
    """Whether that is seen from what they ask for, while they are computed, or from the codes themselves."""
    names = ["mig", "group_accuracy", "background_reconstruction", "translation_difficulty", "active_codes"]
    scores = evaluate(make(BetaVAE).float(), dataset(), names, samples=100, skip_missing=True, quiet=False)
    assert {score["metric"].partition(".")[0] for score in scores} == {"mig", "active_codes"}
    said = capsys.readouterr().err
    assert "group_accuracy left out: beta-vae does not predict classes" in said
    assert "background_reconstruction left out: " in said and "no background to compare with" in said
    assert "translation_difficulty left out: " in said and "which takes a sample of 128; got 100" in said
    partial = dataset().under(lambda space: space.only(a=[0, 1]))
    with pytest.raises(ValueError, match="not every combination of its factors"):
        evaluate(make(BetaVAE).float(), partial, ["factor_vae_score"], samples=50)


class Reader(BetaVAE):
    """Predicts one class for bright images and another for dark ones."""

    def predict(self, x: torch.Tensor, given: torch.Tensor | None = None) -> torch.Tensor:
        bright = x.flatten(1).mean(1)
        return torch.stack([bright, 1 - bright, torch.zeros_like(bright)], 1)


def test_all_observations_are_scored_group_by_group() -> None:
    """Bright images are called class 0. Row i is bright unless its b is 3: right are a = 0 with b < 3, and a = 1
    with b = 3. Each has 5 rows of 60, and conditions give c by name."""
    images = torch.full((60, *SHAPE), 230, dtype=torch.uint8)
    images[SPACE.values(torch.arange(60))[:, 1] == 3] = 10
    names = {"c": ["v", "w", "x", "y", "z"]}
    data = Dataset(
        images, name="n", space=SPACE, label="a", nuisances=("b",), unknown=("c",), value_names=names
    )
    scores = {
        entry["metric"]: entry["value"]
        for entry in evaluate(make(Reader).float(), data, ["group_accuracy"], samples=0)
    }
    assert_close(scores["group_accuracy"], 4 * 5 / 60)
    assert_close(scores["group_accuracy.worst"], 0.0)
    assert_close(scores["group_accuracy.worst_nuisance"], 1 / 3)
    assert_close(scores["group_accuracy.accuracy_at.c=x"], 4 / 12)
    assert_close(scores["group_accuracy.worst_at.c=z"], 0.0)


def test_what_leaks_goes_by_the_names_of_the_factors() -> None:
    data = Dataset(
        torch.randint(0, 256, (60, *SHAPE), dtype=torch.uint8), name="n", space=SPACE, instance="c"
    ).under(lambda space: space.only(b=[2]))
    scores = evaluate(make(BetaVAE).float(), data, ["codes:leak"], samples=400)
    assert [entry["metric"] for entry in scores] == [
        "codes:leak",
        "codes:leak.accuracy.a",
        "codes:leak.chance.a",
    ]


def test_an_instance_is_no_factor_to_score_and_neither_is_one_that_does_not_vary() -> None:
    data = Dataset(torch.zeros(60, *SHAPE, dtype=torch.uint8), name="n", space=SPACE, instance="b")
    sample = Sample(make(BetaVAE).float(), data.under(lambda space: space.only(a=[1])), size=0, seed=0)
    assert sample.size == 20 and sample.names == ("c",)
    assert sample.factors.shape == (20, 1) and set(sample.instances.tolist()) == {0, 1, 2, 3}


def test_strands_of_several_codes_are_scored_whole() -> None:
    method = make(FactorVAE, dimensions=2).float()
    scores = evaluate(method, dataset(), ["sap"], protocol="infogan_cr", samples=200)
    assert np.shape(scores[0]["evidence"]["scores"]) == (2, 3)  # two strands, three factors
    plain = evaluate(make(FactorVAE).float(), dataset(), ["sap"], protocol="infogan_cr", samples=200)
    assert np.shape(plain[0]["evidence"]["scores"]) == (4, 3)


def test_metrics_without_labels_decode() -> None:
    """On data without factors, and with the settings of the metric as the protocol of its score."""
    plain = Dataset(torch.randint(0, 256, (200, *SHAPE), dtype=torch.uint8), name="plain")
    scores = evaluate(make(BetaVAE).float(), plain, ["translation_difficulty"], samples=200)
    assert scores[0]["metric"] == "translation_difficulty" and scores[0]["n"] == 200
    assert "steps=5" in scores[0]["protocol"] and "width=32" in scores[0]["protocol"]
    assert len(scores[0]["evidence"]["per_feature"]) == 4
