"""Builds: equal bytes however they are made and stopped, refusals, checks, and the command."""

import json
import random
import shutil
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from mc2.errors import InputError
from mc2.files import replacing
from mc2.geometry import Grid
from mc2.zoo import from_record, generate, make_fields
from mc2.zoo.build import build_zoo, make_shard, verify
from tests.cli.test_commands import mc2

OPTIONS = {"split": "test", "stop": 6, "budgets": (1, 32), "grid": Grid(16), "shard_size": 2, "device": "cpu"}
COMMAND = ("zoo", "build", "--split", "test", "--budgets", "1,32", "--grid", 16, "--shard-size", 2, "--device", "cpu")
PYTHON = [sys.executable, "-m", "mc2.cli.main", *map(str, COMMAND)]


def contents(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def build(folder, **changes):
    return build_zoo(folder, **OPTIONS | changes)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return Path(build(tmp_path_factory.mktemp("zoo") / "build").folder)


@pytest.fixture
def copy(folder, tmp_path):
    return Path(shutil.copytree(folder, tmp_path / "copy"))


@pytest.mark.slow
def test_equal_builds_have_equal_bytes(tmp_path, monkeypatch):
    """Also with fields made in other batches, and at another time: zip files hold dates of two seconds."""
    for name in ("first", "second"):
        for kind in ("hdf5", "npz"):
            build(tmp_path / name / kind, file_format=kind, shard_size=5)
        monkeypatch.setattr("mc2.zoo.build.BATCH", 2)
        time.sleep(2 if name == "first" else 0)
    for kind in ("hdf5", "npz"):
        assert contents(tmp_path / "first" / kind) == contents(tmp_path / "second" / kind)


def test_description(folder):
    assert json.loads((folder / "build.json").read_text()) == {
        "format": "pdezoo-build", "format_version": 1, "generator_version": "1", "split": "test", "range": [0, 6],
        "budgets": [1, 32], "grid": 16, "bounds": [-1, 1, -1, 1], "seed": 0, "sampling": "uniform", "epsilon": 1e-4,
        "max_steps": 128, "device": "cpu", "file_format": "hdf5", "shard_size": 2,
    }  # fmt: skip


def test_paper_layout(tmp_path):
    build(tmp_path, file_format="npz", shard_size=4)
    fields = make_fields([generate("test", n) for n in range(6)], (1, 32), grid=Grid(16), device="cpu")
    for number in range(6):
        for place, budget in enumerate((1, 32)):
            with np.load(tmp_path / f"{number:07d}_b{budget}.npz", allow_pickle=False) as file:
                assert all(file[name].dtype == np.float32 for name in ("noisy", "clean", "mask"))
                assert np.array_equal(file["noisy"], fields.mean[number, place])
                assert np.array_equal(file["clean"], fields.u[number])
                assert np.array_equal(file["mask"], fields.mask[number])
    records = [json.loads(line) for n in "01" for line in (tmp_path / f"shard-0000{n}.jsonl").read_text().splitlines()]
    assert [from_record(record).index for record in records if "tier" in record] == list(range(6))
    assert len((tmp_path / "shard-00000.sha256").read_text().splitlines()) == 9
    assert verify(tmp_path) == []


def finished(folder):
    """The files of finished shards, and what changes when one is made again."""
    paths = [path.with_suffix(".h5") for path in folder.glob("shard-*.sha256")]
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in paths}


@pytest.mark.slow
def test_killed_at_random_moments(tmp_path):
    """The command, killed again and again: finished shards are not made again, and the end is the same."""
    out, moments, kept = tmp_path / "out", random.Random(1), {}
    command = [*PYTHON, "--range", "0:80", "--out", str(out)]
    for _ in range(3):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as running:
            while len(finished(out)) == len(kept) and running.poll() is None:
                time.sleep(0.001)
            time.sleep(moments.random() * 0.03)
            running.kill()
        assert len(kept) < len(finished(out)) < 40
        assert kept.items() < finished(out).items()
        kept = finished(out)
    done = subprocess.run([*command, "--json"], capture_output=True, text=True)
    assert json.loads(done.stdout)["shards_skipped"] == len(kept)
    assert kept.items() < finished(out).items()
    build(tmp_path / "whole", stop=80)
    assert contents(out) == contents(tmp_path / "whole")


def test_finished_shards_are_skipped(copy):
    before, reports = finished(copy), []
    (copy / "shard-00001.sha256").unlink()
    summary = build(copy, progress=lambda done, total: reports.append((done, total)))
    assert (summary.instances, summary.made, summary.shards_made, summary.shards_skipped) == (6, 2, 1, 2)
    assert summary.bytes == sum((copy / f"shard-00001.{end}").stat().st_size for end in ("h5", "sha256"))
    assert reports == [(4, 6), (6, 6)]
    assert {path.name for path, _ in before.items() ^ finished(copy).items()} == {"shard-00001.h5"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"split": "validation"}, "split is 'test' there, 'validation' was asked for"),
        ({"stop": 7}, r"range is \[0, 6\] there, \[0, 7\] was asked for"),
        ({"budgets": (1, 8)}, r"budgets is \[1, 32\] there, \[1, 8\] was"),
        ({"grid": Grid(17)}, "grid is 16 there, 17 was"),
        ({"grid": Grid(16, bounds=(0, 1, 0, 1))}, r"bounds is .* there"),
        ({"seed": 1}, "seed is 0 there, 1 was"),
        ({"shard_size": 3}, "shard_size is 2 there, 3 was"),
        ({"file_format": "npz"}, "file_format is 'hdf5' there, 'npz' was"),
    ],
)
def test_another_build_is_refused(folder, change, message):
    before = contents(folder)
    with pytest.raises(InputError, match=message):
        build(folder, **change)
    assert contents(folder) == before


def test_only_what_is_ours_is_removed(copy, tmp_path):
    """Remnants of dead processes; what a living one writes has a lock."""
    names = ("build.json", "shard-00001.h5", "0000004_b32.npz", "shard-00000.sha256")
    stale = [f".{name}.0123456789abcdef.tmp" for name in names]
    kept = {".notes.tmp", "notes.txt", ".shard-00001.h5.7.tmp", ".notes.txt.0123456789abcdef.tmp"}
    for name in {*stale, *kept}:
        (copy / name).write_text("x")
    with replacing(copy / "shard-00001.h5") as file:
        build(copy)
        kept.add(Path(file.name).name)
        assert kept < set(contents(copy))
    assert not set(stale) & set(contents(copy))
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / stale[0]).write_text("{")
    build(tmp_path / "new")
    assert stale[0] not in contents(tmp_path / "new")


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / ".shard-00001.h5.0123456789abcdef.tmp").write_text("x")
    with pytest.raises(InputError, match="no build folder, and not empty"):
        build(tmp_path)
    assert len(contents(tmp_path)) == 2
    with pytest.raises(InputError, match="cannot be used as a folder"):
        build(tmp_path / "notes.txt")


def test_another_generator_makes_no_shards(copy, monkeypatch):
    monkeypatch.setattr("mc2.zoo.build.version_of", lambda split: "2")
    with pytest.raises(InputError, match="generator version 1; this mc2 has 2"):
        make_shard(str(copy), 0)


def test_cluster(tmp_path, folder):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as cluster:
        reports = []
        address, report = cluster.scheduler_address, lambda *numbers: reports.append(numbers)
        assert build(tmp_path / "a", cluster=address, progress=report).shards_made == 3
        assert contents(tmp_path / "a") == contents(folder)
        assert reports == [(done, 6) for done in (0, 2, 4, 6)]
        (tmp_path / "a" / "shard-00001.sha256").unlink()
        assert build(tmp_path / "a", cluster=address).shards_made == 1
        assert contents(tmp_path / "a") == contents(folder)
        with pytest.raises(InputError, match=r"a worker says: .* no pixel centre"):
            build(tmp_path / "b", cluster=address, grid=Grid(2, bounds=(8.0, 9.0, 8.0, 9.0)))


def test_no_dask(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install 'mc2-pde\[cluster\]'"):
        build(tmp_path / "b", cluster="tcp://127.0.0.1:8786")
    assert not (tmp_path / "b").exists()


def test_command(tmp_path, folder):
    done = mc2(*COMMAND, "--range", "0:6", "--out", tmp_path / "b")
    assert (done.returncode, done.stderr) == (0, "")
    words = ("6 instances (cpu)", "3 made, 0 were there", " kB in ", "instances per second")
    assert all(word in done.stdout for word in words)
    assert contents(tmp_path / "b") == contents(folder)
    done = mc2("zoo", "build", "--out", tmp_path / "b", "--verify")
    assert (done.returncode, done.stdout, done.stderr) == (0, "4 files are as they were written\n", "")
    (tmp_path / "b" / "shard-00002.h5").write_bytes(b"other")
    (tmp_path / "b" / "shard-00000.h5").unlink()
    done = mc2("zoo", "build", "--out", tmp_path / "b", "--verify", "--json")
    assert done.returncode == 1
    assert done.stderr.splitlines() == json.loads(done.stdout)["problems"] == verify(tmp_path / "b")
    assert json.loads(done.stdout)["fine"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--range", "0:5001"], "B ≤ 5000, the size of test"),
        (["--format", "zarr"], "unknown file_format 'zarr'"),
        (["--shard-size", 0], "shard_size = 0"),
        (["--cluster", "garbage"], "the cluster at 'garbage' cannot be reached: missing port"),
    ],
)
def test_errors_are_one_line(tmp_path, arguments, message):
    done = mc2(*COMMAND, *arguments, "--out", tmp_path / "b")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_full_disk_is_one_line(tmp_path):
    """A limit on the size of files stands for the disk."""
    resource = pytest.importorskip("resource")
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (10_000, 10_000))
    done = subprocess.run([*PYTHON, "--out", str(tmp_path)], capture_output=True, text=True, preexec_fn=limit)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert f"error: cannot write {tmp_path}/shard-00000.h5: File too large" in done.stderr
    assert set(contents(tmp_path)) == {"build.json", "build.sha256"}


INTERRUPTED = """
import os, signal, sys
import mc2.zoo.shards
from mc2.cli.main import main

class Dying:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)

def record_line(fields, row, moment=sys.argv.pop(1), line=mc2.zoo.shards.record_line):
    if fields.instances[row].index == 3:
        Dying() if moment == "ignored" else os.kill(os.getpid(), signal.SIGINT)
    return line(fields, row)

mc2.zoo.shards.record_line = record_line
main()
"""


@pytest.mark.parametrize("moment", ["heard", "ignored"])
@pytest.mark.slow
def test_interruption(tmp_path, moment):
    """Also at a moment when Python ignores it: in the clean-up of an object."""
    command = [sys.executable, "-c", INTERRUPTED, moment, *PYTHON[3:], "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "interrupted: finished shards are kept, and the same command goes on from there\n"
    assert set(contents(tmp_path)) == {"build.json", "build.sha256", "shard-00000.h5", "shard-00000.sha256"}
