"""Batches on the GPU, against the same correction on the CPU."""

import numpy as np
import pytest

from mc2.errors import InputError
from mc2.geometry import Annulus, Grid
from mc2.metrics import psnr
from mc2.solvers.physics import correct_by_physics
from mc2.solvers.physics_batch import BatchCorrector, correct_batch
from mc2.walks.gpu.launch import unavailable
from mc2.walks.options import Options
from mc2.zoo import generate
from mc2.zoo.fields import STANDARD, make_fields


def test_it_says_what_it_needs():
    pytest.importorskip("torch")
    if unavailable():
        with pytest.raises(InputError, match="on a GPU"):
            BatchCorrector()
        with pytest.raises(InputError, match="without one"):
            correct_batch([generate("test", 0).problem])


@pytest.mark.gpu
@pytest.mark.skipif(bool(unavailable()), reason="needs an NVIDIA GPU")
def test_as_good_as_on_the_cpu():
    instances = [generate("test", index) for index in range(40)]
    grid = Grid(128)
    problems, keys = [instance.problem for instance in instances], [instance.key for instance in instances]
    options = Options(estimator="reduced", **STANDARD)
    found = correct_batch(problems, instances=keys, corrector=BatchCorrector(grid), options=options)
    fields = make_fields(instances, grid=grid, device="cpu")
    gains, losses = [], []
    for number, problem in enumerate(problems):
        mask = problem.mask(grid)
        exact = problem.on_grid(problem.exact, grid)
        mean, variance = fields.mean[number, 0].astype(float), fields.variance[number, 0].astype(float)
        here = correct_by_physics(mean, variance, mask, grid, problem.domain, problem.operator, problem.source)
        there = psnr(found[number].cpu().numpy().astype(float), exact, mask)
        gains.append(there - psnr(mean, exact, mask))
        if not isinstance(problem.domain, Annulus):  # it has no terms around holes
            losses.append(psnr(here.values, exact, mask) - there)
    assert min(gains) > 5
    assert np.median(np.abs(losses)) < 1.5
    assert np.mean(losses) < 3


@pytest.mark.gpu
@pytest.mark.skipif(bool(unavailable()), reason="needs an NVIDIA GPU")
def test_split_batches_agree():
    problems = [generate("test", index).problem for index in range(10)]
    options = {"corrector": BatchCorrector(Grid(64)), "options": Options(estimator="reduced", **STANDARD)}
    whole = correct_batch(problems, instances=list(range(10)), **options)
    half = correct_batch(problems[5:], instances=list(range(5, 10)), **options)
    np.testing.assert_allclose(half.cpu().numpy(), whole[5:].cpu().numpy(), atol=1e-4)
