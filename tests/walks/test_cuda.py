"""The GPU against exact solutions and the CPU; and what happens where there is none."""

import numpy as np
import pytest
from validation.walks import DOMAINS, PARAMETERS, bias, problem

import mc2
from mc2.errors import InputError
from mc2.geometry import Disk, Grid
from mc2.problems import CONSTANT, FAMILIES
from mc2.walks import estimate, estimate_batch, trajectory
from mc2.walks.gpu.launch import _segments, unavailable
from mc2.walks.gpu.packing import _two_shapes
from mc2.zoo import GENERAL_ATOMS, HARMONIC_ATOMS

gpu = pytest.mark.skipif(bool(unavailable()), reason=unavailable())

ATOMS = [
    GENERAL_ATOMS["high_freq_trig"](a=1.0, k1=2, k2=2),
    GENERAL_ATOMS["gaussian_bump"](a=-1.0, w=2.0, x0=0.2, y0=0.1),
]
HARMONIC = [HARMONIC_ATOMS["h_exp_trig"](a=1.0, k=2.0, part="cos"), HARMONIC_ATOMS["h_dipole"](a=1.0, rho=2.0, phi=1.0)]


def test_cuda_without_a_gpu_is_a_clear_error():
    if unavailable():
        with pytest.raises(InputError, match="device 'cuda' cannot be used"):
            estimate(mc2.Laplace(Disk(), boundary="x"), 2, device="cuda")


def test_auto_works_everywhere():
    assert estimate(mc2.Laplace(Disk(), boundary="x"), 2, grid=Grid(8)).record.device in ("cpu", "cuda")


@pytest.mark.parametrize("budgets", [[8], [1, 2, 4, 8, 16, 32], [5, 100, 1000]])
def test_segments_cover_all_walks_and_end_at_budgets(budgets):
    pieces, ends = _segments(budgets)
    walks = [walk for first, count in pieces for walk in range(first, first + count)]
    assert walks == list(range(budgets[-1]))
    assert pieces[:, 1].max() <= 32
    reached = {int(index): int(piece.sum()) for piece, index in zip(pieces, ends, strict=True) if index >= 0}
    assert [reached[i] for i in range(len(budgets))] == budgets


@pytest.mark.parametrize("name", DOMAINS)
def test_two_shapes_are_the_domain(name):
    """What the GPU keeps in registers is the domain's own program."""
    program = DOMAINS[name].program
    operations, constants = _two_shapes(program.code, program.constants)
    simple = {"disk": 1, "square": 1, "annulus": 1}
    assert (operations[0] >= 0) == (name in simple)
    pair = Disk(0.5) - DOMAINS["square"]
    operations, constants = _two_shapes(pair.program.code, pair.program.constants)
    assert operations[0] == Disk(0.5).program.code[0, 0]
    np.testing.assert_array_equal(constants[:6], Disk(0.5).program.constants)


@gpu
@pytest.mark.gpu
@pytest.mark.parametrize("sampling", ["green", "uniform"])
@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("family", CONSTANT)
def test_unbiased(family, domain, sampling):
    assert abs(bias(family, domain, sampling, device="cuda")) < 4


@gpu
@pytest.mark.gpu
@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("family", CONSTANT)
def test_tables_of_atoms(family, domain):
    atoms = HARMONIC if family == "laplace" else ATOMS
    task, grid = FAMILIES[family](DOMAINS[domain], exact=atoms, **PARAMETERS.get(family, {})), Grid(16)
    found, other = estimate(task, 4096, grid=grid, device="cuda"), estimate(task, 4096, grid=grid, device="cpu", seed=1)
    mask = found.mask
    for error, variance in (
        (found.mean - task.on_grid(task.exact, grid), found.variance),
        (found.mean - other.mean, found.variance + other.variance),
    ):
        assert abs(error[mask].sum() / np.sqrt(variance[mask].sum())) < 4
    assert found.variance[mask].mean() == pytest.approx(other.variance[mask].mean(), rel=0.05)


@gpu
@pytest.mark.gpu
def test_nested_repeatable_and_stratified():
    task = problem("poisson", "composed")
    budgets = [1, 2, 5, 8, 32, 100, 5000]
    for found, budget in zip(trajectory(task, budgets, grid=Grid(24), device="cuda"), budgets, strict=True):
        np.testing.assert_allclose(found.mean, estimate(task, budget, grid=Grid(24), device="cuda").mean, rtol=1e-12)
    assert abs(bias("poisson", "disk", stratify=True, device="cuda")) < 4


@gpu
@pytest.mark.gpu
def test_batches_share_memory_with_torch():
    torch = pytest.importorskip("torch")
    tasks = [problem(family, "disk") for family in CONSTANT]
    batch = estimate_batch(tasks, [1, 8], grid=Grid(32), device="cuda")
    mean = torch.as_tensor(batch.mean, device="cuda")
    assert mean.data_ptr() == batch.mean.__cuda_array_interface__["data"][0]
    for index, task in enumerate(tasks):
        alone = estimate(task, 8, grid=Grid(32), device="cuda", instance=index)
        np.testing.assert_allclose(mean[index, 1].cpu().numpy(), alone.mean, rtol=1e-5, atol=1e-6)
    assert torch.isinf(torch.as_tensor(batch.variance, device="cuda")[:, 0]).sum() == int(
        batch.mask.copy_to_host().sum()
    )
