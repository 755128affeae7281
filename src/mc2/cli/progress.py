"""A progress bar on a terminal, and nothing elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Report = Callable[[int, int], None]
"""Called with what is done and what there is to do."""


@contextmanager
def progress(doing: str, unit: str = "") -> Iterator[Report | None]:
    """A bar on stderr with the count, the rate and the time left. doing: what is being done. unit: of the count."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Any) -> Text:
            return Text("" if not task.speed else f"{task.speed:,.3g} {unit}/s".replace(" /", "/"))

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("preparing (the first use on a machine compiles for half a minute)", total=None)
        yield lambda done, total: bar.update(task, description=doing, completed=done, total=total)
