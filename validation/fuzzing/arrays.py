"""Inputs that are arrays in files: shards, estimates, predictions and fields.

Whatever is read of a file with changed bytes must be what was written. Files that are wrong on purpose must be refused.
"""

import contextlib
import io
import json
import os
import shutil
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import h5py
import numpy as np
from numpy.lib import format as npy

import mc2
from mc2.benchmark.field_files import read_field
from mc2.benchmark.leaderboard import read_predictions, write_predictions
from mc2.geometry import Disk, Grid
from mc2.networks.weights_file import read_weights
from mc2.walks import Estimate
from mc2.zoo import generate
from mc2.zoo.build import build_zoo, verify
from mc2.zoo.shards import Shards
from validation.fuzzing.child import Input
from validation.fuzzing.mutate import alter, changed, value

SMALL = Grid(8)


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
    """A shard that is sound HDF5, and wrong: it names other files, or claims or holds what cannot be."""
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
    with contextlib.suppress(mc2.InputError):  # without xarray
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


@cache
def solution():
    """The arrays of a solution in a file."""
    folder = Path(tempfile.mkdtemp(prefix="mc2-fuzz-solution-"))
    problem = mc2.Poisson(Disk(0.7), source="x", boundary={"rim": "y"})
    mc2.solve(problem, 8, grid=12, corrector="trefftz", device="cpu", threads=1).save(folder / "s.npz")
    with np.load(folder / "s.npz") as data:
        found = dict(data)
    shutil.rmtree(folder)
    return found


def hostile_solution(rng, folder):
    """A solution whose record or values were changed: it is solved again, and must be what it was."""
    arrays, path = dict(solution()), folder / "s.npz"
    if rng.random() < 0.8:
        arrays["record"] = np.array(json.dumps(alter(rng, json.loads(str(arrays["record"])))))
    else:
        name = rng.choice(["values", "standard_error", "mask", "bounds"])
        arrays[name] = rng.choice([arrays[name] + 1, arrays[name][:1], np.full_like(arrays[name], np.nan, float)])
    np.savez(path, **arrays)
    return Input(lambda: bool(mc2.Solution.load(path).values.any()))


SAMPLES = (shard_folder, estimates, predictions_file, fields, solution)
"""Made once, before processes are forked."""
TARGETS = {
    "shard": shard, "hostile shard": hostile_shard, "build folder": build_folder, "estimate": estimate_damage,
    "hostile estimate": hostile_estimate, "predictions": predictions, "field": field, "no archive": no_archive,
    "hostile solution": hostile_solution,
}  # fmt: skip
