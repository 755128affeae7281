"""Writing files so that an interruption never leaves half of one."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mc2.errors import InputError


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
