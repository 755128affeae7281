"""`mc2 leaderboard verify`: does a claim hold on fresh problems?"""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from mc2.cli.arguments import FreshSeed, GridSize, Json
from mc2.cli.output import interruptible, table
from mc2.cli.progress import progress


def verify(
    entry: Annotated[Path, typer.Argument(help="The .json file of an entry.", show_default=False)],
    seed: FreshSeed = None,
    count: Annotated[int, typer.Option(help="Fresh instances.")] = 50,
    predictions: Annotated[
        Path | None,
        typer.Option(help="Predictions for what 'draw' wrote; without, a method of this package is run by its name."),
    ] = None,
    tolerance: Annotated[float, typer.Option(help="dB, besides three standard errors.")] = 1.0,
    write: Annotated[
        bool, typer.Option("--write", help="Note what was found in the entry, if the claim holds.")
    ] = False,
    grid: GridSize = 256,
    no_lpips: Annotated[bool, typer.Option("--no-lpips", help="Leave out LPIPS, which needs torch.")] = False,
    as_json: Json = False,
) -> None:
    """Compare an entry's mean PSNR per family with that on freshly drawn problems; exit code 1 if it does not hold."""
    from mc2.benchmark.leaderboard.entries import read_entry, with_evaluation, write_evaluated
    from mc2.benchmark.leaderboard.verify import broken, draw_seed
    from mc2.benchmark.leaderboard.verify import verify as judge
    from mc2.errors import InputError
    from mc2.files import check_target
    from mc2.geometry import Grid

    if predictions and seed is None:
        raise InputError("--predictions needs the --seed that its problems were drawn with")
    claim = read_entry(entry)
    with interruptible(), progress("judging", "fields") as report:
        if write:
            check_target(entry, ".json")
        found = judge(
            claim, draw_seed() if seed is None else seed, count, predictions=predictions, tolerance=tolerance,
            grid=Grid(grid), lpips=not no_lpips, progress=report,
        )  # fmt: skip
    if as_json:
        print(json.dumps(found, ensure_ascii=False, allow_nan=False))
    else:
        _print(found)
    failure = broken(found)
    if failure:
        raise InputError(failure)
    if write:
        with interruptible("the entry is as it was"):
            write_evaluated(with_evaluation(claim, found["evaluated"], found["split"], found["count"]), entry)


def _print(found: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False)
    title = f"{escape(found['method'])}: PSNR in dB, {found['count']:,} instances of {found['split']}"
    rows = table(title, "family", "claimed", "found", "difference", "allowed", "")
    for family, row in found["families"].items():
        rows.add_row(
            family, f"{row['claimed']:.2f}", f"{row['found']:.2f}", f"{row['found'] - row['claimed']:+.2f}",
            f"± {row['allowed']:.2f}", "holds" if row["holds"] else "does not hold",
        )  # fmt: skip
    console.print(rows)
