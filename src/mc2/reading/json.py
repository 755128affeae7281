"""JSON: numbers are finite, integers fit into 64 bits, keys are there once, and nothing nests deep."""

import json
import math
import os
from collections import Counter
from typing import Any

from mc2.errors import InputError, one_line, short
from mc2.reading.nesting import check_json
from mc2.reading.plain import read_plain

MAX_BYTES = 1 << 20
"""Bytes of a JSON file, unless its reader says otherwise."""
MAX_LOG_BYTES = 8 << 20
"""Bytes of the log of a training run, or of its state: a million steps make one million."""
MAX_DIGITS = 20
"""Characters of an integer: all of 64 bits have at most so many."""
MAX_KEYS = 1 << 16
"""Keys of an object: each might be wrong, and would be noted."""


def read_json(path: str | os.PathLike[str], what: str, most: int = MAX_BYTES) -> Any:
    """The contents of a JSON file.

    what: it should be, for errors, which leave the file's name to the caller.

    most: bytes that it may have.
    """
    return parse_json(read_plain(path, most, what))


def read_object(path: str | os.PathLike[str], what: str, most: int = MAX_BYTES) -> dict[str, Any]:
    """Read a JSON file that must hold an object."""
    found = read_json(path, what, most)
    if not isinstance(found, dict):
        raise InputError(f"is no {what}: it must be a JSON object, not {short(found)}")
    return found


def parse_json(content: bytes | str) -> Any:
    """What a text in JSON stands for; its size is the caller's to bound."""
    try:
        text = content if isinstance(content, str) else content.decode("utf-8")
        check_json(text)
        return json.loads(
            text, parse_constant=_no_constant, parse_int=_integer, parse_float=_number, object_pairs_hook=_no_repeats
        )
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON: {one_line(error)}") from None


def _no_constant(name: str) -> None:
    raise InputError(f"{name} is not a JSON number")


def _integer(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise InputError(f"has an integer of {len(text):,} digits: at most {MAX_DIGITS} are read")
    return int(text)


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise InputError(f"{short(text)} is beyond the range of numbers")
    return number


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > MAX_KEYS:
        raise InputError(f"has an object of {len(pairs):,} keys: at most {MAX_KEYS:,} are read")
    found = dict(pairs)
    if len(found) < len(pairs):
        key, times = Counter(key for key, _ in pairs).most_common(1)[0]
        raise InputError(f"key {short(key)} is there {times} times")
    return found
