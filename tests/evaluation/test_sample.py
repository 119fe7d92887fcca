"""The arrays of a sample, src/unbraid/evaluation/sample.py."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from tests.tiny import CODES, LARGER, SHAPE, make, normalized
from unbraid.data import Dataset, FactorSpace
from unbraid.evaluation.arrays import NotAvailable
from unbraid.evaluation.sample import Sample
from unbraid.methods import GIN, VFAE, BetaVAE, ContrastVAE, InfoGAN, Intervention, SimCLR
from unbraid.nn import background_batch_stats

SPACE = FactorSpace({"a": 3, "b": 4, "fixed": 1, "c": 5})


def sample(**roles: object) -> Sample:
    images = torch.randint(0, 256, (60, *SHAPE), dtype=torch.uint8)
    data = Dataset(images, name="noise", factor_space=SPACE, **roles)  # type: ignore[arg-type]
    return Sample(make(BetaVAE).float(), data, size=50, seed=0)


def test_factors_that_take_one_value_are_left_out_everywhere() -> None:
    here = sample(label="a")
    assert here.factors.shape == (50, 3)
    assert here.factor_space == (3, 4, 5)
    assert here.unordered == ("a",)


def test_factors_are_encoded() -> None:
    here = sample()
    with torch.no_grad():
        expected = here.method.encode(here.dataset.observe(torch.tensor([59, 0])))
    assert_close(here.encode_factors(np.array([[2, 3, 4], [0, 0, 0]])), expected.numpy())


def test_codes_and_factors_are_of_the_same_observations() -> None:
    here = sample()
    some = here.factors[:5]
    assert_close(here.encode_factors(some), here.codes[:5], rtol=1e-5, atol=1e-5)


def test_the_posteriors_mean_is_the_code() -> None:
    here = sample()
    mean, logvar = here.posterior
    assert_close(mean, here.all_codes)
    assert logvar.shape == (50, CODES)


def test_unknown_arrays_are_not_available() -> None:
    here = sample()
    for name in ("labels", "nuisances", "predictions"):
        with pytest.raises(NotAvailable):
            getattr(here, name)
    partial = Sample(
        here.method, here.dataset.with_factor_distribution(lambda space: space.only(a=[0])), size=5, seed=0
    )
    with pytest.raises(NotAvailable, match="not every combination"):
        _ = partial.factor_space
    plain = Sample(here.method, Dataset(torch.zeros(9, *SHAPE), name="mine", max_value=1), size=5, seed=0)
    with pytest.raises(NotAvailable, match="needs ground-truth factors, and mine has none"):
        _ = plain.factors


def test_a_conditional_method_takes_the_known_nuisances() -> None:
    here = sample(label="a", nuisances=("b", "c"))
    method = here.method = make(VFAE).float()
    condition = torch.from_numpy(here.nuisances)
    method.nuisances.record_values(condition)
    with torch.no_grad():
        x = here.dataset.observe(here._rows)
        expected, blind = method.encode(x, condition), method.encode(x)
        predicted = method.predict(x, condition).argmax(1)
    assert_close(here.all_codes, expected.numpy(), rtol=1e-4, atol=1e-5)
    assert (here.all_codes != blind.numpy()).any()
    assert here.predictions.tolist() == predicted.tolist()


def contrast_sample() -> Sample:
    torch.manual_seed(0)
    x, y = torch.randint(0, 256, (2, 60, *SHAPE), dtype=torch.uint8)
    other = Dataset(y[:30], name="background")
    space = FactorSpace({"kind": 3})
    kinds = torch.arange(60) % 3
    data = Dataset(
        x,
        name="target",
        factor_space=space,
        combinations=kinds,
        label="kind",
        value_names={"kind": ("p", "q", "r")},
        background=other,
    )
    return Sample(make(ContrastVAE).float(), data, size=0, seed=0)


def test_background_codes_are_of_the_strand() -> None:
    here = contrast_sample().select_strand("common")
    assert here.codes.shape == (60, 2) and here.background_codes.shape == (30, 2)
    assert here.dataset.background is not None
    with torch.no_grad():
        expected = here.method.encode(here.dataset.background.observe(torch.arange(30)))[:, :2]
    assert_close(here.background_codes, expected.numpy())
    assert here.select_strand("salient").background_codes.shape == (30, 2)
    assert not np.array_equal(here.select_strand("salient").background_codes, here.background_codes)


def test_the_background_has_its_own_batch_statistics_where_they_are_separate() -> None:
    method = normalized(ContrastVAE, batch_stats="separate")
    for name, buffer in method.named_buffers():
        if name.endswith(("background_mean", "background_var")):
            buffer.fill_(0.5)
    x, y = torch.randint(0, 256, (2, 20, *LARGER), dtype=torch.uint8)
    data = Dataset(x, name="target").with_background(Dataset(y, name="background"))
    here = Sample(method.eval(), data, size=0, seed=0)
    with torch.no_grad():
        of_x, of_y = method.encode(data.observe(torch.arange(20))), method.encode(y / 255)
        with background_batch_stats(method):
            expected = method.encode(y / 255)
    assert_close(here.all_codes, of_x.numpy())
    assert_close(here.background.all_codes, expected.numpy())
    assert_close(here.background.shuffled(20).all_codes.sum(0), expected.numpy().sum(0), rtol=1e-3, atol=1e-3)
    assert not np.allclose(here.background.all_codes, of_y.numpy(), atol=1e-2)


def test_sampled_codes_follow_their_posteriors() -> None:
    here = contrast_sample().select_strand("salient")
    mean, logvar = (part[:, 2:] for part in here.posterior)
    noise = (here.sampled_codes - mean) / np.exp(0.5 * logvar)
    assert abs(noise.mean()) < 0.3 and 0.7 < noise.std() < 1.3
    assert_close(here.sampled_codes, contrast_sample().select_strand("salient").sampled_codes)
    assert here.background_sampled_codes.shape == (30, 2)


def test_target_and_background_are_sampled_with_different_noise() -> None:
    """The same noise for both would bring their codes together, whatever the method did."""
    here = contrast_sample()
    mean, logvar = here.background.posterior
    beside = (here.background_sampled_codes - mean[:, 2:]) / np.exp(0.5 * logvar[:, 2:])
    mean, logvar = here.posterior
    own = (here.sampled_codes - mean[:, 2:]) / np.exp(0.5 * logvar[:, 2:])
    assert abs(np.corrcoef(own[:30].ravel(), beside.ravel())[0, 1]) < 0.4  # 60 numbers: three spreads


def test_class_names_and_a_missing_background() -> None:
    assert contrast_sample().class_names == ("p", "q", "r")
    with pytest.raises(NotAvailable, match="needs a background dataset, and noise has none"):
        _ = sample().background_codes
    with pytest.raises(NotAvailable, match="have no names"):
        _ = sample(label="a").class_names


def test_unordered_factors_and_sizes() -> None:
    here = sample(label="a", unordered=("c",))
    assert here.unordered == ("a", "c")
    partial = Sample(
        here.method, here.dataset.with_factor_distribution(lambda space: space.only(a=[0, 1])), size=5, seed=0
    )
    assert partial.factor_sizes == (3, 4, 5)


def test_features_are_strands_or_single_dimensions() -> None:
    here = sample()
    with pytest.raises(
        NotAvailable, match="needs features of several dimensions, and codes of beta-vae has none"
    ):
        _ = here.strands
    assert here.features == {f"dimension {j}": (j,) for j in range(CODES)}
    method = make(Intervention, num_features=2, feature_dim=2).float()
    blocked = Sample(method, here.dataset, size=5, seed=0)
    assert blocked.strands == blocked.features == {"z0": (0, 1), "z1": (2, 3)}
    assert blocked.select_strand("z0").features == {"dimension 0": (0,), "dimension 1": (1,)}
    noisy = Sample(make(InfoGAN).float(), here.dataset, size=5, seed=0)
    assert list(noisy.features.values()) == [(0,), (1,), (2,)]  # not the noise


def test_the_variance_is_that_of_the_observations_summed_over_pixels() -> None:
    here = sample()
    x = here.dataset.observe(here._rows)
    assert_close(here.variance, float(x.double().var(0, correction=0).sum()))


def test_codes_are_decoded() -> None:
    here = sample()
    decoded = here.decode_fn(here.all_codes)
    with torch.no_grad():
        assert_close(decoded, here.method.decode(torch.from_numpy(here.all_codes)).numpy())
    with pytest.raises(NotAvailable, match="vfae cannot decode codes alone"):
        _ = Sample(make(VFAE).float(), here.dataset, size=5, seed=0).decode_fn


def test_decoders_and_flows_are_those_of_the_method() -> None:
    here = sample()
    codes = torch.from_numpy(here.all_codes)
    with torch.no_grad():
        assert_close(here.decoder(codes, None), here.method.decode(codes))
    with pytest.raises(NotAvailable, match="needs a flow, and beta-vae has none"):
        _ = here.flow
    flow = make(GIN).float()
    assert Sample(flow, here.dataset, size=5, seed=0).flow is flow.flow
    with pytest.raises(NotAvailable, match="decodes codes, and simclr has no decoder"):
        _ = Sample(make(SimCLR).float(), here.dataset, size=5, seed=0).decoder
