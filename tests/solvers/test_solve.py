"""`mc2.solve` as a user meets it: accuracy, tolerances, warnings, points, seeds, and data of every kind."""

import re
import warnings

import numpy as np
import pytest
from scipy.special import jn_zeros, jv
from validation.walks import problem

import mc2
from mc2.errors import InputError
from mc2.geometry import Annulus, Disk, Ellipse, Grid, Rectangle, Square, Stadium
from mc2.metrics import psnr
from mc2.problems import CONSTANT
from mc2.zoo import generate
from tests.fits.rough import PARTICULAR
from tests.fits.rough import problem as rough_problem

GRID = Grid(48)
SMOOTH = mc2.Laplace(Disk(), exact="exp(2*x)*cos(2*y)")


def rms(values):
    return float(np.sqrt(np.mean(values**2)))


def error(found, exact=None):
    """At the pixels of the mask."""
    exact = found.problem.exact if exact is None else exact
    x, y = (c[found.mask] for c in found.grid.points())
    return found.values[found.mask] - exact(x, y)


def bars(found):
    return found.standard_error[found.mask]


def helmholtz(domain, k):
    return mc2.Helmholtz(domain, exact=f"cos({0.6 * k}*x)*sin({0.8 * k}*y) + exp(x)", k=k)


@pytest.fixture
def rough():
    """A boundary with more jumps than any basis fits."""
    return mc2.Laplace(Disk(), boundary=lambda x, y: np.sign(np.sin(60 * np.arctan2(y, x))))


@pytest.mark.parametrize("index", range(15))
def test_eight_walks(index):
    """86 dB or more on PDEZoo; below half the first eigenvalue for Helmholtz problems, or without walks."""
    task, grid = generate("test", index).problem, Grid(64)
    found = mc2.solve(task, 8, grid=grid)
    assert psnr(found.values, task.on_grid(task.exact, grid), found.mask) >= 86
    assert found.method == ("trefftz" if task.name == "helmholtz" else "mc2-rounds")
    assert found.walks <= 8 * 1.5 * 4096
    assert (found.values[~found.mask] == 0).all()
    np.testing.assert_array_equal(found.mask, task.mask(grid))


@pytest.mark.parametrize("domain", ["composed", "polygon"])
@pytest.mark.parametrize("family", CONSTANT)
def test_every_family_on_rough_domains(family, domain):
    found = mc2.solve(problem(family, domain), 8, grid=GRID)
    assert found.method == "mc2-rounds"
    assert rms(error(found)) < 1e-3
    assert 0.2 < rms(error(found)) / rms(bars(found)) < 5


@pytest.mark.parametrize("family", CONSTANT)
def test_tolerances_are_met(family):
    task = problem(family, "annulus")
    found = [mc2.solve(task, tolerance=tolerance, grid=GRID) for tolerance in (1e-2, 1e-3, 1e-6)]
    for tolerance, one in zip((1e-2, 1e-3, 1e-6), found, strict=True):
        assert one.converged
        assert one.history[-1].error <= tolerance
        assert rms(error(one)) < 3 * tolerance
    walks = [one.walks for one in found]
    assert walks == sorted(walks)
    assert walks[-1] > walks[0]


def test_an_unreachable_tolerance_warns_once(rough):
    with pytest.warns(UserWarning, match="tolerance 1e-06 would take about .* walks, .* seconds; max_walks") as caught:
        found = mc2.solve(rough, tolerance=1e-6, grid=Grid(12), max_walks=300_000)
    assert len(caught) == 1
    assert "\n" not in str(caught[0].message)
    assert caught[0].filename == __file__
    assert not found.converged
    assert found.history[-1].kind == "pixels"
    x, y = (c[found.mask] for c in found.grid.points())
    inside = np.hypot(x, y) < 0.7  # where u is 1e-9: as much is averaged out
    assert np.abs(found.values[found.mask])[inside].max() < 4 * bars(found)[inside].max()


def test_a_given_number_of_walks_does_not_warn(rough):
    found = mc2.solve(rough, 8, grid=Grid(12))
    assert found.converged


def test_the_boundary_first():
    """Smooth problems to rounding, and walks that see that there is nothing left."""
    found = mc2.solve(SMOOTH, 8, grid=GRID, start="boundary")
    assert found.method == "mc2-rounds"
    assert found.history[0].kind == "boundary"
    assert rms(error(found)) < 1e-12
    assert rms(bars(found)) < 1e-12
    plain = mc2.solve(SMOOTH, 8, grid=GRID)
    assert plain.history[0].kind == "walks"
    assert rms(error(plain)) > 1e-10


def test_steps_that_do_not_help_lead_to_others():
    """A jump: walks stall, boundary least squares know the angle around it."""

    def exact(x, y):
        return np.arctan2(y + 1, x - 0.2) / np.pi

    found = mc2.solve(mc2.Laplace(Square(), boundary=exact), 12, grid=GRID)
    assert "boundary" in [step.kind for step in found.history]
    assert rms(error(found, exact)) < 1e-10
    assert rms(bars(found)) < 1e-8


def test_next_to_nothing_is_not_averaged():
    found = mc2.solve(generate("test", 47).problem, 16, grid=GRID)
    kinds = [step.kind for step in found.history]
    assert "boundary" in kinds
    assert "pixels" not in kinds
    assert rms(error(found)) < 1e-11


@pytest.mark.parametrize("walks", [8, 16])
def test_boundary_values_that_are_no_solution_on_an_ellipse(walks):
    """x² on the ellipse of half-axes 1 and 0.4: u = (x² − y² + 0.16)/1.16."""
    found = mc2.solve(mc2.Laplace(Ellipse(1.0, 0.4), boundary="x**2"), walks, grid=GRID, max_steps=2000)
    assert rms(error(found, lambda x, y: (x * x - y * y + 0.16) / 1.16)) < 1e-8


@pytest.mark.parametrize("k", [5.0, 10.0, 20.0])
@pytest.mark.parametrize("domain", [Square(), Annulus(0.3, 1.0), Disk(0.8) | Rectangle(0.9, 0.3)], ids=repr)
@pytest.mark.filterwarnings("ignore:k² = 400 is within")
def test_helmholtz_beyond_the_limit_of_walks(domain, k):
    found = mc2.solve(helmholtz(domain, k), grid=GRID)
    assert found.method == "trefftz"
    assert found.walks == 0
    assert rms(error(found)) < 1e-9
    assert rms(error(found)) <= rms(bars(found)) < 1e-6
    assert [step.kind for step in found.history] == ["boundary"]


def test_helmholtz_below_the_limit_is_walked():
    found = mc2.solve(helmholtz(Disk(), 1.6), grid=GRID)
    assert found.method == "mc2-rounds"
    assert rms(error(found)) < 1e-5


def test_a_wave_number_close_to_an_eigenvalue_is_warned_of():
    square = jn_zeros(0, 2)[1] ** 2
    with pytest.warns(UserWarning, match=r"within 1e-05 \(relative\) of a Dirichlet eigenvalue") as caught:
        near = mc2.solve(helmholtz(Disk(), float(np.sqrt(square * (1 + 1e-5)))), grid=GRID)
    assert "amplified up to 3.7e+04 times" in str(caught[0].message)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        away = mc2.solve(helmholtz(Disk(), float(np.sqrt(square * 1.01))), grid=GRID)
    assert rms(error(near)) < 1e-8
    assert rms(error(away)) < 1e-11
    assert bars(near).max() > 30 * bars(away).max()


@pytest.mark.parametrize("how", [{}, {"start": "boundary"}, {"corrector": "mc2-physics"}], ids=str)
def test_solutions_are_functions(how):
    task = problem("poisson", "composed")
    found = mc2.solve(task, 8, grid=GRID, **how)
    x, y = (c[found.mask] for c in GRID.points())
    np.testing.assert_allclose(found(x, y), found.values[found.mask], atol=1e-11)
    inside = task.domain.sample_interior(200, seed=0).T
    allowed = 6 * rms(bars(found)) + 1e-12
    assert rms(found(*inside) - task.exact(*inside)) < allowed
    edge = task.domain.sample_boundary(200, seed=0).T
    assert rms(found(*edge) - task.exact(*edge)) < 3 * allowed
    assert found(np.array([[0.5], [0.6]]), np.array([-0.3, -0.2, -0.1])).shape == (2, 3)
    assert np.ndim(found(0.5, -0.3)) == 0


def test_solutions_without_walks_are_functions():
    task = helmholtz(Square(), 5.0)
    found = mc2.solve(task, grid=GRID)
    for x, y in (task.domain.sample_interior(200, seed=0).T, task.domain.sample_boundary(200, seed=0).T):
        np.testing.assert_allclose(found(x, y), task.exact(x, y), atol=1e-9)


def test_the_walks_mean_is_a_function():
    """Elsewhere than at pixels it walks again: unbiased, with the noise of its walks."""
    found = mc2.solve(SMOOTH, 64, grid=GRID, corrector="wos")
    x, y = Disk(0.9).sample_interior(500, seed=0).T
    left, deviation = found(x, y) - SMOOTH.exact(x, y), found.evaluator.standard_error(x, y)
    assert abs(left.sum()) < 4 * np.sqrt((deviation**2).sum())
    assert rms(left) == pytest.approx(rms(deviation), rel=0.15)


def averaged(rough):
    found = mc2.solve(rough, 12, grid=Grid(12))
    assert found.history[-1].kind == "pixels"
    return found


def test_averages_are_functions(rough):
    """At the pixels they are the values; elsewhere new walks are averaged."""
    found = averaged(rough)
    x, y = (c[found.mask] for c in found.grid.points())
    np.testing.assert_array_equal(found(x, y), found.values[found.mask])
    inside = Disk(0.7).sample_interior(300, seed=0).T
    assert 0.2 < rms(found(*inside)) / rms(found.evaluator.standard_error(*inside)) < 2


@pytest.mark.parametrize("kind", ["averages", "none"])
@pytest.mark.parametrize("with_others", [False, True])
def test_on_the_boundary_the_solution_is_the_boundary_value(rough, kind, with_others):
    found = averaged(rough) if kind == "averages" else mc2.solve(SMOOTH, 8, grid=GRID, corrector="wos")
    angle = np.pi / 120  # in the middle between two jumps
    x, y = np.array([np.cos(angle), 0.1, -0.2]), np.array([np.sin(angle), 0.2, 0.3])
    values = found(x, y) if with_others else found(x[:1], y[:1])
    expected = found.problem.boundary(x[:1], y[:1])[0]
    assert values[0] == pytest.approx(expected, abs=0.6 if kind == "averages" else 1e-6)


def test_outside_there_is_no_solution():
    found = mc2.solve(SMOOTH, 4, grid=GRID)
    with pytest.raises(InputError, match=r"^\(1\.5, 0\.2\) lies outside the domain, where there is no solution$"):
        found(np.array([0.0, 1.5]), 0.2)


def test_seeds():
    one, same, other = (mc2.solve(SMOOTH, 4, grid=GRID, seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.values, same.values)
    np.testing.assert_array_equal(one.standard_error, same.standard_error)
    assert not (one.values == other.values)[one.mask].any()
    assert rms(one.values - other.values) < 10 * rms(bars(one))
    assert one.options.seed == 3


def test_threads_do_not_matter():
    one, two = (mc2.solve(problem("biharmonic", "composed"), 4, grid=GRID, threads=threads) for threads in (1, 2))
    np.testing.assert_array_equal(one.values, two.values)


def test_the_grid_does_not_matter():
    """Points that are fitted are those of the domain: a finer picture is of the same solution."""
    task = mc2.Laplace(Disk(), boundary="exp(x)*cos(y) + x**2")
    coarse, fine = (mc2.solve(task, 4, grid=Grid(size)) for size in (24, 72))
    np.testing.assert_allclose(fine.values[1::3, 1::3], coarse.values, atol=1e-12)


def test_a_domain_that_extends_past_the_grid():
    task = mc2.Poisson(Rectangle(3.0, 0.5), exact="sin(2*x)*cos(y) + x")
    found = mc2.solve(task, 8, grid=GRID)
    assert rms(error(found)) < 1e-4
    x, y = np.array([2.9, -2.5]), np.array([0.4, -0.3])
    np.testing.assert_allclose(found(x, y), task.exact(x, y), atol=1e-4)
    elsewhere = mc2.solve(task, 8, grid=Grid(40, bounds=(2, 3, -0.5, 0.5)))
    assert rms(error(elsewhere)) < 1e-4


def test_functions_that_cannot_be_compiled():
    def boundary(x, y):
        return jv(0, 3 * np.hypot(x, y)) + np.real(np.exp(x + 1j * y))

    with pytest.warns(UserWarning, match="boundary: .* called on whole arrays"):
        task = mc2.Laplace(Disk(), boundary=boundary)
    found = mc2.solve(task, 8, grid=GRID)
    assert rms(error(found, lambda x, y: jv(0, 3) + np.exp(x) * np.cos(y))) < 1e-5


def test_functions_with_branches():
    """1 on the right half of the circle: its harmonic measure is (the angle in which it is seen − π/2)/π."""

    def wall(x, y):
        return 1.0 if x > 0 else 0.0

    def exact(x, y):
        z = x + 1j * y
        return (np.angle((1j - z) / (-1j - z)) % (2 * np.pi) - 0.5 * np.pi) / np.pi

    found = mc2.solve(mc2.Laplace(Disk(), boundary=wall), 12, grid=GRID)
    assert rms(error(found, exact)) < 1e-6


@pytest.mark.slow
def test_sources_on_a_grid_only():
    exact = mc2.Poisson(Disk(0.8), exact="sin(5*x)*cos(3*y)")
    errors = []
    for size in (32, 128):
        x, y = Grid(size).points()
        known = np.where(Disk(0.8).mask(Grid(size)), exact.source(x, y), np.nan)
        task = mc2.Poisson(Disk(0.8), source=known, boundary="sin(5*x)*cos(3*y)")
        errors.append(rms(error(mc2.solve(task, 8, grid=GRID, start="boundary"), exact.exact)))
    assert errors[1] < 2e-5
    assert errors[0] > 8 * errors[1]


@pytest.mark.parametrize("how", [{}, {"corrector": "mc2-physics"}, {"tolerance": 1e-6}], ids=str)
@pytest.mark.parametrize("value", [0, 1])
def test_constant_boundary_values(value, how):
    found = mc2.solve(mc2.Laplace(Square(), boundary=value), grid=GRID, **how)
    np.testing.assert_allclose(found.values[found.mask], value, atol=1e-6)


def test_domains_with_round_numbers():
    for domain in (Rectangle(0.2, 1.2), Stadium(0.3, 0.4)):
        found = mc2.solve(mc2.Laplace(domain, boundary="x*y"), grid=GRID)
        assert rms(error(found, lambda x, y: x * y)) < 1e-5


def test_strong_screening():
    task = mc2.Yukawa(Square(), exact="exp(x)*cos(3*y)", lam=1e6)
    assert rms(error(mc2.solve(task, grid=GRID))) < 1e-3


def test_progress_is_reported():
    seen = []
    mc2.solve(SMOOTH, 8, grid=GRID, progress=lambda *at: seen.append(at))
    assert seen == [(2, 8), (4, 8), (6, 8), (8, 8)]


BAD = [
    ({"walks": 1}, "walks = 1: rounds need 2 or more"),
    ({"walks": 0}, "walks = 0"),
    ({"walks": 2.5}, "walks = 2.5"),
    ({"tolerance": -1}, "tolerance = -1 must be above 0"),
    ({"tolerance": 0}, "tolerance = 0"),
    ({"tolerance": float("nan")}, "tolerance = nan"),
    ({"tolerance": 1e-3, "corrector": "mc2-physics"}, "a tolerance needs the corrector 'mc2-rounds'"),
    ({"tolerance": 1e-3, "corrector": "wos"}, "a tolerance needs the corrector 'mc2-rounds'"),
    ({"start": "wals"}, "unknown start 'wals': did you mean 'walks'?"),
    ({"corrector": "none"}, "the corrector 'none' is called 'wos' now, as in all tables"),
    ({"corrector": 3}, "corrector = 3: must be a name, the path of a .safetensors file, a Corrector, or a function"),
    ({"corrector": "wos", "start": "boundary"}, "start = 'boundary' is for the corrector 'mc2-rounds', not for 'wos'"),
    ({"corrector": "trefftz", "tolerance": 1e-3}, "'trefftz' does not know its own error"),
    (
        {"corrector": "magic"},
        "unknown corrector 'magic': known: collocation, mc2, mc2-alone, mc2-physics, mc2-rounds, mc2-unet, sunet",
    ),
    ({"corrector": "mc2-physics", "walks": 1}, "two or more walks per pixel"),
    ({"seed": -1}, "seed = -1"),
    ({"epsilon": 3}, "epsilon = 3"),
    ({"threads": 0}, "threads = 0"),
    ({"device": "cuda"}, "mc2-rounds walks on the CPU: use device 'cpu' or 'auto'"),
    ({"device": "gpu"}, "unknown device 'gpu': did you mean 'cuda'?"),
    ({"sed": 3}, "unknown argument of solve 'sed': did you mean 'seed'?"),
    ({"grid": "a"}, "grid = 'a' must be a Grid, or a number of pixels along a side"),
    ({"grid": 0}, "grid size = 0"),
    ({"grid": 1.5}, "grid = 1.5 must be a Grid"),
    ({"max_walks": 10}, "max_seconds and max_walks are limits of a tolerance"),
    ({"max_walks": 0, "tolerance": 1e-3}, "max_walks = 0"),
    ({"max_seconds": -1, "tolerance": 1e-3}, "max_seconds = -1 must be above 0"),
    ({"problem": None}, "problem = None: must be a problem"),
    ({"problem": Disk()}, "problem = Disk(1.0): must be a problem"),
    ({"problem": "x", "corrector": "wos"}, "problem = 'x': must be a problem"),
]


@pytest.mark.parametrize(("given", "message"), BAD, ids=range(len(BAD)))
def test_bad_arguments(given, message):
    with pytest.raises(InputError) as refused:
        mc2.solve(**{"problem": SMOOTH, "grid": GRID} | given)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_grid_without_pixels_inside():
    with pytest.raises(InputError, match="no pixel centre"):
        mc2.solve(SMOOTH, grid=Grid(4, bounds=(2, 3, 2, 3)))


KINDS = [(family, kind) for family in ("poisson", "yukawa", "helmholtz", "biharmonic") for kind in ("jump", "1/r")]
KINDS += [("poisson", kind) for kind in ("heater", "kink", "slanted jump")] + [("biharmonic", "heater")]


@pytest.mark.parametrize(("family", "kind"), KINDS)
def test_rough_sources_are_within_their_claims(family, kind):
    assert kind in PARTICULAR
    task = rough_problem(family, kind, Disk())
    found = mc2.solve(task, grid=GRID)
    left = error(found, task.boundary)
    assert rms(left) < 1.96 * rms(bars(found))
    assert np.mean(np.abs(left) < 1.96 * bars(found)) > 0.7
    assert rms(bars(found)) < 1e-3
    assert found.converged
    assert "judged by walks, the source by lattices of two resolutions" in found.reason
    kinds = [step.kind for step in found.history]
    assert kinds[0] == "lift"
    assert "source" in kinds
    assert not found.history[0].kept  # not negligible
    certified = found.certify(16, 500, confidence=0.999).overall
    assert certified.rms.low <= rms(left) <= certified.rms.high
    assert certified.mean.low <= -left.mean() <= certified.mean.high


def test_smooth_sources_say_so():
    found = mc2.solve(problem("poisson", "disk"), grid=GRID)
    assert found.history[0].kind == "lift"
    assert found.history[0].kept
    assert "source" not in [step.kind for step in found.history]
    assert found.reason == "walks spent, judged by walks"


@pytest.mark.parametrize("kind", ["jump", "heater"])
def test_tolerances_of_rough_sources(kind):
    task = rough_problem("poisson", kind, Disk())
    found = mc2.solve(task, tolerance=1e-5, grid=GRID)
    assert found.converged
    assert found.reason.startswith("tolerance met, judged by walks")
    assert rms(bars(found)) <= 1.1e-5
    assert rms(error(found, task.boundary)) <= 2e-5


def test_a_source_that_is_not_resolved():
    """Oscillations beyond every lattice: their solution is below 1e-4, which nothing knows."""
    task = mc2.Poisson(Disk(), source="1000*cos(5000*x)", boundary=0)
    found = mc2.solve(task, 4, grid=GRID)
    assert not found.converged
    assert found.reason.startswith("source unresolved: ")
    assert rms(found.values[found.mask]) < 1.96 * rms(bars(found))
    assert found.certify(16, 300).overall.rms.high > rms(found.values[found.mask]) - 1e-4


@pytest.mark.parametrize("limit", [{"max_walks": 200_000}, {"max_seconds": 0.8}], ids=str)
def test_limits_of_a_tolerance(limit):
    """Said before they are spent, with what it would take; and the error bars hold."""
    n, grid = 1003, Grid(24)
    task = mc2.Laplace(Disk(), boundary=lambda x, y: np.sign(np.sin(n * np.arctan2(y, x))))
    with pytest.warns(UserWarning, match="the tolerance 1e-06") as caught:
        found = mc2.solve(task, tolerance=1e-6, grid=grid, **limit)
    name = next(iter(limit))
    assert len(caught) == 1
    if name == "max_walks":  # rounds alone may take the seconds where the machine is busy
        assert re.search("would take about .* walks, .* seconds; max_walks = 200,000 allows", str(caught[0].message))
    assert not found.converged
    assert found.reason.startswith(f"stopped at {name}")
    assert found.walks <= limit.get("max_walks", np.inf)
    assert found.seconds < 20  # far more than it takes, on a busy machine
    x, y = (c[found.mask] for c in grid.points())
    truth = (
        2 / np.pi * np.arctan2(2 * np.hypot(x, y) ** n * np.sin(n * np.arctan2(y, x)), 1 - np.hypot(x, y) ** (2 * n))
    )
    assert rms(found.values[found.mask] - truth) < 1.96 * rms(bars(found))


@pytest.mark.parametrize("limit", [{"max_seconds": 1e-9}, {"max_walks": 1}])
@pytest.mark.slow
def test_there_is_one_round_whatever_the_limits(limit):
    """Also where lifting a rough source alone has taken all of the time."""
    task = mc2.Poisson(Disk(), source="where(x > 0.1, 10, -5)", boundary="y")
    with pytest.warns(UserWarning, match="above the tolerance"):
        found = mc2.solve(task, tolerance=1e-9, grid=Grid(24), **limit)
    assert not found.converged
    assert found.reason.startswith("stopped at max")
    assert [step.kind for step in found.history] == ["lift", "walks", "source"]


@pytest.mark.filterwarnings("ignore:the standard error is", "ignore:no basis fits this problem")
def test_what_walks_cannot_tell_from_noise_is_claimed():
    """120 jumps are fitted to 1 %: that few walks meet what is left is no proof that there is nothing."""
    n = 60
    task = mc2.Laplace(Disk(), boundary=lambda x, y: np.sign(np.sin(n * np.arctan2(y, x))))
    found = mc2.solve(task, tolerance=1e-6, grid=GRID, max_walks=100_000)

    def exact(x, y):
        r = np.hypot(x, y)
        return 2 / np.pi * np.arctan2(2 * r**n * np.sin(n * np.arctan2(y, x)), 1 - r ** (2 * n))

    assert rms(error(found, exact)) < 1.96 * rms(bars(found))
    assert not found.converged


@pytest.mark.parametrize("half", [1e-3, 1e-4, 1e-5])
def test_spikes_on_smooth_data(half):
    """x, and 5 more on a short arc: its harmonic measure is what is left of the angle that it is seen in."""
    task = mc2.Laplace(Disk(), boundary=f"x + where(abs(arctan2(y, x) - 0.7) < {half}, 5, 0)")

    def exact(x, y):
        seen = np.angle((np.exp(1j * (0.7 + half)) - x - 1j * y) / (np.exp(1j * (0.7 - half)) - x - 1j * y))
        return x + 5 * (np.mod(seen, 2 * np.pi) - half) / np.pi

    found = mc2.solve(task, grid=GRID)
    left = rms(error(found, exact))
    assert left < 1.96 * rms(bars(found))
    assert left <= found.certify(16, 500).overall.rms.high
