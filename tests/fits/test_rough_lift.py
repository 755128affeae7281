"""Lifts of sources with jumps, kinks and peaks: their errors are as small as they say, for every operator."""

import numpy as np
import pytest
from validation.hunting.disk import Grounded
from validation.hunting.known import known
from validation.hunting.sources import Text

import mc2
from mc2.fits.boundary import fit_boundary
from mc2.fits.field import lifted
from mc2.fits.lift_kernels import partition, spread
from mc2.fits.resolution import RESOLVED
from mc2.fits.rough_lift import _bump_transform, _smooth_step, find_lift
from mc2.geometry import Disk, Polygon
from mc2.problems import FAMILIES
from mc2.problems.operator import LAPLACIAN
from tests.fits.rough import LAM, PARTICULAR, K, problem

POLYGON = Polygon([(-0.9, -0.8), (0.9, -0.7), (0.8, 0.9), (-0.2, 0.5), (-0.8, 0.8)])


def rms(values):
    return float(np.sqrt(np.mean(values**2)))


def errors(task, truth=None):
    """True and claimed, root mean square over the domain, after the boundary has been fitted; and the lift's field."""
    field = lifted(task)
    fit = fit_boundary(task, start=field)
    x, y = task.domain.sample_interior(1500, seed=5).T
    truth = task.boundary if truth is None else truth
    left = fit.field(x, y) - truth(x, y)
    return rms(left), float(np.hypot(rms(field.error(x, y)), fit.error)), field


CASES = [(family, kind, Disk()) for family in ("poisson", "yukawa", "helmholtz", "biharmonic") for kind in PARTICULAR]
CASES = [case for case in CASES if case[1] != "slanted jump" or case[0] in ("poisson", "biharmonic")]
CASES += [("poisson", "jump", POLYGON), ("yukawa", "jump", POLYGON), ("helmholtz", "1/r", POLYGON)]
CASES += [("poisson", "heater", POLYGON), ("biharmonic", "heater", POLYGON)]


@pytest.mark.parametrize(("family", "kind", "domain"), CASES, ids=lambda part: part if isinstance(part, str) else "")
def test_errors_are_claimed(family, kind, domain):
    task = problem(family, kind, domain)
    true, claimed, field = errors(task)
    size = rms(task.boundary(*domain.sample_interior(500, seed=1).T))
    assert true < 3 * claimed
    assert claimed < 3e-4 * size
    assert field.resolution.resolved
    assert not field.resolution.negligible


@pytest.mark.parametrize("place", [0.1037, -0.2211, 0.0517])
@pytest.mark.parametrize("constant", [0.0, 1.0])
def test_kinks_on_a_constant(place, constant):
    """A constant makes no kink less rough."""
    u = f"abs(x - {place})**3/6 + {constant}*(x**2 + y**2)/4"
    true, claimed, _ = errors(mc2.Poisson(Disk(), source=f"abs(x - {place}) + {constant}", boundary=u))
    assert true < 3 * claimed
    assert claimed < 1e-6


@pytest.mark.parametrize("power", [0.5, -0.5])
@pytest.mark.parametrize("constant", [0.0, 10.0])
def test_cusps(power, constant):
    place = 0.1037
    u = f"abs(x - {place})**{power + 2}/{(power + 1) * (power + 2)} + {constant}*(x**2 + y**2)/4"
    task = mc2.Poisson(Disk(), source=f"abs(x - {place})**({power}) + {constant}", boundary=u)
    true, claimed, _ = errors(task)
    assert true < 3 * claimed
    assert claimed < 1e-4


def test_a_narrow_peak():
    """A Gaussian that no lattice point meets."""
    case = known()["bump"].draft
    task = mc2.Poisson(Disk(), source=case.data["source"], boundary=0)
    true, claimed, field = errors(task, case.truth)
    assert true < 3 * claimed
    assert claimed < 0.02 * rms(case.truth(*Disk().sample_interior(500, seed=1).T))
    assert not field.resolution.negligible


SMOOTH = "sin(3*x)*cos(2*y) + exp(x)"
GIVEN = {"poisson": {}, "yukawa": {"lam": LAM}, "helmholtz": {"k": K}, "biharmonic": {}}


@pytest.mark.parametrize("domain", [Disk(), POLYGON], ids=["disk", "polygon"])
@pytest.mark.parametrize("family", GIVEN)
def test_smooth_sources_leave_nothing(family, domain):
    task = FAMILIES[family](domain, exact=SMOOTH, **GIVEN[family])
    field = lifted(task)
    assert field.resolution.negligible
    assert field.exact
    x, y = domain.sample_interior(500, seed=2).T
    np.testing.assert_allclose(field.lift.applied(x, y), task.source(x, y), atol=1e-9)


@pytest.mark.parametrize("radius", [0.02, 0.002])
def test_a_source_that_few_samples_meet_is_not_taken_for_rounding(radius):
    """A source is only rounding if nothing of it is large: not if random points have missed where it is."""
    few = Disk().sample_interior(256, seed=1)
    place = next(p for p in Disk(0.5).sample_interior(99, seed=7).round(3) if np.hypot(*(few - p).T).min() > 0.02)
    x, y = map(float, place)
    task = mc2.Poisson(Disk(), source=f"where((x - {x})**2 + (y - {y})**2 < {radius**2}, 1000, 0)", boundary="x")
    field = lifted(task)
    assert not field.exact
    assert field.resolution.error(*Disk().sample_interior(200).T).max() > 0


@pytest.mark.parametrize("domain", [Disk(), POLYGON], ids=["disk", "polygon"])
def test_what_is_applied_is_the_source_away_from_jumps(domain):
    """And at a jump it is not: so its size there is measured."""
    task = problem("poisson", "jump", domain)
    field = lifted(task)
    x, y = domain.sample_interior(2000, seed=2).T
    left = np.abs(field.lift.applied(x, y) - task.source(x, y))
    assert left[np.abs(x - 0.1) > 0.15].max() < 1e-3
    assert left.max() > 0.1
    assert field.resolution.left == pytest.approx(rms(left), rel=0.5)
    assert field.resolution.worst > 0.1


@pytest.mark.slow
def test_unresolved_oscillations_say_so():
    source = "1000*cos(5000*x)"
    lift, found = find_lift(mc2.Poisson(Disk(), source=source, boundary=0).source, Disk(), LAPLACIAN)
    assert not found.resolved
    assert not found.negligible
    assert found.scale == pytest.approx(1000 / np.sqrt(2), rel=0.05)
    x, y = Disk().sample_interior(500, seed=2).T
    truth = -1000 / 5000**2 * np.cos(5000 * x)  # a particular solution, and as good as zero
    edge = Disk().sample_boundary(500).T
    swing = rms(lift(x, y) - truth) + rms(lift(*edge))
    assert rms(found.error(x, y)) > 0.1 * swing


@pytest.mark.parametrize("name", [name for name in known() if name.startswith("fast source")])
def test_aliases_are_not_believed(name):
    """cos(536.165146 x) is slow on the first lattice, and is resolved on a finer one."""
    case = known()[name].draft
    task = FAMILIES[case.family](Disk(), **case.data, **dict.fromkeys(GIVEN[case.family], case.parameter))
    field = lifted(task)
    assert field.lift.size > 600
    assert field.resolution.resolved
    assert field.resolution.worst < 1e-3 * field.resolution.scale
    x, y = Disk().sample_interior(500, seed=2).T
    fit = fit_boundary(task, start=field)
    assert rms(fit.field(x, y) - case.truth(x, y)) < 0.02


@pytest.mark.parametrize(
    "exact",
    ["exp(20*(x**2 + y**2 - 1))", "1/(1.2 - x)", "log(1.3 - x)*y", "sqrt(1.21 - x**2 - y**2)"],
)
def test_sources_that_are_wild_outside(exact):
    """Growing, with a pole, or without a value there: inside, u is right."""
    task = mc2.Poisson(Disk(), exact=exact)
    true, claimed, field = errors(task)
    assert true < max(3 * claimed, 1e-12)
    assert claimed < 1e-4 * rms(task.source(*Disk().sample_interior(500, seed=1).T))
    x, y = Disk(0.9).sample_interior(500, seed=2).T
    size = np.abs(task.source(x, y)).max()
    assert np.abs(field.lift.applied(x, y) - task.source(x, y)).max() < 1e-2 * size


@pytest.mark.slow
def test_more_is_asked_for_than_given():
    """A finer lattice for a smaller accuracy, where a source is rough; its claim falls, and it holds."""
    task = problem("poisson", "jump", Disk())
    coarse, fine = lifted(task), lifted(task, accuracy=1e-6)
    x, y = Disk().sample_interior(1500, seed=5).T
    claims = [rms(field.error(x, y)) for field in (coarse, fine)]
    assert fine.lift.size > 1.5 * coarse.lift.size
    assert claims[1] < 0.5 * claims[0]
    assert rms(fit_boundary(task, start=fine).field(x, y) - task.boundary(x, y)) < 3 * claims[1]


def test_grounded_jump():
    """The jump of the table, 0 on the boundary: w plus a harmonic function."""
    task = mc2.Poisson(Disk(), source=PARTICULAR["jump"][1], boundary=0)
    true, claimed, _ = errors(task, Grounded(Text(PARTICULAR["jump"][0])))
    assert true < 3 * claimed
    assert claimed < 1e-5


def test_the_partition_adds_up_to_one():
    random = np.random.default_rng(0)
    x, y = random.uniform(0, 16, (2, 2000))
    tiles = random.random((16, 16)) < 0.4
    steps = _smooth_step()
    own, rest, every = np.empty((3, x.size))
    partition(tiles, x, y, steps, own)
    partition(~tiles, x, y, steps, rest)
    partition(np.ones((16, 16), bool), x, y, steps, every)
    np.testing.assert_allclose(every, 1.0, atol=1e-14)
    np.testing.assert_allclose(own + rest, 1.0, atol=1e-14)
    assert own.min() >= 0
    assert ((own > 0.01) & (own < 0.99)).mean() > 0.3
    assert steps[0] == 0
    assert steps[-1] == 1
    np.testing.assert_allclose(steps + steps[::-1], 1.0, atol=1e-14)


@pytest.mark.parametrize("wave", [(0, 0), (3, -5), (20, 11), (-30, 2)])
def test_spreading_keeps_fourier_coefficients(wave):
    """Masses at random points: the lattice's transform, bumps divided out, is Σ mass e^{-iξ·x} up to half its range."""
    size, random = 128, np.random.default_rng(1)
    x, y = random.uniform(0, size, (2, 500))
    mass = random.normal(size=500)
    lattice = np.zeros((size, size))
    spread(x, y, mass, lattice)
    blur = _bump_transform(size)
    found = np.fft.fft2(lattice)[wave] / (blur[wave[0]] * blur[wave[1]])
    expected = np.sum(mass * np.exp(-2j * np.pi * (wave[0] * y + wave[1] * x) / size))
    assert abs(found - expected) < 1e-6 * np.abs(mass).sum()


def test_resolved_means_measured():
    """A source is negligibly unresolved only if f − Lw is small at all random points."""
    for source, small in ((SMOOTH, True), ("cos(300*x)*exp(-100*x**2)", True), ("abs(x)", False)):
        _, found = find_lift(mc2.Poisson(Disk(), source=source, boundary=0).source, Disk(), LAPLACIAN)
        assert found.negligible == small
        assert (found.worst <= RESOLVED * found.scale) == small


def test_what_rounding_leaves_of_a_source_that_is_huge_outside_is_seen():
    """Where the window reaches, the source is 1e29: rounding of the series is larger than the source inside."""
    problem = mc2.Yukawa(Disk(), lam=2330.0, exact="exp(17.4*(x**2 + y**2 - 1))")
    lift, found = find_lift(problem.source, problem.domain, problem.operator)
    x, y = problem.domain.sample_interior(5000, seed=7).T
    left = problem.source(x, y) - lift.applied(x, y)
    assert np.sqrt(np.mean(left**2)) < 1.5 * found.left < 0.1 * found.scale
