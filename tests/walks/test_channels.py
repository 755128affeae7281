"""Several right-hand sides at once: every estimate is that of its problem alone, to the bit."""

import numpy as np
import pytest

import mc2
from mc2.errors import InputError
from mc2.geometry import Disk, Rectangle, Square
from mc2.walks import estimate, estimate_many

DOMAIN = Disk(1.0) - Rectangle(0.3, 0.2, center=(0.2, 0.1))
BOUNDARIES = ("x**2-y", 3.0, lambda x, y: np.where(x > 0, 1.0, np.cos(5 * y)))
SOURCES = ("40*x*y", "sin(5*x)*y", 2.0)
VALUES = np.random.default_rng(0).normal(size=(16, 16))


def sets():
    pairs = list(zip(SOURCES, BOUNDARIES, strict=True))
    yield "laplace", [mc2.Laplace(DOMAIN, boundary=g) for g in BOUNDARIES]
    yield "poisson", [mc2.Poisson(DOMAIN, source=f, boundary=g) for f, g in pairs]
    yield "one source", [mc2.Poisson(DOMAIN, source=SOURCES[1], boundary=g) for g in BOUNDARIES]
    yield "yukawa", [mc2.Yukawa(DOMAIN, source=f, boundary=g, lam=7.0) for f, g in pairs]
    yield "helmholtz", [mc2.Helmholtz(DOMAIN, source=f, boundary=g, k=1.0) for f, g in pairs]
    yield "biharmonic", [mc2.Biharmonic(DOMAIN, source=f, boundary=g, laplacian=f) for f, g in pairs]
    yield "sizes", [mc2.Poisson(Disk(1e-6), source=f, boundary=g) for f, g in (("4e20*x*y", "1e6*x"), (1e-5, 1e-20))]
    yield (
        "some arrays",
        [mc2.Poisson(Square(), source=f, boundary=g) for f, g in ((1.0, VALUES), (VALUES, "x"), (1, 2))],
    )


@pytest.mark.parametrize("problems", [pytest.param(tasks, id=name) for name, tasks in sets()])
@pytest.mark.parametrize("how", [{}, {"stratify": True, "first_walk": 5, "seed": 3}], ids=["plain", "options"])
def test_each_is_its_own(problems, how):
    for many, problem in zip(estimate_many(problems, 30, grid=12, device="cpu", **how), problems, strict=True):
        alone = estimate(problem, 30, grid=12, device="cpu", **how)
        assert many == alone
        assert many.record.steps == alone.record.steps
        assert many.continued(problem, 7) == alone.continued(problem, 7)


def test_points_on_the_boundary_and_many_walks():
    problems = [mc2.Laplace(DOMAIN, boundary=g) for g in BOUNDARIES]
    points = [[0.5, 0.5], [1.0, 0.0], [-0.3, 0.2]]
    for many, problem in zip(estimate_many(problems, 2500, points=points, threads=1), problems, strict=True):
        assert many == estimate(problem, 2500, points=points, device="cpu")
    on = estimate_many(problems, 8, points=[[1.0, 0.0]])
    assert [each.mean[0] for each in on] == [problem.boundary(1.0, 0.0) for problem in problems]


def test_values_that_are_not_finite_are_counted_for_their_own():
    bad = mc2.Laplace(Disk(), boundary="sqrt(abs(x - 0.123) - 0.0005)")
    with pytest.warns(UserWarning, match="not finite"):
        first, second = estimate_many([bad, mc2.Laplace(Disk(), boundary="x")], 400, grid=12, device="cpu")
    assert first.record.not_finite > 0
    assert second.record.not_finite == 0
    assert np.isfinite(second.mean).all()


@pytest.mark.parametrize(
    ("problems", "message"),
    [
        ([], "must be a list of problems"),
        (mc2.Laplace(Disk(), "x"), "must be a list of problems"),
        ([mc2.Laplace(Disk(), "x"), mc2.Poisson(Disk(), 1, "x")], "the same equation: problems.1. is poisson"),
        (
            [mc2.Yukawa(Disk(), 1, "x", lam=1), mc2.Yukawa(Disk(), 1, "x", lam=2)],
            "lam = 2, problems.0. yukawa with lam = 1",
        ),
        ([mc2.Laplace(Disk(), "x"), mc2.Laplace(Disk(1.1), "x")], "the same domain"),
    ],
    ids=["none", "one", "families", "parameters", "domains"],
)
def test_what_is_refused(problems, message):
    with pytest.raises(InputError, match=message):
        estimate_many(problems)


def test_problems_that_reflect_walks_are_each_walked_alone():
    wall, points = mc2.Neumann(0.5), [(0.3, 0.2), (-0.4, 0.1)]
    problems = [mc2.Laplace(Square(), boundary={"right": wall, "*": data}) for data in ("x*x", "y")]
    together = estimate_many(problems, walks=40, points=points)
    for problem, found in zip(problems, together, strict=True):
        alone = estimate(problem, walks=40, points=points)
        assert np.isfinite(found.mean).all()
        assert np.array_equal(found.mean, alone.mean)
        assert found.record.max_steps == alone.record.max_steps
