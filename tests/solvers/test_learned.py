"""Weights files and their use: what is written is read, and nothing else."""

import json
import sys

import numpy as np
import pytest
import torch

from mc2.benchmark.methods import Case, make_method
from mc2.benchmark.methods.of_corrector import CorrectorMethod
from mc2.errors import InputError
from mc2.fits.batched_lift import lift_of
from mc2.geometry import Grid
from mc2.networks import installed
from mc2.networks.architectures import make_network
from mc2.networks.corrector_inputs import CorrectorData, Inputs, local_mean, pixel_of
from mc2.networks.weights_file import read_weights, write_weights
from mc2.problems.operator import LAPLACIAN, Operator
from mc2.solvers.correctors import NetworkCorrector, OnePassCorrector
from mc2.solvers.learned import SWEEPS, correct_by_network, load_network, source_of
from mc2.solvers.relaxation import relax
from mc2.zoo import generate, make_fields

NETWORK = {"architecture": "unet", "widths": [8, 16], "blocks": 1}
INPUTS = Inputs(("estimate", "source", "mask", "error"), "mean")


@pytest.fixture(autouse=True)
def _forget():
    load_network.cache_clear()


def weights(folder, inputs=INPUTS, grid=32, logged=True):
    """A file of weights, with its log beside it."""
    torch.manual_seed(0)
    network, path = make_network(NETWORK, inputs.size), folder / "some.safetensors"
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += 0.05 * torch.randn_like(parameter)
    digest = write_weights(path, network, NETWORK, inputs, grid)
    if logged:
        path.with_suffix(".json").write_text(json.dumps({"sha256": digest}))
    return path, network


def case(index, size=32):
    fields = make_fields([generate("test", index)], [8], grid=Grid(size), device="cpu")
    parts = fields.mean[0], fields.variance[0], 8, fields.mask, Grid(size), fields.f
    return [part[0] if isinstance(part, np.ndarray) else part for part in parts]


@pytest.mark.slow
def test_weights_are_read_as_written(tmp_path):
    path, network = weights(tmp_path)
    found, inputs, grid = read_weights(path)
    assert (inputs, grid) == (INPUTS, 32)
    for name, value in network.state_dict().items():
        torch.testing.assert_close(found.state_dict()[name], value.half().float())


def test_damaged_and_foreign_files_are_refused(tmp_path):
    path, _ = weights(tmp_path)
    content = bytearray(path.read_bytes())
    content[-10] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"is damaged, or not the file that some\.json is about"):
        load_network(str(path))
    path.with_suffix(".json").write_text("[]")
    with pytest.raises(InputError, match=r"has no checksum of some\.safetensors"):
        load_network(str(path))
    path.with_suffix(".json").unlink()
    path.write_bytes(b"\x80\x04N.")
    with pytest.raises(InputError, match="is no safetensors file"):
        load_network(str(path))
    from safetensors.torch import save_file

    save_file({"a": torch.zeros(1)}, path)
    with pytest.raises(InputError, match="says nothing of mc2-weights-2"):
        load_network(str(path))
    with pytest.raises(InputError, match="there is no weights file"):
        load_network(str(tmp_path / "none.safetensors"))


def test_names_that_are_not_installed(tmp_path, monkeypatch):
    monkeypatch.setattr(installed, "GROUP", "nobody's")
    with pytest.raises(InputError, match=r"no weights are installed, so .* 'mc3': pip install \./weights"):
        load_network("mc3")
    monkeypatch.setenv("MC2_WEIGHTS", str(tmp_path))
    path, _ = weights(tmp_path)
    path.with_suffix(".json").write_text("{}")
    with pytest.raises(InputError, match=rf"no weights 'mc3' are installed \(there are: {path.stem}\)"):
        load_network("mc3")


def test_torch_is_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match=r"needs torch and safetensors: pip install 'mc2-pde\[learn\]'"):
        make_method("mc2")


def test_many_at_once_are_as_one_by_one(tmp_path):
    loaded = load_network(str(weights(tmp_path)[0]), "cpu")
    cases = [case(index) for index in range(4)]
    mean, variance, _, mask, _, source = (np.array(parts) for parts in zip(*cases, strict=True))
    together = correct_by_network(loaded, mean, variance, 8, mask, Grid(32), source)
    for found, single in zip(together, cases, strict=True):
        np.testing.assert_allclose(found, correct_by_network(loaded, *single), rtol=1e-4, atol=1e-4)
        assert (found[single[3] == 0] == 0).all()


def test_other_equations_are_brought_to_a_form_that_is_known(tmp_path):
    loaded = load_network(str(weights(tmp_path)[0]), "cpu")
    *fields, source = case(1)
    mask = fields[3]

    def found(source, operator=LAPLACIAN):
        return correct_by_network(loaded, *fields, source, operator=operator, sweeps=0)

    np.testing.assert_array_equal(found(source, Operator(-30.0)), found(source))
    parts = (torch.tensor(array, dtype=torch.float32)[None] for array in (*fields[:2], source, mask))
    mean, variance, torch_source, torch_mask = parts
    near = local_mean(CorrectorData(mean, variance, torch.tensor([8]), torch_source, torch_mask, pixel_of(fields[4])))
    field = found((source - 9.0 * near[0].numpy()) * mask)
    np.testing.assert_allclose(found(source, Operator(9.0)), field, rtol=1e-5, atol=1e-6)
    assert np.abs(field - found(source)).max() > 1e-3
    both = [np.stack([array, array]) for array in (*fields[:2], mask, source)]
    mixed = correct_by_network(
        loaded, *both[:2], 8, both[2], Grid(32), both[3], operator=[Operator(9.0), LAPLACIAN], sweeps=0
    )
    np.testing.assert_allclose(mixed[0], field, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(mixed[1], found(source), rtol=1e-4, atol=1e-5)


def test_a_biharmonic_source_becomes_one_of_the_laplacian():
    problem, grid = generate("test", 3).problem, Grid(128)
    mask = problem.mask(grid)
    seen = source_of(problem.source, problem.operator, grid, mask).astype(float)
    assert (seen[~mask] == 0).all()
    step = grid.spacing[0]
    sides = seen[2:, 1:-1] + seen[:-2, 1:-1] + seen[1:-1, 2:] + seen[1:-1, :-2]
    inside = (problem.domain.distance(*grid.points()) > 3 * step)[1:-1, 1:-1]
    f = problem.on_grid(problem.source, grid)
    error = (sides - 4 * seen[1:-1, 1:-1]) / step**2 - f[1:-1, 1:-1]
    assert np.sqrt(np.mean(error[inside] ** 2)) < 0.005 * np.abs(f).max()
    plain = source_of(problem.source, Operator(-3.0), grid, mask)
    np.testing.assert_array_equal(plain, f)
    assert not source_of(None, LAPLACIAN, grid, mask).any()


def test_what_a_network_finds_is_relaxed(tmp_path):
    loaded = load_network(str(weights(tmp_path)[0]), "cpu")
    _, _, _, mask, grid, source = case(1)
    operator = Operator(-30.0)
    found, plain = (correct_by_network(loaded, *case(1), operator=operator, sweeps=n) for n in (SWEEPS, 0))
    u, f, inside = (torch.tensor(array, dtype=torch.float32)[None] for array in (plain, source, mask))
    expected = relax(u, f, torch.tensor([-30.0]), inside, grid.spacing[0], SWEEPS)[0]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert np.abs(found - plain).max() > 1e-3


def test_pixels_are_square(tmp_path):
    loaded = load_network(str(weights(tmp_path)[0]), "cpu")
    *fields, _, source = case(1)
    with pytest.raises(InputError, match="square pixels only"):
        correct_by_network(loaded, *fields, Grid(32, bounds=(-1, 1, -2, 2)), source)


@pytest.mark.parametrize("size", [20, 50])
def test_other_sizes(tmp_path, size):
    loaded = load_network(str(weights(tmp_path)[0]), "cpu")
    found = correct_by_network(loaded, *case(1, size))
    assert found.shape == (size, size)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("lifted", [False, True])
def test_a_weights_file_is_a_method(tmp_path, lifted):
    path, _ = weights(tmp_path, Inputs(INPUTS.channels, "mean", lifted))
    method = make_method(str(path))
    assert method.name == "some"
    mean, variance, walks, mask, grid, source = case(1)
    instance = generate("test", 1)
    values = {"estimate": mean, "variance": variance, "walks": walks, "mask": mask == 1, "grid": grid, "source": source}
    values |= {"family": "poisson", "parameter": 0.0, "source_function": instance.problem.source}
    found = method.solve(Case(method, values))
    alone = CorrectorMethod(NetworkCorrector(str(path), sweeps=0))
    assert alone.name == "some-alone"
    assert (alone.solve(Case(alone, values)) != found).any()
    lift = lift_of(instance.problem.source, LAPLACIAN, grid) if lifted else None
    np.testing.assert_array_equal(found, correct_by_network(method.corrector.learned, *case(1), lift))
    if lifted:
        with pytest.raises(InputError, match="trained on lifted estimates"):
            correct_by_network(method.corrector.learned, *case(1))


def test_one_pass_is_told_nothing_of_the_equation(tmp_path):
    path, _ = weights(tmp_path, Inputs(("estimate", "source", "mask"), variance=False))
    method = CorrectorMethod(OnePassCorrector(str(path)))
    assert method.name == "some-one-pass"
    assert set(method.reads) == {"estimate", "mask", "grid", "source_function"}
    mean, _, _, mask, grid, _ = case(1)
    source_function = generate("test", 1).problem.source
    found = method.solve(
        Case(method, {"estimate": mean, "mask": mask == 1, "grid": grid, "source_function": source_function})
    )
    np.testing.assert_array_equal(found, correct_by_network(method.corrector.learned, *case(1), sweeps=0))
    load_network.cache_clear()
    weights(tmp_path)
    with pytest.raises(InputError, match="trained to read more than estimate, source and mask"):
        OnePassCorrector(str(path))


def test_only_correctors_correct(tmp_path, monkeypatch):
    assert "mc2-unet" in installed.installed_correctors()
    for name, config in {"old": {}, "operator": {"task": "operator"}, "ours": {"task": "correction"}}.items():
        (tmp_path / f"{name}.safetensors").touch()
        (tmp_path / f"{name}.json").write_text(json.dumps({"config": config}))
    (tmp_path / "lpips.safetensors").touch()  # weights without a log are no network's
    monkeypatch.setattr(installed, "GROUP", "nobody's")
    monkeypatch.setenv("MC2_WEIGHTS", str(tmp_path))
    assert installed.installed_weights() == ["old", "operator", "ours"]
    assert installed.installed_correctors() == ["old", "ours"]
