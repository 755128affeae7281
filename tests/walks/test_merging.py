"""More walks: streams and continued estimates are the same bits as one run; estimates add up; others are refused."""

import pickle
from itertools import pairwise

import numpy as np
import pytest

import mc2
from mc2.errors import InputError
from mc2.geometry import Disk, Rectangle, Square
from mc2.walks import Estimate, estimate, merging, stream

DOMAIN = Disk(1.0) - Rectangle(0.3, 0.2, center=(0.2, 0.1))
POISSON = mc2.Poisson(DOMAIN, source="40*x*y", boundary="x**2-y")
SMALL = {"grid": 16, "device": "cpu"}
VALUES = np.random.default_rng(0).normal(size=(16, 16))


def problems():
    with np.errstate(all="ignore"):
        yield "formulas", POISSON
        yield "values on a grid", mc2.Laplace(Square(), boundary=VALUES)
        yield "small units", mc2.Poisson(Disk(1e-6, center=(3e-6, 0)), source="4e20*x*y", boundary="1e6*x")
        yield "biharmonic", mc2.Biharmonic(Disk(), source="x", boundary="y", laplacian="x*y")


@pytest.mark.parametrize("problem", [pytest.param(task, id=name) for name, task in problems()])
def test_a_stream_is_one_run(problem):
    found = list(stream(problem, 12, 7, max_walks=70))
    assert [each.walks for each in found] == list(range(7, 71, 7))
    for each in (found[3], found[-1]):
        alone = estimate(problem, each.walks, grid=12, device="cpu")
        np.testing.assert_array_equal(each.mean, alone.mean)
        np.testing.assert_array_equal(each.variance, alone.variance)
        assert each == alone
        assert each.record.steps == alone.record.steps


@pytest.mark.parametrize("steps", [[1024, 1024, 952], [700, 324, 1, 999, 976], [1, 2999], [2048, 952]])
def test_going_on_across_chunks_is_one_run(steps):
    points = [[0.5, 0.5], [-0.3, 0.1], [1.0, 0.0]]
    whole = estimate(POISSON, sum(steps), points=points, stratify=True, epsilon=1e-3, first_point=7, device="cpu")
    found = estimate(POISSON, steps[0], points=points, stratify=True, epsilon=1e-3, first_point=7, device="cpu")
    for more in steps[1:]:
        found = found.continued(POISSON, more, threads=1)
    assert found == whole
    assert found.mean[2] == POISSON.boundary(1.0, 0.0)


@pytest.mark.parametrize("cuts", [[0, 20, 50], [0, 1024, 2048, 2500], [0, 700, 1100, 1500, 4000], [3, 4, 6]])
def test_estimates_add_up(cuts):
    parts = [estimate(POISSON, end - begin, **SMALL | {"grid": 8}, first_walk=begin) for begin, end in pairwise(cuts)]
    found = sum(reversed(parts))
    whole = estimate(POISSON, cuts[-1] - cuts[0], **SMALL | {"grid": 8}, first_walk=cuts[0])
    assert found.walks == whole.walks
    assert found.record.steps == whole.record.steps
    np.testing.assert_allclose(found.mean, whole.mean, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found.variance, whole.variance, rtol=1e-9)
    more = found.continued(POISSON, 30)
    np.testing.assert_allclose(more.mean, whole.continued(POISSON, 30).mean, rtol=1e-12, atol=1e-14)


def test_whole_chunks_add_up_to_the_bit():
    parts = [estimate(POISSON, 1024, points=[[0.5, 0.5]], first_walk=first) for first in (0, 1024, 2048)]
    assert sum(parts) == estimate(POISSON, 3072, points=[[0.5, 0.5]])


def test_other_estimates_are_refused():
    first = estimate(POISSON, 8, **SMALL)
    others = {
        "do not follow each other: give the second estimate first_walk=8": estimate(POISSON, 8, **SMALL),
        "of the same problem": estimate(mc2.Poisson(DOMAIN, "41*x*y", "x**2-y"), 8, **SMALL, first_walk=8),
        "of the same seed: 0 and 1": estimate(POISSON, 8, **SMALL, first_walk=8, seed=1),
        "of the same epsilon": estimate(POISSON, 8, **SMALL, first_walk=8, epsilon=1e-3),
        "at the same points": estimate(POISSON, 8, grid=17, device="cpu", first_walk=8),
    }
    for message, other in others.items():
        with pytest.raises(InputError, match=message):
            first + other
    with pytest.raises(InputError, match="another problem"):
        first.continued(mc2.Poisson(DOMAIN, source="40*x*y", boundary="x**2-y+1e-9"), 8)
    with pytest.raises(TypeError):
        first + 1


def test_problems_with_other_arrays_are_told_apart():
    first = estimate(mc2.Laplace(Square(), boundary=VALUES), 8, **SMALL)
    with pytest.raises(InputError, match="another problem"):
        first.continued(mc2.Laplace(Square(), boundary=VALUES + 1e-3), 8)


def test_saved_estimates_go_on(tmp_path):
    points = [[0.5, 0.5], [1.0, 0.0], [-0.2, 0.3]]
    for how in ({"grid": 12}, {"points": points}):
        first = estimate(POISSON, 1500, **how, device="cpu")
        first.save(tmp_path / "first.npz")
        loaded = Estimate.load(tmp_path / "first.npz")
        assert loaded == first == pickle.loads(pickle.dumps(first))
        assert loaded.continued(POISSON, 100) == estimate(POISSON, 1600, **how, device="cpu")
        assert loaded != estimate(POISSON, 1501, **how, device="cpu")


def test_a_stream_goes_on_from_an_estimate():
    first = estimate(POISSON, 10, **SMALL)
    *_, last = stream(POISSON, walks=10, start=first, max_walks=35)
    assert last == estimate(POISSON, 35, **SMALL)
    with pytest.raises(InputError, match="leave out"):
        stream(POISSON, start=first, epsilon=1e-3)


def test_a_stream_stops_at_its_tolerance():
    found = list(stream(POISSON, 16, 16, tolerance=0.05))
    errors = [float(np.sqrt(each.variance[each.mask].mean())) for each in found]
    assert errors[-1] <= 0.05 < errors[-2]
    constant = list(stream(mc2.Laplace(Disk(), boundary=3.0), 16, 8, tolerance=1.0))
    assert constant[-1].walks == merging.LEAST_WALKS
    assert len(list(stream(POISSON, 16, max_seconds=1e-9))) == 1


@pytest.mark.parametrize(
    ("how", "message"),
    [({"walks": 0}, "walks"), ({"tolerance": -1}, "tolerance"), ({"max_walks": 0}, "walks"), ({"sed": 1}, "seed")],
)
def test_what_a_stream_refuses(how, message):
    with pytest.raises(InputError, match=message):
        next(stream(POISSON, 16, **how))
