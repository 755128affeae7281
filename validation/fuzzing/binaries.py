"""Inputs that are files of numbers: shards, weights, checkpoints, estimates, predictions and fields.

Whatever is read of a file with changed bytes must be what was written. Files that are wrong on purpose must be refused.
"""

import io
import json
import os
import shutil
import struct
import tempfile
import zipfile
from contextlib import suppress
from functools import cache
from pathlib import Path

import h5py
import numpy as np
import torch
from numpy.lib import format as npy
from safetensors.torch import save

import mc2
from mc2.correction.inputs import Inputs
from mc2.correction.weights_file import fingerprint, read_weights, write_weights
from mc2.evaluation.field_files import read_field
from mc2.evaluation.leaderboard import read_predictions, write_predictions
from mc2.geometry import Disk, Grid
from mc2.networks.registry import make_network
from mc2.training.checkpoints import load_state, save_state
from mc2.training.config import config_from_data
from mc2.training.loop import _begin
from mc2.training.resume import seal
from mc2.walks import Estimate
from mc2.zoo import generate
from mc2.zoo.build import build_zoo, verify
from mc2.zoo.shards import Shards
from validation.fuzzing.child import Input
from validation.fuzzing.mutate import alter, damage, flip, value

NETWORK = {"architecture": "unet", "widths": [2, 4], "blocks": 1}
RUN = {"name": "t", "steps": 4, "grid": 16, "batch": 2, "network": NETWORK}
SMALL = Grid(8)


def changed(rng, content):
    """Bytes with one bit flipped, or with more damage."""
    return flip(rng, content) if rng.random() < 0.6 else damage(rng, content)


@cache
def shard_folder():
    """A build of two instances; kept as long as the process."""
    folder = Path(tempfile.mkdtemp(prefix="mc2-fuzz-build-"))
    build_zoo(folder / "b", "test", 0, 2, (1, 8), grid=SMALL, shard_size=2, device="cpu")
    found = {path.name: path.read_bytes() for path in (folder / "b").iterdir()}
    items = [Shards(folder / "b")[row] for row in range(2)]
    shutil.rmtree(folder)
    return found, items


def _unpacked(folder):
    files, items = shard_folder()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder / "shard-00000.h5", items


def shard(rng, folder):
    """A shard with changed bytes."""
    path, items = _unpacked(folder)
    path.write_bytes(changed(rng, path.read_bytes()))
    return Input(lambda: [Shards(folder)[row] for row in range(2)], same=items)


def hostile_shard(rng, folder):
    """A shard that is sound HDF5, and wrong: names other files, claims what is not there, or holds what cannot be."""
    path, _ = _unpacked(folder)
    other = folder / "other.h5"
    shutil.copy(path, other)
    secret = folder / "secret"
    secret.write_bytes(bytes(1 << 16))
    name = rng.choice(["u", "f", "mask", "mean", "variance", "index", "budgets", "counts", "records"])
    kind = rng.randrange(9)
    with h5py.File(path, "a", libver=("v110", "v110")) as file:
        shape, dtype = file[name].shape, file[name].dtype
        if kind < 6:
            del file[name]
        if kind == 0:
            file.create_dataset(name, shape, dtype, external=[(str(secret), 0, 1 << 16)])
        elif kind == 1:
            file[name] = rng.choice(
                [h5py.ExternalLink(str(other), name), h5py.SoftLink("/nothing"), h5py.SoftLink("/f")]
            )
        elif kind == 2:
            layout = h5py.VirtualLayout(shape, dtype)
            layout[...] = h5py.VirtualSource(str(other), name, shape)
            file.create_virtual_dataset(name, layout)
        elif kind == 3:
            big = (*shape[:-1], 1 << 20) if len(shape) > 1 else (1 << 20,)
            file.create_dataset(name, big, dtype, chunks=True, fletcher32=True)
        elif kind == 4:
            others = [np.dtype("f8"), np.dtype("i2"), h5py.string_dtype(), np.dtype([("a", "f4"), ("b", "i8")])]
            file.create_dataset(name, shape, rng.choice(others), chunks=shape)
        elif kind == 5:
            options = rng.choice([{}, {"compression": "gzip"}, {"shuffle": True}, {"maxshape": (None,) * len(shape)}])
            file.create_dataset(name, shape, dtype, chunks=shape, **options)
        elif kind == 6:
            field, bad = rng.choice([("u", np.nan), ("f", np.inf), ("mean", np.nan), ("variance", -1.0), ("mask", 7)])
            file[field][(0,) * file[field].ndim] = bad
        elif kind == 7:
            file["records"][0] = json.dumps(value(rng), ensure_ascii=True).encode()[:500]
        else:
            attribute = rng.choice(sorted(file.attrs))
            file.attrs[attribute] = rng.choice(["text", 10**6, [1.0, 2.0], np.float64(np.nan)])
    return Input(lambda: Shards(folder)[0], refused=True)


def build_folder(rng, folder):
    """A build folder with any of its files changed: `verify` says so."""
    _unpacked(folder)
    path = folder / rng.choice(sorted(shard_folder()[0]))
    content = path.read_bytes()
    path.write_bytes(changed(rng, content))
    return Input(lambda: bool(verify(folder)), same=path.read_bytes() != content)


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


@cache
def estimates():
    """Files of an estimate on a grid and one at points, and what is in them."""
    folder = Path(tempfile.mkdtemp(prefix="mc2-fuzz-estimate-"))
    problem = mc2.Poisson(Disk(0.7), source="x", boundary="y")
    found = []
    for where in ({"grid": SMALL}, {"points": [[0.1, 0.2], [0.3, 0.1], [0.0, 0.0]]}):
        mc2.estimate(problem, 4, device="cpu", **where).save(folder / "e.npz")
        found.append(((folder / "e.npz").read_bytes(), estimate_of(Estimate.load(folder / "e.npz"))))
    shutil.rmtree(folder)
    return found


def estimate_of(found):
    return [found.mean, found.variance, found.mask, found.record, found.grid] + (
        [] if found.points is None else [found.points]
    )


def estimate_damage(rng, folder):
    content, read = rng.choice(estimates())
    path = folder / "e.npz"
    path.write_bytes(changed(rng, content))
    return Input(lambda: estimate_of(Estimate.load(path)), same=read)


def hostile_estimate(rng, folder):
    """An archive whose arrays do not belong together, are impossible, or are far larger than the file."""
    content, _ = estimates()[0]
    with np.load(io.BytesIO(content)) as data:
        arrays = dict(data)
    name = rng.choice(sorted(arrays))
    kind = rng.randrange(8)
    path = folder / "e.npz"
    if kind == 0:
        arrays[name] = rng.choice(
            [np.array(["a"] * 3), np.zeros(3), np.zeros((3, 8)), np.zeros(0), np.zeros((), complex)]
        )
    elif kind == 1:
        field, bad = rng.choice([("mean", np.nan), ("mean", np.inf), ("variance", -1.0), ("variance", np.nan)])
        arrays[field][4, 4] = bad
    elif kind == 2:
        record = json.loads(str(arrays["record"]))
        key = rng.choice(sorted(record))
        record[key] = rng.choice([-1, "<b>", None, [], {}, 10**30])
        arrays["record"] = np.array(json.dumps(record))
    elif kind == 3:
        arrays["mask"] = np.zeros_like(arrays["mask"])
    elif kind == 4:
        arrays["bounds"] = np.array(rng.choice([[1.0, -1, -1, 1], [np.nan, 1, -1, 1], [-np.inf, np.inf, -1, 1]]))
    elif kind == 5:
        arrays["more"] = np.zeros(3)
    elif kind == 6:
        arrays[name] = np.array([{}], object)
    else:
        return _bomb(rng, path, arrays)
    np.savez(path, allow_pickle=True, **arrays)
    return Input(lambda: Estimate.load(path), refused=True)


def _bomb(rng, path, arrays):
    """An archive of a few kB that claims, or unpacks to, gigabytes."""
    shape = (rng.choice([20_000, 16_384, 100_000]),) * 2
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("mean", "variance", "mask"):
            header = io.BytesIO()
            kind = "|b1" if name == "mask" else "<f8"
            npy.write_array_header_1_0(header, {"descr": kind, "fortran_order": False, "shape": shape})
            archive.writestr(f"{name}.npy", header.getvalue() + bytes(rng.choice([100, 10**7])))
        for name in ("record", "bounds"):
            own = io.BytesIO()
            np.save(own, arrays[name])
            archive.writestr(f"{name}.npy", own.getvalue())
    return Input(lambda: Estimate.load(path), refused=True)


@cache
def predictions_file():
    instances = [generate("test", index) for index in range(5)]
    fields = np.zeros((5, *SMALL.shape), np.float32)
    for field, instance in zip(fields, instances, strict=True):
        field[instance.problem.mask(SMALL)] = 1.5
    folder = Path(tempfile.mkdtemp(prefix="mc2-fuzz-predictions-"))
    write_predictions(folder / "p.npz", [instance.id for instance in instances], fields)
    content = (folder / "p.npz").read_bytes()
    shutil.rmtree(folder)
    return content, fields


def predictions(rng, folder):
    content, fields = predictions_file()
    path = folder / "p.npz"
    path.write_bytes(changed(rng, content))
    return Input(lambda: np.ascontiguousarray(read_predictions(path, grid=SMALL).fields), same=fields)


@cache
def fields():
    """Files of a field: .npz, .npy and .nc."""
    folder = Path(tempfile.mkdtemp(prefix="mc2-fuzz-field-"))
    solution = mc2.solve(mc2.Laplace(Disk(0.7), boundary="x"), walks=2, grid=SMALL)
    np.save(folder / "f.npy", solution.values)
    solution.save(folder / "f.npz")
    with suppress(mc2.InputError):  # without xarray
        solution.save(folder / "f.nc")
    found = {path.suffix: path.read_bytes() for path in folder.iterdir()}
    read = {ending: read_field(folder / f"f{ending}", SMALL.bounds).values for ending in found if ending != ".nc"}
    shutil.rmtree(folder)
    return found, read


def field(rng, folder):
    """A file of a field with changed bytes; of these formats, only .npz has checksums."""
    found, read = fields()
    ending = rng.choice(sorted(found))
    path = folder / f"f{ending}"
    path.write_bytes(changed(rng, found[ending]))
    bounds = SMALL.bounds if ending != ".nc" else None
    return Input(lambda: np.asarray(read_field(path, bounds).values), same=read[".npz"] if ending == ".npz" else None)


def no_archive(rng, folder):
    """Bytes that are of none of the formats, to every reader of files of numbers."""
    content = rng.choice([b"", b"PK\x05\x06" + bytes(18), b"\x93NUMPY", b"\x89HDF\r\n\x1a\n", bytes(64), os.urandom(0)])
    content += bytes(rng.randrange(256) for _ in range(rng.choice([0, 30, 3000])))
    readers = {
        "e.npz": Estimate.load, "f.npz": lambda path: read_field(path, None), "p.npz": read_predictions,
        "f.npy": lambda path: read_field(path, SMALL.bounds), "f.nc": lambda path: read_field(path, None),
        "w.safetensors": read_weights,
    }  # fmt: skip
    name = rng.choice(sorted(readers))
    (folder / name).write_bytes(content)
    return Input(lambda: readers[name](folder / name), refused=True)


TARGETS = {
    "shard": shard, "hostile shard": hostile_shard, "build folder": build_folder, "weights": weights,
    "hostile weights": hostile_weights, "loose weights": loose_weights, "checkpoint": checkpoint_damage,
    "state of a checkpoint": checkpoint_state, "estimate": estimate_damage, "hostile estimate": hostile_estimate,
    "predictions": predictions, "field": field, "no archive": no_archive,
}  # fmt: skip
