"""Operations on strands, src/unbraid/strands.py."""

import pytest
import torch
from torch.testing import assert_close

from unbraid.strands import Strands, innermost_strands

STRANDS = Strands({"common": [0, 1], "salient": [2], "all": [0, 1, 2, 3]}, size=4, default="salient")


@pytest.fixture
def codes() -> torch.Tensor:
    return torch.arange(12, dtype=torch.float64).view(3, 4)


def test_sizes_give_consecutive_dimensions() -> None:
    strands = Strands.from_sizes(a=2, b=0, c=3)
    assert dict(strands) == {"a": (0, 1), "b": (), "c": (2, 3, 4)}
    assert (strands.size, strands.default, len(strands)) == (5, "a", 3)
    assert Strands.from_sizes(default="c", a=1, c=1).default == "c"


def test_an_index_is_a_strand_of_one_dimension(codes: torch.Tensor) -> None:
    assert STRANDS[3] == STRANDS["3"] == (3,)  # type: ignore[index]
    assert Strands({"3": (0, 1)}, size=4)["3"] == (0, 1)
    assert_close(STRANDS.take(codes, 3), codes[:, 3:])


def test_take_and_set_are_inverse(codes: torch.Tensor) -> None:
    for strand in ("common", "salient", "all", 1):
        assert_close(STRANDS.set(codes, strand, STRANDS.take(codes, strand)), codes)


def test_set_takes_one_row_for_all_or_one_row_per_code(codes: torch.Tensor) -> None:
    one = STRANDS.set(codes, "common", torch.tensor([-1.0, -2.0], dtype=torch.float64))
    assert one[:, :2].tolist() == [[-1, -2]] * 3
    assert_close(one[:, 2:], codes[:, 2:])
    each = STRANDS.set(codes, "salient", torch.tensor([[7.0], [8.0], [9.0]], dtype=torch.float64))
    assert each[:, 2].tolist() == [7, 8, 9]


def test_zero_leaves_the_rest(codes: torch.Tensor) -> None:
    zeroed = STRANDS.zero(codes, "common")
    assert zeroed[:, :2].abs().sum() == 0
    assert_close(zeroed[:, 2:], codes[:, 2:])
    assert STRANDS.mask(codes, "salient").tolist() == [False, False, True, False]


def test_swapping_twice_changes_nothing(codes: torch.Tensor) -> None:
    other = -codes
    a, b = STRANDS.swap(codes, other, "common")
    assert_close(a[:, :2], other[:, :2])
    assert_close(a[:, 2:], codes[:, 2:])
    assert_close(b[:, :2], codes[:, :2])
    for found, expected in zip(STRANDS.swap(a, b, "common"), (codes, other), strict=True):
        assert_close(found, expected)


def test_average_is_the_mean_of_each_group(codes: torch.Tensor) -> None:
    averaged = STRANDS.average(codes, "common", torch.tensor([5, 9, 5]))
    assert averaged[:, :2].tolist() == [[4, 5], [4, 5], [4, 5]]  # rows 0 and 2 average to row 1's values here
    assert_close(averaged[:, 2:], codes[:, 2:])
    alone = STRANDS.average(codes, "all", torch.tensor([1, 2, 3]))
    assert_close(alone, codes)


def test_traverse_sets_each_value(codes: torch.Tensor) -> None:
    values = torch.linspace(-2, 2, 5, dtype=torch.float64)
    traversal = STRANDS.traverse(codes, 3, values)
    assert traversal.shape == (5, 3, 4)
    assert_close(traversal[:, :, 3], values[:, None].expand(5, 3))
    assert_close(traversal[:, :, :3], codes[:, :3].expand(5, 3, 3))
    pairs = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
    assert_close(STRANDS.traverse(codes, "common", pairs)[:, 1, :2], pairs)


def test_shuffle_permutes_the_rows_of_each_strand() -> None:
    strands = Strands.from_sizes(a=2, b=1, c=1)
    codes = torch.arange(400, dtype=torch.float64).view(100, 4)
    shuffled = strands.shuffle(codes, "a", "b")
    assert_close(shuffled[:, 3], codes[:, 3])  # not shuffled
    assert_close(shuffled[:, 1], shuffled[:, 0] + 1)  # strand a moves as a unit
    for column in range(3):
        assert_close(shuffled[:, column].sort().values, codes[:, column])
    assert not torch.equal(shuffled[:, 0] + 2, shuffled[:, 2])  # each by another permutation


def test_gradients_flow_through_codes_and_values(codes: torch.Tensor) -> None:
    codes = codes.requires_grad_()
    values = torch.ones(1, dtype=torch.float64, requires_grad=True)
    STRANDS.set(codes, "salient", values).sum().backward()
    assert codes.grad is not None
    assert values.grad is not None
    assert codes.grad.tolist() == [[1, 1, 0, 1]] * 3
    assert_close(values.grad, torch.tensor([3.0], dtype=torch.float64))


@pytest.mark.parametrize(
    ("mistake", "sentence"),
    [
        (lambda: Strands({"a": [0, 0]}, size=2), "distinct dimensions from 0 to 1"),
        (lambda: Strands({"a": [2]}, size=2), "distinct dimensions from 0 to 1"),
        (lambda: Strands({"a": [0]}, size=2, default="b"), "must be one of a; got 'b'"),
        (lambda: STRANDS["z"], "no strand 'z'; the strands are common, salient, all"),
        (lambda: STRANDS[4], "There is no dimension 4"),
        (lambda: STRANDS[-1], "There is no dimension -1"),
        (lambda: STRANDS.shuffle(torch.zeros(2, 4), "common", "all"), "must be disjoint"),
    ],
)
def test_errors(mistake, sentence: str) -> None:  # noqa: ANN001
    with pytest.raises(ValueError, match=sentence):
        mistake()


def test_innermost_strands_contain_no_other_strand() -> None:
    parts = {"predictive": [0], "known": [1], "unknown": [2], "nuisance": [1, 2], "all": [0, 1, 2]}
    assert innermost_strands(Strands(parts, size=3)) == ("predictive", "known", "unknown")


def test_the_text_of_strands() -> None:
    assert repr(Strands.from_sizes(a=2, b=3)) == "Strands(a: 2, b: 3; default a)"
