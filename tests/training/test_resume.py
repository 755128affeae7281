"""Checkpoints that are damaged, or a stranger's: refused with one line, and never gone on with."""

import json

import numpy as np
import pytest
import torch

from mc2.errors import InputError
from mc2.training.checkpoints import load_state, save_state
from mc2.training.loop import _begin
from mc2.training.resume import seal

from .runs import CPU, small

CONFIG = small(steps=4)


@pytest.fixture
def folder(tmp_path):
    """A checkpoint after one step."""
    state = _begin(CONFIG, CPU)
    for parameter in state.network.parameters():
        parameter.grad = torch.ones_like(parameter)
    state.optimiser.step()
    state.step, state.recent = 1, [0.5]
    save_state(tmp_path, state, CONFIG)
    return tmp_path


def refusal(folder):
    with pytest.raises(InputError) as caught:
        load_state(folder, _begin(CONFIG, CPU), CONFIG)
    assert "\n" not in str(caught.value)
    assert "has no checkpoint that can be read" in str(caught.value)
    assert "begin anew with --no-resume" in str(caught.value)
    return str(caught.value)


def rewrite(folder, **changes):
    """Other contents of state.json, with a checksum that fits."""
    data = json.loads((folder / "state.json").read_text())
    del data["sha256"]
    (folder / "state.json").write_text(json.dumps(seal(data | changes)))


def history(**changes):
    return {"history": {"losses": [], "validations": [], "best": None, "returns": []} | changes}


BAD = {
    "losses": (history(losses=7), "history.losses = 7 must be a list"),
    "a loss": (history(losses=[[1, "x"]]), "history.losses[0][1] = 'x' must be a finite number"),
    "one number": (history(losses=[[1]]), "history.losses[0] = [1] must be [step, loss]"),
    "half a step": (history(losses=[[0.5, 1]]), "history.losses[0] = [0.5, 1] must be [step, loss]"),
    "validations": (history(validations=[{"psnr": {}}]), "must be scores with their step"),
    "best": (history(best=[]), "history.best = [] must be scores with their step or null"),
    "before": (history(before={"overall": None}), "history.before.overall = None must be a finite number"),
    "returns": (history(returns=[{"step": -1}]), "history.returns[0].step = -1 must be an integer from 0"),
    "unknown": (history(more=1), "unknown key of history 'more'"),
    "no history": ({"history": None}, "history = None must be an object"),
    "step": ({"step": -3}, "step = -3 must be an integer from 0"),
    "seconds": ({"seconds": "1"}, "seconds = '1' must be a finite number from 0"),
    "recent": ({"recent": [None]}, "recent[0] = None must be a finite number"),
    "much recent": ({"recent": [1.0] * 1001}, "must be a list of at most 1,000"),
    "elsewhere": (
        {"files": {"network": "../other.safetensors", "optimiser": "a"}},
        "files.network = '../other.safetensors' must be a name of a checkpoint's file",
    ),
    "files": ({"files": []}, "files = [] must be an object"),
    "one file": ({"files": {"network": "network-1.safetensors"}}, "files lacks 'optimiser'"),
    "config": ({"config": []}, "config = [] must be an object"),
    "empty config": ({"config": {}}, "lacks 'name'"),
    "keys": ({"more": 1}, "unknown key 'more'"),
}


@pytest.mark.parametrize("name", BAD)
def test_states_that_cannot_be(folder, name):
    changes, message = BAD[name]
    rewrite(folder, **changes)
    assert message in refusal(folder)


def test_damage_is_noticed(folder):
    random = np.random.default_rng(0)
    paths = sorted(folder.iterdir())
    assert len(paths) == 3
    for number in range(45):
        path = paths[number % 3]
        content = path.read_bytes()
        place = random.integers(len(content))
        path.write_bytes(content[:place] + bytes([content[place] ^ 1 << random.integers(8)]) + content[place + 1 :])
        refusal(folder)
        path.write_bytes(content)
    assert load_state(folder, _begin(CONFIG, CPU), CONFIG)


def test_states_without_a_checksum_are_of_earlier_versions(folder):
    data = json.loads((folder / "state.json").read_text())
    del data["sha256"]
    (folder / "state.json").write_text(json.dumps(data))
    assert "an earlier version wrote it" in refusal(folder)


def test_files_of_another_checkpoint(folder, tmp_path_factory):
    """Whole files, of which the state does not speak."""
    other = tmp_path_factory.mktemp("other")
    state = _begin(CONFIG, CPU)
    for parameter in state.network.parameters():
        parameter.grad = -torch.ones_like(parameter)
    state.optimiser.step()
    state.step = 1
    save_state(other, state, CONFIG)
    (folder / "network-1.safetensors").write_bytes((other / "network-1.safetensors").read_bytes())
    assert "not the file that state.json is about" in refusal(folder)
