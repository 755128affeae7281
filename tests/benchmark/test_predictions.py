"""Files of predictions: what is refused and why, and scores against direct computation."""

import hashlib
import io
import pickle
import struct
import zipfile

import numpy as np
import pytest
from numpy.lib import format as npy

from mc2 import InputError
from mc2.benchmark.leaderboard import read_predictions, score_predictions, write_predictions
from mc2.benchmark.scores import METRICS, score_field, summarise
from mc2.geometry import Grid
from mc2.zoo import generate
from tests.benchmark.samples import COUNT, GRID, noisy


@pytest.fixture(scope="module")
def good():
    return noisy()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "predictions.npz"


def read(path, **options):
    return read_predictions(path, grid=GRID, **options)


def refusal(path, **options):
    with pytest.raises(InputError) as caught:
        read(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{path}: ")
    return message


def test_what_is_written_is_read(path, good):
    write_predictions(path, *good)
    found = read(path)
    assert [instance.id for instance in found.instances] == good[0]
    assert np.array_equal(found.fields, good[1])
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    first = path.read_bytes()
    write_predictions(path, *good)
    assert path.read_bytes() == first
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_compressed_and_fortran_files_are_read(path, good):
    np.savez_compressed(path, ids=np.array(good[0]), fields=np.asfortranarray(good[1]))
    assert np.array_equal(read(path).fields, good[1])


def _swap_fields(ids, fields):
    order = np.arange(COUNT)
    order[[1, 2]] = 2, 1
    return ids, fields[order]


def _with(place, value):
    def change(ids, fields):
        fields = fields.copy()
        fields[place] = value
        return ids, fields

    return change


def _renamed(place, text):
    return lambda ids, fields: ([text if index == place else own for index, own in enumerate(ids)], fields)


REFUSALS = {
    "shape": (lambda ids, fields: (ids, fields[:, :16]), "must be float32 [10, 32, 32], not float32 [10, 16, 32]"),
    "too few": (lambda ids, fields: (ids, fields[:9]), "test/0000009 must be float32 [10, 32, 32], not float32 [9,"),
    "type": (lambda ids, fields: (ids, fields.astype(float)), "must be float32 [10, 32, 32], not float64"),
    "byte order": (lambda ids, fields: (ids, fields.astype(">f4")), "must be float32"),
    "nan": (_with((4, 0, slice(3)), np.nan), "test/0000004 has 3 values that are not finite"),
    "infinity": (_with((7, 16, 16), np.inf), "test/0000007 has 1 values that are not finite"),
    "zero": (_with(3, 0.0), "test/0000003 is 0 everywhere"),
    "missing": (lambda ids, fields: (ids[1:], fields[1:]), "test/0000000: missing"),
    "repeated": (_renamed(3, "pdezoo-1/test/0000002"), "test/0000002: there more than once"),
    "not an id": (_renamed(0, "test/4"), "unknown id 'test/4': must look like pdezoo-1/test/0000004"),
    "not text": (lambda ids, fields: (np.full(COUNT * 9, 2**32 - 1, np.uint32).view("U9"), fields), "ASCII"),
    "numbers": (lambda ids, fields: (np.arange(COUNT), fields), "ids must be a list of texts, not int64 [10]"),
    "beyond": (_renamed(0, "pdezoo-1/test/0005000"), "test has 5,000 instances"),
    "version": (_renamed(1, "pdezoo-2/test/0000001"), "0000001 is of generator version '2'"),
    "split": (_renamed(1, "pdezoo-1/train/0000001"), "train/0000001 is of the split 'train', not 'test'"),
    "order": (
        lambda ids, fields: ([*ids[:2], ids[5], *ids[3:5], ids[2], *ids[6:]], fields),
        "pdezoo-1/test/0000005 stands in place 2, and pdezoo-1/test/0000002 in place 5",
    ),
    "outside": (lambda ids, fields: (ids, np.where(fields == 0, np.float32(1), fields)), "not 0 outside its mask"),
    "swapped": (_swap_fields, "it fits the mask of pdezoo-1/test/000000"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(path, good, name):
    change, message = REFUSALS[name]
    ids, fields = change(*good)
    np.savez(path, ids=np.array(ids), fields=fields)
    assert message in refusal(path)


def test_swapped_fields_are_both_named(path, good):
    np.savez(path, ids=np.array(good[0]), fields=_swap_fields(*good)[1])
    message = refusal(path)
    assert "test/0000001" in message
    assert "test/0000002" in message
    assert "look swapped" in message


def test_the_prefix_that_is_asked_for(path, good):
    write_predictions(path, *good)
    message = refusal(path, count=17)
    assert "0000010, pdezoo-1/test/0000011" in message
    assert "and 2 more: missing" in message
    assert "pdezoo-1/test/0000008, pdezoo-1/test/0000009: not among the first 8 of test" in refusal(path, count=8)
    assert "is of the split 'test', not 'fresh-3'" in refusal(path, split="fresh-3")
    with pytest.raises(InputError, match="unknown split"):
        read(path, split="tset")


def test_checksum(path, good):
    write_predictions(path, *good)
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    assert read(path, sha256=found.upper()).sha256 == found
    assert "this is another file" in refusal(path, sha256="0" * 64)
    assert "64 hexadecimal digits" in refusal(path, sha256=found[:-1])


class Trap:
    """Unpickling it is noticed."""

    def __reduce__(self):
        return pytest.fail, ("a stranger's code was run",)


def test_pickles_are_never_read(path, good):
    np.savez(path, ids=np.array([Trap()] * COUNT, object), fields=good[1], allow_pickle=True)
    assert "ids holds pickled objects, which could run code and are never read" in refusal(path)
    path.write_bytes(pickle.dumps(Trap()))
    assert "not a whole .npz file" in refusal(path)


def _archive(path, declared, content, ids):
    """A file whose `fields` declare a shape and hold other bytes."""
    header = io.BytesIO()
    npy.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": declared})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        own = io.BytesIO()
        np.save(own, np.array(ids))
        archive.writestr("ids.npy", own.getvalue())
        archive.writestr("fields.npy", header.getvalue() + content)


def test_bombs(path, good):
    zeros = bytes(4 * 10**7)
    _archive(path, (10, 1000, 1000), zeros, good[0])
    assert path.stat().st_size < 10**5
    assert "must be float32 [10, 32, 32]" in refusal(path)
    _archive(path, (10, 32, 32), zeros, good[0])
    assert "fields declares 40,960 bytes, but holds 40,000,000" in refusal(path)
    _archive(path, (10, 32, 32), zeros[:100], good[0])
    assert "declares 40,960 bytes, but holds 100" in refusal(path)
    np.savez(path, ids=np.array([*good[0][1:], "x" * 10**6]), fields=good[1])
    assert "at most 64 characters" in refusal(path)
    np.savez(path, ids=np.zeros(6000, "U4"), fields=good[1])
    assert "1 to 5000 texts" in refusal(path)


def test_damaged_files(path, good):
    write_predictions(path, *good)
    whole = path.read_bytes()
    random = np.random.default_rng(0)
    for _ in range(150):  # headers, directory and data: every damage is a line, or harmless
        damaged = bytearray(whole)
        for place in random.integers(0, len(whole), 3):
            damaged[random.choice([place, place % 300, -1 - place % 300])] = random.integers(256)
        path.write_bytes(damaged[: random.choice([len(whole), random.integers(len(whole))], p=[0.8, 0.2])])
        try:
            read(path)
        except InputError as error:
            assert "\n" not in str(error)
    np.savez(path, ids=np.array(good[0]), fields=good[1], more=np.zeros(3))
    assert "must hold the arrays ids and fields and nothing else" in refusal(path)
    assert "no such file" in refusal(path.with_name("nothing.npz"))
    header = b"{'descr': '<f4', 'shape': (" + b"(" * 9000 + b"\n"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("ids", "fields"):
            archive.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
    assert "ids is damaged" in refusal(path)


def test_writing_refuses_what_does_not_fit(path, good):
    with pytest.raises(InputError, match="one for each of 9 ids"):
        write_predictions(path, good[0][:9], good[1])
    with pytest.raises(InputError, match=r"must end in \.npz"):
        write_predictions(path.with_suffix(".npy"), *good)
    assert not path.exists()


def test_scores_are_those_of_direct_computation(tmp_path):
    grid = Grid(64)
    ids, fields = noisy(count=6, grid=grid)
    write_predictions(tmp_path / "p.npz", ids, fields)
    from mc2.benchmark.lpips import lpips

    found = score_predictions(read_predictions(tmp_path / "p.npz", grid=grid))
    rows = []
    for index, field in enumerate(fields):
        problem = generate("test", index).problem
        rows.append(score_field(field, problem.on_grid(problem.exact, grid), problem.mask(grid), lpips()))
    assert [{name: row[name] for name in METRICS} for row in found["instances"]] == rows
    assert found["families"]["laplace"]["psnr"] == summarise([rows[0]["psnr"], rows[5]["psnr"]])
    assert found["overall"]["lpips"] == summarise(row["lpips"] for row in rows)
    assert found["families"]["laplace"]["count"] == 2
    assert (found["count"], found["split"], found["generator_version"]) == (6, "test", "1")
    assert "lpips" not in score_predictions(read_predictions(tmp_path / "p.npz", grid=grid), lpips=False)["overall"]
