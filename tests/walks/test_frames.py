"""Walks in any units: the same seed gives the same numbers as on the unit problem."""

import json

import numpy as np
import pytest

import mc2
from mc2.errors import InputError
from mc2.geometry import Disk, Grid, Rectangle, Square
from mc2.problems import CONSTANT
from mc2.walks import Estimate, Options, estimate, estimate_batch
from tests.problems.test_frame import made

POINTS = np.array([[0.0, 0.0], [-0.5, 0.2], [0.8, -0.4]])


@pytest.mark.parametrize(
    ("length", "center"),
    [(1e-9, (0.0, 0.0)), (1e-4, (0.0, 0.0)), (1e9, (0.0, 0.0)), (1.0, (1e6, 1e6)), (1e-9, (1e-3, 0.0))],
)
@pytest.mark.parametrize("family", CONSTANT)
def test_units_do_not_matter(family, length, center):
    unit, task = made(family, length, center)
    expected = estimate(unit, 500, points=POINTS, seed=3, device="cpu")
    found = estimate(task, 500, points=POINTS * length + center, seed=3, device="cpu")
    np.testing.assert_allclose(found.mean, expected.mean, atol=1e-4)
    np.testing.assert_allclose(found.standard_error, expected.standard_error, rtol=1e-3)
    assert found.record.unit == pytest.approx(length, rel=1e-8)


@pytest.mark.parametrize("value", [1e-100, 1e100])
def test_values_do_not_matter(value):
    unit, task = made("poisson", 1e-3, value=value)
    expected = estimate(unit, 500, points=POINTS, device="cpu")
    found = estimate(task, 500, points=POINTS * 1e-3, device="cpu")
    np.testing.assert_allclose(found.mean / value, expected.mean, atol=1e-4)
    np.testing.assert_allclose(found.standard_error / value, expected.standard_error, rtol=1e-3)


@pytest.mark.parametrize("value", [1e-290, 1e290])
def test_variances_beyond_float64_are_refused(value):
    with pytest.raises(InputError, match=r"rescale the data, or use mc2\.solve"):
        estimate(mc2.Laplace(Disk(), f"{value}*x"), 8, points=[[0, 0]])


@pytest.mark.parametrize("radius", [1e-4, 1e-9, 1e6])
def test_a_small_disk_is_not_biased(radius):
    """Δu = −4/R², u = ½ on the rim: u(r) = 3/2 − r²/R²."""
    task = mc2.Poisson(Disk(radius), -4 / radius**2, 0.5)
    points = radius * np.array([[0.1, 0.0], [0.0, 0.5]])
    found = estimate(task, 20_000, points=points, device="cpu")
    assert np.all(np.abs(found.mean - [1.49, 1.25]) < 4 * found.standard_error)
    assert np.all((found.standard_error > 1e-5) & (found.standard_error < 0.02))


def test_a_grid_in_millimetres():
    unit, task = made("poisson", 1e-3, (5.0, 7.0))
    expected = estimate(unit, 8, grid=Grid(32), device="cpu")
    grid = Grid(32, bounds=(5 - 1e-3, 5 + 1e-3, 7 - 1e-3, 7 + 1e-3))
    found = estimate(task, 8, grid=grid, device="cpu")
    assert found.grid == grid
    np.testing.assert_array_equal(found.mask, expected.mask)
    np.testing.assert_allclose(found.mean, expected.mean, atol=1e-3)


def test_epsilon_is_a_part_of_half_the_size():
    """A walk that ends within ε of the rim is given its 1 where u = r²: the bias is proportional to ε/R."""
    near = [
        estimate(
            mc2.Poisson(Disk(r), exact=f"(x**2 + y**2)/{r}**2"), 4000, points=[[r / 2, 0]], epsilon=0.1, device="cpu"
        )
        for r in (1.0, 5.0, 500.0)
    ]
    assert near[0].mean[0] - 0.25 > 0.02
    np.testing.assert_allclose([one.mean[0] for one in near], near[0].mean[0], rtol=1e-4)
    assert [one.record.unit for one in near] == [1.0, 5.0, 500.0]


def test_unit_makes_epsilon_a_length():
    task = mc2.Poisson(Disk(50.0), exact="x**2 + y**2")
    relative = estimate(task, 100, points=[[9, 20]], epsilon=1e-3, device="cpu")
    absolute = estimate(task, 100, points=[[9, 20]], epsilon=5e-2, unit=1.0, device="cpu")
    assert absolute.mean[0] == relative.mean[0]
    assert (absolute.record.epsilon, absolute.record.unit) == (5e-2, 1.0)
    with pytest.raises(InputError, match="leave unit out"):
        estimate(task, 8, points=[[0, 0]], unit=1e9, device="cpu")
    assert np.float32(Options(unit=1.0).shell(Disk(0.7))) == np.float32(1e-4)


def test_records_from_before_units(tmp_path):
    estimate(mc2.Laplace(Disk(), "x"), 2, grid=Grid(8), device="cpu").save(tmp_path / "new.npz")
    with np.load(tmp_path / "new.npz") as data:
        arrays = dict(data)
    record = json.loads(str(arrays["record"]))
    del record["unit"]
    arrays["record"] = np.array(json.dumps(record))
    np.savez(tmp_path / "old.npz", **arrays)
    assert Estimate.load(tmp_path / "old.npz").record.unit == 1.0


def test_the_helmholtz_limit_is_told_in_the_users_units():
    with pytest.raises(InputError, match=r"k² = 4e\+06 .* λ₁ = 5.78e\+06"):
        estimate(mc2.Helmholtz(Disk(1e-3), 0, 1, k=2e3), 8, device="cpu")


def test_batches_in_any_units():
    unit, task = made("yukawa", 1e-3, (0.0, 0.0))
    grid = Grid(16, bounds=(-1e-3, 1e-3, -1e-3, 1e-3))
    found = estimate_batch([task], [8], grid=grid, device="cpu")
    expected = estimate_batch([unit], [8], grid=Grid(16), device="cpu")
    np.testing.assert_allclose(found.mean, expected.mean, atol=1e-3)


def test_points_on_the_boundary_have_its_value():
    task = mc2.Laplace(Square(), "x + 2*y")
    found = estimate(task, 8, points=[[1, 0.5], [0, 0], [-1, -1]], device="cpu")
    np.testing.assert_array_equal(found.mean[[0, 2]], [2.0, -3.0])
    np.testing.assert_array_equal(found.variance[[0, 2]], 0.0)
    assert found.variance[1] > 0
    assert found.mask.all()
    alone = estimate(task, 1, points=[[1, 0.5]], device="cpu")
    assert (alone.mean[0], alone.variance[0]) == (2.0, 0.0)


def test_the_default_grid_covers_the_domain():
    task = mc2.Laplace(Rectangle(30, 10, center=(260, 90)), "x")
    found = estimate(task, 1, device="cpu")
    assert found.grid == Grid(256, 86, (230, 290, 79.921875, 100.078125))
    assert found.mask.mean() == pytest.approx(1, abs=0.03)
    assert estimate(task, 1, grid=30, device="cpu").grid == Grid(30, 10, (230, 290, 80, 100))
    assert estimate(mc2.Laplace(Disk(), "x"), 1, device="cpu").grid == Grid()
    with pytest.raises(InputError, match="no pixel centre"):
        estimate(task, 1, grid=Grid(32))
    with pytest.raises(InputError, match="grid = 'fine' must be a Grid, or a number of pixels"):
        estimate(task, 1, grid="fine")


BAD = [
    ({"sed": 3}, "unknown argument of estimate 'sed': did you mean 'seed'?"),
    ({"seed": 2**64}, "seed = 18446744073709551616 must be an integer from 0 to"),
    ({"instance": 2**64}, "instance = 18446744073709551616"),
    ({"device": "gpu"}, "unknown device 'gpu': did you mean 'cuda'?"),
    ({"device": "cuda:0"}, "did you mean 'cuda'?"),
    ({"unit": -1.0}, "unit = -1.0"),
]


@pytest.mark.parametrize(("options", "message"), BAD, ids=range(len(BAD)))
def test_bad_options(options, message):
    with pytest.raises(InputError) as refused:
        estimate(mc2.Laplace(Disk(), "x"), 8, **options)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_bad_options_of_batches():
    for options in ({"sed": 3}, {"instances": [2**64]}, {"grid": 3.5}):
        with pytest.raises(InputError):
            estimate_batch([mc2.Laplace(Disk(), "x")], **options)


@pytest.mark.parametrize("text", ["1e-50*x*1e50", "x*1e-30*1e-30/1e-60", "exp(200*x)/exp(200*x)*x"])
def test_formulas_that_float32_cannot_evaluate(text):
    """The sums are of ordinary size, their parts are not: walks would see 0, or no number at all."""
    points = [[0.3, 0.2], [-0.5, 0.4]]
    expected = estimate(mc2.Laplace(Disk(), "x"), 100, points=points, device="cpu")
    found = estimate(mc2.Laplace(Disk(), text), 100, points=points, device="cpu")
    np.testing.assert_allclose(found.mean, expected.mean, atol=1e-6)
    np.testing.assert_allclose(found.variance, expected.variance, rtol=1e-4)
