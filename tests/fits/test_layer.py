"""Double layers on polygons: sums against direct ones, fits against exact solutions, and where they must not fail."""

import numpy as np
import pytest

import mc2
from mc2.fits.field import Field
from mc2.fits.layer import Operator, rule
from mc2.fits.layer_fit import MOST_NODES, can_fit_layer, fit_layer, gmres
from mc2.fits.panels import Panels
from mc2.geometry import Disk, Polygon, Rectangle, Square

HOLED = Polygon(
    [(-1, -1), (1, -1), (1, 1), (-1, 1)],
    holes=[[(0.2, 0.2), (0.5, 0.2), (0.3, 0.6)], [(-0.5, -0.5), (-0.2, -0.5), (-0.3, -0.1), (-0.6, -0.2)]],
)


def wiggly(count, seed=0):
    """A star-shaped polygon with wiggles of forty lengths."""
    random, k, t = np.random.default_rng(seed), np.arange(1, 40), np.linspace(0, 2 * np.pi, count, endpoint=False)
    sizes, phases = 0.12 * k**-1.2 * random.normal(size=k.size), random.uniform(0, 2 * np.pi, k.size)
    radius = 0.7 + np.cos(np.outer(t, k) + phases) @ sizes
    return Polygon(np.stack([radius * np.cos(t), radius * np.sin(t)], axis=1))


def fitted(problem, target):
    fit = fit_layer(problem, Field(), target)
    return fit, lambda x, y: fit.layer.sum(fit.unknowns, x, y)


def entire(x, y):
    return np.exp(2 * x) * np.cos(2 * y) + x * y


@pytest.mark.parametrize("per", [4, 8])
def test_sums_are_those_of_the_integral(per):
    """Against a fine quadrature of μ dτ/(τ − z), at points at all distances; and the slopes against differences."""
    domain = wiggly(60)
    layer, _ = Panels.whole(domain.pieces).layer(domain, per)
    density = np.cos(3 * layer.nodes.real) + layer.nodes.imag
    x, y = domain.sample_interior(300, seed=1).T
    nodes, weights = np.polynomial.legendre.leggauss(400)
    coefficients = density.reshape(-1, per) @ rule(per).inverse.T
    values = coefficients @ np.vander(nodes, per, increasing=True).T
    half = 0.5 * (layer.end - layer.start)
    tau = 0.5 * (layer.start + layer.end)[:, None] + half[:, None] * nodes
    charges = (values * weights * half[:, None]).ravel()
    expected = np.array([np.sum(charges / (tau.ravel() - z)).imag / (2 * np.pi) for z in x + 1j * y])
    away = domain.distance(x, y) > 0.003  # the fine quadrature is good there
    tolerance = 1e-10 if per == 8 else 1e-6  # of the quadrature of panels that are not near
    assert np.abs(layer.sum(density, x, y) - expected)[away].max() < tolerance
    h = 1e-6
    slopes = layer.gradient(density, x, y)
    for axis, (dx, dy) in enumerate(((h, 0.0), (0.0, h))):
        change = (layer.sum(density, x + dx, y + dy) - layer.sum(density, x - dx, y - dy)) / (2 * h)
        assert np.abs(slopes[axis] - change)[away].max() < 1e-3 * np.abs(change[away]).max()


def test_a_constant_density_is_that_constant_up_to_the_boundary():
    """Inside, on sides, at vertices of sharp and of reentrant corners, and away from the origin."""
    for domain in (wiggly(200), HOLED, wiggly(50).move(3, -2)):
        layer, _ = Panels.whole(domain.pieces).layer(domain, 8)
        outer = np.ones(layer.nodes.size + layer.holes.size)
        outer[layer.nodes.size :] = 0.0
        np.testing.assert_allclose(Operator(layer)(outer[: layer.nodes.size]), 1.0, atol=1e-9)
        for points in (domain.sample_interior(500, 0), domain.sample_boundary(500, 0), domain.pieces.start):
            np.testing.assert_allclose(layer.sum(outer, *points.T), 1.0, atol=1e-6)


@pytest.mark.parametrize("domain", [wiggly(100), Square(), Rectangle(2.0, 0.02)], ids=["wiggly", "square", "thin"])
def test_smooth_solutions(domain):
    fit, v = fitted(mc2.Laplace(domain, boundary=entire), 1e-8)
    assert fit.error < 1e-8
    x, y = domain.sample_interior(2000, seed=0).T
    assert np.sqrt(np.mean((v(x, y) - entire(x, y)) ** 2)) < 1e-8


def test_holes_have_logarithms():
    def exact(x, y):
        return np.log(np.hypot(x - 0.3, y - 0.3)) + 2 * np.log(np.hypot(x + 0.4, y + 0.3)) + x * y

    fit, v = fitted(mc2.Laplace(HOLED, boundary=exact), 1e-9)
    x, y = HOLED.sample_interior(2000, seed=0).T
    assert np.abs(v(x, y) - exact(x, y)).max() < 1e-7
    np.testing.assert_allclose(sorted(fit.unknowns[-2:]), [1, 2], rtol=1e-6)


@pytest.mark.parametrize("opening", [0.04, 2 * np.pi - 0.04], ids=["wedge", "notch"])
def test_a_root_at_a_sharp_corner_among_three_hundred(opening):
    """Re √z, with its singularity at the tip of a wedge, and of what a disk leaves of one."""
    angles = np.linspace(-0.5 * opening, 0.5 * opening, 299)
    domain = Polygon([(0, 0), *np.stack([np.cos(angles), np.sin(angles)], axis=1)])

    def exact(x, y):
        return np.sqrt(x + 1j * y).real

    fit, v = fitted(mc2.Laplace(domain, boundary=exact), 1e-6)
    assert fit.error < 1e-6
    x, y = domain.sample_interior(2000, seed=0).T
    assert np.sqrt(np.mean((v(x, y) - exact(x, y)) ** 2)) < 1e-6


def test_the_misfit_is_that_of_points_nobody_chose():
    domain = wiggly(300)
    problem = mc2.Laplace(domain, boundary="abs(x)")
    fit, v = fitted(problem, 1e-6)
    x, y = domain.sample_boundary(20_000, seed=3).T
    left = np.abs(problem.boundary(x, y) - v(x, y))
    assert np.sqrt(np.mean(left**2)) < 1.5 * fit.error
    assert fit.error < 1e-6
    assert left.max() < 10 * fit.worst


def test_data_that_jump_take_few_panels():
    fit, v = fitted(mc2.Laplace(Square(), boundary=lambda x, y: np.where(x > 0.3, 1.0, 0.0)), 1e-4)
    assert fit.layer.start.size < 200
    assert fit.error < 1e-4
    assert v(np.array([0.9]), np.array([0.0]))[0] > 0.5


def test_its_size_is_bounded():
    """Data that no panels resolve: it ends, and says how large the misfit is."""
    fit, _ = fitted(mc2.Laplace(Square(), boundary=lambda x, y: np.sin(1e5 * x * y + 1e5 * x)), 1e-9)
    assert fit.layer.nodes.size <= MOST_NODES
    assert fit.error > 0.1


def test_what_has_no_double_layer_is_known():
    assert can_fit_layer(mc2.Poisson(HOLED, source=1, boundary=0))
    for problem in (
        mc2.Laplace(Disk(), boundary="x"),
        mc2.Yukawa(Square(), source=0, boundary="x", lam=1.0),
        mc2.Biharmonic(Square(), source=0, boundary="x", laplacian=0),
        mc2.Laplace(Square(), boundary={"left": mc2.Neumann(0), "*": 1}),
    ):
        assert not can_fit_layer(problem)


def test_panels_are_cut_towards_corners():
    panels, origin = Panels.whole(Square().pieces).cut(np.array([0, 3, 0, 1]))
    np.testing.assert_array_equal(origin, [0, *[1] * 6, 2, 3, 3])
    np.testing.assert_allclose(panels.first[1:7], [0, 0.125, 0.25, 0.5, 0.75, 0.875])
    np.testing.assert_allclose(panels.length.sum(), 8.0)
    values = np.vander(rule(4).nodes, 4) @ np.array([1.0, -2.0, 0.5, 3.0])
    again = panels.values_from(Panels.whole(Square().pieces), origin, np.tile(values, (4, 1)), 4)
    # the middle of the first of six is at t = 1/16 of the side, at s = −7/8 of its panel
    np.testing.assert_allclose(again[1], np.polyval([1.0, -2.0, 0.5, 3.0], -0.875 + 0.125 * rule(4).nodes))


def test_gmres_solves_and_stops():
    random = np.random.default_rng(0)
    matrix = np.eye(50) + 0.1 * random.normal(size=(50, 50))
    right = random.normal(size=50)
    found = gmres(lambda v: matrix @ v, right, np.zeros(50), 1e-9, 50)
    assert np.linalg.norm(matrix @ found - right) < 1e-8
    few = gmres(lambda v: matrix @ v, right, found + 1e-3, 1e-2, 2)
    assert np.linalg.norm(matrix @ few - right) < np.linalg.norm(matrix @ np.full(50, 1e-3))


def test_many_targets_at_one_point():
    domain = wiggly(100)
    layer, _ = Panels.whole(domain.pieces).layer(domain, 8)
    density = layer.nodes.real**2
    x, y = np.append(np.full(2000, 0.1), [0.2, -0.3]), np.append(np.full(2000, -0.2), [0.1, 0.3])
    alone = layer.sum(density, x[-3:], y[-3:])
    np.testing.assert_allclose(layer.sum(density, x, y)[[0, 1999, 2000, 2001]], alone[[0, 0, 1, 2]], rtol=1e-9)
    assert layer.sum(density, x[:0], y[:0]).size == 0


def test_seams_are_boundary_that_no_panels_have():
    """Data are given on the edge that two squares only share; where they overlap, there is none."""
    one = Polygon([(0, 0), (1, 0), (1, 1), (0, 1)])
    assert not can_fit_layer(mc2.Laplace(one | one.move(1, 0), boundary="x"))
    assert can_fit_layer(mc2.Laplace(one | one.move(0.5, 0.5), boundary="x"))
