"""Files of predictions: fields that someone's method made somewhere, to be scored here.

A file is a `.npz` with `ids`, texts such as `pdezoo-1/test/0000004` in index order from 0, and `fields`, float32
[count, 256, 256], 0 outside each mask. A family that a method cannot play in is left out, with all of its instances.
The file may come from a stranger: nothing in it is run, and its headers are checked before anything is unpacked, so
that a small file cannot fill the memory.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError, short
from mc2.files import check_target, replacing
from mc2.geometry import Grid
from mc2.reading.npz import Arrays, ascii_texts, open_npz, refusing
from mc2.reading.plain import naming, open_plain
from mc2.zoo import VERSION, Instance, generate
from mc2.zoo.laws import family_of, size_of

MEMBERS = ("ids", "fields")
ID = re.compile(r"pdezoo-([^/]+)/([^/]+)/([0-9]{7})")
LONGEST_ID = 64
"""Characters; the zoo's own have up to 33."""
NAMED = 5
"""Most instances that one message names."""


@dataclass(frozen=True)
class Predictions:
    """Fields for the first instances of a split, checked.

    count: instances of the split, from the first, of which whole families may be left out.
    fields: float32 [those, n, n], 0 outside each mask.
    sha256: of the file, in hexadecimal digits.
    """

    split: str
    count: int
    instances: tuple[Instance, ...]
    fields: NDArray[np.float32]
    grid: Grid
    sha256: str


def write_predictions(path: str | Path, ids: Sequence[str], fields: Any) -> None:
    """Write a file of predictions, whole or not at all. The same predictions always give the same bytes.

    ids: of the instances, in index order.
    fields: [count, n, n], 0 outside each mask; stored as float32.
    """
    path, found = Path(path), np.asarray(fields, np.float32)
    check_target(path, ".npz")
    if found.ndim != 3 or found.shape[1] != found.shape[2] or len(found) != len(ids):
        raise InputError(f"fields of shape {list(found.shape)} must be [count, n, n], one for each of {len(ids)} ids")
    with replacing(path) as file:
        np.savez(file, allow_pickle=False, ids=np.array(ids, np.str_), fields=found)


def read_predictions(
    path: str | Path,
    split: str = "test",
    count: int | None = None,
    *,
    grid: Grid | None = None,
    sha256: str | None = None,
) -> Predictions:
    """Read and check a file of predictions; what is wrong with it is said in one line.

    count: how many instances of the split it must hold, from the first; as many as it has if not given.
    grid: the paper's, if not given.
    sha256: what the file's must be.
    """
    grid = grid or Grid()
    size_of(split)
    with naming(path), open_plain(path) as file, refusing():
        found = hashlib.file_digest(file, "sha256").hexdigest()
        check_sha256(found, sha256)
        arrays = open_npz(file)
        if arrays.headers.keys() != set(MEMBERS):
            told = short(", ".join(arrays.headers) or "nothing")
            raise InputError(f"must hold the arrays ids and fields and nothing else, not {told}")
        count, instances = _check_ids(_read_ids(arrays, split), split, count)
        fields = _read_fields(arrays, instances, grid)
        _check_fields(instances, fields, grid)
    return Predictions(split, count, instances, fields, grid, found)


def check_sha256(found: str, wanted: str | None) -> None:
    """Refuse another file than the one that was promised."""
    if wanted is None:
        return
    if not re.fullmatch(r"[0-9a-fA-F]{64}", wanted):
        raise InputError(f"SHA-256 {short(wanted)} must have 64 hexadecimal digits")
    if found != wanted.lower():
        raise InputError(f"its SHA-256 is {found}, not {wanted.lower()}: this is another file")


def _read_ids(arrays: Arrays, split: str) -> list[str]:
    shape, dtype = arrays.headers["ids"].shape, arrays.headers["ids"].dtype
    if dtype.kind != "U" or len(shape) != 1:
        raise InputError(f"ids must be a list of texts, not {dtype.name} {list(shape)}")
    if not 1 <= shape[0] <= size_of(split) or dtype.itemsize > 4 * LONGEST_ID:
        raise InputError(f"ids must be 1 to {size_of(split)} texts of at most {LONGEST_ID} characters")
    return ascii_texts("ids", arrays.read("ids")).tolist()


def _check_ids(ids: list[str], split: str, count: int | None) -> tuple[int, tuple[Instance, ...]]:
    """How many of the split they are, and the instances, if the ids are those of the first ones, in order."""
    indices = [_index(text, split) for text in ids]
    played = {family_of(split, index) for index in indices}
    if count is None:
        count = max(indices) + 1
        while count < size_of(split) and family_of(split, count) not in played:
            count += 1
    repeated = sorted(text for text, times in Counter(ids).items() if times > 1)
    if repeated:
        raise InputError(f"{_named(repeated)}: there more than once")
    first = [index for index in range(count) if family_of(split, index) in played]
    wanted = [f"pdezoo-{VERSION}/{split}/{index:07d}" for index in first]
    missing = sorted(set(wanted) - set(ids))
    if missing:
        raise InputError(f"{_named(missing)}: missing; it must hold the first {len(wanted):,} instances of {split}")
    if len(ids) > len(wanted):
        raise InputError(f"{_named(sorted(set(ids) - set(wanted)))}: not among the first {len(wanted):,} of {split}")
    for place, text in enumerate(wanted):
        if ids[place] != text:
            there = f"{ids[place]} stands in place {place}, and {text} in place {ids.index(text)}"
            raise InputError(f"ids must be in index order, but {there}")
    return count, tuple(generate(split, index) for index in indices)


def _index(text: str, split: str) -> int:
    """The index in an id, if it is one of this generator and this split."""
    parts = ID.fullmatch(text)
    if not parts:
        raise InputError(f"unknown id {short(text)}: must look like pdezoo-{VERSION}/{split}/0000004")
    version, own, index = parts.groups()
    if version != VERSION:
        raise InputError(f"{text} is of generator version {short(version)}; this package generates version {VERSION}")
    if own != split:
        raise InputError(f"{text} is of the split {short(own)}, not {split!r}")
    if int(index) >= size_of(split):
        raise InputError(f"unknown id {short(text)}: {split} has {size_of(split):,} instances")
    return int(index)


def _named(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - NAMED:,} more" if len(ids) > NAMED else ""
    return ", ".join(ids[:NAMED]) + more


def _read_fields(arrays: Arrays, instances: Sequence[Instance], grid: Grid) -> NDArray[np.float32]:
    wanted, header = (len(instances), *grid.shape), arrays.headers["fields"]
    if header.shape != wanted or header.dtype != np.float32:
        whose = f"{instances[0].id} to {instances[-1].id}"
        raise InputError(f"fields of {whose} must be float32 {list(wanted)}, not {header}")
    return arrays.read("fields")


def _check_fields(instances: Sequence[Instance], fields: NDArray[np.float32], grid: Grid) -> None:
    for number, (instance, field) in enumerate(zip(instances, fields, strict=True)):
        strange = np.count_nonzero(~np.isfinite(field))
        if strange:
            raise InputError(f"{instance.id} has {strange:,} values that are not finite")
        if not field.any():
            raise InputError(f"{instance.id} is 0 everywhere")
        outside = np.count_nonzero(field[~instance.problem.mask(grid)])
        if outside:
            hint = _swapped(number, instances, fields, grid)
            raise InputError(f"{instance.id} has {outside:,} values that are not 0 outside its mask{hint}")


def _swapped(number: int, instances: Sequence[Instance], fields: NDArray[np.float32], grid: Grid) -> str:
    """Whose mask the field fits instead; best of all one whose own field fits here in turn."""
    own, found = instances[number].problem.mask(grid), ""
    for other, instance in enumerate(instances):
        if other != number and np.array_equal(fields[number] != 0, instance.problem.mask(grid)):
            hint = f"; it fits the mask of {instance.id} exactly: they look swapped"
            if np.array_equal(fields[other] != 0, own):
                return hint
            found = found or hint
    return found
