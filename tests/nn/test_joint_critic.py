"""A critic of observations and codes, src/unbraid/nn/joint_critic.py."""

import pytest
import torch
from torch.testing import assert_close

from unbraid.nn import ConvEncoder, JointCritic, MLPEncoder
from unbraid.settings import from_json, to_json


@pytest.mark.parametrize("shape", [(3, 28, 28), (1, 5, 5), (7,)])
def test_two_logits_from_both(shape: tuple[int, ...]) -> None:
    critic = JointCritic(shape, 4, width=32)
    assert isinstance(critic.features, ConvEncoder if shape[-1] == 28 else MLPEncoder)
    x, z = torch.rand(6, *shape), torch.randn(6, 4)
    logits = critic(x, z)
    assert logits.shape == (6, 2)
    assert not torch.equal(critic(x.flip(0), z), logits) and not torch.equal(critic(x, z.flip(0)), logits)


def test_a_run_folder_can_name_it() -> None:
    critic = JointCritic((7,), 4, width=16)
    again = from_json(to_json(critic))
    again.load_state_dict(critic.state_dict())
    x, z = torch.rand(3, 7), torch.randn(3, 4)
    assert_close(again(x, z), critic(x, z))
