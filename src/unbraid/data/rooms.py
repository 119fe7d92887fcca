"""Rendered rooms: the six factors of 3D Shapes without a download.

A ray caster draws a floor, walls and one of four solids. The factors and their sizes are those of 3D Shapes
(Burgess and Kim, 2018): three hues, the solid's scale from 0.75 to 1.25, its shape (cube, cylinder, sphere,
capsule), and the angle of the camera on an arc about the solid, from -30° to 30°.
"""

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache

import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from unbraid.data.dataset import Dataset
from unbraid.data.factor_split import Split, split_factor_values, split_name
from unbraid.data.factors import FactorSpace
from unbraid.data.renderer import GENERATED
from unbraid.data.solids import away_from_zero, ray_capsule, ray_cube, ray_cylinder, ray_sphere

SPACE = FactorSpace(
    {"floor_hue": 10, "wall_hue": 10, "object_hue": 10, "scale": 8, "shape": 4, "orientation": 15}
)
HUES = ("floor_hue", "wall_hue", "object_hue")  # a circle, so that their values have no order

# The scene, in units of about the solid's height. The camera looks along +z at angle 0.
CAMERA = (0.0, 2.5, -5.2)
TARGET = (0.0, 0.8, 0.0)
FIELD_OF_VIEW = math.radians(36)
WALL = 3.4  # from the middle of the room to each of its four walls
LIGHT = (-1.6, 5.5, -3.8)
LIGHT_RADIUS = 0.7
CUBE_ANGLE = math.radians(45)  # so that two sides are visible from every angle
BOUNDING_SPHERE = (1.05, 1.55)  # height of the center and radius; contains every solid at every scale
SAMPLES = 2  # rays along each side of a pixel
LIGHT_POINTS = 12  # points on the light for soft shadows


def rooms(*, image_size: int = 64, split: Split = "all", color_seed: int = 0) -> Dataset:
    """A cube, cylinder, sphere or capsule in a colored room, rendered on demand.

    Args:
        image_size: Side of the images in pixels.
        split: `all`, or one half of the object hues (`train` or `test`), to test invariance.
        color_seed: Random seed for the choice of the two halves of the object hues.
    """
    if image_size < 8:
        raise ValueError(f"Rooms need images with a side of at least 8 pixels; got image_size={image_size}.")
    space = split_factor_values(SPACE, "object_hue", split, color_seed)
    return Dataset(
        RoomRenderer(image_size),
        name=split_name("rooms", split),
        factor_space=space,
        label="shape",
        nuisances=("object_hue",),
        unordered=HUES,
        license=GENERATED,
    )


@dataclass(frozen=True)
class RoomRenderer:
    """Images of factor values (three hues, scale, shape, orientation), on the device of the values.

    An image is linear in the colors of floor, wall and solid, with coefficients that depend only on the other three
    factors. Therefore the 480 scenes are ray-cast once per device, and an image is a small matrix product without
    further synchronization with the device.
    """

    size: int

    @property
    def shape(self) -> tuple[int, int, int]:
        return (3, self.size, self.size)

    def __call__(self, values: Int[Tensor, "n k"]) -> UInt8[Tensor, "n 3 h w"]:
        scale, shape, orientation = values[:, 3:].unbind(1)
        scenes = cast_scenes(self.size, values.device)
        layers = scenes.flatten(0, 2).index_select(0, (scale * 4 + shape) * 15 + orientation)
        colors = hue_to_rgb(values[:, :3] / 10)  # (n, layers, rgb)
        gloss = torch.ones_like(colors[:, :1])
        pixels = torch.cat([colors, gloss], 1).mT @ layers
        return pixels.mul_(255).round_().clamp_(0, 255).to(torch.uint8).view(-1, *self.shape)


def hue_to_rgb(hue: Float[Tensor, "*n"]) -> Float[Tensor, "*n 3"]:
    """The RGB color of a hue in [0, 1), at full saturation and value in HSV."""
    offset = torch.arange(3, device=hue.device) * -2.0 + 6.0  # red at 0, green at 1/3, blue at 2/3
    ramp = ((hue[..., None] * 6 + offset) % 6 - 3).abs() - 1
    return ramp.clamp(0, 1)


@lru_cache(maxsize=4)
def cast_scenes(size: int, device: torch.device) -> Float[Tensor, "scales shapes orientations layers pixels"]:
    """The brightness of floor, wall and solid in each pixel of each scene, and the highlights of the solid."""
    angles = torch.linspace(-30, 30, 15, device=device).deg2rad()
    with torch.no_grad():
        return torch.stack([_render_layers(size, angle) for angle in angles], 2)


def _render_layers(size: int, angle: Float[Tensor, ""]) -> Float[Tensor, "scales shapes layers pixels"]:
    """The layers (floor, wall, solid, highlights) of every solid, seen from one angle."""
    scales = torch.linspace(0.75, 1.25, 8, device=angle.device)
    origin, rays = _camera(size * SAMPLES, angle)
    room = _room_brightness(origin, rays)
    near = _rays_near_solid(origin, rays)
    rays = rays[:, near]
    # Shadows are soft, so one ray per pixel is enough.
    pixels, floor_to_light, light = _to_light(*_camera(size, angle))
    layers = torch.zeros(8, 4, 4, size, size, device=angle.device)
    for index, shape in itertools.product(range(8), range(4)):
        distance, normal = _intersect(shape, origin, rays, scales[index])
        hit = distance.isfinite()
        surface = origin + distance.masked_fill(~hit, 0.0) * rays
        diffuse, gloss = _shade(surface, normal, rays)
        occlusion = 0.75 + 0.25 * (surface[1] / 0.5).clamp(0, 1)  # darker towards the floor
        solid = torch.stack([(0.38 + 0.62 * diffuse) * occlusion, 0.35 * gloss]) * hit
        supersampled = torch.cat([room, torch.zeros_like(room)]).index_copy_(
            1, near, torch.cat([room[:, near] * ~hit, solid])
        )
        layer = layers[index, shape]
        layer[:] = supersampled.view(4, size, SAMPLES, size, SAMPLES).mean((2, 4))
        blocked, _ = _intersect(shape, floor_to_light, light, scales[index])
        shadow = torch.zeros(size**2, device=angle.device).index_add_(
            0, pixels, blocked.isfinite() / LIGHT_POINTS
        )
        layer[:2] *= 1 - 0.45 * shadow.view(size, size)
    return layers.flatten(3)


def _rays_near_solid(origin: Float[Tensor, "3 #p"], rays: Float[Tensor, "3 p"]) -> Int[Tensor, " near"]:
    """The indices of the rays that intersect the bounding sphere of the solids."""
    start = origin - origin.new_tensor([[0.0], [BOUNDING_SPHERE[0]], [0.0]])
    gap = start.square().sum(0) - (start * rays).sum(0).square()
    return (gap < BOUNDING_SPHERE[1] ** 2).nonzero()[:, 0]


def _camera(size: int, angle: Float[Tensor, ""]) -> tuple[Float[Tensor, "3 1"], Float[Tensor, "3 p"]]:
    """The position of the camera on its arc, and a ray through the center of each of size² pixels."""
    origin = _rotation_about_y(angle) @ angle.new_tensor(CAMERA)
    ahead = _normalize(angle.new_tensor(TARGET) - origin)
    right = _normalize(torch.linalg.cross(angle.new_tensor([0.0, 1.0, 0.0]), ahead))
    up = torch.linalg.cross(ahead, right)
    steps = ((torch.arange(size, device=angle.device) + 0.5) / size * 2 - 1) * math.tan(FIELD_OF_VIEW / 2)
    rays = ahead[:, None, None] + steps * right[:, None, None] - steps[:, None] * up[:, None, None]
    return origin[:, None], _normalize(rays).flatten(1)


def _rotation_about_y(angle: Float[Tensor, ""]) -> Float[Tensor, "3 3"]:
    """A rotation about the y axis."""
    zero, one, cosine, sine = torch.zeros_like(angle), torch.ones_like(angle), angle.cos(), angle.sin()
    return torch.stack([cosine, zero, sine, zero, one, zero, -sine, zero, cosine]).view(3, 3)


def _intersect(
    shape: int, origin: Float[Tensor, "3 #p"], rays: Float[Tensor, "3 p"], scale: Float[Tensor, ""]
) -> tuple[Float[Tensor, " p"], Float[Tensor, "3 p"]]:
    """The distances along the rays to the solid (infinity for a miss), and the normals there."""
    start = origin / scale
    if shape == 0:
        rotation = _rotation_about_y(scale.new_tensor(CUBE_ANGLE))
        distance, normal = ray_cube(rotation.T @ start, rotation.T @ rays, side=1.25)
        normal = rotation @ normal
    elif shape == 1:
        distance, normal = ray_cylinder(start, rays, radius=0.62, height=1.35)
    elif shape == 2:
        distance, normal = ray_sphere(start, rays, radius=0.74)
    else:
        distance, normal = ray_capsule(start, rays, radius=0.5, height=1.75)
    return distance * scale, normal


def _shade(
    points: Float[Tensor, "3 p"], normals: Float[Tensor, "3 p"], rays: Float[Tensor, "3 p"]
) -> tuple[Float[Tensor, " p"], Float[Tensor, " p"]]:
    """Diffuse light on a surface (Lambert), and specular light towards the camera (Blinn)."""
    to_light = _normalize(points.new_tensor(LIGHT)[:, None] - points)
    half = _normalize(to_light - rays)
    return (normals * to_light).sum(0).clamp(min=0), (normals * half).sum(0).clamp(min=0) ** 40


def _normalize(vectors: Float[Tensor, "3 ..."]) -> Float[Tensor, "3 ..."]:
    return vectors * vectors.square().sum(0).rsqrt()


def _room_brightness(origin: Float[Tensor, "3 1"], rays: Float[Tensor, "3 p"]) -> Float[Tensor, "2 p"]:
    """The brightness of the empty room along each ray: as floor, and as wall."""
    points, normals = _room_surface(origin, rays)
    diffuse, _ = _shade(points, normals, rays)
    # Corners get less ambient light: darker towards each edge where two planes meet.
    gaps = torch.stack([WALL - points[0].abs(), points[1], WALL - points[2].abs()])
    gap = gaps.masked_fill(normals != 0, torch.inf).amin(0)
    brightness = (0.42 + 0.58 * diffuse) * (1 - 0.22 * torch.exp(-gap / 0.45))
    floor = normals[1] > 0
    return torch.stack([brightness * floor, brightness * ~floor])


def _room_surface(
    origin: Float[Tensor, "3 1"], rays: Float[Tensor, "3 p"]
) -> tuple[Float[Tensor, "3 p"], Float[Tensor, "3 p"]]:
    """The point of floor or wall that each ray reaches, and the normal there."""
    slope = away_from_zero(rays)
    bounds = slope.sign() * WALL
    bounds[1] = 0.0  # the floor; there is no ceiling
    distances = (bounds - origin) / slope
    distances[1] = distances[1].masked_fill(slope[1] >= 0, torch.inf)
    distance, plane = distances.min(0)
    normals = torch.zeros_like(rays).scatter_(0, plane[None], 1.0) * -slope.sign()
    return origin + distance * rays, normals


def _to_light(
    origin: Float[Tensor, "3 1"], rays: Float[Tensor, "3 p"]
) -> tuple[Int[Tensor, " q"], Float[Tensor, "3 q"], Float[Tensor, "3 q"]]:
    """The pixels, origins and directions of rays from floor and walls to the light that the solid may block.

    The light is a small disc, so shadows have soft edges.
    """
    points, normals = _room_surface(origin, rays)
    points = points + 1e-3 * normals
    index = torch.arange(LIGHT_POINTS, device=rays.device)  # a sunflower pattern covers the disc evenly
    radius, angle = LIGHT_RADIUS * ((index + 0.5) / LIGHT_POINTS).sqrt(), index * math.pi * (3 - math.sqrt(5))
    disc = torch.stack([radius * angle.cos(), torch.zeros_like(radius), radius * angle.sin()])
    light_points = rays.new_tensor(LIGHT)[:, None] + disc
    to_light = _normalize(light_points[:, :, None] - points[:, None]).flatten(1)
    points = points.repeat(1, LIGHT_POINTS)
    near = _rays_near_solid(points, to_light)
    return near % rays.shape[1], points[:, near], to_light[:, near]
