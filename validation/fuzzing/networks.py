"""Inputs that are networks in files: weights and checkpoints of training runs.

Whatever is read of a file with changed bytes must be what was written. Files that are wrong on purpose must be refused.
"""

import json
import shutil
import struct
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save

from mc2.networks.architectures import make_network
from mc2.networks.corrector_inputs import Inputs
from mc2.networks.weights_file import fingerprint, read_weights, write_weights
from mc2.training.checkpoints import load_state, save_state
from mc2.training.config import config_from_data
from mc2.training.loop import _begin
from mc2.training.resume import seal
from validation.fuzzing.child import Input
from validation.fuzzing.mutate import alter, changed

NETWORK = {"architecture": "unet", "widths": [2, 4], "blocks": 1}
RUN = {"name": "t", "steps": 4, "grid": 16, "batch": 2, "network": NETWORK}


@cache
def weights_file():
    torch.manual_seed(0)
    folder = Path(tempfile.mkdtemp(prefix="mc2-fuzz-weights-"))
    network = make_network(NETWORK, Inputs().size)
    write_weights(folder / "w.safetensors", network, NETWORK, Inputs(), 16)
    found = (folder / "w.safetensors").read_bytes()
    read = contents_of(*read_weights(folder / "w.safetensors"))
    shutil.rmtree(folder)
    return found, read


def contents_of(network, inputs, grid):
    return {name: tensor.numpy().copy() for name, tensor in network.state_dict().items()}, inputs, grid


def weights(rng, folder):
    """A weights file without its log, with changed bytes."""
    content, read = weights_file()
    path = folder / "w.safetensors"
    path.write_bytes(changed(rng, content))
    return Input(lambda: contents_of(*read_weights(path)), same=read)


def hostile_weights(rng, folder):
    """A weights file whose description, header or tensors are wrong, with a checksum that is right."""
    about = {"format": "mc2-weights-2", "network": dict(NETWORK), "inputs": {}, "grid": 16}
    arrays = {name: array.astype(np.float16) for name, array in weights_file()[1][0].items()}
    name = rng.choice(sorted(arrays))
    kind = rng.randrange(6)
    if kind == 0:
        about["network"] |= {"widths": [rng.choice([3, 16_000, 2048, 10**9])] * rng.choice([1, 2, 8, 100_000])}
    elif kind == 1:
        about["grid"] = rng.choice([-5, 0, 10**9, "16", None, 1.5, True])
    elif kind == 2:
        arrays[name] = arrays[name].astype(rng.choice([np.float32, np.float64, np.int8]))
    elif kind == 3:
        arrays[name] = rng.choice([arrays[name][:1], arrays[name].reshape(-1), np.full_like(arrays[name], np.nan)])
        if arrays[name].shape == weights_file()[1][0][name].shape and np.isfinite(arrays[name]).all():
            del arrays[name]
    elif kind == 4:
        arrays["more"] = np.zeros(3, np.float16)
    else:
        about["inputs"] = {"channels": rng.choice([["mask"] * 100_000, ["none"], [[]], [], "mask", {}])}
    about["sha256"] = fingerprint(about, arrays)
    path = folder / "w.safetensors"
    path.write_bytes(save({key: torch.from_numpy(array) for key, array in arrays.items()}, {"mc2": json.dumps(about)}))
    return Input(lambda: read_weights(path), refused=True)


def loose_weights(rng, folder):
    """A weights file whose description or header is anything."""
    content = weights_file()[0]
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8 : 8 + length])
    if rng.random() < 0.5:
        header = alter(rng, header)
    else:
        about = json.loads(header["__metadata__"]["mc2"])
        header["__metadata__"]["mc2"] = json.dumps(alter(rng, about))
    text = json.dumps(header).encode("utf-8", "replace")
    path = folder / "w.safetensors"
    path.write_bytes(struct.pack("<Q", rng.choice([len(text)] * 9 + [10**18])) + text + content[8 + length :])
    return Input(lambda: contents_of(*read_weights(path)), same=weights_file()[1])


@cache
def run_config():
    return config_from_data(RUN)


def fresh_state():
    return _begin(run_config(), torch.device("cpu"))


@cache
def checkpoint():
    """The files of a checkpoint after a step, and what is in them."""
    folder = Path(tempfile.mkdtemp(prefix="mc2-fuzz-run-"))
    state = fresh_state()
    for parameter in state.network.parameters():
        parameter.grad = torch.full_like(parameter, 0.5)
    state.optimiser.step()
    state.step, state.recent, state.seconds = 1, [0.25], 1.5
    state.history |= {"losses": [[1, 0.5]], "before": {"overall": 17.0}}
    save_state(folder, state, run_config())
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    shutil.rmtree(folder)
    return files, state_of(state)


def state_of(state):
    entries = [state.optimiser.state[parameter] for parameter in state.network.parameters()]
    moments = [entry[key].clone() for entry in entries for key in sorted(entry)]
    networks = [value.clone() for module in (state.network, state.average) for value in module.state_dict().values()]
    return [*moments, *networks, state.step, state.seconds, state.recent, state.history]


def loaded(folder):
    state = fresh_state()
    return state_of(state) if load_state(folder, state, run_config()) else None


def checkpoint_damage(rng, folder):
    """A checkpoint with changed bytes in one of its files."""
    files, state = checkpoint()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    path = folder / rng.choice(sorted(files))
    path.write_bytes(changed(rng, path.read_bytes()))
    return Input(lambda: loaded(folder), same=state)


def checkpoint_state(rng, folder):
    """A checkpoint whose state is anything, with a checksum that is right: no traceback."""
    files, _ = checkpoint()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    data = json.loads(files["state.json"])
    data.pop("sha256")
    data = alter(rng, data)
    sealed = seal(data) if isinstance(data, dict) and _plain(data) else data
    (folder / "state.json").write_text(json.dumps(sealed), "utf-8", "surrogatepass")
    return Input(lambda: loaded(folder))


def _plain(data):
    try:
        json.dumps(data, allow_nan=False, sort_keys=True)
    except ValueError:
        return False
    return True


SAMPLES = (weights_file, checkpoint)
"""Made once, before processes are forked."""
TARGETS = {
    "weights": weights, "hostile weights": hostile_weights, "loose weights": loose_weights,
    "checkpoint": checkpoint_damage, "state of a checkpoint": checkpoint_state,
}  # fmt: skip
