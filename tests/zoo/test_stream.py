"""The training stream: the same data however it is made, and right."""

from dataclasses import astuple
from itertools import islice

import numpy as np
import pytest

from mc2.errors import InputError
from mc2.geometry import Grid
from mc2.walks.gpu.launch import unavailable
from mc2.zoo import FAMILIES, SPLITS, generate, make_fields
from mc2.zoo.stream import Stream, prepare

gpu = pytest.mark.skipif(bool(unavailable()), reason=unavailable())
SMALL = {"grid": Grid(24), "device": "cpu", "budgets": (1, 4, 8)}


def take(count, **options):
    return list(islice(Stream(**SMALL | options), count))


def test_batches_are_the_instances():
    [first] = take(1, batch=6)
    for n in range(6):
        instance = generate("train", n)
        assert FAMILIES[first.family[n]] == instance.family
        assert first.parameter[n] == pytest.approx(sum(instance.parameters.values()))
        problem, mask = instance.problem, first.mask[n] == 1
        np.testing.assert_array_equal(mask, problem.mask(SMALL["grid"]))
        np.testing.assert_allclose(first.u[n], problem.on_grid(problem.exact, SMALL["grid"]), rtol=1e-6, atol=1e-6)
        if problem.source is not None:
            np.testing.assert_allclose(first.f[n], problem.on_grid(problem.source, SMALL["grid"]), rtol=1e-6, atol=1e-4)
        for field in (first.mean, first.variance, first.u, first.f):
            assert (field[n][~mask] == 0).all()
    error = (first.mean - first.u)[first.mask == 1]
    assert 0 < np.abs(error).mean() < np.abs(first.u).max()


def test_seeds_starts_and_epochs():
    whole = take(3, batch=4)
    [again] = take(1, batch=4, start=2)
    for a, b in zip(astuple(whole[2]), astuple(again), strict=True):
        np.testing.assert_array_equal(a, b)
    [other] = take(1, batch=4, seed=1)
    np.testing.assert_array_equal(whole[0].u, other.u)
    assert (whole[0].mean != other.mean).any()
    size = SPLITS["validation"]
    [first], [second] = (take(1, batch=5, split="validation", budgets=(4,), start=n) for n in (0, size // 5))
    np.testing.assert_array_equal(first.index, second.index)
    np.testing.assert_array_equal(first.u, second.u)
    assert (first.mean != second.mean).any()  # other walks in the next epoch


def test_a_part_of_the_split():
    first, second = take(2, batch=4, instances=4)
    np.testing.assert_array_equal(first.u, second.u)
    assert (first.mean != second.mean).any()


def test_ranks_share_what_one_would_have():
    whole = take(3, batch=4)
    parts = [take(3, batch=2, rank=rank, ranks=2) for rank in range(2)]
    for n, batch in enumerate(whole[:3]):
        for name in ("index", "walks", "mean", "u"):
            together = np.concatenate([getattr(part[n], name) for part in parts])
            np.testing.assert_array_equal(together, getattr(batch, name))


def test_some_families():
    """Those of the split, in its order, for one process and for several; epochs begin again."""
    first, second = take(2, batch=4, families=("yukawa", "laplace"))
    assert [FAMILIES[n] for n in first.family] == ["laplace", "yukawa"] * 2
    np.testing.assert_array_equal(np.concatenate([first.index, second.index]), [0, 2, 3, 5, 6, 8, 9, 11])
    whole = take(4, batch=3)
    np.testing.assert_array_equal(first.u[2], whole[1].u[0])
    [again] = take(1, batch=4, families=("yukawa", "laplace"), start=1)
    np.testing.assert_array_equal(again.mean, second.mean)
    parts = [take(1, batch=2, rank=rank, ranks=2, families=("laplace", "yukawa"))[0] for rank in range(2)]
    np.testing.assert_array_equal(np.concatenate([part.mean for part in parts]), first.mean)
    assert [i.index for i in Stream(batch=4, families=("poisson",), instances=3).draw(0).instances] == [1, 4, 7, 1]
    last = Stream(batch=1, families=("poisson",), split="validation", start=0)
    size = sum(index % 3 == 1 for index in range(SPLITS["validation"]))
    assert [last.draw(number).instances[0].index for number in (size - 1, size)] == [3 * size - 2, 1]


def test_extended_fields():
    """The signed distance, and the data of the nearest boundary point: outside of a disk as well as inside."""
    [batch] = take(1, batch=12, extended=True)
    [plain] = take(1, batch=12)
    assert plain.distance is None
    np.testing.assert_array_equal(batch.mean, plain.mean)
    assert ((batch.distance > 0) == (batch.mask == 1)).all()
    x, y = SMALL["grid"].points()
    for n in range(12):
        problem = generate("train", n).problem
        px, py = problem.domain.project(x, y)
        np.testing.assert_allclose(problem.domain.distance(px, py), 0, atol=1e-9)
        np.testing.assert_allclose(batch.boundary[n], problem.boundary(px, py), rtol=1e-5, atol=1e-5)
        near = (batch.mask[n] == 1) & (batch.distance[n] < 0.02)
        if near.any():  # data go over into the solution at the boundary
            assert np.median(np.abs(batch.boundary[n] - batch.u[n])[near]) < 0.1 * np.ptp(batch.u[n])


def test_budgets_are_mixed():
    walks = np.concatenate([Stream(batch=300, budgets=(1, 2, 4)).draw(0).walks])
    counts = [np.sum(walks == budget) for budget in (1, 2, 4)]
    assert min(counts) > 70
    [batch] = take(1, batch=8)
    for n, number in enumerate(batch.walks):  # a single walk has no variance
        assert np.isinf(batch.variance[n]).any() == (number == 1)


def test_what_a_process_prepares_can_be_sent():
    import pickle

    packed, labels = prepare(Stream(batch=4), 0)
    sent, _ = pickle.loads(pickle.dumps((packed, labels)))
    for a, b in zip(packed.arrays, sent.arrays, strict=True):
        np.testing.assert_array_equal(a, b)
    assert packed.exact


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch": 0}, "batch = 0"),
        ({"rank": 2, "ranks": 2}, "rank = 2"),
        ({"split": "tain"}, "did you mean 'train'"),
        ({"budgets": (4, 2)}, "must increase"),
        ({"device": "gpu"}, "unknown device"),
        ({"start": -1}, "start = -1"),
        ({"instances": 0}, "instances = 0"),
        ({"families": ("laplas",)}, "did you mean 'laplace'"),
        ({"families": ("laplace",), "instances": 1_000_000}, "instances = 1000000 must be an integer from 1 to 666667"),
    ],
)
def test_wrong_arguments(options, message):
    with pytest.raises(InputError, match=message):
        Stream(**options)


@gpu
@pytest.mark.gpu
@pytest.mark.parametrize("workers", [0, 2])
def test_gpu_gives_the_same_problems(workers):
    options = {"batch": 9, "budgets": (1, 8, 64), "grid": Grid(32)}
    found = list(islice(Stream(device="cuda", workers=workers, **options), 3))
    for batch, other in zip(found, islice(Stream(device="cpu", **options), 3), strict=True):
        on_host = {name: getattr(batch, name).cpu().numpy() for name in ("index", "walks", "mask", "u", "f", "mean")}
        for name in ("index", "walks", "mask"):
            np.testing.assert_array_equal(on_host[name], getattr(other, name))
        for name in ("u", "f"):
            scale = np.abs(getattr(other, name)).max()
            np.testing.assert_allclose(on_host[name], getattr(other, name), rtol=1e-6, atol=1e-6 * scale)
        for n in range(9):
            mask = on_host["mask"][n] == 1
            errors = [np.mean((mean[n] - other.u[n])[mask] ** 2) for mean in (on_host["mean"], other.mean)]
            assert 0.3 < errors[0] / errors[1] < 3


@gpu
@pytest.mark.gpu
def test_extended_fields_on_the_gpu():
    """As on the CPU, but for pixels with several nearest points, such as a square's diagonals, and outside of domains
    whose distance is only a lower bound there."""
    options = {"batch": 30, "budgets": (1,), "grid": Grid(48), "extended": True}
    found, other = (next(iter(Stream(device=device, **options))) for device in ("cuda", "cpu"))
    np.testing.assert_allclose(found.distance.cpu().numpy(), other.distance, atol=1e-5)
    boundary = found.boundary.cpu().numpy()
    for n in range(30):
        close = np.isclose(boundary[n], other.boundary[n], rtol=1e-3, atol=1e-3 * np.ptp(other.boundary[n]))
        assert close[other.mask[n] == 1].mean() > 0.9
        assert np.isfinite(boundary[n]).all()


@gpu
@pytest.mark.gpu
def test_fields_on_the_gpu():
    instances = [generate("test", n) for n in range(10)]
    found, other = (make_fields(instances, [8, 32], grid=Grid(32), device=device) for device in ("cuda", "cpu"))
    for name in ("u", "f"):
        for a, b in zip(getattr(found, name), getattr(other, name), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6 * max(np.abs(b).max(), 1))
    for n in range(10):
        mask = found.mask[n] == 1
        error, variance = (found.mean[n, 1] - found.u[n])[mask], found.variance[n, 1][mask]
        assert abs(error.sum(dtype=float)) < 4 * np.sqrt(variance.sum(dtype=float))
