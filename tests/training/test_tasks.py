"""Operators and diffusion models go through the same loop: they learn, and go on where they stopped."""

import json
from pathlib import Path

import pytest
import torch

from mc2.errors import InputError
from mc2.networks.architectures import make_network
from mc2.networks.joint_fields import JointFields
from mc2.networks.operator_inputs import OperatorInputs, finish, prepare
from mc2.networks.weights_file import read_weights, task_of
from mc2.solvers.learned import load_network
from mc2.training import loop
from mc2.training.config import config_from_data, read_config
from mc2.training.data import held_batches, training_batches
from mc2.training.loop import train
from mc2.training.resume import seal
from mc2.training.tasks import NOISE_LEVELS, coefficient_of, joint_of, make_task, operator_data
from mc2.walks.gpu.launch import unavailable
from mc2.zoo import FAMILIES

from .runs import CPU, small

CONFIGS = Path(__file__).parents[2] / "configs"
FNO = {"architecture": "fno", "width": 4, "modes": 4, "layers": 2}
NOISE = {"architecture": "noise-unet", "widths": [4, 8], "blocks": 1, "embedding": 8}
RUNS = {
    "operator": {"task": "operator", "network": FNO, "inputs": {"channels": ["source", "distance", "boundary"]}},
    "pino": {"task": "operator", "network": FNO, "inputs": {"channels": ["source"]}, "physics": 0.1},
    "diffusion": {"task": "diffusion", "network": NOISE, "inputs": {}, "families": ["yukawa"]},
}


@pytest.fixture(autouse=True)
def _every_step_is_logged(monkeypatch):
    monkeypatch.setattr(loop, "LOG", 1)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The small configurations, as `mc2 train` runs them: logs, by name, and where the weights are."""
    folder, found = tmp_path_factory.mktemp("runs"), {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "LOG", 10)
        for name in ("small-fno", "small-pino", "small-edm"):
            found[name] = train(read_config(CONFIGS / f"{name}.toml"), folder / name, device="cpu"), folder / name
    return found


def losses(log):
    return [loss for _, loss in log["losses"]]


@pytest.mark.parametrize("name", ["small-fno", "small-pino", "small-edm"])
@pytest.mark.slow
def test_small_runs_learn(trained, name):
    log, _ = trained[name]
    score = log["score"]
    assert log["finished"]
    assert losses(log)[-1] < 0.75 * losses(log)[0]
    gain = log["best"][score]["overall"] - log["before"]["overall"]
    assert gain > (4 if score == "psnr" else 1)  # dB
    assert set(log["best"][score]) == set(log["before"])


@pytest.mark.slow
def test_physics_lowers_the_residual(trained):
    """PINO against FNO, with the same network, seed and steps, on the same held instances."""
    found = {}
    for name in ("small-fno", "small-pino"):
        config = read_config(CONFIGS / f"{name}.toml")
        network, inputs, _ = read_weights(trained[name][1] / f"{name}.safetensors", OperatorInputs)
        task, [batch] = make_task(config), held_batches(config, "validation", 8, 8, CPU)
        with torch.no_grad():
            prepared = prepare(operator_data(batch), inputs)
            field = finish(prepared, network(prepared.channels)[:, 0], batch.given.mask)
            found[name] = task.residual(field, prepared.scale, batch).mean().item()
    assert found["small-pino"] < 0.8 * found["small-fno"]


@pytest.mark.parametrize("name", RUNS)
def test_a_stopped_run_goes_on_exactly(tmp_path, name):
    config = small(steps=4, **RUNS[name])
    whole = train(config, tmp_path / "whole", device="cpu")
    calls = iter([False, True])
    part = train(config, tmp_path / "parts", device="cpu", stop=lambda: next(calls))
    assert (part["steps"], part["finished"]) == (2, False)
    again = train(config, tmp_path / "parts", device="cpu")
    assert losses(again) == losses(whole)
    score = whole["score"]
    assert [v[score] for v in again["validations"]] == [v[score] for v in whole["validations"]]
    assert again["sha256"] == whole["sha256"]


@pytest.mark.parametrize(("name", "kind"), [("operator", OperatorInputs), ("diffusion", JointFields)])
def test_weights_know_their_task(tmp_path, name, kind):
    log = train(small(steps=1, **RUNS[name]), tmp_path, device="cpu")
    path = tmp_path / "small.safetensors"
    assert json.loads((tmp_path / "small.json").read_text())["sha256"] == log["sha256"]
    assert task_of(path) == name
    assert isinstance(read_weights(path, kind)[1], kind)
    with pytest.raises(InputError, match=f"was trained for the task '{name}', not 'correction'"):
        load_network(str(path))


@pytest.mark.skipif(bool(unavailable()), reason=unavailable())
@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNS)
def test_runs_on_a_gpu(tmp_path, name):
    """Batches, distances and boundary data are made there. Complex numbers cannot be compiled, so FNOs are not."""
    log = train(small(steps=2, grid=64, compile=name == "diffusion", **RUNS[name]), tmp_path, device="cuda")
    assert log["finished"]
    assert all(torch.isfinite(torch.tensor(losses(log))))


def test_only_families_that_are_asked_for():
    config = small(**RUNS["diffusion"])
    batch = next(training_batches(config, 0, 0, 1, CPU))
    assert {FAMILIES[number] for number in batch.family.tolist()} == {"yukawa"}
    assert (batch.parameter > 0).all()
    held = held_batches(config, "validation", 6, 8, CPU)
    assert set(torch.cat([batch.family for batch in held]).tolist()) == {2}


def test_an_exact_network_has_no_residual():
    """The residual of exact solutions is that of the stencil alone, far below their sources."""
    config = small(grid=128, batch=3, **RUNS["pino"])
    batch = next(training_batches(config, 0, 0, 1, CPU))
    assert coefficient_of(batch)[:2].tolist() == [0, 0]
    assert coefficient_of(batch)[2] < 0
    task, scale = make_task(config), batch.u.std((1, 2), keepdim=True)
    exact, nothing = (task.residual(field, scale, batch) for field in (batch.u, torch.zeros_like(batch.u)))
    assert (exact[1:] < 0.01 * nothing[1:]).all()


def test_denoisers_are_scored_in_decibels():
    config = small(**RUNS["diffusion"])
    task, [batch] = make_task(config), held_batches(config, "validation", 4, 8, CPU)
    before = task.scores_before(batch, 0)
    assert (before == task.scores_before(batch, 0)).all()  # always the same noise
    assert (before.abs() < 6).all()
    network = make_network(config.network, 4)  # its output begins at 0
    torch.testing.assert_close(task.scores(network, batch, 0), before)

    class Oracle(torch.nn.Module):
        """Knows the data, and so what the network should say."""

        multiple = 1

        def forward(self, x, noise):
            sigma = (4 * noise).exp()[:, None, None, None]
            total = (sigma**2 + 0.25).sqrt()
            return (joint_of(batch) - (0.25 / total**2) * x * total) / (0.5 * sigma / total)

    assert (task.scores(Oracle(), batch, 0) > 60).all()
    assert len(NOISE_LEVELS) > 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task": "operater"}, "unknown task 'operater': did you mean 'operator'"),
        ({"task": ["x"]}, "unknown task"),
        ({"families": ["poison"]}, r"unknown families\[0\] 'poison': did you mean 'poisson'"),
        ({"families": "poisson"}, "families = 'poisson' must be a list"),
        ({"task": "operator"}, r"\[inputs\]: unknown key 'base'"),
        ({"task": "diffusion", "inputs": {}}, "architecture = 'unet' cannot be trained for the task 'diffusion'"),
        ({"network": NOISE}, "architecture = 'noise-unet' cannot be trained for the task 'correction'"),
        ({"physics": 0.1}, "physics = 0.1 is for the task 'operator' alone"),
        ({"task": "operator", "inputs": {"channels": ["estimate"]}}, r"\[inputs\]: unknown channels\[0\] 'estimate'"),
    ],
)
def test_wrong_tasks(options, message):
    with pytest.raises(InputError, match=message) as found:
        small(**options)
    assert "\n" not in str(found.value)


def test_built_files_hold_too_little(tmp_path):
    for name in ("operator", "diffusion"):
        config = small(folder=str(tmp_path), **RUNS[name])
        with pytest.raises(InputError, match="hold no distances and cannot be taken by family"):
            next(training_batches(config, 0, 0, 1, CPU))


def test_runs_of_earlier_versions_are_resumed(tmp_path):
    """Their configurations lack the keys that came later."""
    train(small(steps=1), tmp_path, device="cpu")
    state = json.loads((tmp_path / "state.json").read_text())
    for key in ("task", "families", "physics"):
        del state["config"][key]
    del state["sha256"]
    (tmp_path / "state.json").write_text(json.dumps(seal(state)))
    assert train(small(steps=2), tmp_path, device="cpu")["steps"] == 2
    with pytest.raises(InputError, match="holds a run with families = "):
        train(small(steps=3, families=["laplace"]), tmp_path, device="cpu")


def test_plain_data_and_back():
    for options in RUNS.values():
        config = small(**options)
        assert config_from_data(config.data) == config
