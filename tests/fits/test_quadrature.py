"""Integrals of rough functions over cells that adapt, against closed forms."""

import numpy as np
import pytest

from mc2.fits.quadrature import Peaks, integrate

MOST = 300_000
PLACES = 20


def cells(count):
    """The unit square as count² cells [4, count²]."""
    ends = np.linspace(0, 1, count + 1)
    column, row = (index.ravel() for index in np.meshgrid(range(count), range(count)))
    return np.stack([ends[column], ends[column + 1], ends[row], ends[row + 1]])


def corner_mass(a, b):
    """∫∫ 1/r over [0, a] × [0, b]."""
    return a * np.arcsinh(b / a) + b * np.arcsinh(a / b)


def rough(kind, seed):
    """A rough function on the unit square, somewhere, and its integral."""
    a, b, slope = np.random.default_rng(seed).uniform((0.35, 0.35, 0.1), (0.65, 0.65, 0.5))
    return {
        "straight": (lambda x, y: np.where(x < a, 1.0, 0.0), a),
        "slanted": (lambda x, y: np.where(y < 0.2 + slope * x, 1.0, 0.0), 0.2 + slope / 2),
        "circle": (lambda x, y: np.where(np.hypot(x - a, y - b) < 0.3, 1.0, 0.0), 0.09 * np.pi),
        "kink": (lambda x, y: np.abs(x - a), (a**2 + (1 - a) ** 2) / 2),
        "slanted kink": (lambda x, y: np.maximum(x + y - a, 0.0), 1 - a + a**3 / 6),
        "cusp": (lambda x, y: np.abs(x - a) ** 0.5, 2 / 3 * (a**1.5 + (1 - a) ** 1.5)),
        "pole of a line": (lambda x, y: np.abs(x - a) ** -0.5, 2 * (a**0.5 + (1 - a) ** 0.5)),
        "1/r": (
            lambda x, y: 1 / np.hypot(x - a, y - b),
            sum(corner_mass(width, height) for width in (a, 1 - a) for height in (b, 1 - b)),
        ),
    }[kind]


KINDS = {
    "straight": 2e-6,
    "slanted": 1e-5,
    "circle": 5e-6,
    "kink": 1e-4,
    "slanted kink": 1e-5,
    "cusp": 1e-4,
    "pole of a line": 5e-5,
    "1/r": 5e-6,
}
"""Largest error of the integral for a tolerance of 1e-7 a cell."""


@pytest.mark.parametrize("kind", KINDS)
def test_masses(kind):
    for seed in range(PLACES):
        function, expected = rough(kind, seed)
        found = integrate(function, cells(8), 1e-7, MOST)
        assert abs(found.mass.sum() - expected) < KINDS[kind]


@pytest.mark.parametrize("kind", ["straight", "slanted", "circle", "1/r"])
@pytest.mark.parametrize("tolerance", [1e-5, 1e-7])
def test_what_is_left_bounds_the_error(kind, tolerance):
    ratios = []
    for seed in range(PLACES):
        function, expected = rough(kind, seed)
        found = integrate(function, cells(8), tolerance, MOST)
        ratios.append(abs(found.mass.sum() - expected) / found.left)
    assert max(ratios) < 4
    assert np.mean(np.array(ratios) < 3) >= 0.95


@pytest.mark.parametrize("kind", ["straight", "slanted", "circle", "pole of a line", "1/r"])
def test_smaller_tolerances_are_met(kind):
    """Root mean square errors over places fall with the tolerance, and so does what is left."""
    errors, left = [], []
    for tolerance in (1e-5, 1e-7):
        functions = [rough(kind, seed) for seed in range(PLACES)]
        found = [integrate(function, cells(8), tolerance, MOST) for function, _ in functions]
        off = [one.mass.sum() - expected for one, (_, expected) in zip(found, functions, strict=True)]
        errors.append(np.sqrt(np.mean(np.square(off))))
        left.append(np.mean([one.left for one in found]))
    assert errors[1] < 0.2 * errors[0]
    assert left[1] < 0.2 * left[0]


def test_polynomials_are_exact():
    """Lobatto's rule with 7 nodes is right up to degree 11, with no cell split: also for moments."""
    found = integrate(lambda x, y: x**4 * y**3 - 2 * y**4, cells(2), 1e-5, MOST)
    assert found.x.size == 4 * 49
    assert found.left < 1e-14
    assert found.mass.sum() == pytest.approx(1 / 20 - 2 / 5, abs=1e-14)
    assert np.sum(found.mass * found.x**7) == pytest.approx(1 / 48 - 1 / 20, abs=1e-14)


@pytest.mark.parametrize("kind", ["kink", "cusp"])
@pytest.mark.parametrize("constant", [10.0, 1000.0])
def test_nothing_hides_behind_a_constant(kind, constant):
    """Cells are split for a kink on top of a constant as they are without it."""
    function, expected = rough(kind, 3)
    plain = integrate(function, cells(8), 1e-8, MOST)
    found = integrate(lambda x, y: function(x, y) + constant, cells(8), 1e-8, MOST)
    assert found.x.size == plain.x.size
    assert found.mass.sum() - constant == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("most", [5_000, 20_000, 100_000])
def test_the_budget_is_kept(most):
    """And what is left is then larger, and still a bound."""
    evaluated = 0
    function, expected = rough("circle", 0)

    def counted(x, y):
        nonlocal evaluated
        evaluated += x.size
        return function(x, y)

    found = integrate(counted, cells(8), 1e-12, most)
    assert evaluated <= most
    assert evaluated > 0.1 * most
    assert abs(found.mass.sum() - expected) < 3 * found.left
    assert len(found.mass) <= evaluated
    assert found.left > integrate(function, cells(8), 1e-12, 10 * most).left


def test_a_jump_that_cuts_a_corner_off_is_seen():
    """A triangle of side 0.02 in one corner of a cell: Gauss's nodes would all lie outside it."""
    side = 0.02
    found = integrate(lambda x, y: np.where(x + y < side, 1.0, 0.0), cells(1), 1e-9, MOST)
    assert found.mass.sum() == pytest.approx(side**2 / 2, rel=2e-3)
    nodes = 0.5 + 0.5 * np.polynomial.legendre.leggauss(7)[0]
    assert 2 * nodes.min() > side


def test_narrow_peaks_must_be_named():
    """A Gaussian of width 1e-3 falls between the nodes of all cells, unless it is said where it is."""
    width, x0, y0 = 1e-3, 0.31, 0.52

    def peak(x, y):
        return np.exp(-((x - x0) ** 2 + (y - y0) ** 2) / width**2)

    expected = np.pi * width**2
    assert integrate(peak, cells(8), 1e-9, MOST).mass.sum() < 1e-9 * expected
    peaks = Peaks(np.array([x0]), np.array([y0]), np.array([width]))
    found = integrate(peak, cells(8), 1e-11, MOST, peaks)
    assert found.mass.sum() == pytest.approx(expected, rel=1e-3)
    assert found.x.size < 30_000


def test_cells_are_split_only_along_what_is_rough():
    """A jump along an axis costs as many cells as there are halvings; one at a slant grows with its length."""
    along = integrate(lambda x, y: np.where(x < 1 / 3, 1.0, 0.0), cells(1), 1e-6, MOST)
    aslant = integrate(lambda x, y: np.where(x + 0.4 * y < 1 / 2, 1.0, 0.0), cells(1), 1e-6, MOST)
    assert along.x.size < 700 < 10_000 < aslant.x.size
    assert np.unique(along.y).size <= 11  # of one cell, by both rules


def test_a_small_budget_goes_where_the_most_is_missed():
    """A pole of a line and a faint ripple: halvings towards the pole come first."""
    function, expected = rough("pole of a line", 0)
    found = integrate(lambda x, y: function(x, y) + 1e-3 * np.sin(200 * y), cells(8), 1e-12, 40_000)
    ripple = 1e-3 * (1 - np.cos(200)) / 200
    assert found.mass.sum() == pytest.approx(expected + ripple, abs=1e-2)


def test_rounding_is_not_rough():
    """A large constant is rounded, in cells that hold nothing else."""
    found = integrate(lambda x, y: np.where(x + 0.3 * y < 0.5, 1e6 / 3, 0.0), cells(8), 1e-3, MOST)
    assert np.isfinite(found.left)
    assert abs(found.mass.sum() - 0.35e6 / 3) < 4 * found.left
    assert found.left < 1.0


def test_no_cells():
    found = integrate(lambda x, y: x, np.zeros((4, 0)), 1e-5, MOST)
    assert found.mass.size == 0
    assert found.left == 0
