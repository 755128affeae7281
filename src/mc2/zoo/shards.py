"""Bulk fields in files: what a build folder holds, shards that are whole or absent, and a reader.

A build folder has a description, `build.json`, and shards of some instances each. A shard is finished exactly when its
checksums, `shard-00000.sha256`, are there: they are written last, in the format of `sha256sum`. Reading runs no code.
"""

import json
import operator
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import h5py
import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError, one_line
from mc2.files import path_of, replacing, sync, write_text
from mc2.geometry import Grid
from mc2.metrics import mse
from mc2.reading.hdf5 import Dataset
from mc2.reading.json import read_object
from mc2.reading.models import at_least, between, one_of, read_as, strict
from mc2.reading.plain import file_sha256, naming
from mc2.walks.engine import check_budgets
from mc2.walks.options import Options
from mc2.zoo.conditions import SPLIT
from mc2.zoo.difficulty import REFERENCE_WALKS, tier
from mc2.zoo.fields import Fields
from mc2.zoo.laws import SPLITS, size_of
from mc2.zoo.records import to_record
from mc2.zoo.shard_reader import Shard, open_shard, read_row

FORMAT = {"format": "pdezoo-build", "format_version": 1}
SHARD_FORMAT = {"format": "pdezoo-shard", "format_version": 1}
FILE_FORMATS = ("hdf5", "npz")
FIELDS = {"u": np.float32, "f": np.float32, "mask": np.uint8, "mean": np.float32, "variance": np.float32}
OPEN_FILES = 8  # that a reader keeps


@strict
@dataclass(frozen=True)
class Description:
    """What a build folder holds: all that its bytes depend on, as in its `build.json`.

    range: the indices A ≤ i < B of the split.
    grid: its size.
    seed, sampling, epsilon, max_steps: of the walks.
    device: `cpu` or `cuda`, whose walks agree statistically but not bit by bit.
    shard_size: instances in a shard.
    """

    split: Annotated[str, one_of(*SPLITS, SPLIT)]
    range: tuple[int, int]
    budgets: tuple[int, ...]
    grid: int
    bounds: tuple[float, float, float, float]
    seed: Annotated[int, between(0, (1 << 63) - 1)]
    device: str
    file_format: Annotated[str, one_of(*FILE_FORMATS)]
    shard_size: Annotated[int, at_least(1)]
    generator_version: str
    sampling: str
    epsilon: float
    max_steps: int

    def __post_init__(self) -> None:
        (start, stop), size = self.range, size_of(self.split)
        if not 0 <= start < stop <= size:
            raise InputError(f"range = {start}:{stop} must be A:B with 0 ≤ A < B ≤ {size}, the size of {self.split}")
        Options(self.seed, self.epsilon, self.max_steps, self.sampling, device=self.device)
        check_budgets(self.budgets)
        Grid(self.grid, bounds=self.bounds)

    @property
    def data(self) -> dict[str, Any]:
        """As plain data, for `build.json`."""
        return FORMAT | {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}

    @property
    def conditions(self) -> dict[str, Any]:
        """What a shard says of itself, so that it can be understood alone."""
        names = ("generator_version", "split", "seed", "sampling", "epsilon", "max_steps", "bounds", "device")
        return SHARD_FORMAT | {name: self.data[name] for name in names}

    @property
    def shards(self) -> int:
        return -(-(self.range[1] - self.range[0]) // self.shard_size)

    def indices(self, number: int) -> NDArray[np.int64]:
        """The indices of a shard's instances."""
        first = self.range[0] + number * self.shard_size
        return np.arange(first, min(first + self.shard_size, self.range[1]))

    def files(self, number: int) -> list[str]:
        """The names of a shard's files, other than its checksums."""
        if self.file_format == "hdf5":
            return [f"shard-{number:05d}.h5"]
        fields = [f"{index:07d}_b{budget}.npz" for index in self.indices(number) for budget in self.budgets]
        return [*fields, f"shard-{number:05d}.jsonl"]

    def shape(self, name: str, number: int) -> tuple[int, ...]:
        """The shape of a shard's dataset."""
        count, inner = len(self.indices(number)), (self.grid, self.grid)
        if name in ("mean", "variance"):
            return count, len(self.budgets), *inner
        others = {"budgets": (len(self.budgets),), "index": (count,), "records": (count,), "counts": (count, 3)}
        return others.get(name, (count, *inner))

    def datasets(self, number: int) -> dict[str, Dataset]:
        """What a shard's HDF5 file holds: fields, one of them in a chunk, and the rest, each in one chunk."""
        others = {"budgets": np.int64, "index": np.int64, "counts": np.int64, "records": None}
        found: dict[str, Dataset] = {}
        for name, kind in (FIELDS | others).items():
            shape = self.shape(name, number)
            chunks = (1,) * (len(shape) - 2) + shape[-2:] if name in FIELDS else shape
            found[name] = Dataset(shape, chunks, kind)
        return found


def checksums(number: int) -> str:
    """The name of the file whose presence says that a shard is finished."""
    return f"shard-{number:05d}.sha256"


def read_description(folder: Path) -> Description:
    """The description of a build folder. All of it is checked: it may come from a stranger."""
    path = folder / "build.json"
    if not path.exists():
        raise InputError(f"{folder} is no build folder: there is no build.json")
    with naming(path):
        data = read_object(path, "description of a build")
        if any(data.pop(name, None) != value for name, value in FORMAT.items()):
            raise InputError(f"must be an object with {json.dumps(FORMAT)[1:-1]}")
        return read_as(Description, data)


def checksum_line(folder: Path, name: str) -> str:
    """What `sha256sum` prints."""
    return f"{file_sha256(folder / name)}  {name}\n"


def write_shard(folder: Path, description: Description, number: int, batches: Iterable[Fields]) -> int:
    """Write a shard from the fields of its instances, in their order; returns its bytes."""
    names = description.files(number)
    write = _write_hdf5 if description.file_format == "hdf5" else _write_npz
    write(folder / names[-1], description, number, batches)
    write_text(folder / checksums(number), "".join(checksum_line(folder, name) for name in names))
    return sum((folder / name).stat().st_size for name in [*names, checksums(number)])


def _write_hdf5(path: Path, description: Description, number: int, batches: Iterable[Fields]) -> None:
    """One field per chunk. Chunks are not cached and times are left out, so that equal contents give equal bytes.

    The form is that of HDF5 1.10, the first whose own structures have checksums; only texts of variable length have
    none, and damaged ones can keep HDF5 busy for ever, so that all texts here are of fixed length.
    """
    lines: list[bytes] = []
    counts: list[NDArray[np.int64]] = []
    options = {"libver": ("v110", "v110"), "locking": False, "rdcc_nbytes": 0}
    with replacing(path) as target, _plain_errors(), h5py.File(path_of(target), "w", **options) as file:

        def create(name: str, kind: Any) -> Any:
            shape, chunks, _ = description.datasets(number)[name]
            return file.create_dataset(name, shape, kind, chunks=chunks, fletcher32=True, track_times=False)

        fields = {name: create(name, kind) for name, kind in FIELDS.items()}
        for batch in batches:
            for row in range(len(batch.instances)):
                for name, dataset in fields.items():
                    dataset[len(lines)] = getattr(batch, name)[row]
                counts.append(batch.counts[row])
                lines.append(record_line(batch, row).encode())
        create("budgets", np.int64)[:] = description.budgets
        create("index", np.int64)[:] = description.indices(number)
        create("counts", np.int64)[:] = counts
        create("records", h5py.string_dtype("utf-8", max(map(len, lines))))[:] = lines
        for name, value in description.conditions.items():
            file.attrs[name] = np.bytes_(value, "utf-8") if isinstance(value, str) else value


@contextmanager
def _plain_errors() -> Iterator[None]:
    """What the system said when HDF5 failed, without HDF5's story of it; a full disk is a RuntimeError there."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        if said := re.search("error message = '([^']*)'", str(error)):
            raise OSError(said[1]) from None
        raise


def _write_npz(path: Path, description: Description, number: int, batches: Iterable[Fields]) -> None:
    """The paper's layout: a file per instance and budget, and the records beside them."""
    names, lines = iter(description.files(number)), []
    for batch in batches:
        for row in range(len(batch.instances)):
            for budget in description.budgets:
                with replacing(path.with_name(next(names)), durable=False) as file:
                    batch.write_npz(file, row, budget)
            lines.append(record_line(batch, row) + "\n")
    for name in description.files(number)[:-1]:
        sync(path.with_name(name))
    write_text(path, "".join(lines))


def record_line(fields: Fields, row: int) -> str:
    """An instance as a line of JSON, with its difficulty where its walks tell it."""
    record, mask = to_record(fields.instances[row]), fields.mask[row].astype(bool)
    if REFERENCE_WALKS in fields.budgets and mask.any():
        found = fields.mean[row, fields.budgets.index(REFERENCE_WALKS)]
        error = float(f"{mse(found, fields.u[row], mask):.6g}")
        if np.isfinite(error):
            record |= {"mse_32": error, "tier": tier(error)}
    return json.dumps(record, separators=(",", ":"))


class Shards:
    """The instances in the finished shards of an HDF5 build folder; a map-style dataset for a data loader.

    ``Shards(folder)[i]`` is a dict: u, f, mask [size, size]; mean, variance [budget, size, size]; budgets; counts;
    index, which is the instance's in its split; record. partial: take a build that is not complete.
    """

    def __init__(self, folder: str | Path, partial: bool = False) -> None:
        self.folder = Path(folder).absolute()
        self.description = about = read_description(self.folder)
        if about.file_format != "hdf5":
            raise InputError(f"{folder} holds .npz files, which numpy.load reads; Shards reads HDF5")
        names = set(os.listdir(self.folder))
        self._numbers = [number for number in range(about.shards) if checksums(number) in names]
        missing = about.shards - len(self._numbers)
        if missing and not partial:
            raise InputError(f"{folder}: {missing} of {about.shards} shards are unfinished; partial=True allows that")
        self.budgets = about.budgets
        self._length = sum(len(about.indices(number)) for number in self._numbers)
        self._opened: dict[int, Shard] = {}
        self._process = os.getpid()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_opened": {}}  # open files stay in their process

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, position: int) -> dict[str, Any]:
        place = operator.index(position) + (self._length if position < 0 else 0)
        if not 0 <= place < self._length:
            raise IndexError(f"{position} is not among {self._length} instances")
        which, row = divmod(place, self.description.shard_size)
        number = self._numbers[which]
        path = self.folder / self.description.files(number)[0]
        try:
            return read_row(self._shard(path, number), self.description, number, row)
        except (OSError, ValueError, KeyError, TypeError, RuntimeError, AttributeError, MemoryError) as error:
            raise InputError(f"{path} cannot be read (is it damaged?): {one_line(error)}") from None

    def _shard(self, path: Path, number: int) -> Shard:
        """A shard from those that are open, the latest used last."""
        if self._process != os.getpid():  # forked: the parent's open files are not ours
            self._opened, self._process = {}, os.getpid()
        found = self._opened.pop(number, None)
        if found is None and len(self._opened) >= OPEN_FILES:
            self._opened.pop(next(iter(self._opened))).file.close()
        self._opened[number] = found or open_shard(path, self.description, number)
        return self._opened[number]
