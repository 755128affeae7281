"""How commands end: in a table, a JSON object or a figure, or in one line when interrupted."""

import json
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mc2.cli.progress import progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console
    from rich.table import Table


WRITING = "every file is whole, or as it was before"
"""What an interruption leaves of several files."""


class Interrupted(KeyboardInterrupt):
    """A signal that asks the process to end. number: of the signal."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@contextmanager
def heeding(handler: Callable[[int, Any], object]) -> Iterator[None]:
    """Call a handler for Ctrl-C, SIGTERM and a terminal that goes away, unless they are ignored."""
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        numbers = []  # only the main thread may
    before = {n: signal.signal(n, handler) for n in numbers if signal.getsignal(n) not in (signal.SIG_IGN, None)}
    try:
        yield
    finally:
        for number, usual in before.items():
            signal.signal(number, usual)


@contextmanager
def interruptible(left: str = "nothing was written") -> Iterator[None]:
    """Whatever asks the process to end says one line and exits with 128 + the signal: 130 for Ctrl-C, 143 for SIGTERM.

    Files are cleaned up on the way. left: what is left behind.
    """

    def end(number: int, _: object) -> None:
        raise Interrupted(number)

    try:
        with heeding(end):
            yield
    except KeyboardInterrupt as error:
        number = getattr(error, "number", signal.SIGINT)
        print(f"{'interrupted' if number == signal.SIGINT else 'terminated'}: {left}", file=sys.stderr)
        raise typer.Exit(128 + number) from None


def check_plot(plot: Path | None) -> None:
    """Refuse a figure that could not be written, before the work."""
    from mc2.files import check_target
    from mc2.plotting import FORMATS

    if plot:
        check_target(plot, *FORMATS)


def present(
    contents: dict[str, Any],
    tables: Callable[["Console", dict[str, Any]], None],
    draw: Callable[[dict[str, Any]], "Figure"],
    plot: Path | None,
    as_json: bool,
) -> None:
    """Draw the figure if there is to be one, then print the tables, or the contents as JSON."""
    from rich.console import Console

    if plot:
        from mc2.plotting import save_figure

        save_figure(draw(contents), plot)
    if as_json:
        print(json.dumps(contents, ensure_ascii=False, allow_nan=False))
        return
    console = Console(highlight=False)
    tables(console, contents)
    if plot:
        console.print(f"drawn to {plot}", soft_wrap=True)


def present_study(
    doing: str,
    study: Callable[..., dict[str, Any]],
    tables: Callable[["Console", dict[str, Any]], None],
    draw: Callable[[dict[str, Any]], "Figure"],
    plot: Path | None,
    as_json: bool,
) -> None:
    """Run a study of instances that can be interrupted, and present what it returns.

    doing: what a bar of progress says.
    study: called with `report`, the function that moves that bar.
    """
    with interruptible():
        check_plot(plot)
        with progress(doing, "instances") as report:
            contents = study(report=report)
        present(contents, tables, draw, plot, as_json)


def table(title: str, *columns: str) -> "Table":
    """A table whose first column holds names and whose other columns hold numbers."""
    from rich import box
    from rich.table import Table

    made = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for number, name in enumerate(columns):
        made.add_column(name, justify="right" if number else "left")
    return made


def walking_facts(contents: dict[str, Any]) -> str:
    """How it was walked, in a line or two."""
    c = contents
    reduced = [name for name, row in c["families"].items() if row["estimator"] == "reduced"]
    note = f"\n{', '.join(reduced)}: estimator 'reduced', walks with the exact u in the source" if reduced else ""
    return (
        f"generator {c['generator_version']}, {c['grid']} × {c['grid']} pixels, {c['sampling']} source sampling, seed "
        f"{c['seed']}, {c['device']}, {c['seconds']:.1f} s; {c['walks'] / 1e6:,.1f} million walks, "
        f"{c['truncated']:,} ({c['truncated_share']:.1e}) cut off after {c['max_steps']} steps{note}"
    )
