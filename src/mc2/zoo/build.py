"""Building PDEZoo in bulk, here or on a Dask cluster. Stopped at any moment, a build goes on where it was.

Equal commands give equal bytes: whatever a stopped build left unfinished is made again.
"""

import asyncio
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mc2.errors import InputError, one_line, short
from mc2.files import TEMPORARY, sweep, write_text
from mc2.folders import LOCK, holding
from mc2.geometry import Grid
from mc2.reading.plain import read_plain
from mc2.walks.engine import check_budgets, choose_device
from mc2.walks.plan import make_plan
from mc2.zoo import media
from mc2.zoo.fields import Fields, make_fields, standard
from mc2.zoo.instance import generate, version_of
from mc2.zoo.laws import size_of
from mc2.zoo.shards import (
    Description,
    checksum_line,
    checksums,
    read_description,
    write_shard,
)

BUDGETS = (1, 2, 4, 8, 16, 32)
BATCH = 16
"""Instances whose fields are in memory at a time."""
FILES = r"(build|shard-\d+|\d+_b\d+)\.(json|sha256|h5|jsonl|npz)"
"""Names of the files of a build folder, as a regular expression."""
STALE = re.compile(rf"\.{FILES}{TEMPORARY}")
"""What a killed build may leave behind."""
CONNECT_SECONDS = 10
LINE = 67
"""Characters in a line of checksums besides the file's name."""

Progress = Callable[[int, int], None]
"""Called with what is done and what there is to do."""


@dataclass(frozen=True)
class Summary:
    """What a build did.

    instances: in the whole folder.
    made, bytes, seconds: of this run.
    """

    folder: str
    device: str
    instances: int
    made: int
    shards_made: int
    shards_skipped: int
    bytes: int
    seconds: float

    @property
    def rate(self) -> float:
        """Instances per second."""
        return self.made / self.seconds


def build_zoo(
    folder: str | Path,
    split: str,
    start: int = 0,
    stop: int | None = None,
    budgets: Sequence[int] = BUDGETS,
    *,
    grid: Grid | None = None,
    seed: int = 0,
    file_format: str = "hdf5",
    shard_size: int = 64,
    device: str = "auto",
    cluster: str | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Make the fields of the instances start ≤ i < stop of a split, and write them to a folder.

    folder: new, or of the same build, which is then completed.
    stop: the end of the split if not given.
    budgets: increasing walks per pixel.
    grid: 256 × 256 on [-1, 1]² if not given.
    file_format: `hdf5`, or `npz` for the paper's layout.
    shard_size: instances per shard; 64 make 240 MB at six budgets.
    device: `auto`, `cpu` or `cuda`.
    cluster: address of a Dask scheduler whose workers all see the folder, on a network that you trust: its protocol is
        pickle without authentication.
    progress: called with (instances done, instances in all).
    """
    if split == media.SPLIT:
        raise InputError(f"split {split!r} has records, fields and streams, and no builds")
    grid, end = grid or Grid(), size_of(split) if stop is None else stop
    asked = Description(
        split=split, range=(start, end), budgets=tuple(check_budgets(budgets)), grid=grid.size, bounds=grid.bounds,
        seed=seed, device=device, file_format=file_format, shard_size=shard_size, generator_version=version_of(split),
        **{name: standard(split)[name] for name in ("sampling", "epsilon", "max_steps")},
    )  # fmt: skip
    with nullcontext() if cluster is None else _connect(cluster) as client, holding(Path(folder)):
        return _build(Path(folder), asked, client, progress)


def _build(folder: Path, asked: Description, client: Any, progress: Progress | None) -> Summary:
    begun, place = time.perf_counter(), folder.absolute()
    resolve = resolve_device if client is None else lambda device: client.submit(resolve_device, device).result()
    description = replace(asked, device=resolve(asked.device))
    todo = _prepare(place, description)
    made = sum(len(description.indices(number)) for number in todo)
    total = asked.range[1] - asked.range[0]
    done = total - made

    def advance(count: int) -> None:
        nonlocal done
        done += count
        if progress:
            progress(done, total)

    advance(0)
    if client is None:
        size = sum(make_shard(str(place), number, advance) for number in todo)
    else:
        size = _make_on_cluster(client, place, description, todo, advance)
    seconds = time.perf_counter() - begun
    skipped = description.shards - len(todo)
    return Summary(
        folder=str(folder), device=description.device, instances=total, made=made, shards_made=len(todo),
        shards_skipped=skipped, bytes=size, seconds=seconds,
    )  # fmt: skip


def resolve_device(device: str) -> str:
    """`cpu` or `cuda`, as walks would choose on this machine."""
    return choose_device(device, make_plan(generate("train", 0).problem))


def make_shard(folder: str, number: int, advance: Callable[[int], None] | None = None) -> int:
    """Make a shard of a build folder, which says all there is to know; returns its bytes."""
    place = Path(folder)
    about = read_description(place)
    own = version_of(about.split)
    if about.generator_version != own:
        raise InputError(f"{place} is of generator version {about.generator_version}; this mc2 has {own}")

    def batches() -> Iterator[Fields]:
        indices = about.indices(number)
        for first in range(0, len(indices), BATCH):
            instances = [generate(about.split, int(index)) for index in indices[first : first + BATCH]]
            yield make_fields(
                instances, about.budgets, grid=Grid(about.grid, bounds=about.bounds), seed=about.seed,
                device=about.device, sampling=about.sampling, epsilon=about.epsilon, max_steps=about.max_steps,
            )  # fmt: skip
            if advance:
                advance(len(instances))

    try:
        return write_shard(place, about, number, batches())
    except (OSError, RuntimeError) as error:  # HDF5 raises the latter when a full disk keeps it from closing a file
        raise InputError(f"{place / about.files(number)[-1]} cannot be made: {one_line(error)}") from None


def _connect(address: str) -> Any:
    try:
        from distributed import Client, Security
        from distributed.comm import connect
        from distributed.core import coerce_to_address
    except ImportError:
        raise InputError("a cluster needs Dask: pip install 'mc2-pde[cluster]'") from None

    async def knock() -> None:  # a client that cannot connect would go on trying after its error
        own = Security().get_connection_args("client")
        (await connect(coerce_to_address(address), timeout=CONNECT_SECONDS, **own)).abort()

    try:
        with ThreadPoolExecutor(1) as thread:  # which has no event loop of its own, as a notebook has
            thread.submit(lambda: asyncio.run(knock())).result()
        return Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"the cluster at {short(address)} cannot be reached: {one_line(error)}") from None


def _make_on_cluster(
    client: Any, folder: Path, description: Description, todo: list[int], advance: Callable[[int], None]
) -> int:
    """One task per shard; returns their bytes. What a worker was doing when we stop, it does to the end."""
    from distributed import CancelledError, KilledWorker, as_completed

    futures = {client.submit(make_shard, str(folder), number, pure=False): number for number in todo}
    size = 0
    try:
        for future in as_completed(futures, loop=client.loop):
            size += future.result()
            advance(len(description.indices(futures[future])))
    except InputError as error:
        raise InputError(f"a worker says: {error}") from None
    except (CancelledError, KilledWorker, ImportError) as error:
        raise InputError(f"the cluster failed, and the same command goes on from here: {one_line(error)}") from None
    finally:
        client.cancel(list(futures))
    return size


def _prepare(folder: Path, description: Description) -> list[int]:
    """Check a folder, clean it and write its description; returns the numbers of the shards to make."""
    try:
        names = {name for name in os.listdir(folder) if name != LOCK and not STALE.fullmatch(name)}
    except OSError as error:
        raise InputError(f"{folder} cannot be used as a folder: {error.strerror}") from None
    if "build.json" in names:
        _refuse_another(folder, description)
    elif names:
        raise InputError(f"{folder} is no build folder, and not empty: give another one")
    todo = [number for number in range(description.shards) if checksums(number) not in names]
    _check_space(folder, description, todo)
    sweep(folder, FILES)
    if not {"build.json", "build.sha256"} <= names:
        lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(v)}" for name, v in description.data.items())
        text = f"{{\n{lines}\n}}\n"
        write_text(folder / "build.json", text)
        write_text(folder / "build.sha256", f"{hashlib.sha256(text.encode()).hexdigest()}  build.json\n")
    return todo


def _refuse_another(folder: Path, description: Description) -> None:
    there = read_description(folder).data
    for name, value in description.data.items():
        if there[name] != value:
            raise InputError(f"{folder} holds another build: {name} is {there[name]!r} there, {value!r} was asked for")


def _check_space(folder: Path, description: Description, todo: list[int]) -> None:
    pixels, budgets = description.grid**2, len(description.budgets)
    fields = (9 + 8 * budgets) * pixels if description.file_format == "hdf5" else (12 * pixels + 800) * budgets
    needed = sum(len(description.indices(number)) for number in todo) * (fields + 3000)  # a record and overheads
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise InputError(f"{folder} has room for {readable(free)}, but {readable(needed)} are to be written")


def readable(size: float) -> str:
    """A number of bytes in a unit that suits it."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            break
        size /= 1000
    return f"{size:,.4g} {unit}"


def verify(folder: str | Path, progress: Progress | None = None) -> list[str]:
    """What is wrong with a build folder, a line for every file that is missing, unfinished or changed.

    Every byte is read. progress: called with (shards checked, shards in all).
    """
    return inspect(folder, progress)[1]


def inspect(folder: str | Path, progress: Progress | None = None) -> tuple[int, list[str]]:
    """How many files of a build folder are as they were written, and what is wrong with the others."""
    place = Path(folder)
    try:
        description = read_description(place)
    except InputError as error:
        return 0, [str(error)]
    fine, problems = _inspect(place, ["build.json"], "build.sha256")
    for number in range(description.shards):
        good, found = _inspect(place, description.files(number), checksums(number))
        fine += good
        problems += found
        if progress:
            progress(number + 1, description.shards)
    return fine, problems


def _inspect(folder: Path, names: list[str], sums: str) -> tuple[int, list[str]]:
    """How many of the files that a file of checksums is about are as written, and what is wrong with the others."""
    if not os.path.lexists(folder / sums):
        return 0, [f"{names[-1]}: unfinished: there is no {sums}"]
    try:
        most = sum(len(name) + LINE for name in names)
        lines = read_plain(folder / sums, most, "list of checksums").decode("ascii", "replace").split("\n")
    except InputError as error:
        return 0, [f"{sums}: {error}"]
    if [line[64:] for line in lines] != [*(f"  {name}" for name in names), ""]:
        return 0, [f"{sums}: changed: it does not list the files that it is about"]
    problems = []
    for name, line in zip(names, lines, strict=False):
        try:
            if not os.path.lexists(folder / name):
                problems.append(f"{name}: missing")
            elif checksum_line(folder, name) != line + "\n":
                problems.append(f"{name}: changed: it does not match {sums}")
        except InputError as error:
            problems.append(f"{name}: {error}")
    return len(names) - len(problems), problems
