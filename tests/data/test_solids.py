"""Rays against solids, checked against marching in small steps, src/unbraid/data/solids.py."""

from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from unbraid.data.solids import ray_capsule, ray_cube, ray_cylinder, ray_sphere

SIDE, RADIUS, HEIGHT = 1.2, 0.5, 1.6


def in_cube(point: Tensor) -> Tensor:
    x, y, z = point
    return torch.stack([x.abs(), (y - SIDE / 2).abs(), z.abs()]).amax(0) - SIDE / 2


def in_cylinder(point: Tensor) -> Tensor:
    x, y, z = point
    return torch.maximum(torch.hypot(x, z) - RADIUS, (y - HEIGHT / 2).abs() - HEIGHT / 2)


def in_sphere(point: Tensor) -> Tensor:
    x, y, z = point
    return (x**2 + (y - RADIUS) ** 2 + z**2).sqrt() - RADIUS


def in_capsule(point: Tensor) -> Tensor:
    x, y, z = point
    return (x**2 + (y - y.clamp(RADIUS, HEIGHT - RADIUS)) ** 2 + z**2).sqrt() - RADIUS


SOLIDS = {
    "cube": (partial(ray_cube, side=SIDE), in_cube),
    "cylinder": (partial(ray_cylinder, radius=RADIUS, height=HEIGHT), in_cylinder),
    "sphere": (partial(ray_sphere, radius=RADIUS), in_sphere),
    "capsule": (partial(ray_capsule, radius=RADIUS, height=HEIGHT), in_capsule),
}
solids = pytest.mark.parametrize(("meet", "outside"), SOLIDS.values(), ids=SOLIDS)
Meet = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
Outside = Callable[[Tensor], Tensor]


def rays(count: int = 400) -> tuple[Tensor, Tensor]:
    """Rays from a sphere about the solid towards points near it, so that some miss."""
    generator = torch.Generator().manual_seed(0)
    origin = torch.randn(3, count, generator=generator, dtype=torch.float64)
    origin = 4 * origin / origin.norm(dim=0)
    target = torch.rand(3, count, generator=generator, dtype=torch.float64) * 2 - 0.8
    direction = target - origin
    return origin, direction / direction.norm(dim=0)


@solids
def test_a_hit_is_the_first_point_on_the_surface(meet: Meet, outside: Outside) -> None:
    origin, direction = rays()
    distance, _ = meet(origin, direction)
    met = distance.isfinite()
    assert 50 < int(met.sum()) < 350
    origin, direction, distance = origin[:, met], direction[:, met], distance[met]
    zero = torch.zeros_like(distance)
    assert_close(outside(origin + distance * direction), zero, atol=1e-9, rtol=0)
    for part in torch.linspace(0, 0.999, 50, dtype=torch.float64):
        assert bool((outside(origin + part * distance * direction) > 0).all())


@solids
def test_a_miss_never_enters(meet: Meet, outside: Outside) -> None:
    origin, direction = rays()
    missed = meet(origin, direction)[0].isinf()
    for far in torch.linspace(0, 10, 2_000, dtype=torch.float64):
        assert bool((outside(origin + far * direction)[missed] > -1e-3).all())


@solids
def test_normals_are_the_slope_of_the_surface(meet: Meet, outside: Outside) -> None:
    origin, direction = rays()
    distance, normal = meet(origin, direction)
    met = distance.isfinite()
    point = (origin + distance.nan_to_num(posinf=0.0) * direction)[:, met].requires_grad_()
    (slope,) = torch.autograd.grad(outside(point).sum(), point)
    assert_close(normal[:, met], slope, atol=1e-6, rtol=0)


@solids
def test_rays_that_go_away_meet_nothing(meet: Meet, outside: Outside) -> None:
    origin, _ = rays()
    distance, _ = meet(origin, origin / origin.norm(dim=0))
    assert bool(distance.isinf().all())


@solids
def test_rays_along_the_axes_are_met(meet: Meet, outside: Outside) -> None:
    origin = torch.tensor([[0.0, 5.0, 0.0], [-5.0, 0.4, 0.0], [0.0, 0.4, 5.0]], dtype=torch.float64).T
    direction = torch.tensor([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]], dtype=torch.float64).T
    distance, normal = meet(origin, direction)
    assert_close(
        outside(origin + distance * direction), torch.zeros(3, dtype=torch.float64), atol=1e-9, rtol=0
    )
    assert bool(((normal * direction).sum(0) < 0).all())


def test_a_short_capsule_is_a_sphere() -> None:
    origin, direction = rays()
    short, ball = (
        ray_capsule(origin, direction, radius=RADIUS, height=2 * RADIUS),
        ray_sphere(origin, direction, radius=RADIUS),
    )
    assert_close(short[0], ball[0])
