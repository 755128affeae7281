"""Reflecting walks on the GPU against the CPU's and exact solutions; without one, in numba's simulator."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from validation.stars import DOMAINS, EQUATIONS, KINDS, T4, T4_EXACT, problem

import mc2
from mc2 import Neumann
from mc2.errors import InputError
from mc2.geometry import Disk, Grid, Square
from mc2.walks import estimate, estimate_batch, trajectory
from mc2.walks.gpu.launch import unavailable
from mc2.walks.plan import can_walk
from mc2.zoo import generate
from tests.walks.simulated_stars import POINTS

gpu = pytest.mark.skipif(bool(unavailable()), reason=unavailable())
SIMULATED = ("poisson,mixed,square", "yukawa,robin,disk", "laplace,neumann,annulus", "poisson,mixed,polygon")


def test_the_kernel_in_the_simulator_takes_the_steps_of_the_cpu():
    """The same numbers are drawn, so the same walks are walked: as many steps, and means that differ by rounding."""
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(root / "src"), str(root), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, str(root / "tests/walks/simulated_stars.py"), "2", *SIMULATED],
        capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path}, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    for index, name in enumerate(SIMULATED):
        own = estimate(problem(*name.split(",")), 2, points=POINTS, instance=index, device="cpu")
        assert found["counts"][index] == [own.record.steps, own.record.truncated, own.record.not_finite]
        np.testing.assert_allclose(found["means"][index], own.mean, rtol=1e-4, atol=1e-4)


@gpu
@pytest.mark.gpu
@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("equation", EQUATIONS)
def test_unbiased_and_as_the_cpu(equation, kind, domain):
    task = problem(equation, kind, domain)
    grid = Grid.covering(task.domain, 16)
    found, other = (
        estimate(task, 1024, grid=grid, device=device, seed=seed) for device, seed in (("cuda", 0), ("cpu", 1))
    )
    mask = found.mask
    for error, variance in (
        (found.mean - task.on_grid(task.exact, grid), found.variance),
        (found.mean - other.mean, found.variance + other.variance),
    ):
        assert abs(error[mask].sum() / np.sqrt(variance[mask].sum())) < 4
    assert found.variance[mask].sum() == pytest.approx(other.variance[mask].sum(), rel=0.1)
    assert found.record.truncated == found.record.not_finite == 0


@gpu
@pytest.mark.gpu
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_numbers_as_on_the_cpu(kind):
    """Most pixels differ by rounding alone; a walk that rounding sends another way changes a few."""
    task = problem("poisson", kind, "polygon")
    grid = Grid.covering(task.domain, 32)
    one, other = (estimate(task, 8, grid=grid, device=device) for device in ("cuda", "cpu"))
    assert np.median(np.abs(one.mean - other.mean)[one.mask]) < 1e-3 * np.abs(other.mean).max()
    assert one.record.steps == pytest.approx(other.record.steps, rel=0.02)


@gpu
@pytest.mark.gpu
def test_points_budgets_and_stratified_directions():
    on_wall = [(0.0, 0.5), (0.6, 0.2), (0.3, 0.3)]
    found = estimate(T4, 100_000, points=on_wall, device="cuda")
    other = estimate(T4, 20_000, points=on_wall, device="cpu", seed=1)
    assert abs((found.mean[1] - T4_EXACT) / found.standard_error[1]) < 4
    z = (found.mean - other.mean) / np.sqrt(found.variance + other.variance)
    assert np.abs(z).max() < 4
    task, budgets = problem("yukawa", "mixed", "annulus"), [1, 2, 5, 8, 100, 1000]
    for one, budget in zip(trajectory(task, budgets, grid=Grid(24), device="cuda"), budgets, strict=True):
        np.testing.assert_allclose(one.mean, estimate(task, budget, grid=Grid(24), device="cuda").mean, rtol=1e-9)
    spread = estimate(task, 1024, grid=Grid(24), device="cuda", stratify=True)
    error = (spread.mean - task.on_grid(task.exact, Grid(24)))[spread.mask]
    assert abs(error.sum() / np.sqrt(spread.variance[spread.mask].sum())) < 4


@gpu
@pytest.mark.gpu
def test_batches_of_the_split_and_of_other_problems():
    """Instances of `conditions`, and between them one whose boundary reflects nothing."""
    tasks = [task for index in range(8) if can_walk(task := generate("conditions", index).problem)]
    tasks.insert(1, mc2.Poisson(Disk(), exact="sin(3*x)*y"))
    batch = estimate_batch(tasks, [1, 8], grid=Grid(32), device="cuda")
    for index, task in enumerate(tasks):
        alone = estimate(task, 8, grid=Grid(32), device="cuda", instance=index)
        np.testing.assert_allclose(batch.mean.copy_to_host()[index, 1], alone.mean, rtol=1e-5, atol=1e-6)


@gpu
@pytest.mark.gpu
def test_data_that_are_no_formulas_stay_on_the_cpu():
    task = mc2.Laplace(Square(1.0), {"left": "x", "*": Neumann(lambda x, y: np.interp(x, [0, 1], [0, 1]))})
    assert estimate(task, 2, grid=8).record.device == "cpu"
    with pytest.raises(InputError, match="cannot run Python functions"):
        estimate(task, 2, grid=8, device="cuda")
