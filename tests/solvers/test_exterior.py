"""Solutions outside of bodies, against closed forms and against walks that return by the exact law."""

import numpy as np
import pytest
from scipy.special import gamma

import mc2
from mc2.fits.field import Field
from mc2.geometry import Disk, Ellipse, Exterior, Polygon, Rectangle, Square, Triangle
from mc2.walks.exits import find_exits
from mc2.walks.exterior import returned
from mc2.walks.options import Options

DISK = Exterior(Disk(1.0, center=(0.2, 0.1)))
DATA = "3 + (x - 0.2) + (y - 0.1)**2"


def exact(x, y):
    z = x - 0.2 + 1j * (y - 0.1)
    return 3.5 + (1 / z).real - 0.5 * (1 / z**2).real


def test_returning_walks_have_the_harmonic_law():
    """The mean of Re zᵏ over the places of return is Re (R²/z̄)ᵏ: harmonic outside, bounded, the same on the circle."""
    inner, _ = DISK.circles
    start = np.array([3.0, 4.0])
    back = returned(DISK, np.full(40_000, start[0]), np.full(40_000, start[1]), np.random.default_rng(1))
    z, z0 = ((p[..., 0] - 0.2 + 1j * (p[..., 1] - 0.1)) / inner for p in (back, start))
    np.testing.assert_allclose(np.abs(z), 1, rtol=1e-12)
    for k in (1, 2, 3):
        error = np.mean(z**k) - np.conj(1 / z0) ** k
        assert abs(error) < 4 / np.sqrt(40_000)


@pytest.mark.parametrize("point", [(2.2, 0.1), (0.2, 3.0), (40.0, 30.0), (1.25, 0.1)])
def test_walks_are_unbiased_near_and_far(point):
    found = find_exits(mc2.Laplace(DISK, DATA), np.array([point]), 8000, Options(seed=3, max_steps=1024))
    values = mc2.Laplace(DISK, DATA).boundary(found.x[0], found.y[0])
    assert found.truncated == 0
    assert abs(values.mean() - exact(*point)) < 4 * values.std() / np.sqrt(8000)


def test_a_bounded_solution_and_its_answers():
    solution = mc2.solve(mc2.Laplace(DISK, DATA), tolerance=1e-9, grid=64)
    assert solution.method == "mc2-rounds"
    assert solution.converged
    x, y = (c[solution.mask] for c in solution.grid.points())
    np.testing.assert_allclose(solution.values[solution.mask], exact(x, y), atol=1e-13)
    np.testing.assert_allclose(solution([1e3, -5e6], [2e3, 1.0]), exact(np.array([1e3, -5e6]), np.array([2e3, 1.0])))
    assert solution.at_infinity().value == pytest.approx(3.5, abs=1e-13)
    assert solution.flux().value == pytest.approx(0, abs=1e-11)
    assert solution.maximum().value == pytest.approx(4.25, abs=1e-8)  # of 3 + cos θ + sin² θ
    slopes = solution.gradient(2.2, 0.1)
    assert slopes.x == pytest.approx(-1 / 4 + 1 / 8, abs=1e-12)


def test_growth_is_a_charge():
    solution = mc2.solve(mc2.Laplace(Exterior(Disk(2.0), growth=3.0), 1.0), tolerance=1e-9, grid=32)
    assert float(solution(8.0, 0.0)) == pytest.approx(1 + 3 * np.log(4), abs=1e-12)
    assert solution.flux().value == pytest.approx(-6 * np.pi, abs=1e-10)
    assert solution.at_infinity().value == pytest.approx(1 - 3 * np.log(2), abs=1e-12)


@pytest.mark.parametrize("unit", [1e-6, 1e9])
def test_units_do_not_matter(unit):
    domain = Exterior(Disk(2 * unit, center=(unit, 0)), growth=3e20)
    solution = mc2.solve(mc2.Laplace(domain, 1e20), grid=24, seed=2, tolerance=1e11)
    assert float(solution(9 * unit, 0.0)) == pytest.approx(1e20 * (1 + 3 * np.log(4)), rel=1e-8)
    assert solution.at_infinity().value == pytest.approx(1e20 * (1 - 3 * np.log(2 * unit)), rel=1e-8)


def test_a_wrong_field_is_found_out_by_walks():
    problem = mc2.Laplace(DISK, DATA)
    found = mc2.certify(problem, lambda x, y: exact(x, y) + 0.01 * x / (x * x + y * y), grid=48)
    x, y = mc2.Grid.covering(DISK, 48).points()
    inside = DISK.contains(x, y)
    error = (0.01 * x / (x * x + y * y))[inside]
    assert found.kind == "walks"
    assert found.overall.rms.low <= np.sqrt(np.mean(error**2)) <= found.overall.rms.high
    assert found.overall.rms.high < 1.05 * np.sqrt(np.mean(error**2))


def test_walks_contradict_a_field_that_grows():
    """x − 0.2 has the boundary values of (x − 0.2)/r² and is harmonic, but it is another solution: not bounded."""
    from mc2.solvers.averaging import score_walks

    problem = mc2.Laplace(DISK, "x - 0.2")
    point = np.array([1.7]), np.array([0.1])
    scores = score_walks(problem, Field(), *point, 4000, Options(seed=1), 5)
    assert abs(scores.mean[0] - 1 / 1.5) < 4 * np.sqrt(scores.variance[0])


def test_corners_are_certified_by_walks():
    problem = mc2.Laplace(Exterior(Polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)])), "x*y + y")
    solution = mc2.solve(problem, grid=64, start="boundary")
    found = solution.certify(walks=32, points=1024)
    assert found.kind == "walks"
    assert found.overall.rms.high < 1e-4
    claimed = np.sqrt(np.mean(solution.standard_error[solution.mask] ** 2))
    assert found.overall.rms.low <= 3 * claimed


def test_two_cylinders_side_by_side():
    """Radii 1 and 1/2, three apart: 2π/arcosh((d² − a² − b²)/2ab) per potential difference."""
    domain = Exterior(Disk(1.0, name="a") | Disk(0.5, center=(3, 0), name="b"))
    found = mc2.capacitance(domain)
    true = 2 * np.pi / np.arccosh((9 - 1 - 0.25) / 1.0)
    np.testing.assert_allclose(found.values, true * np.array([[1, -1], [-1, 1]]), rtol=1e-10)


SQUARE = gamma(0.25) ** 2 / (4 * np.pi**1.5)
TRIANGLE = np.sqrt(3) * gamma(1 / 3) ** 3 / (8 * np.pi**2)


@pytest.mark.parametrize(
    ("body", "true", "accuracy"),
    [
        (Disk(2.0, center=(1, 3)), 2.0, 1e-13),
        (Ellipse(1.0, 0.6), 0.8, 1e-8),
        (Ellipse(1.0, 0.2, angle=0.3), 0.6, 1e-11),
        (Ellipse(1e3, 100.0, center=(0, 5e3)), 550.0, 1e-10),
        (Disk() & Rectangle(2.0, 2.0, center=(2, 0)), 4 / 27**0.5, 1e-9),
        (Square(0.5, angle=0.2), SQUARE, 1e-9),
        (Square(0.5e-6, center=(1e-5, 0)), 1e-6 * SQUARE, 1e-9),
        (Triangle(1.0), np.sqrt(3) * TRIANGLE, 1e-9),
    ],
    ids=["disk", "ellipse", "thin", "thinner", "half disk", "square", "micrometres", "triangle"],
)
def test_logarithmic_capacities(body, true, accuracy):
    """Of a square and a triangle by Schwarz–Christoffel maps (Pólya and Szegő, 1951)."""
    found = mc2.log_capacity(body)
    assert found.value == pytest.approx(true, rel=accuracy)
    assert abs(found.value - true) <= found.standard_error + 1e-13 * true
    assert found.standard_error < 1e-6 * true


@pytest.mark.parametrize(("width", "accuracy"), [(0.05, 1e-8), (0.02, 0.1), (0.005, np.inf)])
def test_a_capacity_that_is_hard_to_find_has_a_wide_bar(width, accuracy):
    found, true = mc2.log_capacity(Ellipse(1.0, width)), 0.5 * (1 + width)
    assert abs(found.value - true) <= min(found.standard_error, accuracy)


def test_what_is_outside_of_a_thin_body_is_solved():
    """log r + γ + o(1) with 0 on an ellipse: γ is −log of its capacity, (a + b)/2."""
    outside = Exterior(Ellipse(1.0, 0.2), growth=1.0)
    found = mc2.solve(mc2.Laplace(outside, boundary=0), grid=32)
    assert found.at_infinity().value == pytest.approx(-np.log(0.6), abs=1e-9)
    assert found.flux().value == pytest.approx(-2 * np.pi, abs=1e-9)
    assert np.abs(found(*outside.sample_boundary(200).T)).max() < 1e-6
