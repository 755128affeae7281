"""`mc2 show`: draw a problem before solving it."""

from pathlib import Path
from typing import Annotated

import typer

from mc2.cli.output import check_plot, interruptible


def show(
    file: Annotated[Path, typer.Argument(help="Problem file (TOML).", show_default=False)],
    out: Annotated[Path, typer.Option(help="Picture to write: .png, .svg or .pdf.")] = Path("problem.png"),
) -> None:
    """Draw a problem: its mask, source, boundary data and, where it is known, its exact solution."""
    with interruptible():
        from mc2.plotting import save_figure
        from mc2.problems import read_problem
        from mc2.problems.problem_figure import draw_problem

        check_plot(out)
        loaded = read_problem(file)
        save_figure(draw_problem(loaded.problem, loaded.grid, loaded.title), out)
    print(f"{loaded.problem.name} problem drawn to {out}")
