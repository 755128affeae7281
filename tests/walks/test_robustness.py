"""A thousand random problems: no crash, no hang, and no value that is not a number without a message."""

import warnings

import numpy as np
import pytest

from mc2.errors import InputError
from mc2.geometry import SHAPES, Disk, Grid, Polygon, Rectangle
from mc2.problems import CONSTANT, FAMILIES
from mc2.walks import estimate
from tests.functions.samples import random_expression


def random_domain(rng):
    """Ordinary, thin, tiny and disconnected domains."""
    kind = rng.integers(6)
    if kind == 0:
        return Rectangle(rng.uniform(0.3, 1.0), 10 ** rng.uniform(-4, -1), angle=rng.uniform(0, 3))
    if kind == 1:
        return Disk(10 ** rng.uniform(-4, -0.5), center=rng.uniform(-0.5, 0.5, 2))
    if kind == 2:
        return Disk(0.3, center=(-0.5, 0)) | Disk(0.2, center=(0.6, 0.1))
    if kind == 3:
        angles = np.sort(rng.uniform(0, 2 * np.pi, 7))
        radii = rng.uniform(0.2, 1.0, 7)
        return Polygon(np.stack([radii * np.cos(angles), radii * np.sin(angles)], 1))
    shape = SHAPES[rng.choice(list(SHAPES))]
    first = shape(**{name: rng.uniform(*bounds) for name, bounds in shape.ranges.items()})
    second = Disk(rng.uniform(0.05, 0.9), center=rng.uniform(-0.6, 0.6, 2))
    return [first, first - second, first & second, first | second][rng.integers(4)]


def random_function(rng):
    return random_expression(rng, np.zeros(1), np.zeros(1), depth=2)[0]


@pytest.mark.slow
def test_a_thousand_problems():
    rng = np.random.default_rng(77)
    solved = refused = reported = 0
    for _ in range(1000):
        family = FAMILIES[rng.choice(list(CONSTANT))]
        parameters = {name: 10 ** rng.uniform(-2, 2) for name in family.parameters}
        with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
            warnings.simplefilter("always")
            try:
                task = family(random_domain(rng), **{name: random_function(rng) for name in family.data}, **parameters)
                found = estimate(task, 2, grid=Grid(48), device="cpu", max_steps=256)
            except InputError as error:
                assert "\n" not in str(error)
                refused += 1
                continue
        solved += 1
        if not np.isfinite(found.mean).all():
            assert any("not finite" in str(warning.message) for warning in caught)
            reported += 1
    assert solved > 300
    assert refused > 100
