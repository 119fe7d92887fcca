"""Rendered rooms: 3D Shapes' six factors without a download.

A ray-caster draws a floor, walls and one of four solids. The factors and their sizes are those of 3D Shapes
(Burgess and Kim, 2018): three hues, the solid's scale from 0.75 to 1.25, its shape (cube, cylinder, sphere,
capsule), and where the camera stands on its arc about the solid, from -30° to 30°.
"""

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache

import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.halves import Part, half, named
from unbraid.data.solids import away_from_zero, ray_capsule, ray_cube, ray_cylinder, ray_sphere

SPACE = FactorSpace(
    {"floor_hue": 10, "wall_hue": 10, "object_hue": 10, "scale": 8, "shape": 4, "orientation": 15}
)

# The scene, in units of about the solid's height. The camera looks along +z at angle 0.
CAMERA = (0.0, 2.5, -5.2)
TARGET = (0.0, 0.8, 0.0)
VIEW = math.radians(36)  # the angle that the picture spans
WALL = 3.4  # from the middle of the room to each of its four walls
LIGHT = (-1.6, 5.5, -3.8)
LIGHT_RADIUS = 0.7
CUBE_TURN = math.radians(45)  # so that two of its sides are seen from everywhere
BOUND = (1.05, 1.55)  # height of the middle and radius of a ball that holds every solid
SAMPLES = 2  # rays along each side of a pixel
LAMPS = 12  # points of the light that cast a shadow


def rooms(*, size: int = 64, part: Part = "all", colour_seed: int = 0) -> Dataset:
    """A cube, cylinder, sphere or capsule in a coloured room, rendered on demand.

    Args:
        size: Side of the picture in pixels.
        part: `all` of it, or for invariance the half of the object's hues that trains or the other, that tests.
        colour_seed: Which half is which.
    """
    if size < 8:
        raise ValueError(f"Rooms need a picture of at least 8 pixels a side; got size={size}.")
    space = half(SPACE, "object_hue", part, colour_seed)
    return Dataset(
        RoomRenderer(size), name=named("rooms", part), space=space, label="shape", nuisances=("object_hue",)
    )


@dataclass(frozen=True)
class RoomRenderer:
    """Pictures of factor values (three hues, scale, shape, orientation), on the device of the values.

    A picture is linear in the colours of floor, wall and solid, and what they are multiplied by depends on
    the other three factors alone. So the 480 scenes are ray-cast once, when the first picture is asked for on
    a device, and a picture is a small matrix product. After that nothing waits for the device.
    """

    size: int

    @property
    def shape(self) -> tuple[int, int, int]:
        return (3, self.size, self.size)

    def __call__(self, values: Int[Tensor, "n k"]) -> UInt8[Tensor, "n 3 h w"]:
        scale, shape, orientation = values[:, 3:].unbind(1)
        scenes = cast_scenes(self.size, values.device)
        layers = scenes.flatten(0, 2).index_select(0, (scale * 4 + shape) * 15 + orientation)
        colours = hue_to_rgb(values[:, :3] / 10)  # (n, layers, rgb)
        gloss = torch.ones_like(colours[:, :1])
        pixels = torch.cat([colours, gloss], 1).mT @ layers
        return pixels.mul_(255).round_().clamp_(0, 255).to(torch.uint8).view(-1, *self.shape)


def hue_to_rgb(hue: Float[Tensor, "*n"]) -> Float[Tensor, "*n 3"]:
    """The full, bright colour of a hue in [0, 1), as HSV has it."""
    offset = torch.arange(3, device=hue.device) * -2.0 + 6.0  # red at 0, green at 1/3, blue at 2/3
    ramp = ((hue[..., None] * 6 + offset) % 6 - 3).abs() - 1
    return ramp.clamp(0, 1)


@lru_cache(maxsize=4)
def cast_scenes(size: int, device: torch.device) -> Float[Tensor, "scales shapes orientations layers pixels"]:
    """How brightly floor, wall and solid show in each pixel of each scene, and the solid's gloss."""
    angles = torch.linspace(-30, 30, 15, device=device).deg2rad()
    with torch.no_grad():
        return torch.stack([_cast(size, angle) for angle in angles], 2)


def _cast(size: int, angle: Float[Tensor, ""]) -> Float[Tensor, "scales shapes layers pixels"]:
    """The layers of every solid, seen from one side."""
    scales = torch.linspace(0.75, 1.25, 8, device=angle.device)
    origin, rays = _camera(size * SAMPLES, angle)
    room = _room(origin, rays)
    close = _close(origin, rays)
    rays = rays[:, close]
    # A shadow is soft, so that a ray a pixel is enough for it.
    places, floor_to_light, light = _to_light(*_camera(size, angle))
    layers = torch.zeros(8, 4, 4, size, size, device=angle.device)
    for place, shape in itertools.product(range(8), range(4)):
        distance, normal = _meet(shape, origin, rays, scales[place])
        seen = distance.isfinite()
        surface = origin + distance.masked_fill(~seen, 0.0) * rays
        diffuse, gloss = _light(surface, normal, rays)
        occlusion = 0.75 + 0.25 * (surface[1] / 0.5).clamp(0, 1)  # darker towards the floor
        solid = torch.stack([(0.38 + 0.62 * diffuse) * occlusion, 0.35 * gloss]) * seen
        fine = torch.cat([room, torch.zeros_like(room)]).index_copy_(
            1, close, torch.cat([room[:, close] * ~seen, solid])
        )
        layer = layers[place, shape]
        layer[:] = fine.view(4, size, SAMPLES, size, SAMPLES).mean((2, 4))
        blocked, _ = _meet(shape, floor_to_light, light, scales[place])
        shadow = torch.zeros(size**2, device=angle.device).index_add_(0, places, blocked.isfinite() / LAMPS)
        layer[:2] *= 1 - 0.45 * shadow.view(size, size)
    return layers.flatten(3)


def _close(origin: Float[Tensor, "3 #p"], rays: Float[Tensor, "3 p"]) -> Int[Tensor, " close"]:
    """The numbers of the rays that pass the solid so closely that they may meet it, at any scale."""
    start = origin - origin.new_tensor([[0.0], [BOUND[0]], [0.0]])
    gap = start.square().sum(0) - (start * rays).sum(0).square()
    return (gap < BOUND[1] ** 2).nonzero()[:, 0]


def _camera(size: int, angle: Float[Tensor, ""]) -> tuple[Float[Tensor, "3 1"], Float[Tensor, "3 p"]]:
    """The camera's place on its arc, and a ray through the middle of each of size² pixels."""
    origin = _turn(angle) @ angle.new_tensor(CAMERA)
    ahead = _unit(angle.new_tensor(TARGET) - origin)
    right = _unit(torch.linalg.cross(angle.new_tensor([0.0, 1.0, 0.0]), ahead))
    up = torch.linalg.cross(ahead, right)
    steps = ((torch.arange(size, device=angle.device) + 0.5) / size * 2 - 1) * math.tan(VIEW / 2)
    rays = ahead[:, None, None] + steps * right[:, None, None] - steps[:, None] * up[:, None, None]
    return origin[:, None], _unit(rays).flatten(1)


def _turn(angle: Float[Tensor, ""]) -> Float[Tensor, "3 3"]:
    """A rotation about the y axis."""
    zero, one, cosine, sine = torch.zeros_like(angle), torch.ones_like(angle), angle.cos(), angle.sin()
    return torch.stack([cosine, zero, sine, zero, one, zero, -sine, zero, cosine]).view(3, 3)


def _meet(
    shape: int, origin: Float[Tensor, "3 #p"], rays: Float[Tensor, "3 p"], scale: Float[Tensor, ""]
) -> tuple[Float[Tensor, " p"], Float[Tensor, "3 p"]]:
    """Where rays meet the solid, and the normals there."""
    start = origin / scale
    if shape == 0:
        turn = _turn(scale.new_tensor(CUBE_TURN))
        distance, normal = ray_cube(turn.T @ start, turn.T @ rays, side=1.25)
        normal = turn @ normal
    elif shape == 1:
        distance, normal = ray_cylinder(start, rays, radius=0.62, height=1.35)
    elif shape == 2:
        distance, normal = ray_sphere(start, rays, radius=0.74)
    else:
        distance, normal = ray_capsule(start, rays, radius=0.5, height=1.75)
    return distance * scale, normal


def _light(
    points: Float[Tensor, "3 p"], normals: Float[Tensor, "3 p"], rays: Float[Tensor, "3 p"]
) -> tuple[Float[Tensor, " p"], Float[Tensor, " p"]]:
    """How much light falls on a surface (Lambert), and how much it mirrors to the eye (Blinn)."""
    towards = _unit(points.new_tensor(LIGHT)[:, None] - points)
    half = _unit(towards - rays)
    return (normals * towards).sum(0).clamp(min=0), (normals * half).sum(0).clamp(min=0) ** 40


def _unit(vectors: Float[Tensor, "3 ..."]) -> Float[Tensor, "3 ..."]:
    return vectors * vectors.square().sum(0).rsqrt()


def _room(origin: Float[Tensor, "3 1"], rays: Float[Tensor, "3 p"]) -> Float[Tensor, "2 p"]:
    """How brightly the empty room shows along each ray: as floor, and as wall."""
    points, normals = _background(origin, rays)
    diffuse, _ = _light(points, normals, rays)
    # Corners get less light from the rest of the room: darker towards each edge where two planes meet.
    gaps = torch.stack([WALL - points[0].abs(), points[1], WALL - points[2].abs()])
    gap = gaps.masked_fill(normals != 0, torch.inf).amin(0)
    brightness = (0.42 + 0.58 * diffuse) * (1 - 0.22 * torch.exp(-gap / 0.45))
    floor = normals[1] > 0
    return torch.stack([brightness * floor, brightness * ~floor])


def _background(
    origin: Float[Tensor, "3 1"], rays: Float[Tensor, "3 p"]
) -> tuple[Float[Tensor, "3 p"], Float[Tensor, "3 p"]]:
    """The point of floor or wall that each ray reaches, and the normal there."""
    slope = away_from_zero(rays)
    bounds = slope.sign() * WALL
    bounds[1] = 0.0  # the floor; there is no ceiling
    reach = (bounds - origin) / slope
    reach[1] = reach[1].masked_fill(slope[1] >= 0, torch.inf)
    distance, plane = reach.min(0)
    normals = torch.zeros_like(rays).scatter_(0, plane[None], 1.0) * -slope.sign()
    return origin + distance * rays, normals


def _to_light(
    origin: Float[Tensor, "3 1"], rays: Float[Tensor, "3 p"]
) -> tuple[Int[Tensor, " q"], Float[Tensor, "3 q"], Float[Tensor, "3 q"]]:
    """The rays from floor and walls to points of the light that the solid may block, and whose pixel each is.

    The light is a small disc, so that shadows have soft edges.
    """
    points, normals = _background(origin, rays)
    points = points + 1e-3 * normals
    number = torch.arange(LAMPS, device=rays.device)  # a sunflower spreads its seeds evenly over a disc
    radius, turn = LIGHT_RADIUS * ((number + 0.5) / LAMPS).sqrt(), number * math.pi * (3 - math.sqrt(5))
    disc = torch.stack([radius * turn.cos(), torch.zeros_like(radius), radius * turn.sin()])
    lamps = rays.new_tensor(LIGHT)[:, None] + disc
    towards = _unit(lamps[:, :, None] - points[:, None]).flatten(1)
    points = points.repeat(1, LAMPS)
    close = _close(points, towards)
    return close % rays.shape[1], points[:, close], towards[:, close]
