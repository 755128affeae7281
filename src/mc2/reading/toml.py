"""TOML: files that people write, problems and configurations."""

import os
import tomllib
from typing import Any

from mc2.errors import InputError, one_line, short
from mc2.reading.nesting import check_toml
from mc2.reading.plain import read_plain

MAX_BYTES = 1 << 20
"""Bytes of a TOML file: a polygon of 20,000 vertices fits."""
MAX_INTEGER = (1 << 63) - 1
"""Largest integer, as TOML itself has it."""


def read_toml(path: str | os.PathLike[str], what: str) -> dict[str, Any]:
    """The contents of a TOML file.

    what: it should be, for errors, which leave the file's name to the caller.
    """
    content = read_plain(path, MAX_BYTES, what)
    try:
        text = content.decode("utf-8")
        check_toml(text)
        data = tomllib.loads(text)
    except UnicodeDecodeError:
        raise InputError("is not a text file in UTF-8") from None
    except InputError:
        raise
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"is not valid TOML: {one_line(error)}") from None
    except ValueError:  # Python's own
        raise InputError("has an integer of thousands of digits: integers have at most 63 bits") from None
    _check_integers(data)
    return data


def _check_integers(value: object) -> None:
    if isinstance(value, dict):
        for key, entry in value.items():
            if isinstance(entry, int) and abs(entry) > MAX_INTEGER:
                raise InputError(f"{short(key)} = {short(entry)} is too large: integers have at most 63 bits")
            _check_integers(entry)
    elif isinstance(value, list):
        for entry in value:
            _check_integers(entry)
    elif isinstance(value, int) and abs(value) > MAX_INTEGER:
        raise InputError(f"{short(value)} is too large: integers have at most 63 bits")
