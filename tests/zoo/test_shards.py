"""Shards: what is in the files, and that it is read back, or else named."""

import json
import multiprocessing
import pickle
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np
import pytest
from torch.utils.data import DataLoader

from mc2.errors import InputError
from mc2.geometry import Grid
from mc2.metrics import mse
from mc2.zoo import from_record, generate, make_fields, to_record
from mc2.zoo.build import build_zoo, verify
from mc2.zoo.difficulty import tier
from mc2.zoo.shards import FIELDS, Shards, read_description

BUDGETS, GRID, START, STOP, SIZE = (1, 8, 32), Grid(16), 3, 10, 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Seven instances of all families in three shards, the last of one."""
    path = tmp_path_factory.mktemp("zoo") / "build"
    build_zoo(path, "test", START, STOP, BUDGETS, grid=GRID, seed=5, shard_size=SIZE, device="cpu")
    return path


@pytest.fixture(scope="module")
def fields():
    instances = [generate("test", index) for index in range(START, STOP)]
    return make_fields(instances, BUDGETS, grid=GRID, seed=5, device="cpu")


@pytest.fixture
def copy(folder, tmp_path):
    return Path(shutil.copytree(folder, tmp_path / "copy"))


def test_layout(folder, fields):
    kinds = {"counts": np.int64, "budgets": np.int64, "index": np.int64} | FIELDS
    for number, rows in enumerate((slice(0, 3), slice(3, 6), slice(6, 7))):
        with h5py.File(folder / f"shard-{number:05d}.h5") as file:
            assert set(file) == {*kinds, "records"}
            for name in (*FIELDS, "counts"):
                assert np.array_equal(file[name], getattr(fields, name)[rows])
            assert file["budgets"][:].tolist() == list(BUDGETS)
            assert file["index"][:].tolist() == list(range(START, STOP))[rows]
            assert all(file[name].dtype == kind and file[name].fletcher32 for name, kind in kinds.items())
            assert file["u"].chunks == file["f"].chunks == file["mask"].chunks == (1, 16, 16)
            assert file["mean"].chunks == file["variance"].chunks == (1, 1, 16, 16)


def test_a_shard_tells_how_it_was_walked(folder):
    with h5py.File(folder / "shard-00001.h5") as file:
        found = {name: v.decode() if isinstance(v, bytes) else v for name, v in file.attrs.items()}
    assert found.pop("bounds").tolist() == [-1, 1, -1, 1]
    assert found == {
        "format": "pdezoo-shard", "format_version": 1, "generator_version": "1", "split": "test", "seed": 5,
        "sampling": "uniform", "epsilon": 1e-4, "max_steps": 128, "device": "cpu",
    }  # fmt: skip


def test_records_have_their_difficulty(folder, fields):
    for row, item in enumerate(Shards(folder)):
        record, instance = item["record"], fields.instances[row]
        error = mse(fields.mean[row, 2], fields.u[row], fields.mask[row].astype(bool))
        assert record["mse_32"] == float(f"{error:.6g}")
        assert record["tier"] == tier(error)
        assert from_record(record).id == instance.id
        assert {name: record[name] for name in to_record(instance)} == to_record(instance)


def test_no_difficulty_without_its_walks(tmp_path):
    build_zoo(tmp_path / "b", "train", 0, 1, (4,), grid=Grid(8))
    assert not {"mse_32", "tier"} & set(Shards(tmp_path / "b")[0]["record"])


def test_reader(folder, fields):
    shards = Shards(folder)
    assert len(shards) == STOP - START
    for position in (0, 2, 3, 6, -1, -7, np.int64(4)):
        item = shards[position]
        row = range(STOP - START)[position]
        assert item["index"] == START + row == item["record"]["index"]
        assert item["budgets"].tolist() == list(shards.budgets) == list(BUDGETS)
        for name in (*FIELDS, "counts"):
            assert item[name].dtype == getattr(fields, name).dtype
            assert np.array_equal(item[name], getattr(fields, name)[row])
    for position in (7, -8):
        with pytest.raises(IndexError, match="7 instances"):
            shards[position]
    with pytest.raises(TypeError):
        shards[0.5]


def test_few_files_are_open(folder, monkeypatch):
    monkeypatch.setattr("mc2.zoo.shards.OPEN_FILES", 2)
    shards = Shards(folder)
    for position in (0, 3, 0, 6, 0, 3, 6):
        assert shards[position]["index"] == START + position
        assert len(shards._opened) <= 2
    assert list(shards._opened) == [1, 2]


def test_unfinished_shards_are_not_seen(copy):
    (copy / "shard-00001.sha256").unlink()
    with pytest.raises(InputError, match="1 of 3 shards are unfinished"):
        Shards(copy)
    assert [item["index"] for item in Shards(copy, partial=True)] == [3, 4, 5, 9]
    for number in (0, 2):
        (copy / f"shard-{number:05d}.sha256").unlink()
    assert len(Shards(copy, partial=True)) == 0


def test_npz_folders_are_for_numpy(tmp_path):
    build_zoo(tmp_path / "b", "train", 0, 1, (1,), grid=Grid(8), file_format="npz")
    with pytest.raises(InputError, match=r"numpy\.load"):
        Shards(tmp_path / "b")
    with pytest.raises(InputError, match=r"no build\.json"):
        Shards(tmp_path)


def test_open_files_stay_in_their_process(folder, monkeypatch):
    shards = Shards(folder)
    shards[0], shards[5]
    there = pickle.loads(pickle.dumps(shards))
    assert not there._opened
    assert np.array_equal(there[4]["mean"], shards[4]["mean"])
    monkeypatch.setattr("os.getpid", lambda: -1)  # as after a fork
    assert shards[0]["index"] == START
    assert list(shards._opened) == [0]


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="spawned readers are pickled")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_data_loader(folder, fields):
    """Two processes read, with files already open in this one."""
    shards = Shards(folder)
    shards[0], shards[5]
    take = [
        (item["mean"], item["index"])
        for item in DataLoader(shards, None, num_workers=2, multiprocessing_context="fork")
    ]
    assert [index for _, index in take] == list(range(START, STOP))
    assert np.array_equal([mean for mean, _ in take], fields.mean)
    assert np.array_equal(shards[6]["mean"], fields.mean[6])


def first_rows(path):
    """Everything that a reader gives of a folder's first shard."""
    shards = Shards(path)
    return [shards[row] for row in range(SIZE)]


def same(items, others):
    return all(
        item["record"] == other["record"] and all(np.array_equal(item[n], other[n]) for n in (*FIELDS, "counts"))
        for item, other in zip(items, others, strict=True)
    )


def test_damage_is_never_read_as_numbers(copy):
    """A reader sees a changed byte, or it was one of those that mean nothing."""
    path, good = copy / "shard-00000.h5", first_rows(copy)
    data = path.read_bytes()
    positions = np.random.default_rng(0).integers(0, len(data), 250)
    seen = 0
    for position in [*range(0, 48, 7), *map(int, positions)]:
        damaged = bytearray(data)
        damaged[position] ^= 0xFF if position % 2 else 0x10
        path.write_bytes(damaged)
        try:
            assert same(first_rows(copy), good)
        except InputError as error:
            seen += 1
            assert str(path) in str(error)
            assert "\n" not in str(error)
    assert seen > 200


def _replaced(name, **options):
    """A dataset in the place of another of its shape and type."""

    def change(file, folder):
        shape, dtype = file[name].shape, file[name].dtype
        del file[name]
        own = {key: value(folder) if callable(value) else value for key, value in options.items()}
        file.create_dataset(name, own.pop("shape", shape), own.pop("dtype", dtype), **own)

    return change


def _linked(link):
    def change(file, folder):
        del file["u"]
        file["u"] = link(folder)

    return change


def _grouped(file, folder):
    del file["u"]
    file.create_group("u")


def _virtual(file, folder):
    layout = h5py.VirtualLayout(file["u"].shape, "f4")
    layout[:] = h5py.VirtualSource(str(folder / "shard-00001.h5"), "u", file["u"].shape)
    del file["u"]
    file.create_virtual_dataset("u", layout)


def _set(name, value):
    return lambda file, folder: file[name].__setitem__((0,) * file[name].ndim, value)


def _set_record(text):
    return lambda file, folder: file["records"].__setitem__(0, text)


CHUNK = {"chunks": (1, 16, 16), "fletcher32": True}
HOSTILE = {
    "external storage": (
        _replaced("u", external=lambda folder: [(str(folder / "build.json"), 0, 10**4)]),
        "u takes its values from other files",
    ),
    "external link": (_linked(lambda folder: h5py.ExternalLink(str(folder / "shard-00001.h5"), "u")), "u is a link"),
    "soft link": (_linked(lambda folder: h5py.SoftLink("/f")), "u is a link"),
    "virtual": (_virtual, "u takes its values from other files"),
    "group": (_grouped, "u is no dataset"),
    "one more": (lambda file, folder: file.create_group("more"), "must hold"),
    "shape": (_replaced("u", shape=(3, 16384, 16384), **CHUNK), "u has not the shape [3, 16, 16]"),
    "growing": (_replaced("u", maxshape=(None, 16, 16), **CHUNK), "u has not the shape"),
    "not stored": (_replaced("u", **CHUNK), "u must have 3,084 bytes in the file, and has 0"),
    "type": (_replaced("u", dtype="f8", **CHUNK), "u has not the type float32"),
    "no checksum": (_replaced("u", chunks=(1, 16, 16)), "u must have checksums"),
    "packed": (_replaced("u", compression="gzip", **CHUNK), "u must have checksums, and be packed in no way"),
    "one chunk": (_replaced("u", chunks=(3, 16, 16), fletcher32=True), "u must be stored in chunks of [1, 16, 16]"),
    "texts of any length": (
        _replaced("records", dtype=h5py.string_dtype(), chunks=(3,)),
        "records must have checksums",
    ),
    "NaN": (_set("u", np.nan), "u is not 0 outside the mask"),
    "infinite": (_set("mean", np.inf), "mean is not 0 outside the mask"),
    "mask": (_set("mask", 7), "mask has other values than 0 and 1"),
    "counts": (_set("counts", -1), "counts of walks are not possible"),
    "record": (_set_record(b"[1]"), "record = [1] must be an object"),
    "record that is none": (_set_record(b"{}"), "record lacks 'id'"),
    "attribute": (lambda file, folder: file.attrs.__setitem__("seed", "5"), "seed must be of numbers"),
    "attribute of any length": (
        lambda file, folder: file.attrs.create("device", "cpu", dtype=h5py.string_dtype()),
        "device must be a text",
    ),
    "no attribute": (lambda file, folder: file.attrs.__delitem__("seed"), "lacks the attribute seed"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_stranger_s_shard(copy, name):
    """Nothing outside the file is read, nothing is claimed that is not there, and values are possible ones."""
    change, message = HOSTILE[name]
    with h5py.File(copy / "shard-00000.h5", "a", libver=("v110", "v110")) as file:
        change(file, copy)
    with pytest.raises(InputError) as caught:
        Shards(copy)[0]
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_values_inside_the_mask(copy):
    def put(name, place, value):
        with h5py.File(copy / "shard-00000.h5", "a", libver=("v110", "v110")) as file:
            file[name][place] = value

    place = tuple(np.argwhere(Shards(copy)[0]["mask"])[0])
    for value, message in ((-1.0, "negative"), (np.nan, "not finite")):
        put("variance", (0, 1, *place), value)
        with pytest.raises(InputError, match=message):
            Shards(copy)[0]
    put("counts", (0, 2), 1)  # a walk met a value that is none: then it may be
    assert np.isnan(Shards(copy)[0]["variance"][1][place])


def test_large_instances_are_not_read(copy, monkeypatch):
    monkeypatch.setattr("mc2.zoo.shard_reader.MAX_INSTANCE", 16 * 16 * 33 - 1)
    with pytest.raises(InputError, match=r"8,448 bytes, more than 8,447: raise mc2\.zoo\.shard_reader\.MAX_INSTANCE"):
        Shards(copy)[0]


def test_a_truncated_shard_is_refused(copy):
    path = copy / "shard-00000.h5"
    data = path.read_bytes()
    for size in (0, 7, 48, 1000, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:size])
        with pytest.raises(InputError, match=r"shard-00000\.h5 cannot be read"):
            Shards(copy)[0]
    path.unlink()
    with pytest.raises(InputError, match=r"shard-00000\.h5 cannot be read"):
        Shards(copy)[0]


def test_a_shard_of_another_build_is_refused(copy, tmp_path):
    build_zoo(tmp_path / "other", "test", START, STOP, BUDGETS, grid=GRID, seed=6, shard_size=SIZE)
    shutil.copy(tmp_path / "other" / "shard-00000.h5", copy)
    with pytest.raises(InputError, match=r"seed is .*6.*, but build\.json says 5"):
        Shards(copy)[0]
    shutil.copy(copy / "shard-00001.h5", copy / "shard-00000.h5")
    with pytest.raises(InputError, match="its instances are not those"):
        Shards(copy)[0]
    shutil.copy(copy / "shard-00002.h5", copy / "shard-00000.h5")
    with pytest.raises(InputError, match="has not the shape"):
        Shards(copy)[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "pdezoo-build"),
        ({"format_version": 2}, "pdezoo-build"),
        ({"split": "tests"}, "did you mean 'test'"),
        ({"split": ["test"]}, "unknown split"),
        ({"range": [0, 10**9]}, "the size of test"),
        ({"range": 7}, "range = 7"),
        ({"range": [0]}, "must be a list of 2"),
        ({"budgets": [8, 1]}, "must increase"),
        ({"budgets": 3}, "budgets = 3"),
        ({"grid": 10**9}, "grid size = 1000000000 must be .* the limit is mc2.geometry.grid.MAX_SIZE"),
        ({"grid": "16"}, "grid = '16'"),
        ({"bounds": [1, 1, 1, 1]}, "bounds"),
        ({"bounds": None}, "bounds"),
        ({"seed": 0.5}, "seed"),
        ({"shard_size": 0}, "shard_size = 0 must be an integer of at least 1"),
        ({"device": "abacus"}, "unknown device"),
        ({"file_format": "pickle"}, "unknown file_format"),
        ({"epsilon": "__import__('os')"}, "epsilon"),
        ({"extra": 1}, "unknown key 'extra'"),
    ],
)
def test_a_strange_description_is_refused(copy, change, message):
    path = copy / "build.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InputError, match=message) as caught:
        read_description(copy)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"format": "pdezoo-build", "format_version": 1}', "[" * 100_000, "null", "\x00"]
)
def test_what_is_no_description_is_refused(copy, text):
    (copy / "build.json").write_text(text)
    with pytest.raises(InputError, match=r"build\.json"):
        Shards(copy)


def test_space_is_checked_first(tmp_path, monkeypatch):
    for kind in ("hdf5", "npz"):
        options = {"stop": 4, "grid": Grid(64), "file_format": kind}
        actual = build_zoo(tmp_path / kind, "test", **options).bytes
        monkeypatch.setattr(shutil, "disk_usage", lambda _, free=1.1 * actual: SimpleNamespace(free=free))
        build_zoo(tmp_path / f"{kind}-fits", "test", **options)
        monkeypatch.setattr(shutil, "disk_usage", lambda _, free=0.95 * actual: SimpleNamespace(free=free))
        with pytest.raises(InputError, match=r"has room for .* [kM]B, but .* [kM]B are to be written"):
            build_zoo(tmp_path / f"{kind}-full", "test", **options)
        assert not (tmp_path / f"{kind}-full").exists()
        assert build_zoo(tmp_path / kind, "test", **options).made == 0  # nothing to write, nothing to refuse
        monkeypatch.undo()


def test_verify_names_what_changed(copy):
    """A byte of any file, at its start, its end or between."""
    for path in sorted(copy.iterdir()):
        data = path.read_bytes()
        for position in {0, 1, len(data) // 3, len(data) // 2, len(data) - 1}:
            path.write_bytes(data[:position] + bytes([data[position] ^ 0x20]) + data[position + 1 :])
            assert any(path.stem in problem for problem in verify(copy)), (path, position)
            if path.suffix == ".h5":
                assert verify(copy) == [f"{path.name}: changed: it does not match {path.stem}.sha256"]
        path.write_bytes(data)
    assert verify(copy) == []


def test_verify_names_what_is_missing(copy):
    (copy / "shard-00000.h5").unlink()
    (copy / "shard-00001.sha256").unlink()
    data = (copy / "shard-00002.h5").read_bytes()
    (copy / "shard-00002.h5").write_bytes(data[:-100])
    (copy / "build.sha256").write_text("")
    assert [tuple(problem.split(": ")[:2]) for problem in verify(copy)] == [
        ("build.sha256", "changed"), ("shard-00000.h5", "missing"), ("shard-00001.h5", "unfinished"),
        ("shard-00002.h5", "changed"),
    ]  # fmt: skip
    assert "no build.json" in verify(copy.parent)[0]


@pytest.mark.skipif(not shutil.which("sha256sum"), reason="no sha256sum")
def test_sha256sum_agrees(copy):
    command = "sha256sum --check --strict *.sha256"
    assert subprocess.run(command, shell=True, cwd=copy, capture_output=True).stdout.count(b": OK") == 4
    (copy / "shard-00001.h5").write_bytes(b"other")
    assert b"shard-00001.h5: FAILED" in subprocess.run(command, shell=True, cwd=copy, capture_output=True).stdout
