"""Spreading a source over circles changes nothing far from it, for every operator that it is used for."""

import numpy as np
import pytest
from scipy.special import i0, j0

import mc2
from mc2.fits.field import lifted
from mc2.fits.mollifier import Mollifier
from mc2.geometry import Disk

TILES = np.zeros((40, 40), bool)
TILES[18:22, 17:23] = True  # [-0.1, 0.1] in y, [-0.15, 0.15] in x


def rough(x, y):
    """Jumps and oscillates in the tiles, and is smooth elsewhere."""
    inside = (np.abs(x) < 0.15) & (np.abs(y) < 0.1)
    return np.where(inside, 20 * np.sign(np.sin(90 * x + 40 * y)) + 7, 0.0) + np.cos(x)


SOLUTIONS = {
    "laplace": (0.0, lambda x, y: x**3 - 3 * x * y**2 + y + 1),
    "yukawa": (-60.0, lambda x, y: i0(np.sqrt(60.0) * np.hypot(x - 0.2, y))),
    "helmholtz": (90.0, lambda x, y: j0(np.sqrt(90.0) * np.hypot(x, y - 0.1))),
}


@pytest.mark.parametrize("name", SOLUTIONS)
def test_what_is_spread_does_to_far_places_what_it_did(name):
    """u(x) = ∫ G(x, z) f(z) dz, and G(x, ·) solves the homogeneous equation away from x: so must any solution say."""
    shift, solution = SOLUTIONS[name]
    made = Mollifier(TILES, (-1.0, -1.0), 0.05, 0.04, shift)
    cells = (np.arange(600) + 0.5) / 1000 - 0.3
    x, y = (c.ravel() for c in np.meshgrid(cells, cells))
    before, after = rough(x, y), made.spread(rough, x, y)
    size = np.mean(np.abs(before * solution(x, y)))
    assert np.mean(after * solution(x, y)) == pytest.approx(np.mean(before * solution(x, y)), abs=2e-3 * size)
    assert np.sqrt(np.mean((after - np.cos(x)) ** 2)) < 0.5 * np.sqrt(np.mean((before - np.cos(x)) ** 2))


def test_far_from_the_tiles_nothing_changes():
    made = Mollifier(TILES, (-1.0, -1.0), 0.05, 0.04, 0.0)
    x, y = np.random.default_rng(0).uniform(0.3, 1.0, (2, 500))
    np.testing.assert_array_equal(made.spread(rough, x, y), rough(x, y))


@pytest.mark.slow
def test_certificates_at_a_heater_are_narrow():
    """f − Lw oscillates at its rim: met at single points, walks would allow an error ten times as large."""
    heater = "where((x - 0.3)**2 + (y - 0.2)**2 < 0.0025, 100, 0)"
    task = mc2.Poisson(Disk(1.0), source=heater, boundary=0)
    solution = mc2.solve(task, 16, grid=mc2.Grid(64))
    assert solution.fitted.resolution.mollifier is not None
    assert solution.certify().overall.rms.high < 2e-3


def test_circles_stay_in_the_domain():
    domain = Disk(0.9, center=(0.1, 0.0))
    made = lifted(mc2.Poisson(domain, source="where(x > 0.1, 10, -5)", boundary=0)).resolution.mollifier
    row, column = np.nonzero(made.rough)
    x, y = made.corner[0] + made.tile * column, made.corner[1] + made.tile * row
    corners = [(x + i * made.tile, y + j * made.tile) for i in (0, 1) for j in (0, 1)]
    assert min(domain.distance(*corner).min() for corner in corners) > made.radius
