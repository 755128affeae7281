"""What the user is told: the one exception that is theirs to mend, in one line, and warnings at their own line."""

import difflib
import sys
import warnings
from collections.abc import Iterable


class InputError(ValueError):
    """Wrong input. Its message is one line; the command line prints it and exits with code 1."""


def unknown(kind: str, name: object, known: Iterable[str]) -> InputError:
    """An error for an unknown name, with the nearest known one."""
    known = sorted(known)
    near = difflib.get_close_matches(str(name), known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
    return InputError(f"unknown {kind} {short(name)}: {hint}")


def short(value: object, limit: int = 60) -> str:
    """The value in one line, for a message."""
    try:
        text = " ".join(repr(value).split())
    except (ValueError, RecursionError):  # an integer of thousands of digits, or a very deep list
        text = f"a huge {type(value).__name__}"
    return text if len(text) <= limit else text[: limit - 1] + "…"


def one_line(error: BaseException, limit: int = 200) -> str:
    """What an exception of somebody else says, in one line of ours."""
    text = " ".join(str(error).split())[:limit] or type(error).__name__
    return text if text.isprintable() else ascii(text)


def warn(text: str) -> None:
    """Warn at the user's own line of code that led here."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in ("mc2", "contextlib"):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, stacklevel=level)
