"""Finite differences: exact for quadratics, of second order for the rest, and aware of every boundary crossing."""

import numpy as np
import pytest
from scipy.optimize import brentq
from validation.finite_differences import errors, order
from validation.walks import DOMAINS, PARAMETERS, problem

import mc2
from mc2.benchmark.methods import make_method
from mc2.benchmark.methods.finite_differences import Multigrid
from mc2.benchmark.methods.stencils import make_differences, make_lattice
from mc2.errors import InputError
from mc2.geometry import Annulus, Disk, Ellipse, Grid, Rectangle, Square, Stadium
from mc2.problems import CONSTANT, FAMILIES

SIZES = (32, 64, 128)


@pytest.mark.parametrize("family", CONSTANT)
def test_second_order_on_every_domain(family):
    for domain in DOMAINS:
        rms, largest = errors(family, domain, SIZES)
        assert order(SIZES, rms) > 1.9, domain
        assert order(SIZES, largest) > 1.85, domain


@pytest.mark.parametrize("method", ["fd", "fd_amg"])
@pytest.mark.parametrize("family", CONSTANT)
def test_quadratics_are_exact(family, method):
    # The formula is exact for them whatever the arms are, if these end where they should.
    exact = "x**2 - y**2 + 3*x*y - x + 2" if family == "laplace" else "x**2 + 2*y**2 - x*y + 3*y"
    solver, grid = make_method(method), Grid(40)
    for domain in [*DOMAINS.values(), Square(1.0), Stadium(0.5, 0.3)]:
        task = FAMILIES[family](domain, exact=exact, **PARAMETERS.get(family, {}))
        error = (solver.field(task, grid) - task.on_grid(task.exact, grid))[task.mask(grid)]
        assert np.abs(error).max() < (1e-10 if method == "fd" else 1e-7), domain


def test_a_small_system_by_hand():
    domain, grid, lam = Ellipse(0.9, 0.6, angle=0.4), Grid(9), 7.0
    task = mc2.Yukawa(domain, source="exp(x)*y", boundary="sin(3*x) + y", lam=lam)
    h, places = 2 / 9, np.argwhere(domain.mask(grid))
    number = {tuple(place): k for k, place in enumerate(places)}
    matrix, right = np.zeros((len(places), len(places))), np.zeros(len(places))
    for (row, column), k in number.items():
        x, y = grid.x[column], grid.y[row]
        right[k] = np.exp(x) * y
        matrix[k, k] -= lam
        for dx, dy in ((1, 0), (0, 1)):
            ends = []
            for sign in (1, -1):
                other = (row + sign * dy, column + sign * dx)
                if other in number:
                    ends.append((h, other, None))
                else:

                    def along(t, x=x + 0.0, y=y + 0.0, dx=sign * dx, dy=sign * dy):
                        return float(domain.distance(x + t * dx, y + t * dy))

                    t = brentq(along, 0, h, xtol=1e-15)
                    ends.append((t, None, np.sin(3 * (x + sign * t * dx)) + y + sign * t * dy))
            (a, *_), (b, *_) = ends
            for arm, other, value in ends:
                weight = 2 / (a + b) / arm
                matrix[k, k] -= weight
                if other is None:
                    right[k] -= weight * value
                else:
                    matrix[k, number[other]] += weight
    found = make_method("fd").field(task, grid)
    np.testing.assert_allclose(found[domain.mask(grid)], np.linalg.solve(matrix, right), rtol=1e-10)
    assert (found[~domain.mask(grid)] == 0).all()


@pytest.mark.parametrize("domain", [*DOMAINS.values(), Square(1.0), Annulus(0.2, 0.21)], ids=repr)
def test_arms_end_on_the_boundary_and_stay_inside(domain):
    lattice = make_lattice(domain, Grid(50), 1)
    found = make_differences(domain, lattice)
    assert np.abs(domain.distance(*found.edge)).max() < 1e-12
    start = np.stack([found.x, found.y])[:, found.row]
    share = np.linspace(0.01, 0.99, 60)[:, None]
    way = [start[axis] + share * (found.edge[axis] - start[axis]) for axis in (0, 1)]
    assert (domain.distance(*way) > -1e-12).all()
    # And what is not crossed lies inside.
    i, j = found.matrix.nonzero()
    i, j = i[i != j], j[i != j]
    way = [found.__dict__[axis][i] * (1 - share) + found.__dict__[axis][j] * share for axis in "xy"]
    assert (domain.distance(*way) > 0).all()


@pytest.mark.parametrize("width", [0.02, 1e-3, 1e-6])
def test_walls_thinner_than_the_lattice_are_seen(width):
    # Two rooms with data 5 apart, and a slanted wall between them.
    domain = Square(0.9) - Rectangle(width / 2, 3.0, angle=0.3)
    side = f"x*{np.cos(0.3)} + y*{np.sin(0.3)}"
    task = mc2.Laplace(domain, f"x - y + 5*sign({side})")
    grid = Grid(32)
    x, y = grid.points()
    expected = x - y + 5 * np.sign(x * np.cos(0.3) + y * np.sin(0.3))
    mask = domain.mask(grid)
    np.testing.assert_allclose(make_method("fd").field(task, grid)[mask], expected[mask], atol=1e-10)


def test_lattices_continue_past_the_grid():
    task, method = problem("poisson", "annulus"), make_method("fd")  # its outer radius is 1.1
    part, whole = method.field(task, Grid(40)), method.field(task, Grid(80, bounds=(-2, 2, -2, 2)))
    np.testing.assert_allclose(part, whole[20:60, 20:60], atol=1e-10)


def test_refinement_keeps_pixel_centres():
    task = problem("helmholtz", "composed")
    grid, fine = Grid(20), Grid(60)
    refined = make_method("fd", refine=3)
    assert refined.name == "fd_3"
    mask = task.mask(grid)
    np.testing.assert_allclose(refined.field(task, grid)[mask], make_method("fd").field(task, fine)[1::3, 1::3][mask])
    for wrong in (0, 2, 1.5, True):
        with pytest.raises(InputError, match="refine"):
            make_method("fd", refine=wrong)


def test_pixels_that_are_not_square():
    task = mc2.Poisson(Disk(0.7, center=(1, 0)), exact="sin(3*x)*exp(y)")
    sizes, found = (16, 32, 64), []
    for size in sizes:
        grid = Grid(size, bounds=(0, 2, -3, 3))
        found.append(np.abs(make_method("fd").field(task, grid) - task.on_grid(task.exact, grid)).max())
    assert order(sizes, found) > 1.9


def test_points_next_to_the_boundary():
    # Pixel centres at distances down to 1e-15 from the wall.
    grid = Grid(32)
    for gap in (1e-6, 1e-9, 1e-12, 1e-15, 0.0):
        task = mc2.Poisson(Square(grid.x[-3] + gap), exact="x**2 + x*y + 3*y**2")
        for method in ("fd", "fd_amg"):
            error = make_method(method).field(task, grid) - task.on_grid(task.exact, grid)
            assert np.abs(error[task.mask(grid)]).max() < 1e-7


@pytest.mark.parametrize("family", CONSTANT)
def test_both_solvers_agree(family):
    task, grid = problem(family, "polygon"), Grid(64)
    direct, iterated = (make_method(name).field(task, grid) for name in ("fd", "fd_amg"))
    np.testing.assert_allclose(iterated, direct, atol=1e-7)


def test_multigrid_says_when_it_does_not_converge(monkeypatch):
    monkeypatch.setattr(Multigrid, "iterations", 1)
    with pytest.raises(InputError, match=r"fd_amg did not converge in 1 iterations.*fd solves directly"):
        make_method("fd_amg").field(problem("poisson", "disk"), Grid(64))


def test_indefinite_problems():
    # k² between the first eigenvalues of the disk (5.78, 14.7 and 26.4): no sign, no maximum principle.
    task = mc2.Helmholtz(Disk(), k=4.4, exact="cos(4.4*x)*sin(y) + y**3")
    found = []
    for size in SIZES:
        grid = Grid(size)
        found.append(np.abs(make_method("fd").field(task, grid) - task.on_grid(task.exact, grid)).max())
    assert order(SIZES, found) > 1.9


def test_too_large_and_not_finite():
    with pytest.raises(InputError, match="lattice points"):
        make_method("fd").field(mc2.Laplace(Disk(100.0), "x"), Grid())
    with pytest.raises(InputError, match="too large"):
        make_method("fd").field(mc2.Laplace(Disk(1e9), "x"), Grid())
    task = mc2.Poisson(Disk(), "1/(x**2 + y**2)", 0.0)
    with pytest.raises(InputError, match="not finite"):
        make_method("fd").field(task, Grid(9))  # with a pixel centre at the origin
