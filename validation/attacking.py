"""Attacks that once succeeded, as functions that run in a process and a folder of their own.

They use public names and the command line, and find what has moved, so that other versions can be attacked as well.
What an attack calls harm ends the process with 3; an error for the user ends it with 1.
"""

import atexit
import io
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ENTRY = Path(__file__).parents[1] / "leaderboard" / "entries" / "bilateral.json"
DISK = '[domain]\nshape = "disk"\n'
LAPLACE = 'family = "laplace"\nboundary = "x"\n'
COMMAND = [sys.executable, "-m", "mc2.cli.main"]
WEIGHTS = ("mc2.networks.weights_file", "mc2.correction.weights_file")
HUNG = 40.0
"""Seconds after which an interrupted process counts as deaf."""


class Attack(NamedTuple):
    """item: the kind of weakness, by its number in docs/limits.md's table. run: does it."""

    item: int
    run: Any


ATTACKS: dict[str, Attack] = {}


def attack(item, name, *given):
    def keep(function):
        ATTACKS[name] = Attack(item, lambda: function(*given))
        return function

    return keep


# What attacks are made of


def door(name, *modules):
    """A name from the first of some modules that has it."""
    for module in modules:
        try:
            return getattr(import_module(module), name)
        except (ImportError, AttributeError):
            continue
    raise ImportError(name)


def begin():
    """The clock runs from here: what the attack needs is made."""
    begun = time.perf_counter()
    atexit.register(lambda: print(f"seconds: {time.perf_counter() - begun:.3f}", file=sys.stderr))


def harm(text):
    print(text, file=sys.stderr, flush=True)
    atexit._run_exitfuncs()
    os._exit(3)


def command(*words):
    """A command; its exit code."""
    main = import_module("mc2.cli.main").main
    sys.argv = ["mc2", *map(str, words)]
    begin()
    try:
        main()
    except SystemExit as end:
        return end.code or 0
    return 0


def must_refuse(read):
    """What an API refuses counts as a command's error."""
    from mc2.errors import InputError

    begin()
    try:
        read()
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    harm("it was read")


def solve(text, *words):
    Path("p.toml").write_text(text)
    sys.exit(command("solve", "p.toml", "--device", "cpu", *words))


# 1: shards


def _shard(change):
    import h5py

    from mc2.geometry import Grid

    door("build_zoo", "mc2.zoo.build")("b", "test", 0, 2, (1, 8), grid=Grid(8), shard_size=2, device="cpu")
    path = Path("b/shard-00000.h5")
    Path("secret").write_bytes(b"A" * 65536)
    shutil.copy(path, "other.h5")
    with h5py.File(path, "a", libver=("v110", "v110")) as file:
        shape, kind = file["u"].shape, file["u"].dtype
        change(file, shape, kind, h5py)
    shards = import_module("mc2.zoo.shards").Shards
    must_refuse(lambda: shards("b")[0])


@attack(1, "shard with external storage")
def external(*_):
    def change(file, shape, kind, h5py):
        del file["u"]
        file.create_dataset("u", shape, kind, external=[(str(Path("secret").resolve()), 0, 65536)])

    _shard(change)


@attack(1, "shard with an external link")
def external_link(*_):
    def change(file, shape, kind, h5py):
        del file["u"]
        file["u"] = h5py.ExternalLink(str(Path("other.h5").resolve()), "u")

    _shard(change)


@attack(1, "shard with a virtual dataset")
def virtual(*_):
    def change(file, shape, kind, h5py):
        layout = h5py.VirtualLayout(shape, kind)
        layout[...] = h5py.VirtualSource(str(Path("other.h5").resolve()), "u", shape)
        del file["u"]
        file.create_virtual_dataset("u", layout)

    _shard(change)


@attack(1, "shard of 16384², all fill")
def fill(*_):
    def change(file, shape, kind, h5py):
        del file["u"]
        file.create_dataset("u", (2, 16384, 16384), kind, chunks=True)

    _shard(change)


@attack(1, "shard with NaN", "u", np.nan)
@attack(1, "shard with a mask of 7", "mask", 7)
def value_in_shard(name, value):
    def change(file, shape, kind, h5py):
        file[name][0, 0, 0] = value

    _shard(change)


# 2: memory and time


def _polygon(vertices):
    return f'{LAPLACE}[domain]\nshape = "polygon"\nvertices = {vertices}\n'


def _rectangle(height):
    return f'{LAPLACE}[domain]\nshape = "rectangle"\na = 0.9\nb = {height}\n'


def _disks(count):
    disks = ", ".join(
        f'{{shape = "disk", radius = 0.03, center = [{k % 40 * 0.05:.2f}, {k // 40 * 0.05:.2f}]}}' for k in range(count)
    )
    return f"{LAPLACE}grid = 64\n[domain]\nunion = [{disks}]\n"


SINES = "*".join(f"sin({k}*x)" for k in range(1, 400))

attack(2, "rectangle 0.9 × 5e-4", _rectangle(5e-4))(solve)
attack(2, "rectangle 0.9 × 5e-6", _rectangle(5e-6))(solve)
attack(2, "thin triangle", _polygon([[0, 0], [1, 0], [1, 1e-4]]))(solve)
attack(2, "product of 399 sines", f'family = "biharmonic"\nexact = "{SINES}"\ngrid = 16\n{DISK}')(solve)
attack(2, "grid = 16384", f"{LAPLACE}grid = 16384\n{DISK}")(solve)
attack(2, "union of 1,000 disks", _disks(1000), "--walks", "2")(solve)


@attack(2, "TOML a.a.a… of 200 kB")
def dotted(*_):
    solve("a" + ".a" * 100_000 + " = 1\n")


@attack(2, "configuration of 1e5 widths")
def widths(*_):
    Path("c.toml").write_text(f'grid = 16\nsteps = 1\n[network]\narchitecture = "unet"\nwidths = {[2] * 100_000}\n')
    sys.exit(command("train", "c.toml", "--out", "r"))


@attack(2, "title of 900 kB")
def title(*_):
    Path("p.toml").write_text(f'title = "{"W" * 900_000}"\n{LAPLACE}{DISK}')
    sys.exit(command("show", "p.toml", "--out", "p.png"))


@attack(2, "Yukawa λ = 1e7, interrupted")
def interrupted(*_):
    Path("p.toml").write_text(f'family = "yukawa"\nlambda = 1e7\nsource = "x"\nboundary = "x"\ngrid = 1024\n{DISK}')
    child = subprocess.Popen(
        [*COMMAND, "solve", "p.toml", "--walks", "100000", "--device", "cpu"], stderr=subprocess.DEVNULL
    )
    time.sleep(10)
    if child.poll() is not None:
        return
    child.send_signal(signal.SIGINT)
    begin()
    try:
        child.wait(HUNG)
    except subprocess.TimeoutExpired:
        child.kill()
        harm(f"Ctrl-C was not heard for {HUNG:g} s")


# 2, 3, 7: weights


@attack(2, "weights of widths 16000", {"widths": [16000] * 4})
@attack(3, "weights with a changed byte, without their JSON")
@attack(7, "weights with grid = -5", {}, {"grid": -5})
def weights(network=None, more=None):
    """A small weights file: with a false description, or a changed byte if none is given."""
    from safetensors import safe_open

    about = {"architecture": "unet", "widths": [2, 4], "blocks": 1}
    kind = door("Inputs", "mc2.networks.corrector_inputs", "mc2.correction.inputs")
    made = door("make_network", "mc2.networks.architectures", "mc2.networks.registry")(about, kind().size)
    path = Path("w.safetensors")
    door("write_weights", *WEIGHTS)(path, made, about, kind(), 16)
    Path("w.json").unlink(missing_ok=True)
    content = bytearray(path.read_bytes())
    if network is None:
        content[-7] ^= 64
    else:
        with safe_open(path, "pt") as file:
            told = json.loads(file.metadata()["mc2"])
        length = struct.unpack("<Q", content[:8])[0]
        header = json.loads(content[8 : 8 + length])
        told = told | (more or {}) | {"network": told["network"] | network}
        header["__metadata__"]["mc2"] = json.dumps(told)
        text = json.dumps(header).encode()
        content = struct.pack("<Q", len(text)) + text + content[8 + length :]
    path.write_bytes(content)
    must_refuse(lambda: door("read_weights", *WEIGHTS)(path))


# 3: damaged estimates and records


@attack(3, "Estimate.load of text", "mean", lambda a: np.full(a.shape, "a"))
@attack(3, "Estimate.load of another shape", "mean", lambda a: a[:3])
@attack(3, "Estimate.load of NaN", "mean", lambda a: a * np.nan)
@attack(3, "Estimate.load of negative variances", "variance", lambda a: -1 - a)
def damaged_estimate(name, change):
    import mc2

    _estimate(mc2)
    arrays = dict(np.load("e.npz"))
    np.savez("e.npz", **arrays | {name: change(arrays[name])})
    must_refuse(lambda: mc2.Estimate.load("e.npz"))


@attack(3, "Estimate.load of 6 GB in 6 MB")
def large_estimate(*_):
    import mc2

    _estimate(mc2)
    old, side = dict(np.load("e.npz")), 19_000
    with zipfile.ZipFile("e.npz", "w", zipfile.ZIP_DEFLATED) as file:
        for name, kind in (("mean", "<f8"), ("variance", "<f8"), ("mask", "|b1")):
            with file.open(f"{name}.npy", "w", force_zip64=True) as out:
                about = {"descr": kind, "fortran_order": False, "shape": (side, side)}
                np.lib.format.write_array_header_1_0(out, about)
                for _ in range(side):
                    out.write(bytes(side * int(kind[-1])))
        for name in old.keys() - {"mean", "variance", "mask"}:
            own = io.BytesIO()
            np.save(own, old[name])
            file.writestr(f"{name}.npy", own.getvalue())
    must_refuse(lambda: mc2.Estimate.load("e.npz"))


def _estimate(mc2):
    from mc2.geometry import Disk, Grid

    mc2.estimate(mc2.Laplace(Disk(1.0), boundary="x"), walks=4, grid=Grid(8), device="cpu").save("e.npz")


@attack(3, "record with std_f = -5", {"std_f": -5})
@attack(3, "record with mse_32 = '<b>'", {"mse_32": "<b>", "tier": "medium"})
@attack(3, "record with tier = []", {"tier": []})
@attack(3, "record under another's index", None)
def record(change):
    zoo = import_module("mc2.zoo")
    data, other = (zoo.to_record(zoo.generate("test", index)) for index in (4, 9))
    data |= {key: other[key] for key in ("id", "index")} if change is None else change
    must_refuse(lambda: zoo.from_record(data))


# 5: temporary names


@attack(5, "a planted temporary name that is a link")
def planted(*_):
    Path("mine").write_text("mine")
    Path(f".a.npz.{os.getpid()}.tmp").symlink_to("mine")
    Path("p.toml").write_text(f"{LAPLACE}grid = 16\n{DISK}")
    code = command("solve", "p.toml", "--out", "a.npz", "--device", "cpu")
    if Path("mine").read_bytes() != b"mine":
        harm("another file was overwritten")
    sys.exit(code)


# 7: late or raw errors

ROUGH = f'family = "laplace"\nboundary = "abs(x)"\ngrid = 512\n{DISK}'

attack(7, "--out in a folder that is not there", ROUGH, "--walks", "2000", "--out", "nowhere/a.npz")(solve)
attack(7, "integer of 5,000 digits", f'family = "laplace"\nboundary = {"9" * 5000}\n{DISK}')(solve)
attack(7, "radius 1e-9", f"{LAPLACE}{DISK}radius = 1e-9\n", "--walks", "2")(solve)
attack(7, "radius 1e30", f"{LAPLACE}{DISK}radius = 1e30\n", "--walks", "2")(solve)
attack(7, "boundary 1e155", f'family = "laplace"\nboundary = "1e155*x"\n{DISK}', "--walks", "2")(solve)
attack(7, "Helmholtz k = 1e4", f'family = "helmholtz"\nk = 1e4\nsource = 0\nboundary = 1\n{DISK}')(solve)


@attack(7, "a pipe as problem file")
def pipe(*_):
    os.mkfifo("p.toml")
    sys.exit(command("solve", "p.toml"))


@attack(7, "no place for compiled kernels")
def nowhere(*_):
    Path("p.toml").write_text(f"{LAPLACE}grid = 16\n{DISK}")
    homes = {"HOME": "/proc", "XDG_CACHE_HOME": "/proc", "NUMBA_CACHE_DIR": "/proc/none"}
    begin()
    made = subprocess.run(
        [*COMMAND, "solve", "p.toml", "--walks", "2", "--device", "cpu"], env=os.environ | homes, stderr=subprocess.PIPE
    )
    print(made.stderr.decode(), file=sys.stderr)
    sys.exit(made.returncode)


# 8: the leaderboard


@attack(8, "link to https://github.com@evil.com/", {"code": "https://github.com@evil.com/"})
@attack(8, "a wоs with a Cyrillic о", {"method": "wоs"})
@attack(8, "an entry that calls itself evaluated", {"method": "mine", "evaluated": "claimed"})
def entry(change):
    own = json.loads(ENTRY.read_text("utf-8"))
    if "evaluated" in change:
        change = change | {"evaluated": own["claimed"], "evaluated_split": "test", "evaluated_count": 250}
    else:
        own |= {"evaluated": None, "evaluated_split": "", "evaluated_count": 0}
    Path("e").mkdir()
    Path("e/wos.json").write_text(json.dumps(own | {"method": "wos"} if "evaluated" not in change else own))
    Path("e/own.json").write_text(json.dumps(own | {"method": "other"} | change))
    code = command("leaderboard", "build", "--entries", "e", "--out", "page.html")
    if code == 0:
        harm("it is on the page")
    sys.exit(code)


if __name__ == "__main__":
    ATTACKS[sys.argv[1]].run()
