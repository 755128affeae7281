"""Domains from distance functions of one's own."""

import math

import numpy as np
import pytest

from mc2.errors import InputError
from mc2.geometry.drawings.level import from_sdf

BOX = (-1.6, 1.9, -1.5, 1.5)


def test_a_ring_from_an_expression():
    found = from_sdf("0.25 - abs(sqrt(x*x + y*y) - 1)", BOX, name="rim")
    assert found.pieces.areas().sum() == pytest.approx(math.pi * (1.25**2 - 0.75**2), abs=1e-5)
    assert [part.name for part in found.parts] == ["rim"]
    assert found.parts[0].length == pytest.approx(4 * math.pi, abs=1e-4)
    assert found.pieces.smooth.all()
    x, y = np.random.default_rng(0).uniform(-1.4, 1.4, (2, 1000))
    np.testing.assert_allclose(found.distance(x, y), 0.25 - np.abs(np.hypot(x, y) - 1), atol=1e-5)


def test_a_square_keeps_its_corners():
    found = from_sdf(lambda x, y: np.minimum(1 - np.abs(x), 1 - np.abs(y)), (-1.3, 1.37, -1.21, 1.3))
    assert found.pieces.areas().sum() == pytest.approx(4, abs=1e-4)
    corners = found.corners()
    assert len(corners) == 4
    assert np.abs([corner.center for corner in corners]) == pytest.approx(1, abs=5e-3)


def test_a_smooth_union():
    """Two disks that flow into each other: the neck is wider than where the circles meet."""

    def blob(x, y):
        a, b = 0.7 - np.hypot(x + 0.5, y), 0.7 - np.hypot(x - 0.8, y)
        return np.logaddexp(8 * a, 8 * b) / 8

    found = from_sdf(blob, (-1.5, 1.8, -1, 1))
    on = found.pieces.at(0.5)
    assert np.abs(blob(*on.T)).max() < 1e-5
    assert (found.distance(0.15, [0.26, 0.3]) > 0).all()
    assert len(found.corners()) == 0


@pytest.mark.parametrize(
    ("function", "bounds", "said"),
    [
        ("2 - 2*sqrt(x*x + y*y)", BOX, "changes by 2 per length at"),
        (lambda x, y: np.where(x > 0.3, 0.2, -0.2), BOX, "per length at"),
        ("1 - sqrt(x*x + y*y)", (-0.9, 2, -2, 2), "bounds must hold"),
        ("-1 - x*x", (-0.1, 0.1, -0.1, 0.1), "positive nowhere"),
        ("log(x)", BOX, "not finite"),
        (3, BOX, "must be an expression"),
        ("x", (1, 0, 0, 1), "bounds"),
    ],
)
def test_refused(function, bounds, said):
    with np.errstate(all="ignore"), pytest.raises(InputError, match=said):
        from_sdf(function, bounds)
