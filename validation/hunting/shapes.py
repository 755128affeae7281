"""Domains to draw from, as descriptions: easy ones, and those on which geometry is hard."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mc2.geometry import from_description
from validation.hunting.case import log_uniform, uniform

Random = np.random.Generator
Description = dict[str, Any]
UNIT_DISK: Description = {"shape": "disk", "radius": 1.0}
SQUARE: Description = {"shape": "square", "half": 1.0}


def _turned(random: Random, **shape: Any) -> Description:
    return shape | {"angle": uniform(random, -3, 3)}


def convex(random: Random) -> Description:
    """One of the plain convex shapes."""
    name = random.choice(["disk", "square", "rectangle", "ellipse", "triangle", "hexagon", "stadium"])
    a, b = uniform(random, 0.5, 1.0), uniform(random, 0.3, 0.9)
    sizes = {"disk": {"radius": 1.0}, "square": {"half": 0.9}, "rectangle": {"a": a, "b": b}}
    sizes |= {"ellipse": {"rx": a, "ry": b}, "stadium": {"half_length": a / 2, "radius": b / 2}}
    sizes |= {"triangle": {"radius": 1.0}, "hexagon": {"radius": 1.0}}
    return _turned(random, shape=str(name), **sizes[str(name)])


def polygon(random: Random) -> Description:
    """From 3 to 300 vertices: regular, wavy or jagged."""
    count = round(log_uniform(random, 3, 300))
    angle = 2 * np.pi * (np.arange(count) + random.uniform(-0.3, 0.3, count)) / count + random.uniform(0, 6)
    style = random.integers(3)
    radius = np.ones(count)
    if style == 1:
        radius = 0.75 + 0.25 * np.cos(random.integers(2, 7) * angle + random.uniform(0, 6))
    if style == 2:
        radius = random.uniform(0.6, 1.0, count)
    vertices = np.round(radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1), 6)
    return {"shape": "polygon", "vertices": vertices.tolist()}


def notch(random: Random, opening: float | None = None) -> Description:
    """A square with a corner of `opening` radians at the origin, symmetric about y = 0: the notch is to the left."""
    opening = opening or uniform(random, 1.1 * np.pi, 1.97 * np.pi)
    direction = np.array([np.cos(opening / 2), np.sin(opening / 2)])
    mouth = direction / np.abs(direction).max()
    square = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
    angle = [np.arctan2(y, x) for x, y in square]
    kept = [point for point, at in zip(square, angle, strict=True) if abs(at) < opening / 2 - 1e-3]
    kept.sort(key=lambda point: np.arctan2(point[1], point[0]))
    vertices = [[0.0, 0.0], [mouth[0], -mouth[1]], *map(list, kept), [mouth[0], mouth[1]]]
    return {"shape": "polygon", "vertices": np.round(vertices, 12).tolist()}


def sliver(random: Random) -> Description:
    """A triangle with a sharp tip at the origin."""
    half = log_uniform(random, 0.02, 0.2)
    return {"shape": "polygon", "vertices": [[-1.0, 0.0], [1.0, -half], [1.0, half]]}


def gap(random: Random) -> Description:
    """Two rooms and a narrow door between them."""
    width, thick = log_uniform(random, 0.005, 0.1), uniform(random, 0.02, 0.3)
    at = uniform(random, -0.5, 0.5)
    walls = [
        {"shape": "rectangle", "a": thick, "b": 0.5 * (1.2 + side * at - width), "center": [0.0, centre]}
        for side, centre in ((1, 0.5 * (at - width - 1.2)), (-1, 0.5 * (at + width + 1.2)))
    ]
    return {"difference": [{"shape": "square", "half": 1.0}, *walls]}


def cusp(random: Random) -> Description:
    """A disk less one that touches it from inside, or nearly does."""
    radius, slack = uniform(random, 0.3, 0.7), float(random.choice([0.0, 0.0, 1e-3, 1e-2]))
    hole = {"shape": "disk", "radius": radius, "center": [1.0 - radius - slack, 0.0]}
    return {"difference": [UNIT_DISK, hole]}


def holes(random: Random) -> Description:
    """A disk or a square with 2 to 12 round holes, some of them close to each other."""
    outer = UNIT_DISK if random.random() < 0.5 else {"shape": "square", "half": 0.95}
    found: list[Description] = []
    while len(found) < 12 and random.random() < (0.95 if len(found) > 1 else 1.1):
        radius, centre = uniform(random, 0.03, 0.2), random.uniform(-0.7, 0.7, 2).round(3)
        if np.hypot(*centre) + radius > 0.95:
            continue
        if all(np.hypot(*(centre - hole["center"])) > radius + hole["radius"] + 0.004 for hole in found):
            found.append({"shape": "disk", "radius": radius, "center": centre.tolist()})
    return {"difference": [outer, *found]}


def annulus(random: Random) -> Description:
    """From a pinhole to a thin ring."""
    return {"shape": "annulus", "inner": uniform(random, 0.02, 0.95), "outer": 1.0}


def two(random: Random) -> Description:
    """Two components."""
    left = {"shape": "disk", "radius": uniform(random, 0.2, 0.48), "center": [-0.5, uniform(random, -0.3, 0.3)]}
    right = {"shape": "square", "half": uniform(random, 0.1, 0.4), "center": [0.5, 0.0]}
    return {"union": [left, _turned(random, **right) if random.random() < 0.5 else right]}


def bounded(random: Random) -> Description:
    """Compositions whose distance is only a lower bound."""
    ellipse = _turned(random, shape="ellipse", rx=uniform(random, 0.7, 1.0), ry=uniform(random, 0.2, 0.6))
    bar = _turned(random, shape="rectangle", a=uniform(random, 0.5, 1.0), b=uniform(random, 0.1, 0.4))
    radius, center = uniform(random, 0.3, 0.6), random.uniform(-0.4, 0.4, 2).round(3).tolist()
    disk = {"shape": "disk", "radius": radius, "center": center}
    both = [
        {"union": [ellipse, bar]},
        {"union": [bar, disk]},
        {"difference": [{"union": [ellipse, disk]}, {"shape": "disk", "radius": 0.1, "center": center}]},
        {"difference": [_turned(random, shape="square", half=0.8), ellipse]},
        {"intersection": [ellipse, {"shape": "disk", "radius": 0.6}]},
    ]
    return both[int(random.integers(len(both)))]


HARD: dict[str, Callable[[Random], Description]] = {
    "polygon": polygon,
    "notch": notch,
    "sliver": sliver,
    "gap": gap,
    "cusp": cusp,
    "holes": holes,
    "annulus": annulus,
    "two": two,
    "bounded": bounded,
}


def any_domain(random: Random, easy: float = 0.5) -> tuple[str, Description]:
    """An easy domain with some probability, else a hard one, and its name."""
    if random.random() < easy:
        return ("disk", UNIT_DISK) if random.random() < 0.5 else ("convex", convex(random))
    name = str(random.choice(list(HARD)))
    return name, HARD[name](random)


def interior_point(random: Random, description: Description, depth: float = 0.3) -> tuple[float, float, float]:
    """A point well inside, and its distance to the boundary: among the deeper ones of many."""
    domain = from_description(description)
    points = domain.sample_interior(400, seed=int(random.integers(1 << 30)))
    distance = domain.distance(*points.T)
    chosen = points[int(random.choice(np.flatnonzero(distance >= depth * distance.max())))].round(4)
    return float(chosen[0]), float(chosen[1]), float(domain.distance(*chosen))


def walled(random: Random, description: Description) -> tuple[complex, complex] | None:
    """A boundary point and the outward normal there, if the ray along it never meets the domain again."""
    domain = from_description(description)
    for point in domain.sample_boundary(20, seed=int(random.integers(1 << 30))):
        z, step = complex(*point), 1e-6
        slope = complex(
            domain.distance(point[0] + step, point[1]) - domain.distance(point[0] - step, point[1]),
            domain.distance(point[0], point[1] + step) - domain.distance(point[0], point[1] - step),
        )
        if abs(slope) < 1e-7:
            continue
        normal = -slope / abs(slope)
        if stays_outside(description, z, normal):
            return z, normal
    return None


def stays_outside(description: Description, start: complex, direction: complex) -> bool:
    """Whether a ray from a boundary point outwards does not meet the domain."""
    ray = start + direction * np.geomspace(1e-5, 4, 600)
    return bool((from_description(description).distance(ray.real, ray.imag) < 0).all())
