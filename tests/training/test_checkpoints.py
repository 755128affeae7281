"""Checkpoints: what is kept and removed, what a kill leaves, and how a rerun repairs it."""

import json
import shutil

import pytest
import torch

from mc2.errors import InputError
from mc2.files import write_json
from mc2.folders import holding
from mc2.networks.weights_file import read_weights
from mc2.training import checkpoints, loop
from mc2.training.checkpoints import JOURNAL, load_state, save_state, tidy
from mc2.training.loop import train
from mc2.training.resume import seal

from .runs import CPU, small


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def contents(folder):
    """Bytes by name, and what JSON files say."""
    read = {path.name: path.read_bytes() for path in folder.iterdir()}
    return {name: json.loads(content) if name.endswith(".json") else content for name, content in read.items()}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder of a finished run, and its configuration."""
    folder, config = tmp_path_factory.mktemp("run") / "run", small(steps=2)
    train(config, folder, device="cpu")
    return folder, config


@pytest.fixture
def run(finished, tmp_path):
    return shutil.copytree(finished[0], tmp_path / "run"), finished[1]


@pytest.fixture
def state(finished):
    made = loop._begin(finished[1], CPU)
    assert load_state(finished[0], made, finished[1])
    return made


def test_only_files_that_state_json_names_are_removed(run, state):
    folder, config = run
    mine = ("network-1.safetensors", "optimiser-7.safetensors", "network-notes.safetensors")
    for name in mine:
        (folder / name).write_text("mine")
    state.step = 7  # a name of which somebody has taken one half
    save_state(folder, state, config)
    files = {"network-7-1.safetensors", "optimiser-7-1.safetensors"}
    assert set(json.loads((folder / "state.json").read_text())["files"].values()) == files
    assert set(names(folder)) == {*mine, *files, "small.json", "small.safetensors", "state.json"}
    assert all((folder / name).read_text() == "mine" for name in mine)


def test_a_checkpoint_of_the_same_step_does_not_overwrite_the_one_before(run, state, monkeypatch):
    folder, config = run
    before = contents(folder)

    def full(path, tensors):
        if path.name.startswith("optimiser"):
            raise InputError("no space")
        return write(path, tensors)

    write = checkpoints._save
    monkeypatch.setattr(checkpoints, "_save", full)
    with torch.no_grad():
        next(state.network.parameters()).add_(1)
    with pytest.raises(InputError, match="no space"):
        save_state(folder, state, config)
    assert contents(folder) == before


@pytest.mark.parametrize("journal", ['["network-2.safetensors", "network-3.safetensors"]', "", "[", '{"files": 1}'])
def test_a_journal_tells_what_a_kill_has_left(run, journal):
    folder, _ = run
    before = names(folder)
    (folder / "network-3.safetensors").write_text("half a checkpoint")
    (folder / JOURNAL).write_text(journal)
    tidy(folder)
    left = [] if "network-3" in journal else ["network-3.safetensors"]
    assert names(folder) == sorted([*before, *left])


def test_a_journal_removes_no_files_of_others(run):
    folder, _ = run
    for name in ("small.safetensors", "../run/small.json", "/etc/hostname", "notes"):
        write_json(folder / JOURNAL, [name])
        before = set(names(folder)) - {JOURNAL}
        tidy(folder)
        assert set(names(folder)) == before
    (folder / "state.json").write_text("{")  # which may name anything
    write_json(folder / JOURNAL, ["network-2.safetensors"])
    tidy(folder)
    assert "network-2.safetensors" in names(folder)


def test_a_kill_after_the_last_checkpoint_is_repaired(run, finished):
    """Before the weights, between them and the log, and with an earlier version of both."""
    folder, config = run
    for lost in (["small.json"], ["small.json", "small.safetensors"], ["small.safetensors"]):
        for name in lost:
            (folder / name).unlink()
        assert train(config, folder, device="cpu")["finished"]
        assert contents(folder) == contents(finished[0])
    shutil.copy(folder / "network-2.safetensors", folder / "small.safetensors")
    train(config, folder, device="cpu")
    assert contents(folder) == contents(finished[0])
    assert read_weights(folder / "small.safetensors")[2] == 32


def test_weights_that_cannot_be_made_again_are_missed(run):
    folder, config = run
    found = json.loads((folder / "state.json").read_text())
    found["history"]["best"]["step"] = 1
    del found["sha256"]
    write_json(folder / "state.json", seal(found))
    train(config, folder, device="cpu")
    (folder / "small.safetensors").write_bytes(b"damaged")
    before = contents(folder)
    with pytest.raises(InputError, match=r"small.safetensors is missing or damaged: restore it, or begin anew"):
        train(config, folder, device="cpu")
    assert contents(folder) == before


def test_a_damaged_checkpoint_is_refused_and_nothing_is_removed(run):
    folder, config = run
    for name, old, new in (("state.json", b'"step": 2', b'"step": 3'), ("network-2.safetensors", b"\x00", b"\x01")):
        content = (folder / name).read_bytes()
        at = content.rindex(old)
        (folder / name).write_bytes(content[:at] + new + content[at + len(old) :])
        before = contents(folder)
        with pytest.raises(InputError, match=rf"{name}: is damaged.*begin anew with --no-resume"):
            train(config, folder, device="cpu")
        assert contents(folder) == before
        (folder / name).write_bytes(content)
    assert train(config, folder, device="cpu")["finished"]


def test_a_finished_run_is_left_alone(run, monkeypatch):
    folder, config = run
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    monkeypatch.setattr(loop, "__version__", "another")
    train(config, folder, device="cpu")
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_a_folder_is_for_one_run_at_a_time(run):
    folder, config = run
    with holding(folder), pytest.raises(InputError, match="is in use by process"):
        train(config, folder, device="cpu")
    assert train(config, folder, device="cpu")["finished"]


def test_a_folder_that_cannot_be_used_is_refused_before_work(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "_begin", lambda *_: pytest.fail("there was work"))
    (tmp_path / "file").write_text("x")
    for folder in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(InputError, match="cannot be used as a folder"):
            train(small(), folder, device="cpu")
