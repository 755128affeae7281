"""Progress that is seen: a bar in a notebook, a line on a terminal, nothing elsewhere."""

import html
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

INTERVAL = 0.1
"""Seconds between two looks."""


def show_progress(doing: str = "walking") -> Callable[[int, int], None]:
    """What `progress=` can be, of `mc2.estimate`, `mc2.solve` and others: progress=mc2.show_progress().

    doing: what is being done.
    """
    place = _notebook_place()
    terminal, last = sys.stderr.isatty(), 0.0

    def report(done: int, total: int) -> None:
        nonlocal last
        now = time.perf_counter()
        if now - last < INTERVAL and done < total:
            return
        last = now
        text = f"{doing} {done:,} of {total:,} ({done / max(total, 1):.0%})"
        if place is not None:
            place(f'<progress value="{done}" max="{max(total, 1)}"></progress> {html.escape(text)}')
        elif terminal:
            print(f"\r\x1b[K{text}", end="" if done < total else "\n", file=sys.stderr, flush=True)

    return report


def _notebook_place() -> Callable[[str], None] | None:
    """Writes HTML below the cell of a notebook that is running, over what was there; None outside of notebooks."""
    shell: Any = sys.modules.get("IPython") and sys.modules["IPython"].get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    shown: Any = import_module("IPython.display")
    handle = shown.display(shown.HTML(""), display_id=True)
    return lambda text: handle.update(shown.HTML(text))
