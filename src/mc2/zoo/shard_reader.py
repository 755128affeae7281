"""Reading a shard, which may come from a stranger: what is in it must be what `build.json` tells, and make sense."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError, short
from mc2.reading.hdf5 import check_attributes, check_dataset, check_names, open_hdf5
from mc2.reading.json import parse_json
from mc2.reading.models import read_as
from mc2.zoo.records import Record

if TYPE_CHECKING:
    from mc2.zoo.shards import Description

MAX_INSTANCE = 1_000_000_000
"""Bytes of the fields of one instance, which are read together: six budgets on 4096 × 4096 pixels fit."""
MAX_RECORDS = 256 << 20
"""Bytes of all records of a shard, which are read together."""


class Shard(NamedTuple):
    """An open shard: its file, and what is in memory.

    counts: [instance, 3].
    records: lines of JSON.
    """

    file: Any
    budgets: NDArray[np.int64]
    counts: NDArray[np.int64]
    records: NDArray[np.bytes_]


def open_shard(path: Path, description: "Description", number: int) -> Shard:
    """Open a shard and check all of it but the values of fields."""
    _check_size(description)
    file = open_hdf5(path)
    try:
        wanted = description.datasets(number)
        check_names(file, wanted)
        check_attributes(file, description.conditions, "build.json")
        for name, dataset in wanted.items():
            check_dataset(file, name, dataset)
        if file["records"].size * file["records"].dtype.itemsize > MAX_RECORDS:
            raise InputError(f"its records have more than {MAX_RECORDS:,} bytes: build it with a smaller shard size")
        if not np.array_equal(file["index"][:], description.indices(number)):
            raise InputError("its instances are not those that build.json tells")
        budgets, counts, records = (file[name][:] for name in ("budgets", "counts", "records"))
        if budgets.tolist() != list(description.budgets) or counts.min() < 0:
            raise InputError("its budgets or its counts of walks are not possible")
    except BaseException:
        file.close()
        raise
    return Shard(file, budgets, counts, records)


def read_row(shard: Shard, description: "Description", number: int, row: int) -> dict[str, Any]:
    """One instance of a shard: its fields and its record."""
    index = int(description.indices(number)[row])
    found = {name: shard.file[name][row] for name in ("u", "f", "mask", "mean", "variance")}
    _check_fields(found, lost=int(shard.counts[row, 2]))
    return found | {
        "record": _record(bytes(shard.records[row]), description, index),
        "index": index,
        "budgets": shard.budgets.copy(),
        "counts": shard.counts[row].copy(),
    }


def _check_size(description: "Description") -> None:
    size = description.grid**2 * (9 + 8 * len(description.budgets))
    if size > MAX_INSTANCE:
        raise InputError(
            f"an instance has {size:,} bytes, more than {MAX_INSTANCE:,}: raise mc2.zoo.shard_reader.MAX_INSTANCE if "
            "you trust the folder"
        )


def _check_fields(found: dict[str, NDArray[Any]], lost: int) -> None:
    """Refuse what no build writes. lost: walks that met a value that is not finite, after which means are none."""
    outside = found["mask"] == 0
    if not (outside | (found["mask"] == 1)).all():
        raise InputError("mask has other values than 0 and 1")
    for name in ("u", "f", "mean", "variance"):
        field = found[name]
        if field[..., outside].any():  # NaN counts as something, too
            raise InputError(f"{name} is not 0 outside the mask")
        if name == "variance" and (field < 0).any():
            raise InputError("variance has negative values")
        known = ~np.isnan(field) if name == "variance" else np.isfinite(field)  # one walk has an infinite one
        if not known.all() and (name in ("u", "f") or not lost):
            raise InputError(f"{name} has values that are not finite")


def _record(line: bytes, description: "Description", index: int) -> Record:
    """The record of an instance, of which it says that it is."""
    record = read_as(Record, parse_json(line), "record")
    wanted = f"pdezoo-{description.generator_version}/{description.split}/{index:07d}"
    if record["id"] != wanted:
        raise InputError(f"the record of {wanted} says that it is {short(record['id'])}")
    return record
