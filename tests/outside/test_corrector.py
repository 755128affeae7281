"""Correctors from outside the package: a class with a line that registers it, and a mere function."""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

import mc2
from mc2.benchmark.methods import make_method
from mc2.benchmark.runner import evaluate
from mc2.geometry import Disk, Grid
from mc2.solvers import CORRECTORS, EstimateCorrector, PlainWalks

PROBLEM = mc2.Poisson(Disk(), exact="sin(2*x) + y**2")


class Smoothed(EstimateCorrector):
    """The estimate, smoothed within the domain."""

    name = "smoothed"
    reads = ("estimate", "mask")

    def field(self, observed):
        weight = gaussian_filter(observed.mask.astype(float), 2)
        return gaussian_filter(np.where(observed.mask, observed.mean, 0.0), 2) / np.maximum(weight, 1e-9)


@pytest.fixture(autouse=True)
def _registered():
    CORRECTORS.register("smoothed", Smoothed)
    yield
    CORRECTORS.remove("smoothed")


@pytest.mark.parametrize("corrector", ["smoothed", Smoothed, Smoothed(), Smoothed().field], ids=str)
def test_it_solves(corrector):
    found, raw = (mc2.solve(PROBLEM, 8, corrector=way, grid=48, device="cpu") for way in (corrector, PlainWalks()))
    exact = PROBLEM.on_grid(PROBLEM.exact, found.grid)
    errors = [np.std((solution.values - exact)[solution.mask]) for solution in (found, raw)]
    assert errors[0] < 0.7 * errors[1]
    assert np.isinf(found.standard_error[found.mask]).all()
    assert found.certify(16, 200).overall.rms.low > 0


def test_it_is_a_method_of_the_benchmark_by_the_same_name():
    protocol = {"count": 3, "grid": Grid(48), "device": "cpu", "lpips": False}
    ours, raw = (evaluate(make_method(name), **protocol)["overall"]["psnr"]["mean"] for name in ("smoothed", "wos"))
    assert ours > raw + 1
