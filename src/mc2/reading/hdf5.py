"""HDF5: datasets and attributes that lie in the file itself, of a type and shape that is known beforehand.

An HDF5 file can name other files, whose bytes then seem to be its own: by external storage, external links and virtual
datasets. It can also claim datasets of any size that take no room. Here a dataset is in one piece per chunk, all of
them stored, with the checksum of each (Fletcher's), and nothing else is read.
"""

import math
import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import h5py
import numpy as np
from h5py import h5a, h5d, h5t, h5z
from numpy.typing import NDArray

from mc2.errors import InputError, short
from mc2.reading.plain import open_plain

SUM = 4
"""Bytes of a chunk's checksum."""
MAX_TEXT = 1 << 16
"""Bytes of a text in a dataset or attribute."""


class Dataset(NamedTuple):
    """What a dataset must be.

    dtype: of numbers, in this file's byte order; None for texts of one length.
    """

    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    dtype: Any


def open_hdf5(path: str | os.PathLike[str]) -> Any:
    """An HDF5 file, whose datasets must be checked before they are read."""
    open_plain(path).close()  # HDF5 would wait for a pipe
    return h5py.File(path, "r", locking=False)  # what is finished does not change


def check_names(file: Any, names: Iterable[str]) -> None:
    """Refuse a file that holds other objects than these, or links to elsewhere under their names."""
    wanted = set(names)
    if len(file) != len(wanted) or set(file) != wanted:
        raise InputError(f"it must hold {', '.join(sorted(wanted))}, and nothing else")
    for name in wanted:
        if not isinstance(file.get(name, getlink=True), h5py.HardLink):
            raise InputError(f"{name} is a link to somewhere else, which is not followed")
        if file.get(name, getclass=True) is not h5py.Dataset:
            raise InputError(f"{name} is no dataset")


def check_dataset(file: Any, name: str, wanted: Dataset) -> None:
    """Refuse a dataset that is not as it must be, or not wholly in this file."""
    found = file[name].id
    plan = found.get_create_plist()
    layout = plan.get_layout()
    if layout == h5d.VIRTUAL or plan.get_external_count():
        raise InputError(f"{name} takes its values from other files, which are not read")
    if layout != h5d.CHUNKED or plan.get_chunk() != wanted.chunks:
        raise InputError(f"{name} must be stored in chunks of {list(wanted.chunks)}")
    if plan.get_nfilters() != 1 or plan.get_filter(0)[0] != h5z.FILTER_FLETCHER32:
        raise InputError(f"{name} must have checksums, and be packed in no way")
    space, kind = found.get_space(), found.get_type()
    if space.get_simple_extent_dims() != wanted.shape or space.get_simple_extent_dims(True) != wanted.shape:
        raise InputError(f"{name} has not the shape {list(wanted.shape)}")
    if not _is_text(kind) if wanted.dtype is None else kind != h5t.py_create(np.dtype(wanted.dtype)):
        raise InputError(f"{name} has not the type {'text' if wanted.dtype is None else np.dtype(wanted.dtype).name}")
    pieces = math.prod(-(-side // part) for side, part in zip(wanted.shape, wanted.chunks, strict=True))
    stored = pieces * (math.prod(wanted.chunks) * kind.get_size() + SUM)
    if found.get_storage_size() != stored:
        raise InputError(f"{name} must have {stored:,} bytes in the file, and has {found.get_storage_size():,}")


def check_attributes(file: Any, wanted: Mapping[str, Any], whose: str) -> None:
    """Refuse a file whose attributes are not these: texts, numbers or lists of numbers.

    whose: they should be.
    """
    for name, value in wanted.items():
        found = _attribute(file, name, value)
        if not np.array_equal(found, value):
            raise InputError(f"{name} is {short(found)}, but {whose} says {short(value)}")


def _attribute(file: Any, name: str, like: Any) -> str | NDArray[Any]:
    """An attribute, if it is of the kind and shape of a value."""
    if not h5a.exists(file.id, name.encode()):
        raise InputError(f"it lacks the attribute {name}")
    found = h5a.open(file.id, name.encode())
    kind = found.get_type()
    wanted = () if isinstance(like, str) else np.shape(like)
    if found.shape != wanted:
        raise InputError(f"its attribute {name} has not the shape {list(wanted)}")
    if isinstance(like, str):
        if not _is_text(kind):
            raise InputError(f"its attribute {name} must be a text")
        text = np.zeros((), found.dtype)
        found.read(text)
        return bytes(text[()]).decode("utf-8", "replace")
    if not isinstance(kind, h5t.TypeIntegerID | h5t.TypeFloatID) or kind.get_size() > 8:
        raise InputError(f"its attribute {name} must be of numbers")
    numbers = np.zeros(wanted, found.dtype)
    found.read(numbers)
    return numbers


def _is_text(kind: Any) -> bool:
    """Whether it is the type of texts of one length: those of any length may keep HDF5 busy for ever."""
    return isinstance(kind, h5t.TypeStringID) and not kind.is_variable_str() and 0 < kind.get_size() <= MAX_TEXT
