"""`mc2 leaderboard score`: score a file of predictions."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mc2.cli.arguments import GridSize, Json
from mc2.cli.output import WRITING, interruptible, table
from mc2.cli.progress import progress

if TYPE_CHECKING:
    from mc2.benchmark.leaderboard import Entry


def score(
    predictions: Annotated[Path, typer.Argument(help="A .npz file with ids and fields.", show_default=False)],
    split: Annotated[str, typer.Option(help="test, or fresh-NUMBER.")] = "test",
    count: Annotated[
        int | None,
        typer.Option(help="Instances that must be there, from the first; as many as there are, if not given."),
    ] = None,
    entry: Annotated[
        Path | None, typer.Option(help="The entry whose file this is: checksum and claim must hold.")
    ] = None,
    sha256: Annotated[str | None, typer.Option(help="What the file's SHA-256 must be.")] = None,
    grid: GridSize = 256,
    no_lpips: Annotated[bool, typer.Option("--no-lpips", help="Leave out LPIPS, which needs torch.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="Also write scores, with those of every instance, to this .json.")
    ] = None,
    as_json: Json = False,
    new_entry: Annotated[
        Path | None, typer.Option(help="Write an entry with these scores; one that is there keeps its texts.")
    ] = None,
    about: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="What the new entry says, such as method=wos; may be given many times."),
    ] = None,
) -> None:
    """Score predictions against the exact solutions. Nothing in the file is run."""
    from mc2.benchmark.leaderboard import read_entry
    from mc2.errors import InputError
    from mc2.files import check_target, write_json

    if out and new_entry and out.absolute() == new_entry.absolute():
        raise InputError(f"--out and --new-entry are both {out}: give two files")
    with interruptible():
        for target in (out, new_entry):
            if target:
                check_target(target, ".json")
        promised = read_entry(entry) if entry else None
        entered = _prepare(new_entry, about or []) if new_entry else None
        found = _score(predictions, split, count, grid, not no_lpips, promised, sha256)
    with interruptible(WRITING):
        if entered:
            entered(found)
        if out:
            write_json(out, found)
    found.pop("instances")
    if as_json:
        print(json.dumps(found, ensure_ascii=False, allow_nan=False))
    else:
        _print(found)


def _score(
    path: Path, split: str, count: int | None, size: int, lpips: bool, entry: "Entry | None", sha256: str | None
) -> dict[str, Any]:
    from mc2.benchmark.leaderboard import read_predictions, score_predictions
    from mc2.benchmark.leaderboard.verify import check_claim
    from mc2.errors import InputError
    from mc2.geometry import Grid

    if entry:
        if sha256:
            raise InputError("give --entry or --sha256, not both")
        split, count, sha256 = entry.split, entry.count, entry.checksum
    read = read_predictions(path, split, count, grid=Grid(size), sha256=sha256)
    with progress("scoring", "fields") as report:
        found = score_predictions(read, lpips=lpips, progress=report)
    if entry:
        check_claim(entry, found)
    return found


def _prepare(path: Path, about: list[str]) -> Callable[[dict[str, Any]], None]:
    """What writes the entry once there are scores; whatever is wrong with its texts is said before."""
    from mc2.benchmark.leaderboard import make_entry, read_entry, write_entry
    from mc2.benchmark.leaderboard.entries import describe, parse_about

    told = describe(read_entry(path) if path.exists() else None, **parse_about(about))
    return lambda scores: write_entry(make_entry(scores, **told), path)


def _print(found: dict[str, Any]) -> None:
    from rich.console import Console

    from mc2.benchmark.scores import METRICS

    heads = {"psnr": "PSNR / dB", "snr": "SNR", "mse": "MSE", "lpips": "LPIPS", "relative_l2": "rel. L2"}
    shown = [name for name in METRICS if name in found["overall"]]
    title = f"means over the first {found['count']:,} instances of {found['split']} (PSNR ± std)"
    rows = table(title, "family", "count", *(heads[name] for name in shown))
    for name, own in (found["families"] | {"overall": found["overall"]}).items():
        cells = [f"{own[metric]['mean']:{'.2f' if metric in ('psnr', 'snr') else '.3g'}}" for metric in shown]
        cells[0] += f" ± {own['psnr']['std']:.2f}"
        rows.add_row(name, str(own["count"]), *cells)
    console = Console(highlight=False)
    console.print(rows)
    console.print(f"SHA-256 {found['sha256']}", soft_wrap=True)
