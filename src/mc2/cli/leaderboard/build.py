"""`mc2 leaderboard build`: the page."""

from pathlib import Path
from typing import Annotated

import typer

from mc2.cli.output import interruptible


def build(
    entries: Annotated[Path, typer.Option(help="Folder of entries.")] = Path("leaderboard/entries"),
    out: Annotated[Path, typer.Option(help="The .html file to write.")] = Path("leaderboard/site/index.html"),
    figures: Annotated[Path | None, typer.Option(help="Folder of .png figures to show below the table.")] = None,
) -> None:
    """Write the leaderboard as one HTML page that needs nothing else."""
    with interruptible("the page is as it was"):
        from mc2.benchmark.leaderboard.entries import read_entries
        from mc2.benchmark.leaderboard.page import write_page

        found = read_entries(entries)
        write_page(found, out, figures)
    print(f"{len(found):,} entries written to {out} ({out.stat().st_size / 1e3:,.0f} kB)")
