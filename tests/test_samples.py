"""Arrays by name, src/unbraid/samples.py."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from tests.tiny import CODES, SHAPE, make
from unbraid.data import Dataset, FactorSpace
from unbraid.methods import VFAE, BetaVAE, ContrastVAE, InfoGAN, Intervention
from unbraid.samples import Arrays, Missing, Sample

SPACE = FactorSpace({"a": 3, "b": 4, "fixed": 1, "c": 5})


def sample(**roles: object) -> Sample:
    images = torch.randint(0, 256, (60, *SHAPE), dtype=torch.uint8)
    data = Dataset(images, name="noise", space=SPACE, **roles)  # type: ignore[arg-type]
    return Sample(make(BetaVAE).float(), data, size=50, seed=0)


def test_factors_that_take_one_value_are_left_out_everywhere() -> None:
    here = sample(label="a")
    assert here.factors.shape == (50, 3)
    assert here.space == (3, 4, 5)
    assert here.kinds == ("discrete", "continuous", "continuous")


def test_represent_encodes_the_combinations_it_is_given() -> None:
    here = sample()
    with torch.no_grad():
        expected = here.method.encode(here.dataset.observe(torch.tensor([59, 0])))
    assert_close(here.represent(np.array([[2, 3, 4], [0, 0, 0]])), expected.numpy())


def test_codes_and_factors_are_of_the_same_observations() -> None:
    here = sample()
    some = here.factors[:5]
    assert_close(here.represent(some), here.codes[:5], rtol=1e-5, atol=1e-5)


def test_the_posteriors_mean_is_the_code() -> None:
    here = sample()
    mean, logvar = here.posterior
    assert_close(mean, here.whole_codes)
    assert logvar.shape == (50, CODES)


def test_what_is_not_known_is_missing() -> None:
    here = sample()
    for name in ("labels", "nuisances", "predictions"):
        with pytest.raises(Missing):
            getattr(here, name)
    partial = Sample(here.method, here.dataset.under(lambda space: space.only(a=[0])), size=5, seed=0)
    with pytest.raises(Missing, match="not every combination"):
        _ = partial.space
    plain = Sample(here.method, Dataset(torch.zeros(9, *SHAPE), name="mine", white=1), size=5, seed=0)
    with pytest.raises(Missing, match="no known factors"):
        _ = plain.factors


def test_a_conditional_method_is_given_the_known_nuisances() -> None:
    here = sample(label="a", nuisances=("b", "c"))
    method = here.method = make(VFAE).float()
    given = torch.from_numpy(here.nuisances)
    method.nuisances.see(given)
    with torch.no_grad():
        x = here.dataset.observe(here._rows)
        expected, blind = method.encode(x, given), method.encode(x)
        predicted = method.predict(x, given).argmax(1)
    assert_close(here.whole_codes, expected.numpy(), rtol=1e-4, atol=1e-5)
    assert (here.whole_codes != blind.numpy()).any()
    assert here.predictions.tolist() == predicted.tolist()


def test_arrays_have_what_they_were_given() -> None:
    arrays = Arrays(np.zeros((3, 2)), np.ones((3, 1)))
    assert arrays.factors.shape == (3, 1)
    with pytest.raises(Missing, match="hold no labels"):
        _ = arrays.labels
    with pytest.raises(ValueError, match="Arrays have no strands"):
        arrays.of_strand("salient")


def contrast_sample() -> Sample:
    torch.manual_seed(0)
    x, y = torch.randint(0, 256, (2, 60, *SHAPE), dtype=torch.uint8)
    other = Dataset(y[:30], name="background")
    space = FactorSpace({"kind": 3})
    kinds = torch.arange(60) % 3
    data = Dataset(
        x,
        name="target",
        space=space,
        combinations=kinds,
        label="kind",
        value_names={"kind": ("p", "q", "r")},
        background=other,
    )
    return Sample(make(ContrastVAE).float(), data, size=0, seed=0)


def test_background_codes_are_of_the_strand() -> None:
    here = contrast_sample().of_strand("common")
    assert here.codes.shape == (60, 2) and here.background_codes.shape == (30, 2)
    assert here.dataset.background is not None
    with torch.no_grad():
        expected = here.method.encode(here.dataset.background.observe(torch.arange(30)))[:, :2]
    assert_close(here.background_codes, expected.numpy())
    assert here.of_strand("salient").background_codes.shape == (30, 2)
    assert not np.array_equal(here.of_strand("salient").background_codes, here.background_codes)


def test_drawn_codes_scatter_about_the_means_as_their_posteriors_say() -> None:
    here = contrast_sample().of_strand("salient")
    mean, logvar = (part[:, 2:] for part in here.posterior)
    noise = (here.drawn_codes - mean) / np.exp(0.5 * logvar)
    assert abs(noise.mean()) < 0.3 and 0.7 < noise.std() < 1.3
    assert_close(here.drawn_codes, contrast_sample().of_strand("salient").drawn_codes)
    assert here.background_drawn_codes.shape == (30, 2)


def test_target_and_background_are_drawn_with_noise_of_their_own() -> None:
    """The same noise for both would bring their codes together, whatever the method did."""
    here = contrast_sample()
    mean, logvar = here.background.posterior
    beside = (here.background_drawn_codes - mean[:, 2:]) / np.exp(0.5 * logvar[:, 2:])
    mean, logvar = here.posterior
    own = (here.drawn_codes - mean[:, 2:]) / np.exp(0.5 * logvar[:, 2:])
    assert abs(np.corrcoef(own[:30].ravel(), beside.ravel())[0, 1]) < 0.4  # 60 numbers: three spreads


def test_class_names_and_a_missing_background_are_said() -> None:
    assert contrast_sample().class_names == ("p", "q", "r")
    with pytest.raises(Missing, match="noise has no background to compare with"):
        _ = sample().background_codes
    with pytest.raises(Missing, match="have no names"):
        _ = sample(label="a").class_names


def test_values_with_names_are_classes_and_sizes_need_not_all_occur() -> None:
    here = sample(label="a", value_names={"c": list("vwxyz")})
    assert here.kinds == ("discrete", "continuous", "discrete")
    partial = Sample(here.method, here.dataset.under(lambda space: space.only(a=[0, 1])), size=5, seed=0)
    assert partial.sizes == (3, 4, 5)


def test_features_are_blocks_or_single_codes() -> None:
    here = sample()
    assert here.blocks is None and here.features == {f"code {j}": (j,) for j in range(CODES)}
    method = make(Intervention, features=2, dimensions=2).float()
    blocked = Sample(method, here.dataset, size=5, seed=0)
    assert blocked.blocks == blocked.features == {"z0": (0, 1), "z1": (2, 3)}
    assert blocked.of_strand("z0").features == {"code 0": (0,), "code 1": (1,)}
    noisy = Sample(make(InfoGAN).float(), here.dataset, size=5, seed=0)
    assert list(noisy.features.values()) == [(0,), (1,), (2,)]  # not the noise


def test_the_variance_is_that_of_the_observations_summed_over_pixels() -> None:
    here = sample()
    x = here.dataset.observe(here._rows)
    assert_close(here.variance, float(x.double().var(0, correction=0).sum()))


def test_codes_are_decoded_where_they_can_be() -> None:
    here = sample()
    decoded = here.generate(here.whole_codes)
    with torch.no_grad():
        assert_close(decoded, here.method.decode(torch.from_numpy(here.whole_codes)).numpy())
    with pytest.raises(Missing, match="vfae does not decode codes alone"):
        _ = Sample(make(VFAE).float(), here.dataset, size=5, seed=0).generate
