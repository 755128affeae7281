import tracemalloc
import warnings
from itertools import pairwise

import numpy as np
import pytest
from validation.walks import problem

import mc2
from mc2.errors import InputError
from mc2.geometry import Annulus, Disk, Grid, Rectangle, Square
from mc2.problems import CONSTANT, FAMILIES
from mc2.walks import Estimate, estimate, estimate_batch, trajectory

U = "sin(4*x)*cos(4*y)"
POISSON = mc2.Poisson(Disk(), exact=U)
SMALL = Grid(24)
ON_CPU = {"grid": SMALL, "device": "cpu"}


@pytest.mark.parametrize("family", CONSTANT)
def test_threads_do_not_matter(family):
    task = problem(family, "composed")
    one, two = (estimate(task, 600, **ON_CPU, threads=threads) for threads in (1, 2))
    np.testing.assert_array_equal(one.mean, two.mean)
    np.testing.assert_array_equal(one.variance, two.variance)
    assert one.record.steps == two.record.steps


@pytest.mark.parametrize("cut", [1, 130, 777])
def test_splitting_points_does_not_matter(cut):
    points = np.random.default_rng(0).uniform(-0.7, 0.7, (1000, 2))
    whole = estimate(POISSON, 40, points=points, device="cpu")
    parts = [
        estimate(POISSON, 40, points=part, first_point=first, device="cpu")
        for part, first in ((points[:cut], 0), (points[cut:], cut))
    ]
    np.testing.assert_array_equal(whole.mean, np.concatenate([part.mean for part in parts]))
    np.testing.assert_array_equal(whole.variance, np.concatenate([part.variance for part in parts]))


def test_batches_do_not_matter():
    tasks = [POISSON, mc2.Laplace(Square(), exact="x*y"), mc2.Poisson(Annulus(0.3, 1.2), exact=U)]
    whole = estimate_batch(tasks, [4, 8], grid=SMALL, instances=[5, 6, 7], device="cpu")
    parts = [
        estimate_batch([t], [8], grid=SMALL, instances=[i], device="cpu") for t, i in zip(tasks, (5, 6, 7), strict=True)
    ]
    np.testing.assert_array_equal(whole.mean[:, 1], np.concatenate([part.mean[:, 0] for part in parts]))
    assert whole.mean.dtype == np.float32
    assert whole.mask.dtype == np.uint8


@pytest.mark.parametrize("budgets", [[1, 2, 4, 8, 16, 32], [8, 1000, 1024, 1025, 3000], [5]])
def test_budgets_are_nested(budgets):
    for found, budget in zip(trajectory(POISSON, budgets, **ON_CPU), budgets, strict=True):
        alone = estimate(POISSON, budget, **ON_CPU)
        assert found.walks == budget
        np.testing.assert_array_equal(found.mean, alone.mean)
        np.testing.assert_array_equal(found.variance, alone.variance)


def test_seeds_and_instances_differ():
    base = estimate(POISSON, 8, **ON_CPU).mean
    for other in ({"seed": 1}, {"instance": 1}):
        assert not np.any((estimate(POISSON, 8, **ON_CPU, **other).mean == base) & (base != 0))


def test_one_point_with_many_walks():
    found = estimate(POISSON, 1_000_000, points=[[0.3, 0.2]], device="cpu")
    assert abs(found.mean[0] - POISSON.exact(0.3, 0.2)) < 4 * found.standard_error[0]
    assert found.standard_error[0] < 0.003


def test_memory_does_not_grow_with_the_budget():
    peaks = []
    for walks in (2_000, 200_000):
        tracemalloc.start()
        estimate(POISSON, walks, points=[[0.1, 0.1], [0.2, 0.3]], device="cpu")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0] + 1_000_000


def test_fields_follow_the_conventions():
    """Zero outside the mask; a domain may leave the grid; one walk has no variance."""
    found = estimate(mc2.Laplace(Rectangle(1.2, 0.5), boundary="x"), 1, **ON_CPU)
    assert np.all(found.mean[~found.mask] == 0)
    assert np.all(found.variance[~found.mask] == 0)
    assert np.all(np.isinf(found.variance[found.mask]))
    many = estimate(mc2.Laplace(Rectangle(1.2, 0.5), boundary="x"), 2000, **ON_CPU)
    error = (many.mean - SMALL.points()[0])[many.mask] / many.standard_error[many.mask]
    assert abs(error.mean()) < 4 / np.sqrt(error.size)


def test_green_sampling_has_less_variance():
    task = mc2.Poisson(Disk(), exact="sin(9*x)*cos(9*y)")
    green, uniform = (estimate(task, 256, **ON_CPU, sampling=s).variance.mean() for s in ("green", "uniform"))
    assert green < 0.8 * uniform


def test_stratified_directions_lower_the_error():
    """And never the other way round: the reported variance is an upper estimate."""
    task = mc2.Laplace(Disk(), exact="exp(x)*cos(y)")
    exact = task.on_grid(task.exact, SMALL)
    plain, stratified = (estimate(task, 64, **ON_CPU, stratify=s) for s in (False, True))
    errors = [np.mean((found.mean - exact)[found.mask] ** 2) for found in (plain, stratified)]
    assert errors[1] < 0.8 * errors[0]
    assert errors[1] < stratified.variance[stratified.mask].mean()


def with_python_functions(family, wrap):
    """A problem whose functions are Python functions that cannot be traced."""
    task = problem(family, "composed")
    given = {name: wrap(getattr(task, name)) for name in task.data}
    parameters = {name: getattr(task, name) for name in task.parameters}
    return task, FAMILIES[family](task.domain, **given, **parameters)


@pytest.mark.parametrize("stratify", [False, True])
@pytest.mark.parametrize("family", CONSTANT)
def test_functions_called_on_arrays_give_the_same_walks(family, stratify):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        task, wrapped = with_python_functions(
            family, lambda f: lambda x, y: f(np.asarray(x, float), np.asarray(y, float))
        )
    assert wrapped.boundary.program is None
    plain, called = (estimate(t, 20, **ON_CPU, stratify=stratify) for t in (task, wrapped))
    np.testing.assert_allclose(called.mean, plain.mean, atol=2e-5 * np.abs(plain.mean).max())
    np.testing.assert_allclose(called.variance, plain.variance, rtol=1e-2, atol=1e-6)
    assert called.record.steps == plain.record.steps


def test_compiled_python_functions():
    def wall(x, y):
        return x * y if x > 0 else x * y * 1.0

    found = estimate(mc2.Laplace(Disk(), boundary=wall), 500, **ON_CPU)
    plain = estimate(mc2.Laplace(Disk(), boundary="x*y"), 500, **ON_CPU)
    np.testing.assert_allclose(found.mean, plain.mean, atol=1e-6)


def test_helmholtz_above_half_the_eigenvalue_is_refused():
    with pytest.raises(InputError, match=r"k² = 4 .* λ₁ = 5.78.*mc2.solve does it without walks"):
        estimate(mc2.Helmholtz(Disk(), exact=U, k=2.0), device="cpu")


def test_reduced_helmholtz():
    task = mc2.Helmholtz(Disk(), exact=U, k=8.0)
    found = estimate(task, 2000, **ON_CPU, estimator="reduced")
    assert found.record.estimator == "reduced"
    error = (found.mean - task.on_grid(task.exact, SMALL))[found.mask] / found.standard_error[found.mask]
    assert abs(error.mean()) < 4 / np.sqrt(error.size)
    with pytest.raises(InputError, match="needs the exact solution"):
        estimate(mc2.Helmholtz(Disk(), 0, 0, k=8.0), estimator="reduced")
    with pytest.raises(InputError, match="not poisson"):
        estimate(POISSON, estimator="reduced")


def test_walks_that_run_out_of_steps_are_counted_and_reported():
    with pytest.warns(UserWarning, match="ran out of steps"):
        found = estimate(POISSON, 8, **ON_CPU, max_steps=3)
    assert found.record.truncated > 0.5 * 8 * found.mask.sum()


def test_values_that_are_not_finite_are_reported():
    task = mc2.Laplace(Disk(), boundary="log(abs(x - 0.4)) + 0*x")
    task.boundary = mc2.functions.as_function("where(x > 0.4, 1/(x - x), 0)", "boundary")
    with pytest.warns(UserWarning, match="not finite"):
        found = estimate(task, 8, **ON_CPU)
    assert found.record.not_finite > 0


def test_progress_reaches_the_end():
    seen = []
    estimate(POISSON, 2000, **ON_CPU, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] == 2000 * POISSON.mask(SMALL).sum()
    assert all(a <= b for (a, _), (b, _) in pairwise(seen))


BAD = [
    ({"walks": 0}, "walks = 0"),
    ({"walks": 2.5}, "walks = 2.5"),
    ({"seed": -1}, "seed = -1"),
    ({"epsilon": 0}, "epsilon = 0"),
    ({"epsilon": 1e-9}, "epsilon = 1e-09"),
    ({"max_steps": 0}, "max_steps = 0"),
    ({"sampling": "gren"}, "did you mean 'green'?"),
    ({"estimator": "standart"}, "did you mean 'standard'?"),
    ({"threads": 0}, "threads = 0"),
    ({"instance": -1}, "instance = -1"),
    ({"points": [[0, 0]], "grid": SMALL}, "not both"),
    ({"points": [0, 0]}, "shape [2]"),
    ({"points": [[np.nan, 0]]}, "finite"),
    ({"points": "here"}, "numbers"),
    ({"points": [[5, 5]]}, "1 of 1 points lie outside"),
]


@pytest.mark.parametrize(("options", "message"), BAD, ids=range(len(BAD)))
def test_bad_options(options, message):
    with pytest.raises(InputError) as refused:
        estimate(POISSON, **options)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("budgets", [[], [8, 4], [4, 4], 8, "8", [0, 1]])
def test_bad_budgets(budgets):
    with pytest.raises(InputError):
        trajectory(POISSON, budgets)


@pytest.mark.parametrize("where", [{"grid": SMALL}, {"points": [[0.1, 0.2], [0.3, 0.1]]}])
def test_save_and_load(tmp_path, where):
    found = estimate(POISSON, 8, **where, device="cpu")
    found.save(tmp_path / "estimate.npz")
    again = Estimate.load(tmp_path / "estimate.npz")
    np.testing.assert_array_equal(found.mean, again.mean)
    np.testing.assert_array_equal(found.variance, again.variance)
    assert (found.record, found.grid) == (again.record, again.grid)
    assert [path.name for path in tmp_path.iterdir()] == ["estimate.npz"]


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "estimate.npz"
    with pytest.raises(InputError, match="no such file"):
        Estimate.load(path)
    estimate(POISSON, 2, **ON_CPU).save(path)
    content = path.read_bytes()
    pickled = tmp_path / "pickled.npz"
    np.savez(pickled, mean=np.array([{}], dtype=object), variance=1, mask=1, record="{}")
    path.write_bytes(content[: len(content) // 2])
    for bad in (path, pickled):
        with pytest.raises(InputError, match="not an estimate"):
            Estimate.load(bad)
    with pytest.raises(InputError, match=r"\.npz"):
        estimate(POISSON, 2, **ON_CPU).save(tmp_path / "a.pkl")
