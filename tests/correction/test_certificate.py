"""Certificates: intervals that cover the true error as often as they say, and unbiased values."""

import numpy as np
import pytest
from validation.walks import problem

import mc2
from mc2.errors import InputError
from mc2.geometry import Disk, Grid, Square

GRID = Grid(48)
RUNS = 40
KINDS = {
    "one round": {"walks": 2},
    "two rounds": {"walks": 4},
    "boundary": {"walks": 4, "start": "boundary"},
    "physics": {"walks": 4, "corrector": "physics"},
    "none": {"walks": 4, "corrector": "none"},
}
SMOOTH = mc2.Laplace(Disk(), exact="exp(2*x)*cos(2*y)")


def rms(values):
    return float(np.sqrt(np.mean(values**2)))


def coverage(task, how, walks=8, points=300):
    """How often the intervals for the mean and for the root mean square error hold the true ones."""
    exact, within = task.on_grid(task.exact, GRID), []
    for seed in range(RUNS):
        found = mc2.solve(task, grid=GRID, seed=seed, **how)
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
    """At 95 %, in 85 % of 40 runs or more: fewer are as good as impossible."""
    mean, square = coverage(problem(family, domain), KINDS[kind])
    assert mean >= 0.85
    assert square >= 0.85


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
    found = mc2.solve(SMOOTH, 64, grid=GRID, corrector="none")
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


def test_what_was_not_walked_is_not_certified():
    found = mc2.solve(mc2.Helmholtz(Disk(), exact="sin(5*x)", k=5.0), grid=GRID)
    with pytest.raises(InputError, match="walks cannot certify this solution: k² is not below half") as refused:
        found.certify()
    assert "\n" not in str(refused.value)
