"""Where compiled kernels are kept: beside their sources, else in the user's cache folder, else nowhere.

Every signature of a kernel has a file of its own, with a checksum at its end: one that is damaged, of another version
of numba, or unreadable is made again. numba's own files have no checksum, and an index that two processes can mix up.
"""

import hashlib
import io
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache

DIGEST = hashlib.sha256().digest_size


class KernelCache(FunctionCache):  # type: ignore[misc]
    """The compiled signatures of one function.

    stamp: of the sources; others are not read.
    """

    def __init__(self, function: Callable[..., Any], stamp: str) -> None:
        super().__init__(function)
        # the stamp is also in the file's name: an older file may not even be readable any more
        name = f"{self._impl.filename_base}-{stamp[:12]}"
        self._cache_file = _CheckedFiles(self.cache_path, name, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever is wrong with a file: it is made again
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception as error:  # such as a full disk: the kernel works all the same
            _note_once(f"{type(error).__name__}: {error}")


class _CheckedFiles(IndexDataCacheFile):  # type: ignore[misc]
    """One file for every signature, named after it, so that there is no index."""

    def load(self, key: Any) -> Any:
        name = self._named(key)
        return self._load_data(name) if _intact(Path(self._data_path(name))) else None

    def save(self, key: Any, data: Any) -> None:
        self._save_data(self._named(key), data)

    def flush(self) -> None:
        for file in Path(self._cache_path).glob(self._data_name_pattern.format(number=0).replace(".0.", ".*.")):
            file.unlink(missing_ok=True)

    def _named(self, key: Any) -> str:
        number = int.from_bytes(hashlib.sha256(repr((numba.__version__, key)).encode()).digest()[:8])
        return str(self._data_name(number))

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[io.BytesIO]:
        """Written all at once, with the checksum: what reads the data stops before it."""
        content = io.BytesIO()
        yield content
        with super()._open_for_write(filepath) as file:
            file.write(content.getvalue() + hashlib.sha256(content.getvalue()).digest())


def _intact(path: Path) -> bool:
    try:
        content = path.read_bytes()
    except OSError:
        return False
    return hashlib.sha256(content[:-DIGEST]).digest() == content[-DIGEST:]


def make_cache(function: Callable[..., Any], stamp: str) -> KernelCache | NullCache:
    """The cache of a kernel; one that keeps nothing where no folder can be written."""
    try:
        return KernelCache(function, stamp)
    except (RuntimeError, OSError):  # numba found no folder
        _note_once("neither the installation nor the home folder can be written")
        return NullCache()


@cache
def _note_once(reason: str) -> None:
    warnings.warn(
        f"compiled kernels cannot be kept, so every start compiles for half a minute ({reason}): set NUMBA_CACHE_DIR "
        "to a folder that can be written",
        stacklevel=2,
    )
