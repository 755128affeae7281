"""NumPy's .npz and .npy files: headers first, then only as much memory as they honestly declare.

A small archive can hold gigabytes of zeros, and an array may hold pickled objects, which run code when they are read.
Here every array's type, shape and size are known and within limits before it is unpacked, and objects are refused. An
archive's own checksum (CRC-32) of every array is checked.
"""

import io
import math
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from typing import IO, Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, LargeZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from mc2.errors import InputError, one_line, short
from mc2.reading.plain import size_of

MAX_BYTES = 1_400_000_000
"""Bytes of all arrays that are read from one file. A file of predictions for all of `test` has 1.31e9."""
MAX_MEMBERS = 64
"""Arrays in a .npz file."""
MAX_LIST = 64 << 10
"""Bytes of a .npz file's list of its arrays."""
MAX_HEADER = 16 << 10
"""Bytes of an array's own header; NumPy's reader would take gigabytes of it."""
KINDS = "biufU"
"""Kinds of arrays that are read, by NumPy's letters: numbers and texts; whatever else an array may hold is refused."""
_BROKEN = (
    BadZipFile, LargeZipFile, ValueError, EOFError, OverflowError, NotImplementedError, RuntimeError, struct.error,
    zlib.error,
)  # fmt: skip
"""What a damaged archive may raise."""
_PORTION = 1 << 20
_LENGTHS, _DESCRIPTOR = 26, 24
"""Where the header of a member tells the lengths of its name and its extra field; bytes that may follow its content."""


class Header(NamedTuple):
    """An array as it is declared.

    fortran: the first index runs fastest.
    start: bytes before the numbers.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fortran: bool
    start: int

    @property
    def size(self) -> int:
        """Bytes of its numbers."""
        return math.prod(self.shape) * self.dtype.itemsize

    def __str__(self) -> str:
        return f"{self.dtype.name} {list(self.shape)}"


class Arrays:
    """The arrays of an open .npz file: their headers by name, and their contents when asked for."""

    def __init__(self, archive: ZipFile) -> None:
        self._archive, self._left = archive, MAX_BYTES
        self._members: dict[str, ZipInfo] = {}
        for info in archive.infolist():
            name = info.filename.removesuffix(".npy")
            if name in self._members or name == info.filename:
                raise InputError(f"holds {short(info.filename)}, which is no array, or is there twice")
            if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED) or info.flag_bits & 1:
                raise InputError(f"{info.filename} is encrypted or packed in an unusual way: write it by numpy.savez")
            self._members[name] = info
        self.headers = {name: self._header(name) for name in self._members}

    def read(self, name: str) -> NDArray[Any]:
        """An array; its header says beforehand how large it is."""
        header = self.headers[name]
        self._left -= header.size
        if self._left < 0:
            raise InputError(_too_large(name, header))
        with self._archive.open(self._members[name]) as file:
            return _read(file, name, header)

    def text(self, name: str, longest: int) -> str:
        """A single text of ASCII characters, at most so many."""
        header = self.headers[name]
        if header.dtype.kind != "U" or header.shape != () or header.dtype.itemsize > 4 * longest:
            raise InputError(f"{name} must be a text of at most {longest:,} characters, not {header}")
        return str(ascii_texts(name, self.read(name)).item())

    def _header(self, name: str) -> Header:
        info = self._members[name]
        with self._archive.open(info) as file:
            return _header(file, name, info.file_size)


def open_npz(file: BufferedReader) -> Arrays:
    """The arrays of an open .npz file. Use it, and read them, within `refusing`."""
    _check_list(file)
    archive = ZipFile(file)
    _check_whole(file, archive)
    return Arrays(archive)


def read_npy(file: BufferedReader) -> NDArray[Any]:
    """The array of an open .npy file."""
    header = _header(file, "the array", size_of(file))
    if header.size > MAX_BYTES:
        raise InputError(_too_large("the array", header))
    file.seek(0)
    return _read(file, "the array", header)


def ascii_texts(name: str, texts: NDArray[Any]) -> NDArray[Any]:
    """Texts of ASCII characters. NumPy makes texts even of numbers that are no characters, and they crash later."""
    texts = np.ascontiguousarray(texts)
    if texts.dtype.kind != "U" or not texts.dtype.isnative:
        raise InputError(f"{name} must be texts, not {texts.dtype.name}")
    if texts.itemsize and texts.reshape(-1).view(np.uint32).max(initial=0) >= 128:
        raise InputError(f"{name} must be of ASCII characters")
    return texts


@contextmanager
def refusing() -> Iterator[None]:
    """What a damaged archive raises becomes one line."""
    try:
        yield
    except InputError:
        raise
    except _BROKEN as error:
        raise InputError(f"is not a whole .npz file: {one_line(error)}") from None


def _check_whole(file: BufferedReader, archive: ZipFile) -> None:
    """Refuse an archive with bytes between its arrays: its list has lost one."""
    place = 0
    starts = sorted((info.header_offset, info.compress_size) for info in archive.infolist())
    for start, size in [*starts, (archive.start_dir, None)]:
        if not place <= start <= place + _DESCRIPTOR:
            raise InputError("is not a whole .npz file: bytes of it belong to no array")
        if size is not None:
            file.seek(start + _LENGTHS)
            place = start + _LENGTHS + 4 + sum(struct.unpack("<2H", file.read(4))) + size


def _check_list(file: BufferedReader) -> None:
    """Refuse an archive whose list of members, by what is said of it in the last bytes, is long."""
    size, last = size_of(file), struct.Struct("<4s4H2LH")
    file.seek(max(0, size - last.size))
    found = file.read(last.size)
    if len(found) < last.size or not found.startswith(b"PK\5\6"):
        raise InputError("is not a whole .npz file: its last bytes are not those of one")
    _, _, _, _, members, length, _, comment = last.unpack(found)
    if members > MAX_MEMBERS or length > MAX_LIST or comment:
        raise InputError(f"must hold at most {MAX_MEMBERS} arrays, with names of usual length")


def _header(file: IO[bytes], name: str, size: int) -> Header:
    """An array as its header declares it, if that agrees with its size in bytes."""
    head = io.BytesIO(file.read(MAX_HEADER))
    try:
        version = npy.read_magic(head)
        shape, fortran, dtype = (npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0)(head)
    except _BROKEN as error:
        raise InputError(f"{name} is damaged: {one_line(error)}") from None
    except Exception as error:  # NumPy's reader raises whatever its parts raise, from SyntaxError to MemoryError
        raise InputError(f"{name} is damaged: {type(error).__name__} in its header") from None
    if dtype.hasobject:
        raise InputError(f"{name} holds pickled objects, which could run code and are never read")
    if dtype.kind not in KINDS or dtype.itemsize > MAX_BYTES or any(side < 0 for side in shape):
        raise InputError(f"{name} must be an array of numbers or texts, not {short(dtype)} {short(list(shape))}")
    found = Header(shape, dtype, fortran, head.tell())
    if size != found.start + found.size:
        raise InputError(f"{name} declares {found.size:,} bytes, but holds {size - found.start:,}")
    return found


def _read(file: IO[bytes], name: str, header: Header) -> NDArray[Any]:
    """The numbers after a header, to the last byte, with which an archive compares its checksum."""
    file.read(header.start)
    found = np.empty(math.prod(header.shape), header.dtype)
    place, whole = 0, found.view(np.uint8) if header.size else np.empty(0, np.uint8)
    while place < len(whole):
        portion = file.read(min(_PORTION, len(whole) - place))
        if not portion:
            raise InputError(f"{name} ends after {place:,} of {len(whole):,} bytes")
        whole[place : place + len(portion)] = np.frombuffer(portion, np.uint8)
        place += len(portion)
    if file.read(1):
        raise InputError(f"{name} holds more than it declares")
    return found.reshape(header.shape, order="F" if header.fortran else "C")


def _too_large(name: str, header: Header) -> str:
    return (
        f"{name} is {header}, and with what was read before it more than {MAX_BYTES:,} bytes: raise "
        "mc2.reading.npz.MAX_BYTES if you trust the file"
    )
