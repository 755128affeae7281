"""`solve` and `certify` for problems with Neumann and Robin conditions."""

import numpy as np
import pytest

import mc2
from mc2 import Dirichlet, Neumann, Robin
from mc2.errors import InputError
from mc2.fits.field import lifted
from mc2.geometry import Disk, Rectangle, Square
from mc2.solvers.averaging import score_walks
from mc2.solvers.rounds import Rounds
from mc2.walks import Options

EXACT = "cos(2*x)*y + x**3"


def problem(unit=1.0):
    """The same problem in any unit of length."""
    domain = Rectangle(width=2 * unit, height=unit, center=(3 * unit, 0.0)) - Disk(
        0.2 * unit, center=(3 * unit, 0.0), name="pipe"
    )
    boundary = {"pipe": 80, "top": Robin(2 / unit, 40 / unit), "right": Neumann(5 / unit), "*": Neumann(0)}
    return mc2.Laplace(domain, boundary=boundary)


def known(boundary=None, **more):
    domain = Disk(0.9).mark("a", "x > 0.2")
    return mc2.Poisson(domain, exact=EXACT, boundary=boundary or {"a": Neumann(), "*": Robin(2)}, **more)


def rms(values):
    return float(np.sqrt(np.mean(values**2)))


def true_error(solution):
    x, y = (c[solution.mask] for c in solution.grid.points())
    return solution.values[solution.mask] - solution.problem.exact(x, y)


def test_walks_judge_what_the_boundary_fit_has_found():
    solution = mc2.solve(known(), grid=64)
    assert solution.method == "mc2-rounds"
    assert "judged by walks" in solution.reason
    assert solution.converged
    assert [step.kind for step in solution.history][:2] == ["lift", "boundary"]
    assert rms(true_error(solution)) < 2 * rms(solution.standard_error[solution.mask]) < 1e-9
    certificate = solution.certify(walks=8, points=512)
    assert certificate.kind == "walks"
    assert rms(true_error(solution)) <= certificate.overall.rms.high < 1e-9


@pytest.mark.parametrize(
    "boundary",
    [{"a": Neumann(), "*": Robin(2)}, {"a": Robin("1 + y**2"), "*": Dirichlet()}, {"a": Dirichlet(), "*": Neumann()}],
)
def test_certificates_of_foreign_fields(boundary):
    """The error of the field is known; the control variate is poor on purpose, so that walks have to tell it."""
    task = known(boundary)
    field = lambda x, y: task.exact(x, y) + 0.1 * np.cos(3 * x) + 0.05  # noqa: E731
    certificate = mc2.certify(task, field, walks=16, points=1024, grid=64)
    grid = mc2.Grid.covering(task.domain, 64)
    x = grid.points()[0][task.mask(grid)]
    wrong = -(0.1 * np.cos(3 * x) + 0.05)
    assert certificate.kind == "walks"
    assert certificate.overall.mean.low <= wrong.mean() <= certificate.overall.mean.high
    assert certificate.overall.rms.low <= rms(wrong) <= certificate.overall.rms.high


def test_walks_tell_the_error_of_a_poor_control_variate():
    """Without any fit, what walks say of the leftover data on all parts is the whole solution."""
    task = known({"a": Neumann(), "*": Robin(2)})
    x, y = task.domain.sample_interior(60, 1).T
    found = score_walks(task, lifted(task), x, y, 800, Options(max_steps=4096), 0)
    z = (lifted(task)(x, y) + found.mean - task.exact(x, y)) / np.sqrt(found.variance)
    assert abs(z.mean()) < 0.5
    assert 0.7 < z.std() < 1.3


def test_rounds_of_walks_fit_what_reflects():
    """Rounds alone, without the boundary fit: the walks of what is left carry it on every part, with more noise."""
    rounds = Rounds(known({"a": Neumann(), "*": Dirichlet()}), Options(max_steps=4096))
    for _ in range(4):
        rounds.walk(2)
    x, y = rounds.points.T
    error = rms(rounds.field(x, y) - rounds.problem.exact(x, y))
    assert rounds.history[0].before > 1
    assert error < 0.03
    assert error < 2 * rms(rounds.standard_error(x, y)) < 0.1


def test_tolerances_are_judged_by_fresh_walks():
    solution = mc2.solve(known(), tolerance=1e-6, grid=64)
    assert solution.converged
    assert "tolerance met, judged by walks" in solution.reason
    assert rms(true_error(solution)) < 1e-6


def test_what_walks_cannot_judge_keeps_a_bound():
    insulated = mc2.Poisson(Disk(), 2, Neumann(1))
    wave = mc2.Helmholtz(Disk(), 1, Robin(1, 0), k=1)
    for task in (insulated, wave):
        solution = mc2.solve(task, grid=32)
        assert solution.method == "trefftz"
        assert "by a bound" in solution.reason
        assert solution.certify().kind == "bound"


def test_points_on_walls_can_be_certified():
    task = mc2.Laplace(Square(1.0), {"left": "y", "*": Neumann()}, exact="y")
    points = [(1.0, 0.3), (0.2, 1.0), (-1.0, 0.7), (0.1, 0.2)] * 2
    certificate = mc2.solve(task, grid=32).certify(walks=8, points=points)
    np.testing.assert_allclose(certificate.values, [0.3, 1.0, 0.7, 0.2] * 2, atol=1e-9)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units(unit):
    mine, plain = mc2.solve(problem(unit), grid=32), mc2.solve(problem(), grid=32)
    np.testing.assert_allclose(mine.values, plain.values, atol=1e-7)


@pytest.mark.parametrize("corrector", ["mc2-physics", "wos"])
def test_correctors_refuse(corrector):
    with pytest.raises(InputError, match="need u on the whole boundary, and 'bottom' has a neumann condition"):
        mc2.solve(problem(), corrector=corrector, grid=32)


@pytest.mark.parametrize("method", ["fd", "nlm"])
def test_methods_refuse(method):
    with pytest.raises(InputError, match="need u on the whole boundary, and 'bottom' has a neumann condition"):
        mc2.certify(problem(), method, grid=32)
