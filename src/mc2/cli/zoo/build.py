"""`mc2 zoo build`: write PDEZoo's fields to files."""

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mc2.cli.arguments import Device, GridSize, Json, Seed, parse_budgets, parse_range
from mc2.cli.output import Interrupted, heeding, interruptible
from mc2.cli.progress import Report, progress

if TYPE_CHECKING:
    from mc2.zoo.build import Summary


def build(
    out: Annotated[Path, typer.Option(help="Folder to write: new, or of the same build, which is then completed.")],
    split: Annotated[str | None, typer.Option(help="train, validation or test.", show_default=False)] = None,
    indices: Annotated[
        str | None, typer.Option("--range", help="Indices A ≤ i < B of the split, as A:B; all if not given.")
    ] = None,
    budgets: Annotated[str, typer.Option(help="Walks per pixel, increasing.")] = "1,2,4,8,16,32",
    grid: GridSize = 256,
    seed: Seed = 0,
    file_format: Annotated[
        str, typer.Option("--format", help="hdf5, or npz for the paper's layout: a file per instance and budget.")
    ] = "hdf5",
    shard_size: Annotated[int, typer.Option(help="Instances that are written, checked and resumed together.")] = 64,
    device: Device = "auto",
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Address of a Dask scheduler, such as tcp://host:8786. The folder must be on a file system that all "
            "workers share; one thread per worker is best, since walks use all cores. Only on networks that you trust: "
            "Dask has no authentication."
        ),
    ] = None,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Build nothing: check every file of the folder. A damaged shard is made again by a build once its "
            ".sha256 file is removed.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Write the fields of many instances to files. Stopped at any moment, the same command goes on from there."""
    with interruptible("finished shards are kept, and the same command goes on from there"):
        if verify:
            return _verify(out, as_json)
        if split is None:
            raise typer.BadParameter("a build needs it: train, validation or test", param_hint="--split")
        from mc2.geometry import Grid
        from mc2.zoo.build import build_zoo

        chosen = parse_range(indices, split)
        logging.getLogger("distributed.client").disabled = True  # our error says it in a line
        with progress("building", "instances") as bar, _hearing(bar) as report:
            made = build_zoo(
                out, split, chosen.start, chosen.stop, parse_budgets(budgets), grid=Grid(grid), seed=seed,
                file_format=file_format, shard_size=shard_size, device=device, cluster=cluster, progress=report,
            )  # fmt: skip
    _print(made, as_json)


@contextmanager
def _hearing(bar: Report | None) -> Iterator[Report]:
    """A report that raises an interruption again: Python ignores one that falls into the clean-up of h5py's objects."""
    heard: list[int] = []

    def hear(number: int, _: object) -> None:
        heard.append(number)
        raise Interrupted(number)

    def report(done: int, total: int) -> None:
        if heard:
            raise Interrupted(heard[0])
        if bar:
            bar(done, total)

    hook = sys.unraisablehook
    sys.unraisablehook = lambda lost: None if lost.exc_type is Interrupted else hook(lost)
    try:
        with heeding(hear):
            yield report
    finally:
        sys.unraisablehook = hook


def _verify(folder: Path, as_json: bool) -> None:
    from mc2.zoo.build import inspect

    with progress("checking", "shards") as report:
        fine, problems = inspect(folder, report)
    for problem in problems:
        print(problem, file=sys.stderr)
    if as_json:
        print(json.dumps({"folder": str(folder), "fine": fine, "problems": problems}, ensure_ascii=False))
    else:
        print(f"{fine:,} files are as they were written" + (f", {len(problems):,} problems" if problems else ""))
    if problems:
        raise typer.Exit(1)


def _print(made: "Summary", as_json: bool) -> None:
    from dataclasses import asdict

    from mc2.zoo.build import readable

    if as_json:
        print(json.dumps(asdict(made) | {"instances_per_second": made.rate}, ensure_ascii=False))
        return
    print(f"{made.folder}: {made.instances:,} instances ({made.device})")
    print(f"shards      {made.shards_made:,} made, {made.shards_skipped:,} were there")
    print(f"written     {readable(made.bytes)} in {made.seconds:.1f} s ({made.rate:.1f} instances per second)")
