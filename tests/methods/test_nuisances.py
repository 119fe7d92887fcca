"""Known nuisances as vectors, src/unbraid/methods/nuisances.py."""

import pytest
import torch
from torch.testing import assert_close

from unbraid.methods import CAI, CVIB, VFAE
from unbraid.methods.assemble import assemble
from unbraid.methods.base import Method
from unbraid.methods.nuisances import KnownNuisances, beside, known_nuisances
from unbraid.types import Batch


def test_one_hots_side_by_side() -> None:
    known = KnownNuisances((2, 3))
    values = torch.tensor([[0, 2], [1, 0]])
    found = known(known.see(values), torch.zeros(2, 1))
    assert found.tolist() == [[1, 0, 0, 0, 1], [0, 1, 1, 0, 0]]


def test_what_training_has_not_shown_is_the_zero_vector() -> None:
    """A value that never came up, one beyond those counted, one below, and none at all."""
    known = KnownNuisances((2, 3))
    known.see(torch.tensor([[0, 2]]))
    found = known(torch.tensor([[1, 2], [7, 2], [-1, 0]]), torch.zeros(3, 1))
    assert found.tolist() == [[0, 0, 0, 0, 1], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]]
    assert known(None, torch.zeros(3, 1)).tolist() == [[0] * 5] * 3


def test_what_was_seen_is_kept_with_the_weights() -> None:
    known, other = KnownNuisances((2,)), KnownNuisances((2,))
    known.see(torch.tensor([[1]]))
    other.load_state_dict(known.state_dict())
    assert other.seen.tolist() == [False, True]


def test_vectors_stand_beside_rows_and_images() -> None:
    s = torch.tensor([[1.0, 0.0]])
    assert_close(beside(torch.tensor([[5.0]]), s), torch.tensor([[5.0, 1.0, 0.0]]))
    wide = beside(torch.zeros(1, 3, 2, 2), s)
    assert wide.shape == (1, 5, 2, 2) and wide[0, 3].tolist() == [[1, 1], [1, 1]] and not wide[0, 4].any()


@pytest.mark.parametrize("cls", [CAI, CVIB, VFAE], ids=lambda cls: cls.name())
def test_data_without_nuisances_are_refused_in_one_sentence(cls: type[Method]) -> None:
    with pytest.raises(
        ValueError, match=rf"^{cls.name()} removes known nuisances .* data names none: use .*\.$"
    ):
        assemble(cls, (1, 28, 28), n=10, classes=3)


def test_a_batch_without_nuisances_is_refused() -> None:
    with pytest.raises(ValueError, match="the batch has none: use a dataset that names them"):
        known_nuisances(Batch(torch.zeros(1, 2)))
