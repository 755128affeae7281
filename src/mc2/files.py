"""Writing files so that no interruption, kill or full disk leaves half of one.

A file is written under a random name beside its own, brought to the disk, and then renamed: at every moment its name
belongs to the whole old version or to the whole new one. What a killed process leaves of a file is removed by the next
one that writes the same file; a writer that lives has a lock on it.
"""

import errno
import json
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from mc2.errors import InputError

try:
    import fcntl
except ImportError:  # on Windows, where nothing is locked
    fcntl = None  # type: ignore[assignment]

TEMPORARY = r"\.[0-9a-f]{16}\.tmp"
"""How a temporary name ends, as a regular expression; it begins with a dot and the name of the file."""
TRIES = 100
"""Temporary names that are tried. One is enough unless somebody removes the file at once."""
NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


def check_target(path: Path, *endings: str) -> None:
    """Refuse a file that could not be written in the end, before any work is done: a file beside it is tried."""
    if path.suffix.lower() not in endings:
        raise InputError(f"cannot write {path}: the name must end in {', '.join(endings)}")
    try:
        if not path.absolute().parent.is_dir():
            raise InputError(f"cannot write {path}: there is no folder {path.parent}")
        if path.exists() and not path.is_file():
            raise InputError(f"cannot write {path}: it is {'a folder' if path.is_dir() else 'no plain file'}")
        with _temporary(path) as file:
            file.close()
            os.unlink(file.name)
    except OSError as error:
        raise _unwritten(path, error) from None


@contextmanager
def replacing(path: Path, durable: bool = True) -> Iterator[BinaryIO]:
    """A new file that takes the place of `path` when the block ends without an error, and is removed otherwise.

    durable: it is on the disk when this ends, and remnants of killed writers are removed. False for one of many files,
    whose writer does both for all of them.
    """
    try:
        if durable:
            sweep(path.parent, re.escape(path.name))
        with _temporary(path) as file:
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
            if os.name != "posix":
                file.close()  # else it could not be renamed
            os.replace(file.name, path)
            file.close()
        if durable:
            sync(path.parent)
    except OSError as error:
        raise _unwritten(path, error) from None


def path_of(file: BinaryIO) -> str:
    """For libraries that open files themselves: a path to an open file, whatever becomes of its name."""
    return f"/dev/fd/{file.fileno()}" if os.path.isdir("/dev/fd") else str(file.name)


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file; it is on the disk, whole, when this returns."""
    with replacing(path) as file:
        file.write(content)


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8, whole or not at all."""
    write_bytes(path, text.encode())


def write_json(path: Path, contents: Any) -> None:
    """Write plain data as a JSON file, whole or not at all."""
    write_text(path, json.dumps(contents, ensure_ascii=False, allow_nan=False, indent=1) + "\n")


def remove(path: Path) -> None:
    """Remove a file, if it is there; that is on the disk when this returns."""
    try:
        os.unlink(path)
        sync(path.parent)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise InputError(f"cannot remove {path}: {error.strerror or error}") from None


def sweep(folder: Path, names: str) -> None:
    """Remove what killed writers left of files in a folder.

    names: of the files, as a regular expression.
    """
    wanted = re.compile(rf"\.({names}){TEMPORARY}")
    with suppress(OSError):
        for name in os.listdir(folder):
            if wanted.fullmatch(name):
                _remove_if_orphaned(folder / name)


def make_folder(folder: Path) -> bool:
    """Make a folder, and those that it is in; says whether it was not there."""
    try:
        if folder.is_dir():
            return False
        make_folder(folder.absolute().parent)
        folder.mkdir(exist_ok=True)
        sync(folder.absolute().parent)
    except OSError as error:
        raise InputError(f"{folder} cannot be used as a folder: {error.strerror or error}") from None
    return True


def sync(path: Path) -> None:
    """Wait until a file, or a folder's list of names, is on the disk, where the system can tell."""
    if os.name != "posix":
        return
    try:
        handle = os.open(path, os.O_RDONLY)
    except PermissionError:  # of a folder that may be written but not listed
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some file systems cannot
            raise
    finally:
        os.close(handle)


def lock(handle: int) -> bool | None:
    """Lock an open file until it is closed: True, or False where another has it. None: the file system has no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


@contextmanager
def _temporary(path: Path) -> Iterator[BinaryIO]:
    """A new file with a random name beside `path`, removed after an error."""
    file = _create(path)
    try:
        yield file
    except BaseException:
        with suppress(OSError):  # what is not written yet is not wanted any more
            file.close()
        with suppress(OSError):
            os.unlink(file.name)
        raise


def _create(path: Path) -> BinaryIO:
    for _ in range(TRIES):
        name = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
        file = open(name, "x+b", opener=_open_anew)  # noqa: SIM115
        if lock(file.fileno()) is not False and os.path.lexists(name):
            return file
        file.close()  # a sweep of the same file came before the lock
    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))


def _open_anew(name: str, flags: int) -> int:
    return os.open(name, flags | NOFOLLOW, 0o666)


def _remove_if_orphaned(path: Path) -> None:
    with suppress(OSError):
        handle = os.open(path, os.O_RDWR | NOFOLLOW | getattr(os, "O_NONBLOCK", 0))
        try:
            if stat.S_ISREG(os.fstat(handle).st_mode) and lock(handle):
                os.unlink(path)
        finally:
            os.close(handle)


def _unwritten(path: Path, error: OSError) -> InputError:
    return InputError(f"cannot write {path}: {error.strerror or error}")
