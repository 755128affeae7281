"""Writing files so that an interruption never leaves half of one, and reading TOML that may hold anything."""

import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mc2.errors import InputError

MAX_BYTES = 1 << 20
"""Of a file that people write."""


def check_target(path: Path, *endings: str) -> None:
    """Refuse a file that could not be written in the end: before any work is done."""
    if path.suffix.lower() not in endings:
        raise InputError(f"cannot write {path}: the name must end in {', '.join(endings)}")
    if not path.absolute().parent.is_dir():
        raise InputError(f"cannot write {path}: there is no folder {path.parent}")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary name beside `path`, which takes its place when the block ends without an error."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        try:
            temporary.touch()
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror or error}") from None
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """The contents of a TOML file. what: it should be, for errors, which leave the file's name to the caller."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}") from None
    if len(content) > MAX_BYTES:
        raise InputError(f"is larger than {MAX_BYTES:,} bytes: not a {what}")
    try:
        return tomllib.loads(content.decode("utf-8"))
    except UnicodeDecodeError:
        raise InputError("is not a text file in UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        line = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"is not valid TOML: {line}") from None
