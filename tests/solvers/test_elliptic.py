"""Problems with coefficients that vary, through every door: answers, or a line that says why not."""

from dataclasses import replace

import numpy as np
import pytest

import mc2
from mc2.benchmark.methods import make_method
from mc2.errors import InputError
from mc2.geometry import Disk, Exterior, Grid, Rectangle
from mc2.solvers.corrector import Observed

DOMAIN = Disk() - Disk(0.2, center=(0.3, 0.1), name="pipe")
GIVEN = {"diffusion": "1 + 0.5*sin(x)*cos(y)", "drift": (1, "y"), "reaction": "1 + x"}
GRID = Grid(32)


@pytest.fixture(scope="module")
def problem():
    return mc2.Elliptic(DOMAIN, exact="exp(x)*sin(2*y)", **GIVEN)


@pytest.fixture(scope="module")
def solution(problem):
    return mc2.solve(problem, grid=GRID)


def test_solve(problem, solution):
    error = np.abs(solution.values - problem.on_grid(problem.exact, GRID))[solution.mask]
    assert solution.method == "collocation"
    assert solution.reason == "fitted by collocation, judged at fresh points, by a bound, and by walks, which agree"
    assert solution.converged
    assert error.max() < 1e-11
    assert np.sqrt(np.mean(error**2)) < solution.standard_error.max() < 1e-9
    assert [step.kind for step in solution.history] == ["collocation", "judge"]


def test_answers(solution):
    slope = solution.gradient(0.1, 0.5)
    assert (slope.x, slope.y) == pytest.approx((np.exp(0.1) * np.sin(1), 2 * np.exp(0.1) * np.cos(1)), abs=1e-9)
    curved = solution.hessian(0.1, 0.6)
    assert curved.yy == pytest.approx(-4 * np.exp(0.1) * np.sin(1.2), abs=1e-7)
    t = 2 * np.pi * np.arange(400) / 400
    x, y = 0.3 + 0.2 * np.cos(t), 0.1 + 0.2 * np.sin(t)
    inward = np.exp(x) * np.sin(2 * y) * np.cos(t) + 2 * np.exp(x) * np.cos(2 * y) * np.sin(t)
    flux = solution.flux("pipe")
    assert flux.value == pytest.approx(-0.4 * np.pi * np.mean((1 + 0.5 * np.sin(x) * np.cos(y)) * inward), abs=1e-9)
    assert flux.standard_error < 1e-6
    whole = solution.integral()
    by_pixels = mc2.Poisson(DOMAIN, exact="exp(x)*sin(2*y)")
    other = mc2.solve(by_pixels, start="boundary", grid=GRID).integral()
    assert abs(whole.value - other.value) < 1e-8
    assert solution.maximum().value == pytest.approx(np.max(np.exp(np.cos(t)) * np.sin(2 * np.sin(t))), abs=1e-3)
    line = solution.along((-0.9, 0.3), (0.9, 0.3), 7)
    np.testing.assert_allclose(line.values, np.exp(line.x) * np.sin(0.6), atol=1e-10)


def test_save_and_load(solution, tmp_path):
    solution.save(tmp_path / "u.npz")
    again = mc2.Solution.load(tmp_path / "u.npz")
    assert type(again.problem) is mc2.Elliptic
    assert again(0.1, 0.5) == pytest.approx(np.exp(0.1) * np.sin(1), abs=1e-10)


def test_certificates_are_from_walks(problem, solution):
    own = solution.certify(8, 200)
    assert own.kind == "walks"
    assert own.overall.rms.high < 1e-11
    wrong = mc2.certify(problem, lambda x, y: np.exp(x) * np.sin(2 * y) + 0.01, 8, 200, grid=GRID)
    assert (wrong.kind, wrong.walks) == ("walks", 1600)
    assert wrong.overall.rms.low == pytest.approx(0.01, rel=1e-6)


def test_where_walks_cannot_judge_certificates_are_bounds():
    """With conditions that reflect walks, and with a reaction that lets them grow."""
    for given in (
        {"diffusion": "1.5 + 0.5*x", "boundary": {"rim": mc2.Robin(1.0)}},
        {"diffusion": "1.5 + 0.5*x", "reaction": -8},
    ):
        problem = mc2.Elliptic(Disk(), exact="exp(x)*sin(2*y)", **given)
        solution = mc2.solve(problem, grid=GRID)
        assert solution.reason == "fitted by collocation, judged at fresh points, by a bound"
        wrong = mc2.certify(problem, lambda x, y: np.exp(x) * np.sin(2 * y) + 0.01, grid=GRID)
        assert (wrong.kind, wrong.walks) == ("bound", 0)
        assert wrong.overall.rms.low == pytest.approx(0.01, rel=1e-5)
        assert "a bound from least squares" in str(wrong)


def test_a_bound_that_walks_contradict_is_not_believed(problem, monkeypatch):
    """A fit that is wrong by more than it says has not converged, and its error bars are what walks see."""
    from mc2.fits.collocation import fit_collocation
    from mc2.solvers import by_collocation

    def claimed(problem):
        found = fit_collocation(problem)
        ((basis, coefficients),) = found.field.parts
        coefficients = coefficients + 0.01 * (np.arange(coefficients.size) == 0)
        return replace(found, field=replace(found.field, parts=((basis, coefficients),)))

    monkeypatch.setattr(by_collocation, "fit_collocation", claimed)
    found = mc2.solve(problem, grid=GRID)
    assert not found.converged
    assert found.reason.endswith("walks contradict it, and are believed")
    assert 0.008 < found.standard_error.max() < 0.012


@pytest.mark.parametrize("length", [1e-6, 1e6])
def test_units_do_not_matter(length):
    """The same digits, whatever the size, the place and the values."""
    center = 3 * length, -2 * length
    dx, dy = f"((x - {center[0]!r})/{length!r})", f"((y - {center[1]!r})/{length!r})"
    unit = mc2.solve(mc2.Elliptic(Disk(), diffusion="2 + x*y", reaction="1 + x", source="y", boundary="x"), grid=16)
    value = 1e-5
    other = mc2.Elliptic(
        Disk(length, center=center),
        diffusion=f"7*(2 + {dx}*{dy})",
        reaction=f"7*(1 + {dx})/{length!r}**2",
        source=f"7*{value}*{dy}/{length!r}**2",
        boundary=f"{value}*{dx}",
    )
    found = mc2.solve(other, grid=16)
    np.testing.assert_allclose(found.values / value, unit.values, rtol=1e-9, atol=1e-11)
    assert found.converged
    assert found.flux().value == pytest.approx(7 * value * unit.flux().value, rel=1e-6, abs=1e-9 * value)


DOORS = ["mc2-physics", "trefftz", "mc2", "mc2-alone", "sunet-compact-one-pass"]


@pytest.mark.parametrize("corrector", DOORS)
def test_who_cannot_do_it_says_so(problem, corrector):
    pytest.importorskip("torch")
    with pytest.raises(InputError, match=r"cannot do ∇·.*only constant coefficients.* 'collocation' can") as caught:
        mc2.solve(problem, corrector=corrector, grid=GRID)
    assert "\n" not in str(caught.value)


def test_plain_walks(problem):
    """By all doors the same; but PDEZoo's reduced walks, and derivatives, are not of such problems."""
    found = mc2.estimate(problem, 4, grid=16)
    assert mc2.trajectory(problem, [2, 4], grid=16)[1] == found
    np.testing.assert_array_equal(mc2.solve(problem, 4, corrector="wos", grid=16).values, found.mean)
    batch = mc2.estimate_batch([problem], [4], grid=found.grid)
    np.testing.assert_array_equal(batch.mean[0, 0], found.mean.astype(np.float32))
    with pytest.raises(InputError, match="reduced"):
        mc2.estimate(problem, grid=GRID, estimator="reduced")
    with pytest.raises(InputError, match="nor its derivatives"):
        mc2.solve(problem, grid=16).certify_gradient([(0.1, 0.5)])


def test_methods_of_the_benchmark_say_so(problem):
    for name in ("mc2-physics", "mean"):
        with pytest.raises(InputError, match="gives no field of elliptic problems"):
            mc2.certify(problem, name, grid=GRID)
        assert problem.name not in make_method(name).families


def test_an_estimate_of_another_problem_is_not_corrected_for_this_one(problem):
    from mc2.solvers.correctors import NetworkCorrector, PhysicsCorrector

    pytest.importorskip("torch")
    known = mc2.estimate(mc2.Poisson(DOMAIN, source=1, boundary=0), 8, grid=GRID)
    assert Observed.of(known, problem).operator.varying is not None
    for corrector in (PhysicsCorrector(), NetworkCorrector("sunet-compact")):
        with pytest.raises(InputError, match="only constant coefficients"):
            corrector.correct(known, problem)


def test_a_tolerance_that_is_not_met_warns(problem):
    with pytest.warns(UserWarning, match="the error bound is .*, above the tolerance 1e-20"):
        assert not mc2.solve(problem, tolerance=1e-20, grid=16).converged


def test_what_other_problems_may_have_is_refused():
    """Exterior domains, clamped boundaries, and components on which nothing holds u."""
    with pytest.raises(InputError, match="elliptic problems need a bounded domain"):
        mc2.Elliptic(Exterior(Disk()), diffusion="2 + 1/(x**2 + y**2)", source=0, boundary=1)
    with pytest.raises(InputError, match="collocation needs a bounded domain"):
        mc2.solve(mc2.Laplace(Exterior(Disk()), boundary="x"), corrector="collocation", grid=16)
    with pytest.raises(InputError, match="takes no clamped conditions"):
        mc2.Elliptic(Disk(), diffusion="2 + x", source=0, boundary=mc2.Clamped(0, 0))
    with pytest.raises(InputError, match="equations of second order"):
        mc2.solve(mc2.Biharmonic(Disk(), source=1, boundary=mc2.Clamped(0, 0)), corrector="collocation", grid=16)
    apart = Disk(0.5, center=(-1, 0), name="a") | Disk(0.5, center=(1, 0), name="b")
    with pytest.raises(InputError, match=r"'b'.*u is not fixed there"):
        mc2.solve(mc2.Elliptic(apart, diffusion="2 + x", source=0, boundary={"a": 1, "b": mc2.Neumann(0)}), grid=16)


def test_several_at_once():
    """One after the other, each by collocation; other coefficients are another equation."""
    given = [mc2.Elliptic(Disk(), diffusion="1 + 0.5*x", exact=exact) for exact in ("x**2 + y", "x*y")]
    for problem, found in zip(given, mc2.solve_many(given, grid=16), strict=True):
        assert found.method == "collocation"
        np.testing.assert_allclose(found.values, problem.on_grid(problem.exact, found.grid), atol=1e-13)
    with pytest.raises(InputError, match=r"same equation: .* diffusion = '1 \+ \(0.6"):
        mc2.solve_many([given[0], mc2.Elliptic(Disk(), diffusion="1 + 0.6*x", exact="x")], grid=16)


def test_numbers_for_coefficients_are_walked():
    """With α = 1, no drift and a number σ, also where some part reflects."""
    conditions = {"left": mc2.Neumann(), "top": mc2.Robin(1.0), "*": mc2.Dirichlet()}
    problem = mc2.Elliptic(Rectangle(1, 1), reaction=4.0, exact="exp(x)*sin(y)", boundary=conditions)
    wrong = mc2.certify(problem, lambda x, y: np.exp(x) * np.sin(y) + 0.01, 16, 200, grid=GRID)
    assert wrong.kind == "walks"
    assert wrong.overall.rms.low < 0.01 < wrong.overall.rms.high + 1e-6
