"""Every family on five domains against exact solutions: the numbers of `validation/walks.py`, asserted."""

import pytest
from validation.walks import DOMAINS, bias, epsilon_bias, slope, variance_ratio

from mc2.problems import CONSTANT

CASES = [(family, domain) for family in CONSTANT for domain in DOMAINS]


@pytest.mark.parametrize(("family", "domain"), CASES)
@pytest.mark.parametrize("sampling", ["green", "uniform"])
def test_unbiased(family, domain, sampling):
    assert abs(bias(family, domain, sampling)) < 4


@pytest.mark.parametrize("family", CONSTANT)
def test_stratified_directions_are_unbiased(family):
    assert abs(bias(family, "composed", stratify=True)) < 4


@pytest.mark.parametrize(("family", "domain"), CASES)
def test_reported_variance(family, domain):
    assert variance_ratio(family, domain) == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize(("family", "domain"), CASES)
def test_rate(family, domain):
    assert slope(family, domain) == pytest.approx(-1, abs=0.03)


def test_epsilon_bias_is_proportional():
    coarse, error = epsilon_bias(1e-2)
    fine, _ = epsilon_bias(1e-3)
    assert coarse > 10 * error
    assert fine == pytest.approx(coarse / 10, abs=4 * error)
