"""Plain files: opened without waiting for anybody, and read up to a limit."""

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader

from mc2.errors import InputError

_FLAGS = ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY")
_OTHERS = {
    stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}  # fmt: skip


def open_plain(path: str | os.PathLike[str]) -> BufferedReader:
    """Open a file for reading if it is a plain one: who opens a pipe or a device may wait for ever."""
    flags = os.O_RDONLY
    for name in _FLAGS:
        flags |= getattr(os, name, 0)
    try:
        handle = os.open(path, flags)
    except FileNotFoundError:
        raise InputError("no such file") from None
    except (OSError, ValueError) as error:  # the latter for a name with a null character
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    kind = stat.S_IFMT(os.fstat(handle).st_mode)
    if kind != stat.S_IFREG:
        os.close(handle)
        raise InputError(f"cannot be read: it is {_OTHERS.get(kind, 'something else')}, not a plain file")
    return os.fdopen(handle, "rb")


def read_plain(path: str | os.PathLike[str], most: int, what: str) -> bytes:
    """All bytes of a plain file.

    most: more are refused, unread.
    what: the file should be, for the message.
    """
    with open_plain(path) as file:
        return read_within(file, most, what)


def read_within(file: BufferedReader, most: int, what: str) -> bytes:
    """Read an open file, whole, if it has no more than so many bytes."""
    try:
        content = file.read(most + 1)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}") from None
    if len(content) > most:
        raise InputError(f"is larger than {most:,} bytes: not a {what}")
    return content


def file_sha256(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of a plain file, in hexadecimal digits."""
    with open_plain(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def size_of(file: BufferedReader) -> int:
    """Bytes of an open file."""
    return os.fstat(file.fileno()).st_size


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Whatever is refused in this block is said of a file, in one line whatever the file's name."""
    name = os.fspath(path)
    with saying(name if name.isprintable() else ascii(name)):
        try:
            yield
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}") from None


@contextmanager
def saying(words: str) -> Iterator[None]:
    """Whatever is refused in this block is said after these words."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{words}: {error}") from None
