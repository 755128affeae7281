"""Weights that are installed: a distribution of their own, since most users never need them.

Any installed package can offer a folder of weights by an entry point of the group `mc2.weights` that names it. It is
found, never imported. The environment variable `MC2_WEIGHTS` names a folder that comes first.
"""

import json
import os
from collections.abc import Iterator
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from mc2.errors import InputError

GROUP = "mc2.weights"
VARIABLE = "MC2_WEIGHTS"
ENDING = ".safetensors"
TASK = "correction"
"""What networks were trained for, unless their logs say otherwise."""
INSTALL = "pip install ./weights, in a clone of MC²"


def need_torch(what: str) -> None:
    """Say what to install where torch is missing. what: needs it."""
    try:
        import safetensors  # noqa: F401
        import torch  # noqa: F401
    except ImportError:
        raise InputError(f"{what} needs torch and safetensors: pip install 'mc2-pde[learn]'") from None


def _folders() -> Iterator[Path]:
    if given := os.environ.get(VARIABLE):
        yield Path(given)
    for entry in entry_points(group=GROUP):
        spec = find_spec(entry.value)
        for place in (spec.submodule_search_locations or []) if spec else []:
            yield Path(place)


@cache
def _installed() -> dict[str, Path]:
    """Every weights file by its name, the first folder's where two have one."""
    found: dict[str, Path] = {}
    for folder in _folders():
        for path in sorted(folder.glob(f"*{ENDING}")):
            found.setdefault(path.name.removesuffix(ENDING), path)
    return found


def shipped_weights() -> list[str]:
    """Names of the networks whose weights are installed, each with the log of its training."""
    return sorted(name for name, path in _installed().items() if path.with_suffix(".json").exists())


def shipped_correctors() -> list[str]:
    """Those of them that correct estimates, as their logs say."""
    logs = {name: json.loads(weights_path(name).with_suffix(".json").read_text("utf-8")) for name in shipped_weights()}
    return [name for name, log in logs.items() if log["config"].get("task", TASK) == TASK]


def weights_path(name: str) -> Path:
    """Where the weights of this name lie."""
    if name in _installed():
        return _installed()[name]
    if not _installed():
        raise InputError(f"no weights are installed, so there are none called {name!r}: {INSTALL}")
    have = ", ".join(shipped_weights())
    raise InputError(
        f"no weights {name!r} are installed (there are: {have}): train them, by mc2 train configs/{name}.toml, and "
        f"give the path of the {ENDING} file instead"
    )
