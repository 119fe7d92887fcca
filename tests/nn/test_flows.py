"""Flows are invertible and keep volumes, src/unbraid/nn/flows.py."""

import pytest
import torch
from torch import Tensor
from torch.func import jacrev, vmap
from torch.testing import assert_close

from unbraid.nn.flows import Flow, ImageFlow, RowFlow, disable_tf32, flow_for


def shaken(flow: Flow, by: float = 0.3) -> Flow:
    """The flow in float64, far from the identity."""
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in flow.parameters():
            parameter.add_(by * torch.randn_like(parameter))
    return flow.double()


def flows() -> dict[str, Flow]:
    torch.manual_seed(0)
    return {
        "rows": shaken(RowFlow((10,))),
        "odd": shaken(RowFlow((7,), blocks=3)),
        "rotations": shaken(RowFlow((10,), mixing="rotation")),
        "flat images": shaken(RowFlow((1, 3, 3), blocks=2)),
        "images": shaken(ImageFlow((1, 8, 8), widths=(4, 4)), 0.1),
        "color": shaken(ImageFlow((3, 4, 4), blocks=(1, 2, 1), widths=(4, 4)), 0.1),
    }


def observations(flow: Flow, size: int = 5) -> Tensor:
    return torch.rand(size, *flow.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(2))


@pytest.mark.parametrize("name", flows())
def test_the_inverse_undoes_the_flow(name: str) -> None:
    flow = flows()[name]
    x = observations(flow)
    z = flow(x)
    assert z.shape == (len(x), flow.latent_dim) and (z - x.flatten(1)).abs().max() > 0.1
    assert_close(flow.inverse(z), x, rtol=0, atol=1e-10)
    assert_close(flow(flow.inverse(z)), z, rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", flows())
def test_the_jacobian_s_determinant_is_one(name: str) -> None:
    flow = flows()[name]
    x = observations(flow, 3)
    jacobian = vmap(jacrev(lambda row: flow(row[None])[0]))(x).flatten(2)
    sign, logarithm = torch.linalg.slogdet(jacobian)
    rounding = 1e-5 if name == "rotations" else 1e-9  # rotations are stored in float32
    assert_close(logarithm, torch.zeros_like(logarithm), rtol=0, atol=rounding)
    assert (sign.abs() == 1).all()


def test_without_volume_preservation_volumes_change() -> None:
    torch.manual_seed(0)
    flow = shaken(RowFlow((4,), volume_preserving=False))
    x = observations(flow)
    _, logarithm = torch.linalg.slogdet(vmap(jacrev(lambda row: flow(row[None])[0]))(x))
    assert logarithm.abs().max() > 0.1
    assert_close(flow.inverse(flow(x)), x, rtol=0, atol=1e-10)


def test_float_images_come_back_to_a_ten_thousandth() -> None:
    torch.manual_seed(0)
    flow = ImageFlow((1, 28, 28))
    with torch.no_grad():
        for parameter in flow.parameters():
            parameter.add_(0.02 * torch.randn_like(parameter))
    x = torch.rand(4, 1, 28, 28)
    assert_close(flow.inverse(flow(x)), x, rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", flows())
def test_every_parameter_gets_a_gradient(name: str) -> None:
    flow = flows()[name]
    loss = flow(observations(flow)).std(0).log().sum()
    assert all(gradient.any() for gradient in torch.autograd.grad(loss, list(flow.parameters())))


def test_a_flow_starts_as_the_identity_in_another_order() -> None:
    torch.manual_seed(0)
    for flow in (RowFlow((10,)), ImageFlow((1, 8, 8))):
        x = torch.rand(3, *flow.shape)
        assert_close(flow(x).sort(1).values, x.flatten(1).sort(1).values)
        assert not torch.equal(flow(x), x.flatten(1))


def test_sizes_are_those_of_the_published_code() -> None:
    flow = ImageFlow((1, 28, 28))
    assert [len(stage) for stage in flow.stages] == [4, 4] and len(flow.flat) == 2  # type: ignore[arg-type]
    convolution = 4 * 2 * (2 * 16 * 9 + 16 + 16 * 16 * 9 + 16 + 16 * 4 * 9 + 4)
    convolution += 4 * 2 * (8 * 32 * 9 + 32 + 32 * 32 * 9 + 32 + 32 * 16 * 9 + 16)
    full = 2 * 2 * (392 * 392 + 392 + 392 * 392 + 392 + 392 * 784 + 784)
    assert sum(parameter.numel() for parameter in flow.parameters()) == convolution + full


def test_flows_work_under_vmap() -> None:
    flow = shaken(RowFlow((6,), blocks=2))
    x = torch.rand(3, 4, 6, dtype=torch.float64)
    assert_close(vmap(flow)(x), torch.stack([flow(rows) for rows in x]))


def test_the_shape_chooses_the_flow() -> None:
    assert isinstance(flow_for((1, 28, 28), "conv"), ImageFlow)
    assert isinstance(flow_for((10,), "conv"), RowFlow)
    assert isinstance(flow_for((1, 3, 3), "mlp"), RowFlow)


def test_the_architecture_chooses_rotations() -> None:
    for shape, architecture, mixing in (
        ((10,), "conv", "permutation"),
        ((10,), "mlp-rotations", "rotation"),
        ((1, 4, 4), "mlp-rotations", "rotation"),
    ):
        flow = flow_for(shape, architecture)
        assert isinstance(flow, RowFlow)
        assert {block.mixing for block in flow.blocks} == {mixing}


def test_a_flow_with_rotations_starts_as_a_rotation() -> None:
    torch.manual_seed(0)
    x = torch.rand(3, 10)
    z = RowFlow((10,), mixing="rotation")(x)
    assert_close(z @ z.t(), x @ x.t())
    assert (z[:, :, None] - x[:, None]).abs().min() > 1e-6  # every dimension is mixed with others


def test_bad_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"multiples of 4; got \(1, 30, 28\)\. Crop or resize"):
        ImageFlow((1, 30, 28))
    with pytest.raises(ValueError, match="at least 2 dimensions and at least 1 block; got 1 and 8"):
        RowFlow((1,))
    with pytest.raises(ValueError, match=r"requires observations of shape \(10,\); got \(9,\)"):
        RowFlow((10,))(torch.rand(2, 9))


def test_coupling_agrees_with_freia() -> None:
    """The same weights and order in FrEIA's GIN block, with the soft clamp of GIN's own code."""
    modules = pytest.importorskip("FrEIA.modules", reason="FrEIA is not installed: pip install FrEIA")
    torch.manual_seed(0)
    flow = shaken(RowFlow((6,), blocks=1))
    block = flow.blocks[0]
    peer = modules.GINCouplingBlock(
        [(6,)],
        subnet_constructor=lambda before, after: torch.nn.Sequential(
            torch.nn.Linear(before, 10),
            torch.nn.ReLU(),
            torch.nn.Linear(10, 10),
            torch.nn.ReLU(),
            torch.nn.Linear(10, after),
        ),
        clamp=2.0,
        clamp_activation=lambda r: 2 / torch.pi * torch.atan(r / 2),
    ).double()
    peer.subnet2.load_state_dict(block.to_first.state_dict())
    peer.subnet1.load_state_dict(block.to_second.state_dict())
    x = observations(flow)
    (expected,), determinant = peer([x])
    assert_close(flow(x), expected[:, block.order])
    assert_close(torch.as_tensor(determinant).double().max().item(), 0.0)  # it gives one number for all


def test_an_exact_pass_leaves_the_precision_as_it_was() -> None:
    before = torch.backends.cudnn.allow_tf32
    with disable_tf32():
        assert not torch.backends.cudnn.allow_tf32 and not torch.backends.cuda.matmul.allow_tf32
    assert torch.backends.cudnn.allow_tf32 == before
