"""UAI's disentanglers, src/unbraid/nn/disentanglers.py."""

import torch
from torch.testing import assert_close

from unbraid.nn import Disentanglers


def test_each_strand_is_predicted_from_the_other_alone() -> None:
    network, e1, e2 = Disentanglers(2, 3), torch.randn(4, 2), torch.randn(4, 3)
    guess1, guess2 = network(e1, e2)
    assert guess1.shape == (4, 2) and guess2.shape == (4, 3)
    layer = network.to_second[0]
    assert_close(guess2, (e1 @ layer.weight.T + layer.bias).tanh())  # type: ignore[operator]
    assert_close(network(e1 + 1, e2)[0], guess1)
    assert_close(network(e1, e2 + 1)[1], guess2)
