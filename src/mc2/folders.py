"""Folders of long work, in which one process works at a time."""

import errno
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mc2.errors import InputError
from mc2.files import NOFOLLOW, TRIES, lock, make_folder

LOCK = ".mc2.lock"
"""A file in a folder that is in use; it names the process that holds it."""

_held: set[int] = set()


@contextmanager
def holding(folder: Path) -> Iterator[None]:
    """Keep others out of a folder, which is made if need be; one that is held already is refused, naming its holder.

    A process that dies lets go of its folder at once, whatever file it leaves there.
    """
    made = make_folder(folder)
    try:
        with _locked(folder):
            yield
    finally:
        if made:
            with suppress(OSError):
                folder.rmdir()  # if nothing came of it


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    try:
        handle = _take(folder)
    except OSError as error:
        raise InputError(f"{folder} cannot be used as a folder: {error.strerror or error}") from None
    _held.add(handle)
    try:
        with suppress(OSError):  # a lock holds even where there is no room to say whose it is
            os.truncate(handle, 0)
            os.write(handle, _ourselves())
        try:
            yield
        finally:
            _unlink(folder / LOCK, handle)
    finally:
        _unlink(folder / LOCK, handle)  # if the first was interrupted
        _held.discard(handle)
        os.close(handle)


def _take(folder: Path) -> int:
    path = folder / LOCK
    for _ in range(TRIES):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | NOFOLLOW, 0o666)
        try:
            if lock(handle) is False:
                raise InputError(f"{folder} is in use by {_holder(handle)}: wait for it, or choose another folder")
            if _is(path, handle):  # and not a file that its last holder has just removed
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))


def _unlink(path: Path, handle: int) -> None:
    """Remove the file of a lock, while it is ours: whoever has opened it will see that it is gone."""
    with suppress(OSError):
        if _is(path, handle):
            os.unlink(path)


def _is(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(os.lstat(path), os.fstat(handle))
    except FileNotFoundError:
        return False


def _ourselves() -> bytes:
    command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
    return f"process {os.getpid()} on {socket.gethostname()} ({command[:200]})".encode(errors="replace")


def _holder(handle: int) -> str:
    """Who holds a lock, as its file says, which anybody may have written."""
    text = os.pread(handle, 1000, 0).decode("utf-8", "replace")
    return "".join(letter for letter in " ".join(text.split()) if letter.isprintable()) or "another process"


def _let_go() -> None:
    """In a forked process: the parent's locks are not to outlive it in us."""
    for handle in _held:
        with suppress(OSError):
            os.close(handle)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)
