"""Gradients by walks: unbiased for every equation, whatever the fit, and intervals that hold."""

from dataclasses import replace

import numpy as np
import pytest

import mc2
from mc2.geometry import Disk, Exterior, Rectangle
from tests.solvers.test_answers import CASES, numbers


def spoiled(solution, share=0.05):
    """The same solution with a part of its fit left out: wrong by much, which walks must see."""
    inner = solution.inner or solution
    field = inner.fitted
    given = 1 if inner.problem.domain.unbounded and len(field.parts) > 1 else 0  # the growth at infinity
    fitted = ((basis, coefficients * (1 - share)) for basis, coefficients in field.parts[given:])
    wrong = replace(field, parts=(*field.parts[:given], *fitted))
    assert solution.inner is None
    return replace(solution, fitted=wrong)


@pytest.mark.parametrize("name", ["laplace", "poisson", "yukawa", "helmholtz", "biharmonic"])
def test_walks_tell_the_gradient_of_a_solution_whose_fit_is_wrong(name):
    problem = CASES[name]
    solution = spoiled(mc2.solve(problem, grid=32, seed=3))
    x, y, true, _ = numbers(problem, 120)
    found = solution.certify_gradient(np.stack([x, y], axis=1), walks=256)
    scores = (np.stack([found.x, found.y]) - np.stack(true)) / found.standard_error
    assert np.abs(found.claimed - np.stack(true)).max() > 0.02  # it is wrong indeed
    assert abs(scores.mean()) < 4 / np.sqrt(scores.size)
    assert np.sqrt(np.mean(scores**2)) < 1.25  # pairs are spread evenly: bars are a little wide
    assert (np.abs(scores) < 1.96).mean() > 0.9
    off = np.sqrt(np.mean((found.claimed - np.stack(true)) ** 2))
    assert found.rms.low <= off <= found.rms.high < 2 * off


def test_a_good_gradient_is_certified_as_good():
    problem = CASES["poisson"]
    solution = mc2.solve(problem, tolerance=1e-8, grid=32)
    x, y, true, _ = numbers(problem, 60)
    found = solution.certify_gradient(np.stack([x, y], axis=1))
    off = np.sqrt(np.mean((found.claimed - np.stack(true)) ** 2))
    assert found.rms.low <= off <= found.rms.high < 1e-5
    assert "error of the gradient" in str(found)


def test_in_micrometres_and_outside_of_a_body():
    tiny = mc2.solve(CASES["micrometres"], tolerance=1e-8, grid=24)
    found = tiny.certify_gradient([[3e-6, 2e-7]])
    gx, gy = CASES["micrometres"].exact.gradient()
    assert abs(found.x[0] - gx(3e-6, 2e-7)) <= 4 * found.standard_error[0, 0] + 1e-9 * 1e6
    assert abs(found.y[0] - gy(3e-6, 2e-7)) <= 4 * found.standard_error[1, 0] + 1e-9 * 1e6
    outside = mc2.solve(mc2.Laplace(Exterior(Disk(1.0)), "x"), tolerance=1e-9, grid=24)
    found = spoiled(outside, 1.0).certify_gradient([[2.0, 0.0]], walks=4000)
    assert abs(found.x[0] + 0.25) < 4 * found.standard_error[0, 0] < 0.1


def test_refusals():
    solution = mc2.solve(CASES["laplace"], grid=24)
    insulated = mc2.solve(mc2.Laplace(Rectangle(1, 1), {"left": 1, "right": 0, "*": mc2.Neumann(0)}), grid=16)
    for act, message in (
        (lambda: solution.certify_gradient([[0.0, -0.5]], walks=7), "walks = 7 must be even"),
        (lambda: solution.certify_gradient([[2.0, 0.0]]), "lies outside the domain"),
        (lambda: solution.certify_gradient([[1.0, 0.0]]), "must be at least 0.001 of the domain's size inside"),
        (lambda: insulated.certify_gradient([[0.0, 0.0]]), "walks cannot judge this problem"),
    ):
        with pytest.raises(mc2.InputError, match=message):
            act()
