"""Certificates: intervals that cover the true error as often as they say, and unbiased values."""

import numpy as np
import pytest
from validation.walks import problem

import mc2
from mc2.errors import InputError
from mc2.geometry import Disk, Grid, Square
from mc2.solvers.intervals import _skewed

GRID, COARSE = Grid(48), Grid(24)
RUNS = 40
KINDS = {
    "one round": {"walks": 2},
    "two rounds": {"walks": 4},
    "boundary": {"walks": 4, "start": "boundary"},
    "physics": {"walks": 4, "corrector": "mc2-physics"},
    "none": {"walks": 4, "corrector": "wos"},
}
SMOOTH = mc2.Laplace(Disk(), exact="exp(2*x)*cos(2*y)")


def rms(values):
    return float(np.sqrt(np.mean(values**2)))


def coverage(task, how, walks=8, points=300):
    """How often the intervals for the mean and for the root mean square error hold the true ones."""
    exact, within = task.on_grid(task.exact, COARSE), []
    for seed in range(RUNS):
        found = mc2.solve(task, grid=COARSE, seed=seed, **how)
        error = (exact - found.values)[found.mask]
        overall = found.certify(walks, points).overall
        inside = (
            one.low <= true <= one.high for one, true in ((overall.mean, error.mean()), (overall.rms, rms(error)))
        )
        within.append(list(inside))
    return np.mean(within, axis=0)


@pytest.mark.parametrize(
    ("family", "domain", "kind"),
    [
        *(("laplace", "square", kind) for kind in ("one round", "two rounds", "physics", "none")),
        ("poisson", "disk", "physics"),
        ("yukawa", "disk", "two rounds"),
        ("biharmonic", "disk", "one round"),
    ],
)
def test_intervals_hold_the_true_error(family, domain, kind):
    """At 95 %, in 34 of 40 runs or more: fewer hold once in 290 times."""
    mean, square = coverage(problem(family, domain), KINDS[kind])
    assert mean >= 0.85
    assert square >= 0.85


@pytest.mark.slow
def test_intervals_hold_the_true_error_where_it_is_concentrated():
    mean, square = coverage(problem("poisson", "composed"), KINDS["two rounds"])
    assert mean >= 0.85
    assert square >= 0.85


def test_wider_confidence_has_wider_intervals():
    found = mc2.solve(SMOOTH, 4, grid=GRID)
    half, most = (found.certify(8, 500, confidence=confidence).overall for confidence in (0.5, 0.99))
    assert half.mean.estimate == most.mean.estimate
    width = [one.mean.high - one.mean.low for one in (half, most)]
    assert width[1] / width[0] == pytest.approx(2.5758 / 0.6745, rel=1e-3)
    assert most.rms.low <= half.rms.low <= half.rms.estimate <= half.rms.high <= most.rms.high


def test_more_walks_have_narrower_intervals():
    found = mc2.solve(SMOOTH, 2, grid=GRID)
    few, many = (found.certify(walks, points).overall.rms for walks, points in ((4, 100), (64, 2000)))
    assert many.high - many.low < 0.5 * (few.high - few.low)
    error = (found.values - SMOOTH.on_grid(SMOOTH.exact, GRID))[found.mask]
    assert many.estimate == pytest.approx(rms(error), rel=0.2)


@pytest.mark.parametrize("kind", KINDS)
def test_values_at_given_points_are_unbiased(kind):
    task = problem("poisson", "composed")
    points = task.domain.sample_interior(20, seed=1)
    errors, variances = [], []
    for seed in range(12):
        found = mc2.solve(task, grid=GRID, seed=seed, **KINDS[kind])
        certificate = found.certify(32, points)
        np.testing.assert_allclose(certificate.points, points, atol=1e-6)
        errors.append(certificate.values - task.exact(*certificate.points.T))
        variances.append(certificate.standard_error**2)
    error, deviation = np.mean(errors, axis=0), np.sqrt(np.mean(variances, axis=0) / 12)
    assert (np.abs(error) < 4.5 * deviation + 1e-13).all()
    assert abs(error.mean()) < 4 * np.sqrt(np.sum(deviation**2)) / 20 + 1e-13


def test_given_points_are_not_random():
    """Their intervals are of the walks' noise alone, and hold the error there."""
    points, within = Disk(0.9).sample_interior(30, seed=2), []
    for seed in range(RUNS):
        found = mc2.solve(SMOOTH, 2, grid=GRID, seed=seed)
        certificate = found.certify(16, points)
        x, y = certificate.points.T
        error = SMOOTH.exact(x, y) - found(x, y)
        overall = certificate.overall
        within.append(
            [
                overall.mean.low <= error.mean() <= overall.mean.high,
                overall.rms.low <= rms(error) <= overall.rms.high,
            ]
        )
    assert (np.mean(within, axis=0) >= 0.85).all()


def test_walks_of_a_certificate_are_fresh():
    """The error of a solution is not seen by the walks that it was made of."""
    found = mc2.solve(SMOOTH, 64, grid=GRID, corrector="wos")
    exact = SMOOTH.on_grid(SMOOTH.exact, GRID)
    overall = found.certify(64, 1000).overall
    assert overall.rms.estimate == pytest.approx(rms((found.values - exact)[found.mask]), rel=0.15)


@pytest.mark.parametrize("domain", [Square(0.95), Disk()], ids=repr)
def test_regions_add_up(domain):
    task = mc2.Laplace(domain, exact="exp(2*x)*cos(2*y)")
    found = mc2.solve(task, 2, grid=GRID)
    certificate = found.certify(8, 900)
    assert sum(region.points for region in certificate.regions) == certificate.overall.points == 900
    assert len(certificate.regions) == 9
    assert certificate.walks == 8 * 900
    x, y = certificate.points.T
    for region in certificate.regions:
        xmin, xmax, ymin, ymax = region.bounds
        inside = (x >= xmin) & (x <= xmax) & (y >= ymin) & (y <= ymax)
        assert abs(inside.sum() - region.points) <= 40  # pixels on a common edge belong to one of them
    errors = [region.rms.estimate for region in certificate.regions]
    assert min(errors) < certificate.overall.rms.estimate < max(errors)
    text = str(certificate)
    assert text.count("\n") == 10
    assert "95% interval, from 7,200 walks" in text


def test_regions_with_few_points_are_left_out():
    certificate = mc2.solve(SMOOTH, 2, grid=GRID).certify(4, 30)
    assert all(region.points >= 8 for region in certificate.regions)
    assert len(certificate.regions) < 9
    assert certificate.overall.points == 30


def test_seeds():
    found = mc2.solve(SMOOTH, 2, grid=GRID)
    one, same, other = (found.certify(8, 200, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.values, same.values)
    assert not np.array_equal(one.points, other.points)
    given = np.array([[0.1, 0.2], [0.3, -0.4]])
    first, second = (found.certify(8, given, seed=seed) for seed in (1, 2))
    assert not (first.values == second.values).any()


BAD = [
    ({"walks": 1}, "walks = 1 must be an integer of at least 2"),
    ({"walks": 2.5}, "walks = 2.5"),
    ({"confidence": 2}, "confidence = 2 must lie between 0 and 1"),
    ({"confidence": 0}, "confidence = 0 must lie between 0 and 1"),
    ({"points": 3}, "points = 3"),
    ({"points": [1, 2, 3]}, "points = [1, 2, 3] must be a number of points, or an array [count, 2]"),
    ({"points": np.zeros((0, 2))}, "or an array [count, 2]"),
    ({"points": [[5.0, 5.0]]}, "(5, 5) lies outside the domain"),
    ({"points": [[np.nan, 0.0]]}, "outside the domain"),
    ({"seed": -1}, "seed = -1"),
    ({"points": "abc"}, "points = 'abc'"),  # fails: NumPy's own error reaches the user
]


@pytest.mark.parametrize(("given", "message"), BAD, ids=range(len(BAD)))
def test_bad_arguments(given, message):
    found = mc2.solve(SMOOTH, 2, grid=GRID)
    with pytest.raises(InputError) as refused:
        found.certify(**{"walks": 4, "points": 50} | given)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_points_on_the_boundary():
    found = mc2.solve(SMOOTH, 2, grid=GRID)
    certificate = found.certify(4, [[1.0, 0.0], [0.0, 0.0], [0.1, 0.1]])
    assert certificate.values[0] == pytest.approx(SMOOTH.exact(1.0, 0.0), abs=1e-6)


@pytest.mark.parametrize("k", [5.0, 10.0])
def test_what_was_not_walked_has_a_bound(k):
    task = mc2.Helmholtz(Disk(), exact=f"sin({k}*x) + cos({0.6 * k}*x)*cos({0.8 * k}*y)", k=k)
    found = mc2.solve(task, grid=GRID)
    certificate = found.certify()
    error = (task.on_grid(task.exact, GRID) - found.values)[found.mask]
    assert certificate.kind == "bound"
    assert certificate.walks == 0
    assert certificate.overall.rms.low <= rms(error) <= certificate.overall.rms.high < 1e-6
    assert certificate.overall.mean.low <= error.mean() <= certificate.overall.mean.high
    assert "a bound from least squares" in str(certificate)
    assert "not from walks" in certificate.note
    x, y = (c[found.mask] for c in GRID.points())
    for region in certificate.regions:
        xmin, xmax, ymin, ymax = region.bounds
        inside = (x >= xmin) & (x <= xmax) & (y >= ymin) & (y <= ymax)
        assert rms(error[inside]) <= region.rms.high


@pytest.mark.parametrize(
    "task",
    [
        mc2.Laplace(Disk(), boundary=0),
        mc2.Laplace(Disk(), boundary=1),
        SMOOTH,
        mc2.Laplace(Disk(), boundary="where(abs(arctan2(y, x) - 0.7) < 1e-4, 1e4, 0)"),
        mc2.Poisson(Disk(), source="where(x > 0.1, 10, -5)", boundary=0),
    ],
    ids=["zero", "one", "smooth", "arc", "jump"],
)
@pytest.mark.parametrize("start", ["walks", "boundary"])
def test_intervals_are_consistent(task, start):
    """Upper ends are above 0 wherever the solution is not; |mean| never exceeds what the root mean square can be."""
    certificate = mc2.solve(task, 4, grid=GRID, start=start).certify(8, 400)
    for region in (certificate.overall, *certificate.regions):
        assert region.rms.low <= region.rms.estimate <= region.rms.high
        assert region.mean.low <= region.mean.estimate <= region.mean.high
        assert abs(region.mean.estimate) <= region.rms.estimate <= region.rms.high
        assert max(region.mean.low, -region.mean.high, 0.0) <= region.rms.high
        if task.boundary.text != "0":
            assert region.rms.high > 0
    assert "0.0e+00 (0.0e+00 … 0.0e+00)" not in str(certificate)


def test_narrow_arcs_are_certified():
    """Few walks meet an arc of half-width 1e-4 and value 1e4, and the interval holds the error all the same."""
    task = mc2.Laplace(Disk(), boundary="where(abs(arctan2(y, x) - 0.7) < 1e-4, 1e4, 0)")
    x, y = (c[task.mask(GRID)] for c in GRID.points())
    first, last, z = np.exp(0.6999j), np.exp(0.7001j), x + 1j * y
    truth = 1e4 * (np.mod(np.angle((last - z) / (first - z)), 2 * np.pi) - 1e-4) / np.pi
    for seed in range(6):
        found = mc2.solve(task, 4, grid=GRID, seed=seed)
        error = truth - found.values[found.mask]
        certificate = found.certify(8, 300, seed=seed).overall
        assert rms(error) <= certificate.rms.high
        assert certificate.mean.low <= error.mean() <= certificate.mean.high


def test_skewed_values_are_covered_better():
    """Means of 100 lognormal values: normal intervals miss them above far more often than 2.5 %."""
    random, truth, runs = np.random.default_rng(0), np.exp(0.5), 3000
    plain, skewed = np.zeros((2, runs, 2))
    for run in range(runs):
        values = random.lognormal(size=100)
        error = 1.96 * values.std() / 10
        low, mean, high = _skewed(values, 1.96)
        assert low < mean < high
        assert mean == values.mean()
        plain[run] = truth > mean + error, truth < mean - error
        skewed[run] = truth > high, truth < low
    missed, missed_less = plain.mean(0), skewed.mean(0)
    assert missed[0] > 0.06
    assert missed_less[0] < 0.6 * missed[0]
    assert missed_less.sum() < 0.07 < 0.08 < missed.sum()


def test_symmetric_values_have_normal_intervals():
    values = np.random.default_rng(0).normal(2.0, 3.0, 10_000)
    values = np.concatenate([values, 4.0 - values])
    low, mean, high = _skewed(values, 1.96)
    error = 1.96 * values.std() / np.sqrt(values.size)
    np.testing.assert_allclose([low, mean, high], [2.0 - error, 2.0, 2.0 + error], rtol=1e-9)
    assert _skewed(np.full(50, 3.0), 1.96) == (3.0, 3.0, 3.0)


def test_certificates_are_in_the_user_s_units():
    """The problem lies far away, with another size and other values than those it is solved with."""
    length, value, x0, y0 = 1e-5, 1e20, 3e-4, -2e-4
    inner = f"exp(2*(x - {x0})/{length})*cos(2*(y - ({y0}))/{length})"
    task = mc2.Laplace(Disk(length, center=(x0, y0)), boundary=f"{value!r}*{inner}")
    grid = Grid(48, bounds=(x0 - length, x0 + length, y0 - length, y0 + length))
    far = mc2.solve(task, 2, grid=grid).certify(16, 1000)
    unit = mc2.solve(SMOOTH, 2, grid=GRID).certify(16, 1000)
    assert len(far.regions) == len(unit.regions) == 9
    for one, other in zip((far.overall, *far.regions), (unit.overall, *unit.regions), strict=True):
        xmin, xmax, ymin, ymax = other.bounds
        expected = x0 + length * xmin, x0 + length * xmax, y0 + length * ymin, y0 + length * ymax
        np.testing.assert_allclose(one.bounds, expected, rtol=1e-12)
        assert one.rms.estimate / value == pytest.approx(other.rms.estimate, rel=1e-3)
        assert one.rms.high / value == pytest.approx(other.rms.high, rel=1e-3)
    distance = np.hypot(far.points[:, 0] - x0, far.points[:, 1] - y0)
    assert distance.max() < length
    assert np.abs(far.values).max() > 0.5 * value
