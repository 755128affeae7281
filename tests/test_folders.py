"""One process at a time works in a folder; the others are told which."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from mc2.errors import InputError
from mc2.folders import LOCK, holding

HOLD = """
import sys, time
from pathlib import Path
from mc2.folders import holding
with holding(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@contextmanager
def holder(folder):
    """Another process that holds a folder."""
    with subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


def test_a_folder_in_use_is_refused_by_naming_its_holder(tmp_path):
    folder = tmp_path / "a" / "b"
    with holder(folder) as process:
        with pytest.raises(InputError) as refused, holding(folder):
            pass
        assert str(refused.value).startswith(f"{folder} is in use by process {process.pid} on ")
        assert f"(-c {folder})" in str(refused.value)
        assert "\n" not in str(refused.value)
        with holding(tmp_path / "a"):
            pass
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert (folder / LOCK).exists()
        with holding(folder):
            assert str(os.getpid()) in (folder / LOCK).read_text()
    assert list(folder.iterdir()) == []


def test_it_is_held_once_also_within_a_process(tmp_path):
    with (
        holding(tmp_path),
        pytest.raises(InputError, match=f"in use by process {os.getpid()} on "),
        holding(tmp_path),
    ):
        pass
    with holding(tmp_path):
        pass


def test_a_forked_process_does_not_hold_what_its_parent_held(tmp_path):
    with holding(tmp_path):
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(writing)
            os.read(reading, 1)  # until the parent lets go of the other end
            os._exit(0)
        os.close(reading)
    try:
        with holding(tmp_path):
            pass
    finally:
        os.close(writing)
        os.waitpid(child, 0)


def test_what_is_planted_there_is_not_followed(tmp_path):
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / LOCK).symlink_to(tmp_path / "precious")
    with pytest.raises(InputError, match="cannot be used as a folder"), holding(tmp_path / "folder"):
        pass
    with pytest.raises(InputError, match="cannot be used as a folder"), holding(tmp_path / "precious"):
        pass
    assert (tmp_path / "precious").read_text() == "mine"


def test_a_folder_that_came_to_nothing_is_removed(tmp_path):
    with pytest.raises(ZeroDivisionError), holding(tmp_path / "new"):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
    with holding(tmp_path / "new"):
        (tmp_path / "new" / "file").write_text("x")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["file"]
