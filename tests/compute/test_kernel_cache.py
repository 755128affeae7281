"""Compiled kernels are kept, and made again when what was kept is damaged; nowhere to keep them is no failure."""

import importlib.util
import shutil
import sys
import warnings

import numpy as np
import pytest

from mc2.compute import kernel_cache
from mc2.compute.compile import kernel

SOURCE = """
def double(x, out):
    for i in range(x.size):
        out[i] = 2 * x[i]
"""


@pytest.fixture
def function(tmp_path, monkeypatch):
    """A function in a file of its own, whose cache is beside it."""
    (tmp_path / "tiny.py").write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("tiny", tmp_path / "tiny.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "tiny", module)
    spec.loader.exec_module(module)
    return module.double


def run(function):
    """Whether a fresh kernel of it was read from the cache; its result is right."""
    made, out = kernel(function), np.empty(3)
    made(np.arange(3.0), out)
    assert out.tolist() == [0.0, 2.0, 4.0]
    return sum(made.stats.cache_hits.values()) == 1


def block(folder):
    """A file where a folder would be: it cannot be written to, whoever runs the tests."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.write_text("in the way")


def damaged(content, how):
    middle = len(content) // 2
    return {
        "flipped": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
        "cut": content[:middle],
        "empty": b"",
        "text": b"not a kernel at all, but longer than a checksum is, so that there is something to check",
    }[how]


@pytest.mark.parametrize("how", ["flipped", "cut", "empty", "text"])
def test_damaged_file_is_made_again(function, tmp_path, how):
    assert [run(function), run(function)] == [False, True]
    [file] = (tmp_path / "__pycache__").glob("*.nbc")
    content = file.read_bytes()
    file.write_bytes(damaged(content, how))
    assert [run(function), run(function)] == [False, True]
    assert file.read_bytes() != damaged(content, how)


def test_every_signature_has_a_file(function, tmp_path):
    run(function)
    made, out = kernel(function), np.empty(3, np.float32)
    made(np.arange(3, dtype=np.float32), out)
    assert out.tolist() == [0.0, 2.0, 4.0]
    assert len(list((tmp_path / "__pycache__").glob("*.nbc"))) == 2
    assert run(function)


def test_nowhere_to_keep_kernels(function, tmp_path, monkeypatch):
    kernel_cache._note_once.cache_clear()
    block(tmp_path / "__pycache__")
    monkeypatch.setenv("HOME", "/dev/null")
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null/cache")
    with pytest.warns(UserWarning, match="set NUMBA_CACHE_DIR"):
        assert not run(function)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # said once
        assert not run(function)


def test_home_folder_where_installation_cannot_be_written(function, tmp_path, monkeypatch):
    block(tmp_path / "__pycache__")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    assert [run(function), run(function)] == [False, True]
    assert list((tmp_path / "home").rglob("*.nbc"))


def test_full_disk_does_not_matter(function, monkeypatch):
    kernel_cache._note_once.cache_clear()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kernel_cache._CheckedFiles, "_save_data", full)
    with pytest.warns(UserWarning, match="No space left"):
        assert not run(function)
