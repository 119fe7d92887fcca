"""How layers are divided into programs, src/unbraid/nn/conv_launch.py."""

import itertools

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from tests.triton_device import DEVICE, require_kernels

require_kernels()

from unbraid.nn import conv_launch  # noqa: E402
from unbraid.nn.conv_launch import GradientLaunch, Launch  # noqa: E402


def maps(side: int, channels: int) -> Tensor:
    return torch.randn(2, 3, side, side, channels, device=DEVICE)


@pytest.mark.parametrize("rows", [16, 64])  # 27 rows: the last block has rows that do not exist
@pytest.mark.parametrize("inner", [16, 64])  # 144 and 400 products: the last step has some that do not exist
def test_every_division_of_a_product_gives_the_same_maps(rows: int, inner: int) -> None:
    launch = Launch(rows, 16, inner, 4, 1)
    weight = torch.randn(2, 32, 4, 4, 16, device=DEVICE)
    fine, coarse, image = maps(6, 16), maps(3, 32), torch.randn(2, 32, 4, 4, 3, device=DEVICE)
    for function, arguments in (
        (conv_launch.down, (fine, weight, None, coarse, 0.2, 0.5)),
        (conv_launch.up, (coarse, weight, None, fine, 0.2, 0.5)),
        (conv_launch.up, (coarse, image, None, maps(6, 3), 0.2, 0.5)),
        (conv_launch.down, (maps(6, 3), image, None, coarse, 0.2, 0.5)),
    ):
        inside = min(inner, 32) if function is conv_launch.up and arguments[1] is image else inner
        assert_close(
            function(*arguments, launch._replace(inner=inside)), function(*arguments), rtol=1e-4, atol=1e-4
        )


@pytest.mark.parametrize("parts", [1, 2, 5])  # of 27 positions, 5 parts of 16 leave three without any
def test_the_sum_over_positions_does_not_depend_on_its_parts(parts: int) -> None:
    coarse, fine = maps(3, 32), maps(6, 16)
    total = conv_launch.weight_gradient(coarse, fine, 4, 1.0, 0.2, 1).sum(0)
    launch = GradientLaunch(32, 64, 16, 32 if parts == 1 else 16, 4, 1)
    divided = conv_launch.weight_gradient(coarse, fine, 4, 1.0, 0.2, parts, launch)
    assert len(divided) == parts
    assert_close(divided.sum(0), total, rtol=1e-4, atol=1e-4)
    weights, over_coarse, _ = conv_launch.part_sizes(32, 16, 4)
    assert_close(total[:, weights : weights + over_coarse], coarse.sum((1, 2, 3)), rtol=1e-4, atol=1e-4)


def test_large_layers_fill_the_device_and_small_ones_are_divided_further() -> None:
    for rows, columns, models in itertools.product((1024, 4096, 65536), (32, 64, 128), (1, 8)):
        launch = conv_launch.product_launch(rows, columns, 512, models)
        programs = -(-rows // launch.rows) * -(-columns // launch.columns) * models
        assert programs >= conv_launch.PROCESSORS or launch.rows == 16
        assert launch.columns <= max(columns, 16)
    small, large = (
        conv_launch.product_launch(1024, 64, 1024, 1),
        conv_launch.product_launch(65536, 64, 1024, 8),
    )
    assert small.rows * small.columns < large.rows * large.columns


@pytest.mark.parametrize("side", [1, 4, 32])
@pytest.mark.parametrize("models", [1, 8])
def test_parts_of_a_gradient_cover_all_positions(side: int, models: int) -> None:
    coarse = torch.empty(models, 64, side, side, 64, device="meta")
    fine = torch.empty(models, 64, 2 * side, 2 * side, 32, device="meta")
    parts = conv_launch.gradient_parts(coarse, fine, 4)
    launch = conv_launch.gradient_launch(coarse, fine, 4, parts)
    assert parts * launch.per_part >= 64 * side * side and launch.per_part % launch.pixels == 0
    assert parts == 1 or side > 1


def test_products_are_rounded_as_those_of_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    assert conv_launch._precision() == ("tf32" if torch.backends.cudnn.allow_tf32 else "ieee")
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)
    assert conv_launch._precision() == "ieee"
