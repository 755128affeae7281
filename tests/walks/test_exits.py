"""Where walks end: on the boundary, and scores what the same walks are scores to `estimate`."""

from itertools import pairwise

import numpy as np
import pytest

import mc2
from mc2.geometry import Annulus, Disk, Ellipse, Hexagon, Polygon, Rectangle, Square, Stadium, Triangle
from mc2.problems import CONSTANT, FAMILIES
from mc2.walks import estimate, trajectory
from mc2.walks.exits import find_exits
from mc2.walks.options import Options

L_SHAPE = Polygon([(-1, -1), (1, -1), (1, 0), (0, 0), (0, 1), (-1, 1)])
COMPOSED = (Disk(0.8) | Rectangle(0.9, 0.3, center=(0.3, 0.2), angle=0.5)) - Triangle(0.3, center=(-0.2, 0.1))
DOMAINS = {
    "disk": Disk(),
    "square": Square(0.9, angle=0.3),
    "annulus": Annulus(0.3, 1.1),
    "stadium": Stadium(0.5, 0.3),
    "hexagon": Hexagon(0.8, center=(0.1, 0.2)),
    "triangle": Triangle(),
    "large": Square(100.0),
    "ellipse": Ellipse(1.0, 0.4, angle=0.3),
    "L": L_SHAPE,
    "composed": COMPOSED,
}
DATA = {
    "laplace": {},
    "poisson": {"source": 0},
    "yukawa": {"source": 0, "lam": 25.0},
    "biharmonic": {"source": 0, "laplacian": "cos(2*x) - y"},
    "helmholtz": {"source": 0, "k": 1.2},
}
GIVEN = "exp(x)*sin(2*y) + x"


def problem(family, domain="disk"):
    return FAMILIES[family](DOMAINS[domain], boundary=GIVEN, **DATA[family])


def scores(task, exits):
    values = exits.weight * task.boundary(exits.x, exits.y)
    return values if task.laplacian is None else values - exits.share * task.laplacian(exits.x, exits.y)


def points(domain, count=40):
    """Which float32 can hold: walks start there."""
    return DOMAINS[domain].sample_interior(count, seed=0).astype(np.float32).astype(float)


@pytest.mark.parametrize("domain", DOMAINS)
def test_ends_lie_on_the_boundary(domain):
    found = find_exits(problem("laplace", domain), points(domain, 2000), 16, Options())
    assert found.x.shape == found.y.shape == (2000, 16)
    largest = float(np.abs(DOMAINS[domain].distance(found.x, found.y)).max())
    assert largest < 2e-12 * DOMAINS[domain].size
    assert (found.weight == 1).all()
    assert (found.share == 0).all()


@pytest.mark.parametrize("domain", ["disk", "composed", "annulus"])
@pytest.mark.parametrize("family", CONSTANT)
def test_they_are_worth_what_walks_are(family, domain):
    """Walk by walk: the k-th from the means of k and of k − 1."""
    task, start = problem(family, domain), points(domain)
    found = scores(task, find_exits(task, start, 12, Options(seed=3), instance=7))
    nested = trajectory(task, list(range(1, 13)), points=start, seed=3, instance=7, device="cpu")
    sums = np.stack([one.walks * one.mean for one in nested], axis=1)
    expected = np.diff(sums, axis=1, prepend=0.0)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, atol=2e-5 * scale)
    assert found.std() > 0.05 * scale


@pytest.mark.parametrize("family", CONSTANT)
def test_threads_do_not_matter(family):
    task, start = problem(family, "composed"), points("composed", 600)
    one, two = (find_exits(task, start, 40, Options(threads=threads)) for threads in (1, 2))
    for name in ("x", "y", "weight", "share", "steps", "truncated"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


@pytest.mark.parametrize("threads", [1, 2])
def test_many_walks(threads):
    """More than are added up together: the first ones are those of a smaller number, and the mean is the estimate's."""
    task, start = problem("yukawa", "composed"), points("composed", 20)
    many = find_exits(task, start, 2500, Options(threads=threads))
    few = find_exits(task, start, 30, Options())
    for name in ("x", "y", "weight", "share"):
        np.testing.assert_array_equal(getattr(many, name)[:, :30], getattr(few, name))
    expected = estimate(task, 2500, points=start, device="cpu").mean
    np.testing.assert_allclose(scores(task, many).mean(1), expected, atol=1e-5)  # corners are left, see corner_ends


def test_seeds_and_instances_differ():
    task, start = problem("laplace"), points("disk")
    base = find_exits(task, start, 8, Options())
    for other in (find_exits(task, start, 8, Options(seed=1)), find_exits(task, start, 8, Options(), instance=1)):
        assert not ((other.x == base.x) & (other.y == base.y)).any()
    np.testing.assert_array_equal(find_exits(task, start, 8, Options()).x, base.x)


def test_a_source_changes_nothing():
    """The ends are those of the homogeneous equation, whatever the source."""
    start = points("disk")
    one = find_exits(mc2.Poisson(Disk(), exact="sin(4*x)"), start, 8, Options())
    two = find_exits(problem("laplace"), start, 8, Options())
    np.testing.assert_array_equal(one.x, two.x)


def test_harmonic_measure():
    """From the centre of a disk all directions are equally likely; from elsewhere they follow Poisson's kernel."""
    count = 200_000
    found = find_exits(problem("laplace"), np.array([[0.0, 0.0], [0.5, 0.0]]), count, Options())
    turns = np.arctan2(found.y, found.x)
    edges = np.linspace(-np.pi, np.pi, 17)
    middle = np.array([np.linspace(low, high, 101)[1::2] for low, high in pairwise(edges)])
    for row, r in ((0, 0.0), (1, 0.5)):
        expected = ((1 - r**2) / (1 - 2 * r * np.cos(middle) + r**2) / (2 * np.pi)).mean(1) * (2 * np.pi / 16)
        seen = np.histogram(turns[row], edges)[0] / count
        assert (np.abs(seen - expected) < 4 * np.sqrt(expected / count) + 1e-3).all()


def test_weights_of_screened_walks():
    """Their mean solves Δu = λu with u = 1 on the boundary: I₀(√λ r)/I₀(√λ)."""
    from scipy.special import iv

    start = np.array([[0.0, 0.0], [0.5, 0.25]])
    found = find_exits(problem("yukawa"), start, 50_000, Options())
    expected = iv(0, 5 * np.hypot(*start.T)) / iv(0, 5)
    error = found.weight.std(1) / np.sqrt(50_000)
    assert (np.abs(found.weight.mean(1) - expected) < 4 * error + 1e-3 * expected).all()
    assert (found.weight > 0).all()
    assert (found.weight <= 1).all()


def test_shares_of_biharmonic_walks():
    """Their mean solves Δu = −1 with u = 0 on the boundary: (1 − r²)/4, the mean time in the disk."""
    start = np.array([[0.0, 0.0], [0.5, 0.25]])
    found = find_exits(problem("biharmonic"), start, 50_000, Options())
    expected = (1 - np.hypot(*start.T) ** 2) / 4
    error = found.share.std(1) / np.sqrt(50_000)
    assert (np.abs(found.share.mean(1) - expected) < 4 * error + 1e-4).all()


def test_steps_and_cut_walks_are_counted():
    task, start = problem("laplace", "square"), points("square", 100)
    whole, cut = (find_exits(task, start, 10, Options(max_steps=steps)) for steps in (1000, 3))
    assert whole.truncated == 0
    assert 500 < cut.truncated <= 1000
    assert cut.steps <= 3 * 1000 < whole.steps


def test_progress_reaches_the_end():
    seen = []
    find_exits(problem("laplace"), points("disk", 500), 200, Options(), progress=lambda *at: seen.append(at))
    assert seen[-1] == (100_000, 100_000)


SOURCED = [family for family in CONSTANT if family != "laplace"]
PARAMETERS = {"yukawa": {"lam": 25.0}, "helmholtz": {"k": 1.2}}


def sourced(family, domain="disk"):
    return FAMILIES[family](DOMAINS[domain], exact="exp(x)*sin(2*y) + x**2", **PARAMETERS.get(family, {}))


def within_errors(scores, expected):
    error = scores.std(1) / np.sqrt(scores.shape[1])
    return (np.abs(scores.mean(1) - expected) < 4 * error).all() and (error < 0.01).all()


@pytest.mark.parametrize("domain", ["disk", "composed"])
@pytest.mark.parametrize("family", SOURCED)
def test_samples_of_the_source_are_unbiased(family, domain):
    """weight·g − share·h + weight·f, at the end and at one sample of each walk, has u as its mean."""
    task = sourced(family, domain)
    start = np.array([[0.3, 0.1], [-0.5, 0.4], [0.1, -0.7]], np.float32).astype(float)
    found = find_exits(task, start, 100_000, Options(seed=2), sampled=True)
    met = found.samples
    source = met.weight * task.source(met.x, met.y)
    assert within_errors(scores(task, found) + source, task.exact(*start.T))
    assert not within_errors(scores(task, found), task.exact(*start.T))  # the source is no small part
    assert DOMAINS[domain].distance(met.x, met.y).min() > 0


def test_samples_of_the_source_tell_the_laplacian():
    """Δu of a biharmonic u solves Poisson's equation with the same source."""
    task = sourced("biharmonic")
    start = np.array([[0.3, 0.1], [-0.5, 0.4]], np.float32).astype(float)
    found = find_exits(task, start, 100_000, Options(seed=2), sampled=True)
    met = found.samples
    scores = task.laplacian(found.x, found.y) + met.laplacian_weight * task.source(met.x, met.y)
    expected = sourced("poisson").source(*start.T)
    error = scores.std(1) / np.sqrt(scores.shape[1])
    assert (np.abs(scores.mean(1) - expected) < 4 * error).all()
    assert (error < 0.1).all()


def test_samples_are_spread_as_green_s_function():
    """From the centre of a disk, a walk's one ball: samples have the density −4 log(r)/2π, mean r² = ¼, weight −¼."""
    task = mc2.Poisson(Disk(), source="x", boundary=0)
    met = find_exits(task, np.zeros((1, 2)), 100_000, Options(), sampled=True).samples
    square = met.x**2 + met.y**2
    assert abs(square.mean() - 0.25) < 4 * square.std() / np.sqrt(square.size)
    np.testing.assert_allclose(met.weight, -0.25, rtol=1e-3)
    for coordinate in (met.x, met.y):
        assert abs(coordinate.mean()) < 4 * coordinate.std() / np.sqrt(coordinate.size)


@pytest.mark.parametrize("family", SOURCED)
def test_samples_do_not_depend_on_threads(family):
    task, start = sourced(family, "composed"), points("composed", 300)
    one, two = (find_exits(task, start, 40, Options(threads=threads), sampled=True) for threads in (1, 2))
    for name in ("x", "y", "weight", "laplacian_weight"):
        np.testing.assert_array_equal(getattr(one.samples, name), getattr(two.samples, name))
    np.testing.assert_array_equal(one.x, two.x)


@pytest.mark.parametrize("family", SOURCED)
def test_sampling_changes_no_walk(family):
    """Samples have random numbers of their own."""
    task, start = sourced(family, "composed"), points("composed", 100)
    plain, sampled = (find_exits(task, start, 30, Options(seed=5), sampled=on) for on in (False, True))
    for name in ("x", "y", "weight", "share", "steps", "truncated"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(sampled, name))
    assert plain.samples is None
    few = find_exits(task, start, 10, Options(seed=5), sampled=True).samples
    np.testing.assert_array_equal(few.x, sampled.samples.x[:, :10])
