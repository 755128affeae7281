"""Shapes as values: their arguments, what they refuse, how they print."""

import dataclasses
import math

import numpy as np
import pytest

from mc2.errors import InputError
from mc2.geometry import SHAPES, Annulus, Disk, Ellipse, Rectangle, Square, Stadium, Triangle

each_shape = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)


def middle(shape, **placing):
    """The shape with parameters from the middle of their ranges."""
    return shape(*(0.5 * (low + high) for low, high in shape.ranges.values()), **placing)


@each_shape
def test_a_shape_is_a_value(shape):
    one, same = middle(shape, center=(1, 2), angle=3), middle(shape, center=[1.0, 2.0], angle=np.float32(3))
    assert one == same
    assert hash(one) == hash(same)
    assert one != middle(shape)
    assert all(type(value) is float for value in (*one.parameters, *one.center, one.angle))
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.angle = 1.0


@each_shape
def test_repr_is_code(shape):
    for domain in (middle(shape), middle(shape, center=(0.5, -1), angle=0.25)):
        assert eval(repr(domain), {shape.__name__: shape}) == domain


def test_repr_is_short():
    assert repr(Disk(1.0) - Rectangle(0.3, 0.2, center=(0.2, 0.1))) == (
        "Disk(1.0) - Rectangle(0.3, 0.2, center=(0.2, 0.1))"
    )
    assert repr(Triangle(angle=0.5)) == "Triangle(1.0, angle=0.5)"


@each_shape
@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf, True, "1", None, 10**400, np.zeros((3, 3)), 1j])
def test_parameters_must_be_positive_numbers(shape, value):
    for name in shape.ranges:
        arguments = {other: 0.5 * (low + high) for other, (low, high) in shape.ranges.items()} | {name: value}
        with pytest.raises(InputError, match=name) as error:
            shape(**arguments)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("center", [0.0, (1,), (1, 2, 3), (math.nan, 0), "ab", None, {0: 1}])
def test_centers_must_be_points(center):
    with pytest.raises(InputError, match="center"):
        Disk(center=center)


@pytest.mark.parametrize("angle", [math.inf, "0", None, False])
def test_angles_must_be_numbers(angle):
    with pytest.raises(InputError, match="angle"):
        Square(angle=angle)
    with pytest.raises(InputError, match="angle"):
        Square().rotate(angle)


def test_an_annulus_has_its_radii_in_order():
    with pytest.raises(InputError, match=r"inner = 1.0 must be below outer = 0.5"):
        Annulus(1.0, 0.5)
    with pytest.raises(InputError, match="inner"):
        Annulus(0.5, 0.5)


def test_the_paper_s_formulas():
    x, y = np.random.default_rng(0).uniform(-1.5, 1.5, (2, 1000))
    r = np.hypot(x, y)
    assert np.allclose(Disk(0.9).distance(x, y), 0.9 - r)
    assert np.allclose(Square(0.9).distance(x, y), np.minimum(0.9 - abs(x), 0.9 - abs(y)))
    assert np.allclose(Rectangle(0.7, 1.1).distance(x, y), np.minimum(0.7 - abs(x), 1.1 - abs(y)))
    assert np.allclose(Ellipse(0.7, 1.1).distance(x, y), (1 - np.hypot(x / 0.7, y / 1.1)) * 0.7)
    assert np.allclose(Annulus(0.4, 1.2).distance(x, y), np.minimum(1.2 - r, r - 0.4))
    to_segment = np.hypot(x - np.clip(x, -0.4, 0.4), y)
    assert np.allclose(Stadium(0.4, 0.3).distance(x, y), 0.3 - to_segment)


def test_corners():
    assert Triangle(0.8).distance(0, 0.8) == pytest.approx(0, abs=1e-15)
    assert SHAPES["hexagon"](0.8).distance(0.8, 0) == pytest.approx(0, abs=1e-15)
