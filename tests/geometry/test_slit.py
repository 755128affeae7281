"""Slits: boundaries with two sides, against exact solutions and plain formulas."""

import numpy as np
import pytest

import mc2
from mc2.errors import InputError
from mc2.geometry import Disk, Rectangle, Slit, from_description
from mc2.walks import estimate
from mc2.walks.exits import find_exits
from mc2.walks.options import Options

CUT = Disk() - Slit([(-1.0, 0.0), (0.0, 0.0)])
BENT = [(-0.5, -0.2), (0.0, 0.1), (0.5, -0.1)]


def root(x, y):
    """√r sin(θ/2), θ from −π to π: harmonic, ±√r on the two sides of the cut."""
    return np.where(y >= 0, 1, -1) * np.sqrt(np.maximum(np.hypot(x, y) - x, 0) / 2)


def test_distance():
    random = np.random.default_rng(0)
    x, y = random.uniform(-1.2, 1.2, (2, 2000))
    to_cut = np.hypot(x - np.clip(x, -1, 0), y)
    np.testing.assert_allclose(CUT.distance(x, y), np.minimum(1 - np.hypot(x, y), to_cut), atol=1e-14)
    assert CUT.exactness == (True, False)


def test_sides():
    domain = Disk() - Slit(BENT, names=("hot", "cold"))
    assert [part.name for part in domain.parts] == ["rim", "hot", "cold"]
    lengths = [part.length for part in domain.parts]
    own = np.hypot(*np.diff(BENT, axis=0).T).sum()
    np.testing.assert_allclose(lengths, [2 * np.pi, own, own])
    x = np.linspace(-0.49, 0.49, 50)
    y = np.interp(x, *np.transpose(BENT))
    for shift, name in ((1e-6, "hot"), (-1e-6, "cold")):
        assert {domain.parts[k].name for k in domain.part_index(x, y + shift)} == {name}


def test_moved_and_described():
    domain = Rectangle(1, 0.5) - Slit(BENT, names="crack")
    moved = domain.rotate(0.4).scale(3).move(5, -2)
    x, y = np.random.default_rng(1).uniform(-1, 1, (2, 500))
    z = (x + 1j * y) * 3 * np.exp(0.4j) + 5 - 2j
    np.testing.assert_allclose(moved.distance(z.real, z.imag), 3 * domain.distance(x, y), atol=1e-12)
    assert from_description(moved.describe()) == moved
    assert [part.name for part in moved.parts if part.name == "crack"] == ["crack"]


@pytest.mark.parametrize("unit", [1.0, 200.0])
def test_walks_with_a_value_on_each_side(unit):
    domain = CUT.scale(unit)
    problem = mc2.Laplace(
        domain,
        boundary={
            "rim": lambda x, y: root(x / unit, y / unit),
            "left": lambda x, y: np.sqrt(np.maximum(-x, 0) / unit),
            "right": lambda x, y: -np.sqrt(np.maximum(-x, 0) / unit),
        },
    )
    start = unit * np.array([(0.3, 0.2), (-0.5, 0.1), (-0.5, -0.1), (-0.7, 1e-3), (-0.7, -1e-3), (-0.01, 0.02)])
    found = estimate(problem, 4000, points=start)
    off = (found.mean - root(*start.T / unit)) / np.sqrt(found.variance + 1e-7)
    assert np.abs(off).max() < 4.5
    exits = find_exits(problem, start, 1000, Options())
    on_side = np.hypot(exits.x, exits.y) < 0.999 * unit
    values = np.where(on_side, np.sqrt(np.maximum(-exits.x, 0) / unit) * np.sign(exits.y), root(exits.x, exits.y))
    parts = np.array([part.name for part in domain.parts])[domain.part_index(exits.x, exits.y)]
    assert (parts[on_side] == np.where(exits.y[on_side] > 0, "left", "right")).all()
    if unit == 1.0:
        off = (values.mean(1) - root(*start.T)) / np.sqrt(values.var(1) / 1000 + 1e-7)
        assert np.abs(off).max() < 4.5


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ([(0, 0)], "two or more"),
        ([(0, 0), (1, 0), (0, 0)], "repeats"),
        ([(0, 0), (1, 0), (1, 1), (0.5, -1)], "crosses"),
        ([(0, 0), (1, 0), (0.5, 0)], "goes back"),
    ],
)
def test_refused(points, said):
    with pytest.raises(InputError, match=said):
        Slit(points)
