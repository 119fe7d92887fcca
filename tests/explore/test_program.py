"""What steps mean, src/unbraid/explore/program.py."""

import torch
from torch.testing import assert_close

from unbraid.explore.program import Op, Program


def test_steps_follow_one_another_by_name() -> None:
    """relu([1, -2] · [[1, 0], [0, 3]] + [1, 1]) = relu([2, -5]) = [2, 0]."""
    constants = {"w": torch.tensor([[1.0, 0.0], [0.0, 3.0]]), "b": torch.ones(2)}
    steps = (
        Op("product", "multiply", ("codes", "w"), (1, 2), {}),
        Op("sum", "add", ("product", "b"), (1, 2), {}),
        Op("out", "relu", ("sum",), (2, 1), {}),
    )
    program = Program({"latent_dim": 2}, constants, steps, "out")
    assert_close(program.run(torch.tensor([[1.0, -2.0]])), torch.tensor([[2.0], [0.0]]))


def test_what_is_given_is_a_value_too() -> None:
    steps = (Op("out", "equal", ("condition", "two"), (1, 1), {}),)
    program = Program({"latent_dim": 1, "condition": 1}, {"two": torch.tensor([2.0])}, steps, "out")
    for value in (1, 2):
        out = program.run(torch.zeros(1, 1), torch.tensor([[value]]))
        assert_close(out, torch.tensor([[float(value == 2)]]))


def test_patches_lie_where_they_came_from() -> None:
    """Patches of an image of ones, laid back, count in how many patches each pixel is."""
    how = {"kernel": 3, "stride": 1, "padding": 1}
    steps = (
        Op("patches", "unfold", ("codes",), (9, 9), how),
        Op("back", "fold", ("patches",), (1, 1, 3, 3), {"sides": [3, 3], **how}),
    )
    back = Program({"latent_dim": 9}, {}, steps, "back").run(torch.ones(1, 1, 3, 3))
    assert_close(back[0, 0], torch.tensor([[4.0, 6.0, 4.0], [6.0, 9.0, 6.0], [4.0, 6.0, 4.0]]))
