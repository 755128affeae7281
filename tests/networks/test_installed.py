"""Weights that are installed: where they are looked for, and what is said of those that are missing or damaged."""

import pytest

import mc2
from mc2 import InputError
from mc2.benchmark.lpips import Lpips
from mc2.networks import installed
from mc2.networks.installed import VARIABLE, installed_correctors, installed_weights, weights_path
from mc2.solvers.correctors import find_corrector


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The only folder of weights."""
    monkeypatch.setattr(installed, "entry_points", lambda group: [])
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return tmp_path


def test_nothing_is_installed(folder):
    assert installed_weights() == []
    with pytest.raises(InputError, match="no weights are installed, so there are none called 'mc2': pip install"):
        find_corrector("mc2")
    with pytest.raises(InputError, match=r"LPIPS: no weights are installed.* or leave it out \(--no-lpips\)"):
        Lpips()
    with pytest.raises(InputError, match="unknown corrector 'mine'"):
        mc2.solve(mc2.Laplace(mc2.geometry.Disk(), boundary="x"), corrector="mine", grid=8)


def test_a_folder_that_is_not_there(monkeypatch):
    monkeypatch.setenv(VARIABLE, "/missing/weights")
    with pytest.raises(InputError, match=f"{VARIABLE} = '/missing/weights': there is no such folder"):
        weights_path("mc2")


@pytest.mark.parametrize("value", ["missing_package", "missing.package", "mc2.errors.inside", "."])
def test_a_package_of_weights_that_is_half_installed(monkeypatch, value):
    entry = type("Entry", (), {"value": value})
    monkeypatch.setattr(installed, "entry_points", lambda group: [entry])
    monkeypatch.delenv(VARIABLE, raising=False)
    assert installed_weights() == []


@pytest.mark.parametrize("log", ['{"config"', "[]", '{"config": 3}', '{"config": {"task": "operator"}}'])
def test_logs_that_make_no_corrector(folder, log):
    (folder / "mine.safetensors").write_bytes(b"")
    (folder / "mine.json").write_text(log)
    assert installed_weights() == ["mine"]
    assert installed_correctors() == []


def test_damaged_weights_of_lpips(tmp_path, monkeypatch):
    content = bytearray(weights_path("lpips_alex").read_bytes())
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    for change in (slice(5_000_000, 5_000_001), slice(7_000_000, None)):
        damaged = content.copy()
        damaged[change] = b"\x55" if change.stop else b""
        (tmp_path / "lpips_alex.safetensors").write_bytes(damaged)
        with pytest.raises(InputError, match=r"lpips_alex\.safetensors is damaged: its checksum differs"):
            Lpips()
