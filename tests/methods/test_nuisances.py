"""Known nuisances as vectors, src/unbraid/methods/nuisances.py."""

import pytest
import torch
from torch.testing import assert_close

from unbraid.methods import CAI, CVIB, VFAE
from unbraid.methods.base import Method, build_method
from unbraid.methods.nuisances import KnownNuisances, concat_nuisances, known_nuisances
from unbraid.types import Batch


def test_one_hots_side_by_side() -> None:
    known = KnownNuisances((2, 3))
    values = torch.tensor([[0, 2], [1, 0]])
    found = known(known.record_values(values), torch.zeros(2, 1))
    assert found.tolist() == [[1, 0, 0, 0, 1], [0, 1, 1, 0, 0]]


def test_values_not_seen_in_training_are_the_zero_vector() -> None:
    """A value that never came up, one beyond those counted, one below, and none at all."""
    known = KnownNuisances((2, 3))
    known.record_values(torch.tensor([[0, 2]]))
    found = known(torch.tensor([[1, 2], [7, 2], [-1, 0]]), torch.zeros(3, 1))
    assert found.tolist() == [[0, 0, 0, 0, 1], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]]
    assert known(None, torch.zeros(3, 1)).tolist() == [[0] * 5] * 3


def test_what_was_seen_is_kept_with_the_weights() -> None:
    known, other = KnownNuisances((2,)), KnownNuisances((2,))
    known.record_values(torch.tensor([[1]]))
    other.load_state_dict(known.state_dict())
    assert other.seen.tolist() == [False, True]


def test_vectors_are_concatenated_to_rows_and_images() -> None:
    s = torch.tensor([[1.0, 0.0]])
    assert_close(concat_nuisances(torch.tensor([[5.0]]), s), torch.tensor([[5.0, 1.0, 0.0]]))
    wide = concat_nuisances(torch.zeros(1, 3, 2, 2), s)
    assert wide.shape == (1, 5, 2, 2) and wide[0, 3].tolist() == [[1, 1], [1, 1]] and not wide[0, 4].any()


@pytest.mark.parametrize("cls", [CAI, CVIB, VFAE], ids=lambda cls: cls.name())
def test_data_without_nuisances_are_refused_(cls: type[Method]) -> None:
    with pytest.raises(
        ValueError, match=rf"^{cls.name()} requires known nuisances, and the dataset has none\. Use .*\.$"
    ):
        build_method(cls, (1, 28, 28), n=10, classes=3)


def test_a_batch_without_nuisances_is_refused() -> None:
    with pytest.raises(ValueError, match=r"the batch has none\. Use a dataset with nuisances"):
        known_nuisances(Batch(torch.zeros(1, 2)))
