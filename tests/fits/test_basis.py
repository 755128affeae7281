"""Functions that solve their equations, however they are summed and differentiated."""

import numpy as np
import pytest
from scipy import special

from mc2.fits.basis import Basis, Jump, Pole, angle, make_basis
from mc2.geometry import Annulus, Disk, Polygon, Rectangle, Square
from mc2.problems.operator import BILAPLACIAN, LAPLACIAN, Operator

OPERATORS = {
    "laplace": LAPLACIAN,
    "yukawa": Operator(-30.0),
    "helmholtz": Operator(49.0),
    "biharmonic": BILAPLACIAN,
}
RING = Annulus(0.3, 1.2)
POINTS = Annulus(0.55, 1.0).sample_interior(60, seed=0).T
INSIDE = (Pole((0.02, -0.03), 0.25, (0, 5)), Pole((0.0, 0.1), 0.15, (1, 2)))
OUTSIDE = (Pole((1.5, 0.2), 0.3, (0, 1)), Pole((-0.1, -1.4), 0.15, (1, 1)), Pole((-1.2, 1.2), 0.4, (0, 0)))
JUMPS = (Jump((1.2, 0.0), 0.0), Jump((0.0, 1.2), 0.5 * np.pi), Jump((-1.2, 0.0), np.pi))


def laplacian(function, x, y, h=0.01):
    """Tenth order in h."""
    weights = {0: -5269 / 1800, 1: 5 / 3, 2: -5 / 21, 3: 5 / 126, 4: -5 / 1008, 5: 1 / 3150}
    total = 2 * weights[0] * function(x, y)
    for step in range(1, 6):
        for dx, dy in ((step, 0), (-step, 0), (0, step), (0, -step)):
            total = total + weights[step] * function(x + dx * h, y + dy * h)
    return total / h**2


def curvature(function, x, y, h=0.01):
    """The size of the second derivatives, of which a Laplacian is a sum: what rounding and truncation compare with."""
    along = [function(x + dx, y + dy) for dx, dy in ((h, 0), (-h, 0), (0, h), (0, -h))]
    here = function(x, y)
    return (np.abs(along[0] - 2 * here + along[1]) + np.abs(along[2] - 2 * here + along[3])) / h**2


def bases():
    """Every operator: alone, with poles, and with jumps where the angle is a solution."""
    for name, operator in OPERATORS.items():
        plain = Basis(operator, (0.05, -0.02), 1.7, 7)
        yield f"{name}", plain
        yield f"{name} with poles", Basis(operator, (0.05, -0.02), 1.7, 7, INSIDE + OUTSIDE)
        if name in ("laplace", "biharmonic"):
            yield f"{name} with jumps", Basis(operator, (0.05, -0.02), 1.7, 7, (), JUMPS)
            yield f"{name} with both", Basis(operator, (0.05, -0.02), 1.7, 7, INSIDE + OUTSIDE, JUMPS)


BASES = dict(bases())
each_basis = pytest.mark.parametrize("basis", BASES.values(), ids=BASES)
BIHARMONIC = {name: basis for name, basis in BASES.items() if basis.doubled}
each_biharmonic = pytest.mark.parametrize("basis", BIHARMONIC.values(), ids=BIHARMONIC)


@each_basis
def test_every_function_solves_the_equation(basis):
    x, y = POINTS
    if basis.doubled:
        size = curvature(lambda x, y: curvature(basis.columns, x, y, 0.04), x, y, 0.04)
        residual = laplacian(lambda x, y: laplacian(basis.columns, x, y, 0.02), x, y, 0.02)
    else:
        size = curvature(basis.columns, x, y) + np.abs(basis.operator.mass * basis.columns(x, y))
        residual = basis.operator.mass * basis.columns(x, y) + laplacian(basis.columns, x, y)
    scale = np.abs(basis.columns(x, y)).max(axis=1)
    assert (scale > 1e-4).all()
    assert (scale < 10).all()
    assert (np.abs(residual).max(axis=1) < (1e-6 if basis.doubled else 1e-9) * (size.max(axis=1) + scale)).all()


@each_basis
def test_functions_are_independent(basis):
    """No column is another one, or a sum of others, in disguise."""
    x, y = RING.sample_interior(2000, seed=1).T
    columns = basis.columns(x, y)
    columns /= np.linalg.norm(columns, axis=1)[:, None]
    assert np.linalg.svd(columns, compute_uv=False)[-1] > 1e-7


@pytest.mark.parametrize(("name", "function"), [("yukawa", special.iv), ("helmholtz", special.jv)])
def test_bessel_functions(name, function):
    basis = Basis(OPERATORS[name], (0.0, 0.0), 1.5, 40)
    r = np.array([1e-6, 0.01, 0.3, 1.0, 1.5])
    columns, parameter = basis.columns(r, np.zeros(5)), np.sqrt(abs(OPERATORS[name].mass))
    for n in (0, 1, 2, 7, 20, 40):
        found, expected = columns[np.flatnonzero(basis.levels == n)[0]], function(n, parameter * r)
        np.testing.assert_allclose(found / found[-1], expected / expected[-1], rtol=1e-12, atol=1e-250)


@pytest.mark.parametrize(("name", "function"), [("yukawa", special.kv), ("helmholtz", special.yv)])
def test_bessel_functions_around_a_pole(name, function):
    basis = Basis(OPERATORS[name], (0.0, 0.0), 1.5, 3, (Pole((0.1, 0.2), 0.25, (0, 12)),))
    r, parameter = np.array([0.25, 0.3, 0.7, 1.0, 1.5]), np.sqrt(abs(OPERATORS[name].mass))
    columns = basis.columns(0.1 + r, np.full(5, 0.2))[7:]
    for n in range(13):
        found, expected = columns[max(2 * n - 1, 0)], function(n, parameter * r)
        np.testing.assert_allclose(found, expected / abs(expected[0]), rtol=1e-12, atol=1e-12 * np.abs(found).max())


def test_harmonic_functions():
    """Powers of z, and of 1/z and the logarithm around a pole."""
    basis = Basis(OPERATORS["laplace"], (0.1, -0.2), 1.5, 5, (Pole((0.3, 0.1), 0.25, (0, 3)),))
    x, y = POINTS
    z, turned = (x - 0.1 + 1j * (y + 0.2)) / 1.5, 0.25 / np.conj(x - 0.3 + 1j * (y - 0.1))
    powers = [part for n in range(6) for part in ((z**n).real, (z**n).imag)[: 2 if n else 1]]
    powers.append(np.log(np.hypot(x - 0.3, y - 0.1) / 1.5))
    powers += [part for n in (1, 2, 3) for part in ((turned**n).real, (turned**n).imag)]
    np.testing.assert_allclose(basis.columns(x, y), powers, rtol=1e-12, atol=1e-14)


def test_the_angle_around_a_jump():
    """0 opposite to the outward normal, ±1/2 along the boundary, with its cut outside."""
    jump = Jump((1.0, 2.0), 0.3)
    around = np.array([np.pi, 0.5 * np.pi + 1e-12, 1.5 * np.pi - 1e-12, 0.75 * np.pi, 1.25 * np.pi]) + 0.3
    found = angle(jump, 1.0 + 0.1 * np.cos(around), 2.0 + 0.1 * np.sin(around))
    np.testing.assert_allclose(found, [0, -0.5, 0.5, -0.25, 0.25], atol=1e-11)
    outside = angle(jump, 1.0 + np.cos(0.3 + np.array([1e-9, -1e-9])), 2.0 + np.sin(0.3 + np.array([1e-9, -1e-9])))
    np.testing.assert_allclose(outside, [-1, 1], atol=1e-8)


@each_basis
def test_sums_are_coefficients_times_columns(basis):
    x, y = RING.sample_interior(300, seed=2).T  # not a whole number of blocks
    random = np.random.default_rng(3)
    for coefficients in random.normal(size=(3, len(basis.levels))):
        expected = coefficients @ basis.columns(x, y)
        np.testing.assert_allclose(basis.sum(coefficients, x, y), expected, atol=1e-12 * np.abs(expected).max())
    for one in np.eye(len(basis.levels)):
        np.testing.assert_allclose(basis.sum(one, x, y), one @ basis.columns(x, y), atol=1e-13)


def test_sums_over_many_points():
    """More than are held at a time."""
    for basis in (BASES["helmholtz with poles"], BASES["biharmonic with both"]):
        x, y = RING.sample_interior(40_000, seed=4).T
        coefficients = np.random.default_rng(5).normal(size=len(basis.levels))
        found = basis.sum(coefficients, x, y)
        few = slice(0, None, 997)
        np.testing.assert_allclose(found[few], coefficients @ basis.columns(x[few], y[few]), rtol=1e-11, atol=1e-11)
        assert found.shape == x.shape
        assert basis.sum(coefficients, x[:0], y[:0]).shape == (0,)


@each_basis
def test_levels_and_their_order(basis):
    columns = basis.columns(*POINTS)
    assert columns.shape == (len(basis.levels), POINTS.shape[1])
    assert (np.diff(basis.levels[basis.order]) >= 0).all()
    assert sorted(basis.order) == list(range(len(basis.levels)))
    own = 15 + sum(len(pole.levels) for pole in basis.poles)
    assert len(basis.levels) == own * (2 if basis.doubled else 1) + len(basis.jumps)


def test_levels_of_poles_and_powers():
    basis = make_basis(RING, OPERATORS["biharmonic"], 2, 3)
    once = [0, 1, 1, 2, 2, 0, 1, 1, 2, 2, 3, 3]
    assert basis.levels.tolist() == once + once
    assert make_basis(RING, OPERATORS["laplace"], 2, -1).levels.tolist() == [0, 1, 1, 2, 2]


@each_biharmonic
def test_laplacians(basis):
    """The columns' Laplacians are those of finite differences, and vanish for the harmonic half."""
    x, y = POINTS
    found = basis.laplacians(x, y)
    expected = laplacian(basis.columns, x, y)
    scale = np.abs(expected).max(axis=1, keepdims=True) + curvature(basis.columns, x, y).max(axis=1, keepdims=True)
    assert (np.abs(found - expected) < 1e-7 * (scale + 1)).all()
    half = len(basis.harmonic.levels)
    assert (found[:half] == 0).all()
    np.testing.assert_array_equal(basis.columns(x, y)[:half], basis.harmonic.columns(x, y))


@each_biharmonic
def test_the_laplacian_of_a_sum(basis):
    """Its coefficients against the Laplacians of the columns."""
    x, y = POINTS
    for coefficients in np.random.default_rng(6).normal(size=(3, len(basis.levels))):
        found = basis.harmonic.sum(basis.to_laplacian(coefficients), x, y)
        np.testing.assert_allclose(found, coefficients @ basis.laplacians(x, y), atol=1e-11 * np.abs(found).max())


@each_biharmonic
def test_a_sum_with_a_given_laplacian(basis):
    """There and back; an angle is no Laplacian of a function in the basis, so it is left out."""
    half, jumps = len(basis.harmonic.levels), len(basis.jumps)
    given = np.random.default_rng(7).normal(size=half)
    given[half - jumps :] = 0
    there = basis.from_laplacian(given)
    assert there.shape == basis.levels.shape
    np.testing.assert_allclose(basis.to_laplacian(there), given, atol=1e-12)
    x, y = POINTS
    expected = basis.harmonic.sum(given, x, y)
    np.testing.assert_allclose(
        laplacian(lambda x, y: basis.sum(there, x, y), x, y), expected, atol=1e-6 * np.abs(expected).max()
    )
    again = basis.from_laplacian(basis.to_laplacian(there))
    np.testing.assert_allclose(again, there, atol=1e-12 * np.abs(there).max())


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize(
    "domain",
    [
        RING,
        Square(0.7, center=(0.4, -0.3)),
        Polygon([(0, 0), (4, 0), (4, 1), (0, 1)], holes=[[(1, 0.4), (2, 0.4), (2, 0.6)]]),
    ],
    ids=["ring", "square", "polygon"],
)
def test_bases_of_domains_are_about_one(name, domain):
    basis = make_basis(domain, OPERATORS[name], 16, 6)
    assert len(basis.poles) == len(domain.holes())
    for pole in basis.poles:
        assert domain.distance(*pole.center) <= -0.999 * pole.radius
    edge = basis.columns(*domain.sample_boundary(400, seed=0).T)
    largest = np.abs(edge).max(axis=1)
    assert np.isfinite(edge).all()
    assert (largest < 12).all()
    assert (largest[basis.levels < 3] > 1e-3).all()


@pytest.mark.parametrize("k", [1.0, 10.0, 60.0])
@pytest.mark.parametrize("sign", [1, -1], ids=["helmholtz", "yukawa"])
def test_large_wave_numbers(sign, k):
    basis = make_basis(RING, Operator(sign * k * k), 100)
    radius = np.hypot(2.4, 2.4) / 2
    r = np.linspace(0.31, 1.19, 30)
    columns = basis.columns(r, np.zeros_like(r))
    assert np.isfinite(columns).all()
    for n in (0, 1, 30, 100):
        expected = (special.jv if sign > 0 else special.ive)(n, k * r)
        if sign < 0:
            expected = expected * np.exp(k * (r - radius))
        found = columns[max(2 * n - 1, 0)]
        largest = np.argmax(np.abs(expected))
        found, expected = found / found[largest], expected / expected[largest]
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("lam", [1e4, 1e5])
def test_strong_screening(lam):
    """Functions live at the edge of the disk, where they are about 1, and vanish inside."""
    basis = make_basis(Disk(), Operator(-lam), 20)
    around = np.linspace(0, 2 * np.pi, 50)
    at_edge = basis.columns(np.sqrt(2) * np.cos(around), np.sqrt(2) * np.sin(around))
    assert np.isfinite(at_edge).all()
    np.testing.assert_allclose(np.abs(at_edge).max(axis=1), 1, rtol=0.05)
    inside = basis.columns(*Disk().sample_interior(300, seed=0).T)
    assert np.isfinite(inside).all()


def test_bases_are_values():
    """A basis is a key under which its columns are kept."""
    one, two = (make_basis(RING, OPERATORS["laplace"], 5) for _ in range(2))
    assert one == two
    assert hash(one) == hash(two)
    assert one != make_basis(RING, OPERATORS["laplace"], 6)
    assert make_basis(Rectangle(1, 0.5), OPERATORS["yukawa"], 5).poles == ()
