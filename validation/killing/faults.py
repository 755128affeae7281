"""Faults at a chosen file step of this process.

A step is whatever changes a file or a folder under a root: creating, writing, cutting, syncing, renaming or removing
it. Steps are found by standing in for functions of `os`, for the files that `mc2.files` opens and for h5py, so that
what is tested knows nothing of it.
"""

import builtins
import errno
import io
import os
import re
import signal
import sys
from functools import wraps
from pathlib import Path

import h5py

from mc2 import files
from mc2.files import TEMPORARY

FAULTS = ("kill", "error", "terminate")
"""SIGKILL in the middle of a step; a full disk from a step on; SIGTERM before a step."""

REMOVALS = ("unlink", "rmdir")
"""Steps that succeed on a full disk; they fail once where they are the chosen one."""


class Faults:
    """Counts the steps of this process, and lets one of them fail.

    root: what lies elsewhere does not count. at: the number of the step, from 0; None for no fault. steps: all so far,
    as (what, file's name).
    """

    def __init__(self, root, fault="kill", at=None):
        self.root, self.fault, self.at, self.steps = os.path.realpath(root), fault, at, []

    def install(self):
        """From here on, for the rest of this process."""
        for name in ("replace", "unlink", "mkdir", "rmdir", "truncate", "fsync"):
            setattr(os, name, self._counted(name, getattr(os, name)))
        os.write = self._counted("os write", os.write)  # of a lock
        sys.addaudithook(self._hear)  # of every file that Python opens
        files.open = self._open
        h5py.Dataset.__setitem__ = self._counted_hdf5("write", h5py.Dataset.__setitem__, lambda own: own.file.filename)
        h5py.File.close = self._counted_hdf5("close", h5py.File.close, lambda own: own.filename if own else None)

    def step(self, what, place, half=lambda: None):
        """Called before a step; half: does a part of it, before a fault in its middle."""
        path = self._path(place)
        if path is None:
            return
        number, needs_room = len(self.steps), what not in REMOVALS
        self.steps.append((what, path))
        if number == self.at and self.fault == "kill":
            half()
            os.kill(os.getpid(), signal.SIGKILL)
        if number == self.at and self.fault == "terminate":
            os.kill(os.getpid(), signal.SIGTERM)
        if self.fault == "error" and (number == self.at or (self.at is not None and number > self.at and needs_room)):
            half()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _path(self, place):
        """The name of a file under the root, without what is random in it; None for others."""
        try:
            place = os.readlink(f"/proc/self/fd/{place}") if isinstance(place, int) else os.fsdecode(place)
            if place.startswith("/dev/fd/"):
                place = os.readlink(place.replace("/dev", "/proc/self"))
        except OSError:
            return None
        folder, name = os.path.split(os.path.abspath(place))
        path = os.path.join(os.path.realpath(folder), name)
        return plain(os.path.relpath(path, self.root)) if path.startswith(self.root) else None

    def _hear(self, event, arguments):
        if event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            self.step("open", arguments[0])

    def _counted(self, what, function):
        @wraps(function)
        def step(place, *rest, **options):
            self.step(what, place)
            return function(place, *rest, **options)

        return step

    def _counted_hdf5(self, what, function, name):
        @wraps(function)
        def step(own, *rest):
            if found := name(own):
                self.step(f"HDF5 {what}", found)
            return function(own, *rest)

        return step

    def _open(self, path, mode, **options):
        if "b" not in mode or "+" not in mode:
            return builtins.open(path, mode, **options)
        faults = self

        class Raw(io.FileIO):
            def write(self, content):
                half = bytes(content[: len(content) // 2])
                faults.step("write", path, lambda: super(Raw, self).write(half))
                return super().write(content)

        return io.BufferedRandom(Raw(path, mode.replace("b", ""), **options))


def plain(name):
    """A file's name; that of a temporary one without its random digits."""
    return re.sub(rf"{TEMPORARY}$", ".tmp", str(name))


def visible(folder):
    """Files that a user sees, by their path below a folder, and the names of hidden ones."""
    found = sorted(path for path in Path(folder).rglob("*") if not path.is_dir())
    hidden = [plain(path.relative_to(folder)) for path in found if path.name.startswith(".")]
    return {str(path.relative_to(folder)): path for path in found if not path.name.startswith(".")}, hidden
