"""Safetensors: a header in JSON that says where every tensor lies, then their numbers.

The header is checked as a whole before any number is read: the tensors it names lie one after the other and fill the
file. Whoever reads a file says which tensors it must hold, of which types and shapes.
"""

import hashlib
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BufferedReader
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError, short
from mc2.reading.json import parse_json
from mc2.reading.plain import naming, open_plain, size_of

MAX_HEADER = 4 << 20
"""Bytes of a header: those of the largest network here have 0.2 million."""
MAX_DIMENSIONS = 8
"""Most dimensions of a tensor."""
DTYPES: dict[str, np.dtype[Any]] = {"F16": np.dtype("<f2"), "F32": np.dtype("<f4")}
"""Types of tensors that are read."""


class Tensor(NamedTuple):
    """A tensor as it is declared: its type, as in `DTYPES`, and its shape."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Bytes."""
        return math.prod(self.shape) * DTYPES[self.dtype].itemsize

    def __str__(self) -> str:
        return f"{self.dtype} {list(self.shape)}"


class Tensors:
    """An open safetensors file.

    metadata: texts by name. declared: the tensors, in the order in which they lie in the file. sha256: of the whole
    file, once it was read.
    """

    def __init__(self, file: BufferedReader) -> None:
        self._file, size = file, size_of(file)
        first = file.read(8)
        length = int.from_bytes(first, "little")
        if len(first) < 8 or length > min(MAX_HEADER, size - 8):
            raise InputError(f"is no safetensors file: it has no header of at most {MAX_HEADER:,} bytes")
        content = file.read(length)
        self._digest = hashlib.sha256(first + content)
        header = parse_json(content)
        if not isinstance(header, dict):
            raise InputError("is no safetensors file: its header is no JSON object")
        self.metadata = _texts(header.pop("__metadata__", {}))
        self.declared = _in_order(header, size - 8 - length)
        self.sha256 = ""

    def check(self, wanted: Mapping[str, Tensor]) -> None:
        """Refuse a file with other tensors than these."""
        for name in wanted:
            if name not in self.declared:
                raise InputError(f"it lacks the tensor {short(name)}")
        for name, found in self.declared.items():
            if name not in wanted:
                raise InputError(f"it has a tensor {short(name)} that does not belong there")
            if found != wanted[name]:
                raise InputError(f"its tensor {short(name)} is {found}, and must be {wanted[name]}")

    def read(self) -> dict[str, NDArray[Any]]:
        """All tensors; numbers that are not finite are refused."""
        found: dict[str, NDArray[Any]] = {}
        for name, tensor in self.declared.items():
            array = np.empty(tensor.shape, DTYPES[tensor.dtype])
            view = array.reshape(-1).view(np.uint8).data
            if self._file.readinto(view) != tensor.size:
                raise InputError("it ends too early")
            self._digest.update(view)
            found[name] = array
        self.sha256 = self._digest.hexdigest()
        for name, array in found.items():
            if not np.isfinite(array).all():
                raise InputError(f"its tensor {short(name)} has numbers that are not finite")
        return found


@contextmanager
def open_tensors(path: str | os.PathLike[str]) -> Iterator[Tensors]:
    """A safetensors file. Errors name it."""
    with naming(path), open_plain(path) as file:
        yield Tensors(file)


def _texts(metadata: object) -> dict[str, str]:
    if not isinstance(metadata, dict) or not all(isinstance(text, str) for text in metadata.values()):
        raise InputError("is no safetensors file: its metadata are no texts")
    return metadata


def _in_order(header: dict[str, Any], size: int) -> dict[str, Tensor]:
    """The tensors that a header declares, if they fill so many bytes without gap or overlap."""
    found = []
    for name, entry in header.items():
        if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
            raise InputError(f"its header says of {short(name)} no dtype, shape and data_offsets")
        shape, offsets = entry["shape"], entry["data_offsets"]
        if not isinstance(entry["dtype"], str) or entry["dtype"] not in DTYPES:
            raise InputError(
                f"its tensor {short(name)} is of type {short(entry['dtype'])}: {', '.join(DTYPES)} are read"
            )
        if not _counts(shape) or len(shape) > MAX_DIMENSIONS or not _counts(offsets) or len(offsets) != 2:
            raise InputError(f"its header says of {short(name)} what is no shape, or no place in the file")
        found.append((offsets[0], offsets[1], name, Tensor(entry["dtype"], tuple(shape))))
    place, ordered = 0, {}
    for start, end, name, tensor in sorted(found):
        if start != place or end - start != tensor.size:
            raise InputError(f"its tensor {short(name)} does not lie where its shape and the others put it")
        place, ordered[name] = end, tensor
    if place != size:
        raise InputError(f"its header declares {place:,} bytes of tensors, but it holds {size:,}")
    return ordered


def _counts(value: object) -> bool:
    """Whether it is a list of whole numbers, none of them negative."""
    return isinstance(value, list) and all(type(entry) is int and 0 <= entry < 1 << 48 for entry in value)
