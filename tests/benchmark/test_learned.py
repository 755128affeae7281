"""FNO, PINO, DiffusionPDE and CoCoGen as methods, with small weights made here."""

import json

import numpy as np
import pytest
import torch

from mc2.benchmark.bias import study_bias
from mc2.benchmark.methods import Case, make_method
from mc2.benchmark.methods.generative import TYPICAL
from mc2.benchmark.runner import case_values, evaluate
from mc2.errors import InputError
from mc2.geometry import Grid
from mc2.networks.architectures import make_network
from mc2.networks.joint_fields import JointFields
from mc2.networks.operator_inputs import CHANNELS, OperatorInputs
from mc2.networks.weights_file import write_weights
from mc2.problems import Poisson
from mc2.solvers.learned import load_network
from mc2.zoo import generate

GRID = Grid(32)
SMALL = {"grid": GRID, "device": "cpu", "lpips": False}
FNO = {"architecture": "fno", "width": 4, "modes": 4, "layers": 1}
NOISE = {"architecture": "noise-unet", "widths": [8, 8], "blocks": 1, "patch": 1, "embedding": 8}


@pytest.fixture(autouse=True)
def _forget():
    load_network.cache_clear()


def weights(folder, name, network, inputs):
    torch.manual_seed(0)
    made, path = make_network(network, inputs.size), folder / f"{name}.safetensors"
    with torch.no_grad():
        for parameter in made.parameters():
            parameter += 0.02 * torch.randn_like(parameter)
    digest = write_weights(path, made, network, inputs, GRID.size)
    path.with_suffix(".json").write_text(json.dumps({"sha256": digest}))
    return path


@pytest.fixture
def models(tmp_path):
    """A folder with a diffusion model of each family."""
    for family in ("laplace", "poisson", "yukawa"):
        weights(tmp_path, f"edm-{family}", NOISE, JointFields())
    return str(tmp_path)


def solve(method, index, walks=8):
    values, _ = case_values(method, generate("test", index), walks, 0, GRID, "cpu")
    return method.solve(Case(method, values)), values


@pytest.mark.parametrize("channels", [("source",), CHANNELS])
@pytest.mark.slow
def test_operators_read_what_they_were_trained_on(tmp_path, channels):
    path = weights(tmp_path, "some", FNO, OperatorInputs(channels))
    method = make_method(str(path))
    assert (method.name, method.setting) == ("some", "dense")
    assert ("problem" in method.reads) == ("boundary" in channels)
    for index in range(5):
        field, values = solve(method, index)
        assert field.shape == GRID.shape
        assert np.isfinite(field).all()
        assert (field[~values["mask"]] == 0).all()
    found = evaluate(method, count=5, **SMALL)
    assert (found["walks"], found["absent"]) == (0, [])


def test_a_biharmonic_problem_is_poissons_twice(tmp_path):
    method = make_method(str(weights(tmp_path, "some", FNO, OperatorInputs(CHANNELS))))
    field, values = solve(method, 3)
    problem = values["problem"]

    def pass_of(source, boundary):
        own = {"source": source, "family": "poisson", "problem": Poisson(problem.domain, source=1.0, boundary=boundary)}
        return method.solve(Case(method, values | own))

    laplacian = pass_of(values["source"], problem.laplacian)
    np.testing.assert_array_equal(field, pass_of(laplacian, problem.boundary))
    assert np.abs(field - pass_of(values["source"], problem.boundary)).max() > 1e-3


@pytest.mark.parametrize("name", ["diffusion-pde", "cocogen", "diffusion-pde-prior", "cocogen-prior"])
def test_samplers_are_methods(models, name):
    method = make_method(name, folder=models, steps=4)
    assert method.name == name
    assert ("estimate" in method.reads) == (method.setting == "correction") == (not name.endswith("prior"))
    for index in range(3):
        field, values = solve(method, index)
        assert field.shape == GRID.shape
        assert np.isfinite(field).all()
        assert (field[~values["mask"]] == 0).all()
    assert (solve(method, 1)[0] == solve(method, 1)[0]).all()
    other = make_method(name, folder=models, steps=4, seed=1)
    assert (solve(other, 1)[0] != solve(method, 1)[0]).any()
    with pytest.raises(InputError, match=f"{name} has no model of the family 'helmholtz'"):
        solve(method, 4)


@pytest.mark.parametrize("name", ["diffusion-pde", "cocogen"])
def test_estimates_are_observed(models, name):
    """With a model that knows nothing, many walks still tell the solution; and the residual is lowered."""
    instance = generate("test", 1)
    exact, mask = instance.problem.on_grid(instance.problem.exact, GRID), instance.problem.mask(GRID)
    errors = [
        np.sqrt(np.mean((solve(make_method(name, folder=models, steps=12), 1, walks)[0] - exact)[mask] ** 2))
        for walks in (4, 256)
    ]
    assert errors[1] < 0.6 * errors[0]
    assert errors[1] < 0.3 * exact[mask].std()
    with pytest.raises(InputError, match=f"{name} needs two or more walks"):
        solve(make_method(name, folder=models), 1, 1)


def test_families_without_a_model_are_absent(models):
    found = evaluate(make_method("diffusion-pde", folder=models, steps=2), count=10, **SMALL)
    assert found["absent"] == ["biharmonic", "helmholtz"]
    assert list(found["families"]) == ["laplace", "poisson", "yukawa"]
    assert found["count"] == 6
    study = study_bias(
        make_method("diffusion-pde", folder=models, steps=2), cases=5, repeats=2, grid=GRID, device="cpu"
    )
    assert study["cases"] == 3
    with pytest.raises(InputError, match="diffusion-pde can play in none of the first 5 instances"):
        evaluate(make_method("diffusion-pde", folder=models, steps=2), count=5, families=["helmholtz"], **SMALL)


def test_absent_families_are_dashes(models, capsys):
    from mc2.benchmark.results import add_references
    from mc2.cli.evaluate import _present

    found = evaluate(make_method("cocogen", folder=models, steps=2), count=5, **SMALL)
    _present(add_references(found), [], False)
    lines = capsys.readouterr().out.splitlines()
    [row] = [line for line in lines if line.strip().startswith("helmholtz")]
    assert set(row.split()) == {"helmholtz", "–"}
    assert "– for biharmonic and helmholtz: cocogen cannot play there; overall without them." in lines


def test_missing_and_foreign_weights(tmp_path, models, monkeypatch):
    (tmp_path / "installed").mkdir()
    (tmp_path / "installed" / "other.safetensors").touch()
    monkeypatch.setenv("MC2_WEIGHTS", str(tmp_path / "installed"))
    monkeypatch.setattr("mc2.networks.installed.GROUP", "nobody's")
    for name, wanted in (("fno", "fno"), ("pino", "pino"), ("cocogen", "edm-laplace")):
        with pytest.raises(InputError, match=rf"mc2 train configs/{wanted}\.toml"):
            make_method(name)
    with pytest.raises(InputError, match="is the model of one family: diffusion-pde and cocogen need one of each"):
        make_method(f"{models}/edm-laplace.safetensors")
    path = weights(tmp_path, "some", FNO, OperatorInputs())
    with pytest.raises(InputError, match="task 'operator', not 'diffusion'"):
        load_network(str(path), kind=JointFields)


def test_the_study_of_guidance(models):
    from validation.diffusion import draw, run

    found = run(models, [generate("validation", 1)], [4, 16, 20], 8, GRID)
    for own in found["methods"].values():
        assert list(own["steps"]) == [4, 16, 20]
        assert own["guidance"]["observations"]["misfit"] < 0.5 * own["guidance"]["none"]["misfit"]
        assert own["guidance"]["both"]["residual"] < 0.5 * own["guidance"]["observations"]["residual"]
    assert len(draw(found).axes) == 3


def test_what_is_guessed_without_walks_is_the_median():
    drawn = [generate("train", index) for index in range(900)]
    for family, variance in TYPICAL.items():
        usual = np.median([instance.std_u**2 for instance in drawn if instance.family == family])
        assert variance == pytest.approx(usual, rel=0.03)
