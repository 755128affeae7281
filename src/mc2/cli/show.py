"""`mc2 show`: draw a problem before solving it, or a drawing with its parts."""

from pathlib import Path
from typing import Annotated

import typer

from mc2.cli.output import check_plot, interruptible, table

MOST_LISTED = 50
"""Parts of a drawing that are listed."""


def show(
    file: Annotated[
        Path,
        typer.Argument(
            help="Problem file (TOML), or a drawing (SVG, DXF, GeoJSON, PNG, CSV, OBJ).", show_default=False
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="Picture to write: .png, .svg or .pdf; problem.png or drawing.png if left out.")
    ] = None,
) -> None:
    """Draw a problem: its mask, source, boundary data and, where it is known, its exact solution.

    Or a drawing: the domain that it makes, and the parts of its boundary with their names and lengths.
    """
    if file.suffix.lower() != ".toml":
        _show_drawing(file, out or Path("drawing.png"))
        return
    with interruptible():
        from mc2.plotting import save_figure
        from mc2.problems import read_problem
        from mc2.problems.problem_figure import draw_problem

        out = out or Path("problem.png")
        check_plot(out)
        loaded = read_problem(file)
        save_figure(draw_problem(loaded.problem, loaded.grid, loaded.title), out)
    print(f"{loaded.problem.name} problem drawn to {out}")


def _show_drawing(file: Path, out: Path) -> None:
    """Read a drawing, say what was mended, draw it, and list its parts."""
    with interruptible():
        from rich.console import Console

        from mc2.geometry.drawings import read_drawing
        from mc2.geometry.drawings.figure import draw_reading
        from mc2.plotting import save_figure

        check_plot(out)
        found = read_drawing(file)
        save_figure(draw_reading(found, file.name), out)
    for note in found.notes:
        print(f"note: {note}")
    parts = table("", "part", f"length{f' ({found.units})' if found.units else ''}")
    for part in found.domain.parts[:MOST_LISTED]:
        parts.add_row(part.name, f"{part.length:.6g}")
    Console(highlight=False, markup=False).print(parts)
    if len(found.domain.parts) > MOST_LISTED:
        print(f"and {len(found.domain.parts) - MOST_LISTED:,} more parts")
    print(f"{file.name} drawn to {out}")
