"""Walks through coefficients that vary: bias, majorants, what they may not depend on, and what they refuse."""

import numpy as np
import pytest
from numba import njit
from validation.coefficients import PROBLEMS, lowest, walk

import mc2
from mc2.errors import InputError
from mc2.geometry import Disk, Ellipse, Rectangle
from mc2.walks import Options
from mc2.walks.exits import find_exits
from mc2.walks.plan import can_walk, make_plan
from mc2.walks.tracking import pick

VARYING = mc2.Elliptic(Disk(), diffusion="1 + 0.4*sin(2*x)*y", drift=("y", "1"), reaction="1 + x", exact="exp(x)*y")
POINTS = Disk().sample_interior(24, seed=3)


def test_a_drift_is_walked_without_bias_whatever_the_majorant():
    """Many walks: with a slope of Green's function that is off by a twentieth, this mean is 10 of its errors away."""
    (errors, bars), _ = walk("drift", 8.0, [2048], seed=99, count=60)
    assert abs(errors.mean()) < 4 * np.sqrt(np.sum(bars**2)) / errors.size


@pytest.mark.parametrize("factor", [0.5, 4.0])
@pytest.mark.parametrize("name", list(PROBLEMS))
def test_no_bias(name, factor):
    """Whatever the majorant. 60 errors in their standard errors: their mean within 4 of its own, and none above 4.5."""
    (errors, bars), _ = walk(name, factor, [512], seed=5, count=60)
    z = (errors / bars)[0]
    assert abs(z.mean()) < 4 / np.sqrt(z.size)
    assert np.abs(z).max() < 4.5
    assert 0.6 < z.std() < 1.4


def test_the_potential_is_negative_somewhere():
    """In most of these problems, so that weights grow there."""
    assert sum(lowest(name) < 0 for name in PROBLEMS) >= 4


def test_greens_function_of_a_ball():
    """Against SciPy's Bessel functions, with its derivative; and 1 = ∮ P + σ̄ ∫ G for what a step is made of."""
    from scipy.special import i0, i1, k0, k1

    from mc2.walks.cpu import tracking_kernels as rows
    from mc2.walks.random_kernels import make_key

    @njit
    def both(s, big):
        first, _, p, _ = rows.series(big)
        return rows.green(s, big, p / (1 + first))

    for big in (0.1, 1.7, 4.0):
        for s in big * np.array([1e-3, 0.1, 0.5, 0.9]):
            own = k0(s) - i0(s) * k0(big) / i0(big), k1(s) + i1(s) * k0(big) / i0(big)
            np.testing.assert_allclose(both(s, big), own, rtol=1e-12)
    # u = e^{ax} solves Δu + 2s ∂u/∂x − σ̄u = (a² + 2sa − σ̄)u with a drift that is the same everywhere, and σ' = σ̄
    count, sigma, s, a = 400_000, 20.0, 0.8, 1.3
    place, half = np.zeros(count), np.zeros((2, count))
    half[0], out, inside = s, np.zeros((9, count)), np.zeros(count, bool)
    number, none = np.arange(count, dtype=np.uint32), np.zeros(count, np.uint32)
    rows.propose(place, place, place + 0.4, half, sigma, number, none, none, make_key(1, 1), True, out, inside)
    source = (a * a + 2 * s * a) * np.exp(a * out[rows.POINT_X])
    found = np.where(inside, sigma * out[rows.PLAIN] * np.exp(a * out[rows.POINT_X]), np.exp(a * out[rows.EXIT_X]))
    found += out[rows.SOURCE] * source
    assert abs(found.mean() - 1) < 4 * found.std() / np.sqrt(count)


def test_the_transformation():
    """ΔU + β·∇U − σ'U = f/√α for U = √α u, with derivatives by differences."""
    from mc2.walks.screened import Screened

    screened, h = Screened(VARYING), 1e-4
    x, y = POINTS.T
    potential = screened.potential(x, y)

    def big(x, y):
        return screened.root(x, y) * np.exp(x) * y

    around = [big(x + h, y), big(x - h, y), big(x, y + h), big(x, y - h)]
    laplacian = (sum(around) - 4 * big(x, y)) / h**2
    slope = np.stack([around[0] - around[1], around[2] - around[3]]) / (2 * h)
    left = laplacian + (screened.drift(x, y) * slope).sum(0) - potential * big(x, y)
    np.testing.assert_allclose(left, VARYING.source(x, y) / screened.root(x, y), atol=1e-5)
    spread = [screened.drift(x + h, y)[0], screened.drift(x - h, y)[0], *(screened.drift(x, y + k)[1] for k in (h, -h))]
    divergence = (spread[0] - spread[1] + spread[2] - spread[3]) / (2 * h)
    np.testing.assert_allclose(screened.divergence(x, y), divergence, atol=1e-6)


def test_results_do_not_depend_on_threads_or_on_how_walks_are_split():
    one = mc2.estimate(VARYING, 48, points=POINTS, threads=1)
    np.testing.assert_array_equal(one.mean, mc2.estimate(VARYING, 48, points=POINTS, threads=2).mean)
    first = mc2.estimate(VARYING, 16, points=POINTS)
    np.testing.assert_array_equal(first.continued(VARYING, 32).mean, one.mean)
    last = mc2.estimate(VARYING, 32, points=POINTS, first_walk=16)
    np.testing.assert_allclose((first + last).mean, one.mean, rtol=1e-12)
    some = mc2.estimate(VARYING, 48, points=POINTS[5:], first_point=5)
    np.testing.assert_array_equal(some.mean, one.mean[5:])


def test_other_coefficients_are_another_problem():
    given = {"diffusion": "2 + x", "drift": ("0", "1"), "reaction": 1, "source": 1, "boundary": 0}
    digests = {make_plan(mc2.Elliptic(Disk(), **(given | change))).digest for change in CHANGES}
    assert len(digests) == len(CHANGES)
    found = mc2.estimate(mc2.Elliptic(Disk(), **given), 8, points=POINTS)
    with pytest.raises(InputError, match="another problem"):
        found.continued(mc2.Elliptic(Disk(), **(given | CHANGES[1])), 8)


CHANGES = [{}, {"diffusion": "2 + 1.1*x"}, {"drift": ("0", "1.5")}, {"drift": ("1", "0")}, {"reaction": 2}]


def test_units_do_not_matter():
    unit = mc2.estimate(mc2.Elliptic(Disk(), diffusion="2 + x*y", source="y", boundary="x"), 64, points=POINTS)
    small = mc2.Elliptic(
        Disk(1e-6), diffusion="7*(2 + x*y*1e12)", source="7e-5*1e12*y*1e6", boundary="1e-5*x*1e6"
    )  # fmt: skip
    found = mc2.estimate(small, 64, points=POINTS * 1e-6)
    np.testing.assert_allclose(found.mean / 1e-5, unit.mean, rtol=1e-4, atol=1e-5)


def test_ends_and_samples_stand_for_all_of_a_walk():
    """One end and one sample of every walk are picked, with the weights of all: the mean is the solution."""
    exits = find_exits(VARYING, POINTS, 2048, Options(max_steps=10_000), sampled=True)
    scores = exits.weight * VARYING.boundary(exits.x, exits.y)
    scores += exits.samples.weight * VARYING.source(exits.samples.x, exits.samples.y)
    z = (scores.mean(1) - VARYING.exact(*POINTS.T)) / (scores.std(1) / np.sqrt(2048))
    assert np.abs(z).max() < 4
    assert np.abs(np.hypot(exits.x, exits.y) - 1).max() < 1e-12


def test_pick():
    """In proportion to the sizes of weights; walks without entries have none."""
    of, weight = np.array([2, 0, 2, 0, 2]), np.array([1.0, -3.0, 2.0, 1.0, 1.0])
    chosen, total = pick(of, weight, np.array([0.5, 0.5, 0.9, 0.5]))
    assert chosen.tolist() == [1, -1, 4, -1]
    assert total.tolist() == [-4.0, 0.0, 4.0, 0.0]
    assert pick(of[:0], weight[:0], np.array([0.5]))[1].tolist() == [0.0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"reaction": -30}, "a negative reaction as much, the lowest eigenvalue"),
        ({"drift": ("30*x", 0)}, "a drift that stretches as much, the lowest eigenvalue"),
        ({"drift": ("where(x > 0.1, 1, 2)", 0)}, "drift x jumps near"),
        ({"diffusion": "1 + abs(x)"}, "diffusion = "),
        ({"diffusion": "where(x > 0.1, 1, 2)"}, "diffusion jumps near"),
        ({"boundary": {"rim": mc2.Robin(1.0, 0)}}, "need u on the whole boundary, and 'rim' has a robin condition"),
    ],
)
def test_what_walks_refuse(given, message):
    """In one line; `solve` and `certify` go by least squares alone then."""
    problem = mc2.Elliptic(Disk(), **({"diffusion": "2 + x", "source": 1, "boundary": 0} | given))
    assert not can_walk(problem)
    with pytest.raises(InputError, match=message) as caught:
        mc2.estimate(problem, 8, grid=8)
    assert "\n" not in str(caught.value)


def test_what_else_is_refused():
    for how, message in [
        ({"sampling": "uniform"}, "'green'"),
        ({"stratify": True}, "stratify nothing"),
        ({"device": "cuda"}, "coefficients that vary: use 'cpu'"),
    ]:
        with pytest.raises(InputError, match=message):
            mc2.estimate(VARYING, 8, grid=8, **how)
    with pytest.raises(InputError, match=r"use mc2\.estimate"):
        mc2.estimate_many([VARYING, VARYING], 8, grid=8)


def test_python_functions():
    """As coefficients they are called, and differentiated by differences."""

    def alpha(x, y):
        if x > 9:
            return 1.0
        return 1 + 0.4 * np.sin(2 * x) * y

    problem = mc2.Elliptic(
        Disk(), diffusion=alpha, drift=("y", "1"), reaction="1 + x", source=VARYING.source, boundary=VARYING.boundary
    )
    one, other = (mc2.estimate(p, 32, points=POINTS).mean for p in (problem, VARYING))
    np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize("domain", [Ellipse(1.2, 0.8), Rectangle(2, 1) - Disk(0.2)])
def test_certificates_hold(domain):
    """Of fields that are wrong by known functions, from walks of what collocation leaves over."""
    problem = mc2.Elliptic(domain, diffusion="1.5 + sin(2*x)*y", reaction="1 + x**2", exact="exp(x)*sin(2*y)")
    for wrong in (lambda x, y: 0.02 + 0 * x, lambda x, y: 0.1 * x * y):
        found = mc2.certify(problem, lambda x, y, w=wrong: np.exp(x) * np.sin(2 * y) + w(x, y), 8, 300, grid=24)
        x, y = (c[problem.mask(mc2.Grid.covering(domain, 24))] for c in mc2.Grid.covering(domain, 24).points())
        true = np.sqrt(np.mean(wrong(x, y) ** 2))
        assert found.kind == "walks"
        assert 0.999 * found.overall.rms.low <= true <= 1.001 * found.overall.rms.high
        assert found.overall.rms.high < 1.5 * true


def test_what_does_not_fit_is_certified_by_walks():
    """A source that no polynomial resolves: the certificate of the solution holds, and says walks."""
    problem = mc2.Elliptic(Disk(), diffusion="2 + x", exact="exp(-400*((x - 0.2)**2 + (y + 0.1)**2))")
    solution = mc2.solve(problem, grid=48)
    error = (solution.values - problem.on_grid(problem.exact, solution.grid))[solution.mask]
    found = solution.certify(64, 600)
    true = float(np.sqrt(np.mean(error**2)))
    assert found.kind == "walks"
    assert found.overall.rms.low <= true <= found.overall.rms.high
    assert true < 2 * solution.standard_error.max()
