"""Several problems solved together: every solution is its own problem's."""

import numpy as np
import pytest

import mc2
from mc2 import Neumann
from mc2.errors import InputError
from mc2.geometry import Disk, Rectangle, Square

KEYHOLE = Disk(1.0) - Rectangle(0.3, 0.2, center=(0.2, 0.1))
COLOURS = ("0.5 + 0.5*sin(3*x + y)", "0.5 + 0.5*cos(4*y)", "exp(-x**2)*y")
PLACES = tuple(f"abs(x - {place})" for place in (0.3, -0.2, 0.55))


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


def same(one, other):
    """Whether two solutions agree to the bit in all but the time that they took."""
    np.testing.assert_array_equal(one.values, other.values)
    np.testing.assert_array_equal(one.standard_error, other.standard_error)
    assert (one.method, one.walks, one.converged, one.reason) == (
        other.method,
        other.walks,
        other.converged,
        other.reason,
    )
    steps = [[(step.kind, step.walks, step.before, step.after, step.error) for step in s.history] for s in (one, other)]
    assert steps[0] == steps[1]


@pytest.mark.parametrize("how", [{}, {"walks": 13, "seed": 3}, {"tolerance": 1e-5}, {"corrector": "mc2-physics"}])
def test_where_walks_are_fitted_it_is_the_same_to_the_bit(how):
    problems = [mc2.Laplace(Disk(), boundary=colour) for colour in COLOURS]
    for found, problem in zip(mc2.solve_many(problems, grid=48, **how), problems, strict=True):
        alone = mc2.solve(problem, grid=48, **how)
        same(found, alone)
        assert found(0.3, 0.2) == alone(0.3, 0.2)
        assert str(found.certify(8, 64)) == str(alone.certify(8, 64))


@pytest.mark.parametrize("size", [1.0, 1e-6])
def test_sources_and_units(size):
    problems = [
        mc2.Poisson(Disk(size), source=f"{scale / size**2}*sin(3*x/{size})", boundary=f"{scale}*x/{size}")
        for scale in (1.0, 1e15, -2.0)
    ]
    for found, problem in zip(mc2.solve_many(problems, grid=32), problems, strict=True):
        same(found, mc2.solve(problem, grid=32))
        assert found.problem is problem


@pytest.mark.parametrize("domain", [KEYHOLE, Square()])
def test_fits_of_the_boundary_are_right(domain):
    exact = ("x**3 - 3*x*y**2", "exp(2*x)*cos(2*y)", "log((x - 2)**2 + y**2)")
    problems = [mc2.Laplace(domain, exact=u) for u in exact]
    for found, problem in zip(mc2.solve_many(problems, grid=48, start="boundary"), problems, strict=True):
        assert "boundary" in [step.kind for step in found.history]
        known = problem.on_grid(problem.exact, found.grid)
        bars = rms(found.standard_error[found.mask])
        assert rms((found.values - known)[found.mask]) <= 3 * bars
        assert rms((found.values - mc2.solve(problem, grid=48, start="boundary").values)[found.mask]) <= 2 * bars


def test_rough_data_in_different_places():
    problems = [mc2.Laplace(Square(), boundary=text) for text in PLACES]
    for found, problem in zip(mc2.solve_many(problems, grid=48), problems, strict=True):
        alone = mc2.solve(problem, grid=48)
        assert rms((found.values - alone.values)[found.mask]) <= 3 * rms(alone.standard_error[found.mask])


def test_averages_at_pixels_use_the_same_walks():
    values = np.random.default_rng(0).normal(size=(2, 40, 40))
    problems = [mc2.Laplace(Disk(1.0), boundary=own) for own in values]
    for found, problem in zip(mc2.solve_many(problems, grid=16), problems, strict=True):
        assert found.history[-1].kind == "pixels"
        alone = mc2.solve(problem, grid=16)
        assert rms((found.values - alone.values)[found.mask]) <= rms(alone.standard_error[found.mask])
        assert rms(found.standard_error) == pytest.approx(rms(alone.standard_error), rel=0.2)


def test_what_is_solved_one_after_the_other():
    insulated = [mc2.Laplace(Square(), boundary={"left": g, "right": 0, "*": Neumann(0)}) for g in (1, 2)]
    waves = [mc2.Helmholtz(Disk(), source=0, boundary=g, k=6.0) for g in ("x", "y")]
    for problems in (insulated, waves):
        for found, problem in zip(mc2.solve_many(problems, grid=24), problems, strict=True):
            same(found, mc2.solve(problem, grid=24))


def test_a_unit_is_in_the_users_lengths():
    problem = mc2.Laplace(Disk(20), boundary="abs(x)")
    plain, said = (mc2.solve(problem, grid=24, unit=unit) for unit in (None, 20.0))
    np.testing.assert_array_equal(plain.values, said.values)


def test_what_others_have_shaped_says_so_when_it_is_loaded(tmp_path):
    plain, rough = (mc2.solve_many([mc2.Laplace(Square(), g) for g in data], grid=24) for data in (("x", 1), PLACES))
    for name, found in (("plain", plain), ("rough", rough)):
        found[0].save(tmp_path / f"{name}.npz")
    assert mc2.Solution.load(tmp_path / "plain.npz") == plain[0]
    with pytest.raises(InputError, match="where others that it was solved together with have shaped it"):
        mc2.Solution.load(tmp_path / "rough.npz")


def test_what_is_refused():
    one = mc2.Laplace(Disk(), boundary="x")
    for problems, message in (([one, mc2.Laplace(Square(), "x")], "the same domain"), (one, "must be a list")):
        with pytest.raises(InputError, match=message):
            mc2.solve_many(problems)
    with pytest.raises(InputError, match=r"use mc2\.solve_many"):
        mc2.solve([one, one])
    with pytest.raises(InputError, match="rounds need 2 or more"):
        mc2.solve_many([one], 1)
    with pytest.raises(InputError, match="a tolerance needs"):
        mc2.solve_many([one], corrector="mc2-physics", tolerance=1e-3)
