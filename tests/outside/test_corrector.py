"""Correctors from outside the package: a class with a line that registers it, and a mere function."""

import numpy as np
from scipy.ndimage import gaussian_filter

import mc2
from mc2.benchmark.methods import make_method
from mc2.benchmark.runner import evaluate
from mc2.geometry import Disk, Grid
from mc2.solvers import CORRECTORS, EstimateCorrector

PROBLEM = mc2.Poisson(Disk(), exact="sin(2*x) + y**2")


class Smoothed(EstimateCorrector):
    """The estimate, smoothed within the domain."""

    name, reads = "smoothed", ("estimate", "mask")

    def field(self, observed):
        weight = gaussian_filter(observed.mask.astype(float), 2)
        return gaussian_filter(np.where(observed.mask, observed.mean, 0.0), 2) / np.maximum(weight, 1e-9)


def test_it_solves_and_is_a_method_of_the_benchmark_by_the_same_name(register):
    register(CORRECTORS, "smoothed", Smoothed)
    exact, error = PROBLEM.on_grid(PROBLEM.exact, Grid(48)), {}
    for corrector in ("wos", "smoothed", Smoothed, Smoothed(), Smoothed().field):
        found = mc2.solve(PROBLEM, 8, corrector=corrector, grid=Grid(48), device="cpu")
        error[corrector] = np.std((found.values - exact)[found.mask])
        assert error[corrector] < 0.7 * error["wos"] or corrector == "wos"
        assert np.isinf(found.standard_error[found.mask]).all() == (corrector != "wos")
    assert found.certify(16, 200).overall.rms.low > 0
    protocol = {"count": 3, "grid": Grid(48), "device": "cpu", "lpips": False}
    ours, raw = (evaluate(make_method(name), **protocol)["overall"]["psnr"]["mean"] for name in ("smoothed", "wos"))
    assert ours > raw + 1
