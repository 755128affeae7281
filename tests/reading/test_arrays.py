"""Archives of arrays and files of tensors: headers first, and nothing that is not what was written."""

import hashlib
import io
import json
import struct
import zipfile

import numpy as np
import pytest
import torch
from numpy.lib import format as npy
from safetensors.torch import save

import mc2
from mc2.benchmark.field_files import read_field
from mc2.errors import InputError
from mc2.geometry import Disk, Grid
from mc2.networks.architectures import make_network
from mc2.networks.corrector_inputs import Inputs
from mc2.networks.installed import installed_weights
from mc2.networks.weights_file import EARLIER, FORMAT, fingerprint, read_weights, write_weights
from mc2.reading import npz
from mc2.reading.tensors import Tensor, open_tensors
from mc2.walks import Estimate

GRID = Grid(8)
NETWORK = {"architecture": "unet", "widths": [2, 4], "blocks": 1}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.npz"


@pytest.fixture(scope="module")
def estimate():
    return mc2.estimate(mc2.Poisson(Disk(0.7), source="x", boundary="y"), 4, grid=GRID, device="cpu")


def refusal(read, *arguments):
    with pytest.raises(InputError) as caught:
        read(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def archive(path, **members):
    """A .npz file of (shape, type, bytes), whatever they are."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, (shape, kind, content) in members.items():
            header = io.BytesIO()
            npy.write_array_header_1_0(header, {"descr": kind, "fortran_order": False, "shape": shape})
            file.writestr(f"{name}.npy", header.getvalue() + content)


def arrays_of(estimate, path):
    estimate.save(path)
    with np.load(path) as data:
        return dict(data)


def test_gigabytes_of_zeros_are_not_unpacked(path, estimate, monkeypatch):
    monkeypatch.setattr(npz, "MAX_BYTES", 10_000_000)
    size = (2000, 2000)
    whole = {"mean": (size, "<f8", bytes(32_000_000)), "variance": (size, "<f8", bytes(32_000_000))}
    whole |= {"mask": (size, "|b1", bytes(4_000_000)), "bounds": ((4,), "<f8", np.array(GRID.bounds).tobytes())}
    text = str(arrays_of(estimate, path)["record"])
    whole["record"] = ((), f"<U{len(text)}", np.array(text).tobytes())
    archive(path, **whole)
    assert path.stat().st_size < 100_000
    message = refusal(Estimate.load, path)
    assert "mean is float64 [2000, 2000]" in message
    assert "more than 10,000,000 bytes: raise mc2.reading.npz.MAX_BYTES" in message
    archive(path, **whole | {"mean": (size, "<f8", bytes(800))})
    assert "mean declares 32,000,000 bytes, but holds 800" in refusal(Estimate.load, path)


def test_a_list_that_has_lost_an_array_is_noticed(tmp_path):
    path = tmp_path / "f.npz"
    np.savez(path, u=np.ones((8, 8)), bounds=np.array([0.0, 1, 0, 1]), mask=np.eye(8, dtype=bool))
    assert np.isnan(read_field(path, None).values).sum() == 56
    with zipfile.ZipFile(path, "a") as damaged:
        del damaged.NameToInfo[damaged.filelist.pop().filename]
        damaged._didModify = True  # the list is written anew
    with pytest.raises(InputError, match="bytes of it belong to no array"):
        read_field(path, None)


def test_headers_are_bounded(path):
    """NumPy's own reader would take all that a header claims to be."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("mean.npy", b"\x93NUMPY\x02\x00" + struct.pack("<I", 1 << 28) + bytes(1 << 25))
    assert "mean is damaged" in refusal(Estimate.load, path)
    with zipfile.ZipFile(path, "w") as file:
        for number in range(70):
            file.writestr(f"a{number}.npy", b"")
    assert "at most 64 arrays" in refusal(Estimate.load, path)


def _with(name, change):
    return lambda arrays: arrays | {name: change(arrays[name].copy())}


def _set(name, value):
    def change(array):
        array[4, 4] = value
        return array

    return _with(name, change)


def _record(**changes):
    return _with("record", lambda text: np.array(json.dumps(json.loads(str(text)) | changes)))


WRONG = {
    "text": (_with("variance", lambda _: np.array(["a"] * 3)), "variance must be float64 [8, 8], not str32 [3]"),
    "shape": (_with("mask", lambda mask: mask[:4]), "mask must be bool [8, 8], not bool [4, 8]"),
    "of two shapes": (
        lambda arrays: arrays | {"mean": np.zeros((8, 4))},
        "variance must be float64 [8, 4], not float64 [8, 8]",
    ),
    "type": (_with("mean", lambda mean: mean.astype(np.float32)), "mean must be float64 [8, 8], not float32"),
    "NaN": (_set("mean", np.nan), "not finite"),
    "negative": (_set("variance", -1.0), "variance has negative values"),
    "outside": (_with("mask", np.zeros_like), "must be 0 outside the mask"),
    "bounds": (_with("bounds", lambda own: own[::-1]), "each min below its max"),
    "bounds of two": (_with("bounds", lambda own: own[:2]), "bounds must be float64 [4]"),
    "more": (lambda arrays: arrays | {"more": np.zeros(2)}, "it must hold mean, variance, mask, record and bounds"),
    "both places": (lambda arrays: arrays | {"points": np.zeros((8, 2))}, "it must hold"),
    "objects": (lambda arrays: arrays | {"mean": np.array([{}], object)}, "pickled objects"),
    "walks": (_record(walks=-1), "walks = -1"),
    "seconds": (_record(seconds="<b>"), "seconds = '<b>'"),
    "device": (_record(device="abacus"), "unknown record.device 'abacus': known: cpu, cuda"),
    "stratified": (_record(stratified=1), "stratified = 1 must be true or false"),
    "key": (_record(color=1), "unknown key of record 'color'"),
    "record": (_with("record", lambda _: np.array("[]")), "record = [] must be an object"),
    "long record": (_with("record", lambda _: np.array("x" * 5000)), "at most 4,096 characters"),
}


@pytest.mark.parametrize("name", WRONG)
def test_estimates_that_cannot_be(path, estimate, name):
    change, message = WRONG[name]
    np.savez(path, allow_pickle=True, **change(arrays_of(estimate, path)))
    assert message in refusal(Estimate.load, path)


def test_an_estimate_may_say_that_walks_met_infinity(path, estimate):
    changed = _record(not_finite=3)(_set("mean", np.nan)(arrays_of(estimate, path)))
    np.savez(path, **changed)
    assert np.isnan(Estimate.load(path).mean[4, 4])


@pytest.mark.parametrize("compressed", [False, True])
def test_a_changed_byte_is_noticed(path, estimate, compressed):
    (np.savez_compressed if compressed else np.savez)(path, **arrays_of(estimate, path))
    content, random = path.read_bytes(), np.random.default_rng(0)
    refused = 0
    for place in random.integers(0, len(content), 120):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1 << random.integers(8)]) + content[place + 1 :])
        try:
            found = Estimate.load(path)
        except InputError:
            refused += 1
        else:  # dates and the like
            assert found.mean.tobytes() == estimate.mean.tobytes()
            assert found.record == estimate.record
    assert refused > 80


def test_fields_of_other_orders_and_types(path, monkeypatch):
    values = np.arange(12.0).reshape(3, 4)
    np.savez(path, u=np.asfortranarray(values), bounds=[0, 1, 0, 1])
    np.testing.assert_array_equal(read_field(path, None).values, values)
    np.save(path.with_suffix(".npy"), values.astype(">i4"))
    np.testing.assert_array_equal(read_field(path.with_suffix(".npy"), (0, 1, 0, 1)).values, values)
    monkeypatch.setattr("mc2.benchmark.field_files.MAX_PIXELS", 11)
    assert "a field of 4 × 3 pixels has over 11" in refusal(read_field, path, None)


def weights(path, about=None, arrays=None, tensors=None, text=None):
    """A weights file with changes, and a checksum that fits them."""
    own = {name: value.half().numpy() for name, value in make_network(NETWORK, Inputs().size).state_dict().items()}
    own |= arrays or {}
    said = {"format": FORMAT, "network": NETWORK, "inputs": {}, "grid": 16} | (about or {})
    said["sha256"] = fingerprint(said, own)
    content = {name: torch.from_numpy(value) for name, value in own.items()} | (tensors or {})
    path.write_bytes(save(content, {"mc2": text or json.dumps(said)}))
    return path


LIES = {
    "widths": ({"about": {"network": NETWORK | {"widths": [16_000, 16_000]}}}, "each from 1 to 2048"),
    "other widths": (
        {"about": {"network": NETWORK | {"widths": [2, 6]}}},
        "its tensor 'downs.0.bias' is F16 [4], and must be F16 [6]",
    ),
    "grid": ({"about": {"grid": -5}}, "grid = -5 must be an integer from 1 to 4,096"),
    "no grid": ({"about": {"grid": None}}, "grid = None"),
    "inputs": ({"about": {"inputs": {"chanels": []}}}, "inputs: unknown key 'chanels': did you mean 'channels'?"),
    "repeated inputs": (
        {"about": {"inputs": {"channels": ["mask"] * 1000}}},
        "a list of at least one name, each named once",
    ),
    "task": ({"about": {"task": "diffusion"}}, "trained for the task 'diffusion'"),
    "key": ({"about": {"more": 1}}, "unknown key 'more'"),
    "no checksum": ({"about": {"format": EARLIER}}, "must have a sha256 if its format is mc2-weights-2, and only then"),
    "format": ({"about": {"format": "mc2-weights-9"}}, "unknown format 'mc2-weights-9': did you mean 'mc2-weights-2'?"),
    "shape": ({"arrays": {"stem.bias": np.zeros(3, np.float16)}}, "'stem.bias' is F16 [3], and must be F16 [2]"),
    "type": ({"arrays": {"stem.bias": np.zeros(2, np.float32)}}, "'stem.bias' is F32 [2], and must be F16 [2]"),
    "NaN": ({"arrays": {"stem.bias": np.full(2, np.nan, np.float16)}}, "not finite"),
    "more tensors": ({"arrays": {"more": np.zeros(2, np.float16)}}, "'more' that does not belong there"),
    "description": ({"text": "[" * 100}, "is not JSON"),
}


@pytest.mark.parametrize("name", LIES)
def test_weights_that_contradict_themselves(tmp_path, name):
    options, message = LIES[name]
    assert message in refusal(read_weights, weights(tmp_path / "w.safetensors", **options))


def test_headers_of_tensors(tmp_path):
    path = weights(tmp_path / "w.safetensors")
    content = path.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8 : 8 + length])

    def refused(**changes):
        text = json.dumps(header | changes).encode()
        path.write_bytes(struct.pack("<Q", len(text)) + text + content[8 + length :])
        return refusal(read_weights, path)

    place = header["stem.bias"]["data_offsets"]
    assert "does not lie where" in refused(**{"stem.bias": header["stem.bias"] | {"data_offsets": [0, 4]}})
    assert "does not lie where" in refused(**{"stem.bias": header["stem.bias"] | {"shape": [1 << 40]}})
    assert "no shape" in refused(**{"stem.bias": {"dtype": "F16", "shape": [-1], "data_offsets": place}})
    assert "type 'F64'" in refused(**{"stem.bias": header["stem.bias"] | {"dtype": "F64"}})
    assert "no texts" in refused(__metadata__=[])
    assert "'stem.bias' no dtype" in refused(**{"stem.bias": 7})
    path.write_bytes(struct.pack("<Q", 1 << 60) + content[8:])
    assert "no header of at most" in refusal(read_weights, path)
    path.write_bytes(content + b"0000")
    assert "but it holds" in refusal(read_weights, path)
    with pytest.raises(InputError, match="lacks the tensor 'other'"), open_tensors(weights(path)) as file:
        file.check({"other": Tensor("F16", (2,))})


def test_damaged_weights_are_noticed_without_a_log(tmp_path):
    path, network = tmp_path / "w.safetensors", make_network(NETWORK, Inputs().size)
    write_weights(path, network, NETWORK, Inputs(), 16)
    content, random = path.read_bytes(), np.random.default_rng(0)
    for place in random.integers(0, len(content), 60):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1 << random.integers(8)]) + content[place + 1 :])
        assert str(path) in refusal(read_weights, path)
    path.write_bytes(content)
    for name, value in read_weights(path)[0].state_dict().items():
        assert torch.equal(value, network.state_dict()[name].half().float())


def test_weights_of_earlier_versions_need_their_log(tmp_path):
    path = tmp_path / "w.safetensors"
    about = {"format": EARLIER, "network": NETWORK, "inputs": {}, "grid": 16}
    weights(path, text=json.dumps(about))
    assert "is of an earlier version, which wrote no checksum into it: put its log, w.json" in refusal(
        read_weights, path
    )
    path.with_suffix(".json").write_text(json.dumps({"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}))
    assert read_weights(path)[2] == 16
    assert len(installed_weights()) >= 8  # which are of that kind, and read by other tests
