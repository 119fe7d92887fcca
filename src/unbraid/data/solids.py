"""Intersections of rays with solids, in closed form.

Each solid stands on the floor y = 0 with its axis on the y axis. A function takes rays that start outside it,
with directions of length 1, and returns the distance of each to the solid (infinity for a miss) and the outward normal
there. Vector components are on the first axis.
"""

import torch
from jaxtyping import Float
from torch import Tensor

Vectors = Float[Tensor, "3 *#rays"]  # origins and directions can be broadcast
Lengths = Float[Tensor, "*#rays"]
Hit = tuple[Float[Tensor, "*rays"], Float[Tensor, "3 ..."]]


def ray_cube(origin: Vectors, direction: Vectors, *, side: float) -> Hit:
    """A cube whose faces are orthogonal to the axes."""
    half = side / 2
    slope = away_from_zero(direction)
    middle = torch.stack([-origin[0], half - origin[1], -origin[2]])
    near, far = middle / slope - half / slope.abs(), middle / slope + half / slope.abs()
    entry, face = near.max(0)
    met = (entry < far.amin(0)) & (entry > 0)
    normal = torch.zeros_like(near).scatter_(0, face[None], 1.0) * -slope.sign()
    return entry.masked_fill(~met, torch.inf), normal


def ray_cylinder(origin: Vectors, direction: Vectors, *, radius: float, height: float) -> Hit:
    """An upright cylinder with flat ends: the intersection of an infinite cylinder and a slab."""
    entry, leave = _infinite_cylinder(origin, direction, radius)
    slope = away_from_zero(direction[1])
    middle, half = (height / 2 - origin[1]) / slope, height / 2 / slope.abs()
    distance = torch.maximum(entry, middle - half)
    met = (distance < torch.minimum(leave, middle + half)) & (distance > 0)
    at_end = middle - half > entry
    x, _, z = _along(origin, direction, entry) / radius
    normal = torch.stack(
        [x.masked_fill(at_end, 0.0), torch.where(at_end, -slope.sign(), 0.0), z.masked_fill(at_end, 0.0)]
    )
    return distance.masked_fill(~met, torch.inf), normal


def ray_sphere(origin: Vectors, direction: Vectors, *, radius: float, center: float | None = None) -> Hit:
    """A ball with its center at the given height; by default it touches the floor."""
    height = radius if center is None else center
    start = torch.stack([origin[0], origin[1] - height, origin[2]])
    along = (start * direction).sum(0)
    root = along.square() - start.square().sum(0) + radius**2
    distance = -along - root.clamp(min=0).sqrt()
    distance = distance.masked_fill((root < 0) | (distance <= 0), torch.inf)
    return distance, _along(start, direction, distance) / radius


def ray_capsule(origin: Vectors, direction: Vectors, *, radius: float, height: float) -> Hit:
    """An upright cylinder with round ends: the nearest of its side and two balls."""
    distance, leave = _infinite_cylinder(origin, direction, radius)
    x, y, z = _along(origin, direction, distance)
    met = (distance < leave) & (distance > 0) & (y >= radius) & (y <= height - radius)
    distance = distance.masked_fill(~met, torch.inf)
    normal = torch.stack([x, torch.zeros_like(y), z]) / radius
    for center in (radius, height - radius):
        nearer, at = ray_sphere(origin, direction, radius=radius, center=center)
        normal = torch.where(nearer < distance, at, normal)
        distance = torch.minimum(distance, nearer)
    return distance, normal


def _infinite_cylinder(origin: Vectors, direction: Vectors, radius: float) -> tuple[Lengths, Lengths]:
    """Where rays enter and leave an infinite upright cylinder; the entry is infinite for a miss."""
    x, _, z = origin
    dx, _, dz = direction
    square = (dx * dx + dz * dz).clamp(min=1e-12)
    along = x * dx + z * dz
    root = along.square() - square * (x * x + z * z - radius**2)
    half = root.clamp(min=0).sqrt()
    return ((-along - half) / square).masked_fill(root < 0, torch.inf), (-along + half) / square


def _along(origin: Vectors, direction: Vectors, distance: Lengths) -> Vectors:
    """The points at a distance along the rays; the origin if the distance is infinite."""
    return origin + distance.masked_fill(distance.isinf(), 0.0) * direction


def away_from_zero(values: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """The values with zeros replaced by 1e-9, for division."""
    return torch.where(values.abs() < 1e-9, 1e-9, values)
