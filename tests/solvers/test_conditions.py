"""`solve` and `certify` for problems with Neumann and Robin conditions."""

import numpy as np
import pytest

import mc2
from mc2 import Neumann, Robin
from mc2.errors import InputError
from mc2.geometry import Disk, Rectangle

EXACT = "cos(2*x)*y + x**3"


def problem(unit=1.0):
    """The same problem in any unit of length."""
    domain = Rectangle(width=2 * unit, height=unit, center=(3 * unit, 0.0)) - Disk(
        0.2 * unit, center=(3 * unit, 0.0), name="pipe"
    )
    boundary = {"pipe": 80, "top": Robin(2 / unit, 40 / unit), "right": Neumann(5 / unit), "*": Neumann(0)}
    return mc2.Laplace(domain, boundary=boundary)


def test_bounds_hold_and_say_what_they_are():
    domain = Disk(0.9).mark("a", "x > 0.2")
    known = mc2.Poisson(domain, exact=EXACT, boundary={"a": Neumann(), "*": Robin(2)})
    solution = mc2.solve(known, grid=64)
    assert solution.method == "trefftz"
    assert "by a bound" in solution.reason
    assert solution.converged
    x, y = (c[solution.mask] for c in solution.grid.points())
    error = solution.values[solution.mask] - known.exact(x, y)
    assert np.sqrt(np.mean(error**2)) < solution.standard_error.max() < 1e-9
    certificate = solution.certify()
    assert certificate.kind == "bound"
    assert certificate.overall.rms.high < 1e-9


def test_foreign_fields():
    domain = Disk(0.9).mark("a", "x > 0.2")
    known = mc2.Poisson(domain, exact=EXACT, boundary={"a": Neumann(), "*": Robin(2)})
    certificate = mc2.certify(known, lambda x, y: np.cos(2 * x) * y + x**3 + 0.25, grid=64)
    assert certificate.overall.rms.estimate == pytest.approx(0.25)
    assert certificate.overall.mean.estimate == pytest.approx(-0.25)


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
