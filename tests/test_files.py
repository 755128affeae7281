"""Files are whole or as they were: temporaries, remnants, links, full disks; targets are refused before work begins."""

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mc2 import files
from mc2.errors import InputError
from mc2.files import check_target, replacing, write_text

ORPHANED = """
import os, sys
from pathlib import Path
from mc2.files import replacing
with replacing(Path(sys.argv[1])) as file:
    file.write(b"half")
    file.flush()
    os._exit(9)
"""


def names(folder):
    return sorted(path.name for path in Path(folder).iterdir())


def orphan(path):
    """Leave what a killed writer of a file leaves."""
    assert subprocess.run([sys.executable, "-c", ORPHANED, str(path)]).returncode == 9


def test_a_file_is_replaced_as_a_whole(tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("old")
    with replacing(target) as file:
        file.write(b"new")
        file.flush()
        assert target.read_text() == "old"
        assert len(names(tmp_path)) == 2
    assert target.read_text() == "new"
    assert names(tmp_path) == ["a.txt"]
    assert target.stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _fail(file, error):
    file.write(b"new")
    raise error


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError, SystemExit])
def test_an_exception_leaves_the_old_file(tmp_path, error):
    target = tmp_path / "a.txt"
    target.write_text("old")
    with pytest.raises(error), replacing(target) as file:
        _fail(file, error)
    assert target.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_errors_of_the_disk_are_one_line(tmp_path, monkeypatch, step, number):
    def fail(*_):
        raise OSError(number, os.strerror(number))

    target = tmp_path / "a.txt"
    target.write_text("old")
    monkeypatch.setattr(os, step, fail)
    with pytest.raises(InputError) as refused:
        write_text(target, "new")
    assert str(refused.value) == f"cannot write {target}: {os.strerror(number)}"
    assert target.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_a_full_disk_is_found_while_writing(tmp_path, monkeypatch):
    def full(name, flags):
        Path(name).touch()
        return os.open("/dev/full", os.O_RDWR)

    monkeypatch.setattr(files, "_open_anew", full)
    with pytest.raises(InputError, match=r"a.txt: No space left on device"), replacing(tmp_path / "a.txt") as file:
        file.write(b"little")  # which is noticed at the end
    with pytest.raises(InputError, match=r"a.txt: No space left on device"), replacing(tmp_path / "a.txt") as file:
        file.write(bytes(1 << 20))
    assert names(tmp_path) == []


def test_a_folder_that_loses_files_is_no_endless_loop(tmp_path, monkeypatch):
    monkeypatch.setattr(os.path, "lexists", lambda path: False)
    with pytest.raises(InputError, match="Device or resource busy"):
        write_text(tmp_path / "a.txt", "x")


def test_it_is_on_the_disk_before_its_name_counts(tmp_path, monkeypatch):
    """The file, then the name, then the folder."""
    order = []

    def noted(name):
        function = getattr(os, name)
        return lambda *arguments: [order.append((name, arguments[0])), function(*arguments)][1]

    for name in ("fsync", "replace"):
        monkeypatch.setattr(os, name, noted(name))
    write_text(tmp_path / "a.txt", "new")
    assert [name for name, _ in order] == ["fsync", "replace", "fsync"]


def test_temporary_names_cannot_be_foreseen(tmp_path):
    seen = set()
    for _ in range(20):
        with replacing(tmp_path / "a.npz") as file:
            seen.add(Path(file.name).name)
    assert len(seen) == 20
    assert all(re.fullmatch(r"\.a\.npz\.[0-9a-f]{16}\.tmp", name) for name in seen)


@pytest.mark.parametrize("planted", ["link", "file", "dangling"])
def test_a_planted_name_is_not_followed(tmp_path, monkeypatch, planted):
    """Even one that is guessed."""
    monkeypatch.setattr(files.secrets, "token_hex", lambda size: "0" * 16)
    precious, plant = tmp_path / "precious", tmp_path / f".a.txt.{'0' * 16}.tmp"
    precious.write_text("mine")
    if planted == "file":
        plant.hardlink_to(precious)
        monkeypatch.setattr(files, "sweep", lambda *_: None)  # which would remove it
    else:
        plant.symlink_to(precious if planted == "link" else tmp_path / "nothing")
    with pytest.raises(InputError, match="cannot write"):
        write_text(tmp_path / "a.txt", "x")
    assert precious.read_text() == "mine"
    assert names(tmp_path) == [plant.name, "precious"]


def test_a_link_is_replaced_and_not_followed(tmp_path):
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "a.txt").symlink_to(tmp_path / "precious")
    write_text(tmp_path / "a.txt", "x")
    assert (tmp_path / "precious").read_text() == "mine"
    assert (tmp_path / "a.txt").read_text() == "x"


def test_remnants_of_the_dead_are_removed_by_the_next_writer(tmp_path):
    """Remnants of other files, and what only looks like one, stay."""
    orphan(tmp_path / "a.txt")
    orphan(tmp_path / "b.txt")
    (tmp_path / f".a.txt.{'1' * 16}.tmp").mkdir()
    for name in (".a.txt.123.tmp", f".a.txt.{'x' * 16}.tmp", f"a.txt.{'0' * 16}.tmp"):
        (tmp_path / name).write_text("x")
    before = names(tmp_path)
    assert len(before) == 6
    write_text(tmp_path / "a.txt", "new")
    gone = set(before) - set(names(tmp_path))
    assert len(gone) == 1
    assert gone.pop().startswith(".a.txt.")
    write_text(tmp_path / "b.txt", "new")
    assert len(names(tmp_path)) == 4 + 2


def test_what_a_living_writer_writes_is_left_to_it(tmp_path):
    with replacing(tmp_path / "a.txt") as first:
        first.write(b"first")
        write_text(tmp_path / "a.txt", "second")
        assert Path(first.name).exists()
    assert (tmp_path / "a.txt").read_text() == "first"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.txt", "the name must end in .npz"),
        ("missing/a.npz", "there is no folder"),
        ("file/a.npz", "there is no folder"),
        ("folder.npz", "it is a folder"),
        ("pipe.npz", "it is no plain file"),
        (f"{'a' * 250}.npz", "File name too long"),
    ],
)
def test_targets_are_refused_before_work(tmp_path, name, message):
    (tmp_path / "folder.npz").mkdir()
    (tmp_path / "file").write_text("x")
    os.mkfifo(tmp_path / "pipe.npz")
    before = names(tmp_path)
    with pytest.raises(InputError, match=f"^cannot write .*{message}") as refused:
        check_target(tmp_path / name, ".npz")
    assert "\n" not in str(refused.value)
    assert names(tmp_path) == before


def test_a_folder_that_cannot_be_written_is_refused_before_work(tmp_path, monkeypatch):
    def read_only(name, flags):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    check_target(tmp_path / "a.npz", ".npz")
    assert names(tmp_path) == []
    monkeypatch.setattr(files, "_open_anew", read_only)
    with pytest.raises(InputError, match=r"a\.npz: Read-only file system"):
        check_target(tmp_path / "a.npz", ".npz")
