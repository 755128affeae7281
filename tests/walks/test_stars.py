"""Walks that are reflected: exact in law, honest about what they cannot do."""

import numba
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import i0, i1, k0, k1
from validation.stars import EQUATIONS, KINDS, errors, problem, slope

import mc2
from mc2 import Neumann, Robin
from mc2.errors import InputError
from mc2.geometry import Disk, Polygon, Rectangle, Square
from mc2.walks import Options, estimate, estimate_batch, trajectory
from mc2.walks.cpu.star_step_kernels import green_weight, hit_weight, wall_share
from mc2.walks.schedule import WalkTask
from mc2.walks.stars import StartPoints, Walker, nearest_walls

PLATE = Rectangle(width=0.6, height=1.0, center=(0.3, 0.5))
FILM = 750 / 52
T4 = mc2.Laplace(PLATE, {"bottom": 100, "left": Neumann(0), "right": Robin(FILM, 0), "top": Robin(FILM, 0)})
"""The benchmark T4 of NAFEMS."""
CASES = [
    (equation, kind, domain)
    for number, equation in enumerate(EQUATIONS)
    for kind, domain in zip(KINDS, (("disk", "polygon", "square"), ("L-shape", "annulus", "polygon"),
                                    ("annulus", "square", "disk"))[number], strict=True)
]  # fmt: skip


@pytest.mark.parametrize(("equation", "kind", "domain"), CASES)
def test_exact_in_law(equation, kind, domain):
    z, found = errors(problem(equation, kind, domain), 512, 12)
    assert np.abs(z).max() < 4.5
    assert abs(z.mean()) < 4 / np.sqrt(z.size)
    assert 0.8 < z.std() < 1.2
    assert found.record.truncated == 0


def test_rate():
    assert slope(problem("poisson", "mixed", "square"), seeds=1) == pytest.approx(-1, abs=0.06)


def test_a_benchmark_of_engineers():
    found = estimate(T4, 200_000, points=[(0.6, 0.2)], threads=1)
    assert abs(found.mean[0] - 18.25375653713) < 3 * found.standard_error[0]
    assert found.standard_error[0] < 0.08


def test_threads_budgets_and_splits_do_not_matter():
    task = problem("yukawa", "mixed", "annulus")
    points = task.domain.sample_interior(60, 3)
    whole = estimate(task, 300, points=points, threads=2)
    alone = estimate(task, 300, points=points[25:], first_point=25, threads=1)
    np.testing.assert_array_equal(whole.mean[25:], alone.mean)
    nested = trajectory(task, [7, 300, 1100], points=points)
    np.testing.assert_array_equal(nested[1].mean, whole.mean)
    np.testing.assert_array_equal(nested[0].mean, estimate(task, 7, points=points).mean)
    grid = mc2.geometry.Grid(16)
    batch = estimate_batch([task], [8], instances=[4], grid=grid, device="cpu")
    np.testing.assert_array_equal(batch.mean[0, 0], np.float32(estimate(task, 8, grid=grid, instance=4).mean))


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_do_not_matter(unit):
    """Conditions in a frame have no programs and no constants that can be read off: they are evaluated as they are."""
    domain = Rectangle(width=2 * unit, height=unit, center=(3 * unit, 0))
    given = {"left": 3, "top": Robin(f"1/{unit!r}*(1 + (x/{unit!r} - 3)**2)", 2 / unit), "*": Neumann(1 / unit)}
    point = np.array([[3.4, 0.1]])
    mine, plain = (
        estimate(mc2.Poisson(domain, 5 / unit**2, given), 20_000, points=unit * point),
        estimate(
            mc2.Poisson(
                Rectangle(width=2, height=1, center=(3, 0)),
                5,
                {"left": 3, "top": Robin("1 + (x - 3)**2", 2), "*": Neumann(1)},
            ),
            20_000,
            points=point,
            seed=1,
        ),
    )
    assert abs(mine.mean - plain.mean)[0] < 4 * np.hypot(mine.standard_error, plain.standard_error)[0]


def test_walks_start_on_walls_and_end_at_once_elsewhere():
    task = mc2.Laplace(Square(1.0), {"left": "y", "*": Neumann()}, exact="y")
    found = estimate(task, 20_000, points=[(1.0, 0.3), (0.2, 1.0), (-1.0, 0.7), (1.0, 1.0)])
    np.testing.assert_allclose(found.mean[2], 0.7)
    z = (found.mean - [0.3, 1.0, 0.7, 1.0]) / np.maximum(found.standard_error, 1e-6)
    assert (np.abs(z) < 4).all()


def test_no_walk_leaves_the_domain():
    domain = (Disk(0.8) | Rectangle(0.9, 0.3, center=(0.3, 0.2), angle=0.5)) - Disk(0.2, center=(-0.2, 0.1))
    task = mc2.Poisson(domain, 1, Robin(2, 0))
    walker, points = Walker(task, 0.0, Options(max_steps=4096), 0, source=True), domain.sample_interior(200, 1)
    starts = StartPoints.make(task, None, points, 0)
    on = nearest_walls(walker.boundary, domain, *points.T)
    met, counts = walker.walk(starts, on, WalkTask(0, 200, 0, np.array([64])))
    assert met.source_walk.size > 100_000
    assert counts[1] == 0
    assert domain.distance(*met.source[:2]).min() > -1e-6


def _called(function):
    """A function of kernels, which has no wrapper for Python."""
    return numba.njit(lambda *arguments: function(*arguments))


def test_weights_in_balls():
    """Against SciPy's Bessel functions: what a hit is worth, G, and the share of the wall itself."""
    hit, value, wall = (_called(function) for function in (hit_weight, green_weight, wall_share))
    for big in (0.05, 0.6, 1.3, 2.0):
        for share in (0.01, 0.3, 0.9, 1.0):
            small, ratio = big * share, k0(big) / i0(big)
            inputs = np.float32(big), np.float32(small), np.float32(-np.log(share))
            assert hit(*inputs) == pytest.approx(small * (k1(small) + i1(small) * ratio), abs=2e-6)
            assert value(*inputs) == pytest.approx(k0(small) - i0(small) * ratio, abs=2e-6)
        whole = quad(lambda s, ratio=ratio: k0(s) - i0(s) * ratio, 0, big)[0] / big
        assert wall(np.float32(big)) == pytest.approx(whole, abs=1e-4)


@pytest.mark.parametrize(
    ("task", "options", "message"),
    [
        (mc2.Poisson(Disk(), 2, Neumann(1)), {}, "walks cannot solve a problem with Neumann conditions all around"),
        (mc2.Helmholtz(Disk(), 0, Robin(1, 0), k=1), {}, "walks cannot solve .* with Neumann or Robin conditions"),
        (T4, {"sampling": "uniform"}, "walks that are reflected sample sources by 'green' only"),
        (
            mc2.Laplace(Disk(), Robin("1 + (x > 0.123)", 0)),
            {},
            "robin coefficient on 'rim' changes too fast along it",
        ),
    ],
)
def test_refusals(task, options, message):
    with pytest.raises(InputError, match=message):
        estimate(task, 4, grid=8, **options)


def test_walks_that_run_out_of_steps_are_counted():
    task = mc2.Laplace(Polygon([(0, 0), (1, 0), (1, 1), (0, 1)]), {"edge 0": 1, "*": Neumann(0)})
    with pytest.warns(UserWarning, match="ran out of steps"):
        found = estimate(task, 100, grid=8, max_steps=3)
    assert found.record.truncated > 100
