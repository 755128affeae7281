"""`mc2 reproduce`: every row, curve and study of the results page."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mc2.cli.arguments import Device, GridSize, Json
from mc2.cli.output import interruptible, table

if TYPE_CHECKING:
    from rich.console import Console

LEFT = "what was done is kept: the same command goes on from there"


def reproduce(
    folder: Annotated[
        Path, typer.Argument(help="For the results; a run in the same folder goes on where one stopped.")
    ],
    studies: Annotated[str, typer.Option(help="table, curve, bias; with commas. All of them by default.")] = "",
    count: Annotated[int | None, typer.Option(help="Only so many instances of every study.", min=1)] = None,
    only: Annotated[str, typer.Option(help="Only these methods, with commas.")] = "",
    without: Annotated[str, typer.Option(help="All but these methods, with commas.")] = "",
    grid: GridSize = 256,
    device: Device = "auto",
    workers: Annotated[int | None, typer.Option(help="Processes; as many as cores by default.")] = None,
    seconds: Annotated[float | None, typer.Option(help="Stop cleanly after so many seconds.", min=1)] = None,
    as_json: Json = False,
) -> None:
    """Measure every row of the results page on the same test instances, with standard errors."""
    with interruptible(LEFT):
        from mc2.benchmark.reproduce import chosen_studies, print_progress
        from mc2.benchmark.reproduce import reproduce as run
        from mc2.geometry import Grid

        chosen = chosen_studies(_names(studies), count=count, only=_names(only), without=_names(without))
        found = run(
            folder, chosen, grid=Grid(grid), device=device, workers=workers, seconds=seconds, report=print_progress
        )
    if as_json:
        print(json.dumps(found, ensure_ascii=False))
        return
    from rich.console import Console

    _present(Console(highlight=False), found)


def _names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _present(console: "Console", found: dict[str, Any]) -> None:
    """The overall means of every study, and what is not done."""
    from mc2.benchmark.reproduce.store import MAX_SUMMARY
    from mc2.reading.json import read_object

    for path in found["files"]:
        if not path.endswith(".json"):
            continue
        contents = read_object(path, "summary", MAX_SUMMARY)
        shown = [name for name in contents["columns"] if name not in ("snr", "mse", "raw_variance", "improves")]
        rows = table(f"{contents['study']}: means ± standard errors", "method", "walks", "instances", *shown)
        for row in contents["rows"]:
            overall = row["overall"]
            cells = [_cell(overall.get(name)) for name in shown]
            rows.add_row(row["method"], f"{row['walks']:,}", f"{overall['count']:,}", *cells)
        console.print(rows)
    for error in found["errors"][:10]:
        console.print(error, soft_wrap=True, markup=False)
    if not found["finished"]:
        console.print("The time was over: the same command goes on from here.")
    console.print(f"written to {', '.join(found['files'])}", soft_wrap=True)


def _cell(numbers: dict[str, float] | None) -> str:
    return "–" if numbers is None else f"{numbers['mean']:.4g} ± {numbers['standard_error']:.2g}"
