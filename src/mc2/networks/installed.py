"""Weights that are installed: a distribution of their own, since most users never need them.

Any installed package can offer a folder of weights by an entry point of the group `mc2.weights` that names it. It is
found, never imported. The environment variable `MC2_WEIGHTS` names a folder that comes first.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from mc2.errors import InputError, short
from mc2.reading.json import MAX_LOG_BYTES, read_object

GROUP = "mc2.weights"
VARIABLE = "MC2_WEIGHTS"
ENDING = ".safetensors"
TASK = "correction"
"""What networks were trained for, unless their logs say otherwise."""
INSTALL = "pip install ./weights, in a clone of MC²"


def need_torch(what: str) -> None:
    """Say what to install where torch is missing, and the weights if these are, too. what: needs it."""
    try:
        import safetensors  # noqa: F401
        import torch  # noqa: F401
    except ImportError:
        weights = "" if _files() else f"; and weights: {INSTALL}"
        raise InputError(f"{what} needs torch and safetensors: pip install 'mc2-pde[learn]'{weights}") from None


def _folders() -> Iterator[Path]:
    if given := os.environ.get(VARIABLE):
        if not Path(given).is_dir():
            raise InputError(f"{VARIABLE} = {short(given)}: there is no such folder")
        yield Path(given)
    for entry in entry_points(group=GROUP):
        spec = None
        with suppress(ImportError, ValueError):  # half of it is installed
            spec = find_spec(entry.value)
        for place in (spec.submodule_search_locations or []) if spec else []:
            yield Path(place)


def _files() -> dict[str, Path]:
    """Every weights file by its name, the first folder's where two have one."""
    paths: dict[str, Path] = {}
    for folder in _folders():
        for path in sorted(folder.glob(f"*{ENDING}")):
            paths.setdefault(path.name.removesuffix(ENDING), path)
    return paths


def _logs() -> dict[str, Path]:
    """The log of its training of every network, by the network's name."""
    logs = {name: path.with_suffix(".json") for name, path in sorted(_files().items())}
    return {name: path for name, path in logs.items() if path.exists()}


def installed_weights() -> list[str]:
    """Names of the networks whose weights are installed, each with the log of its training."""
    return list(_logs())


def installed_correctors() -> list[str]:
    """Names of the installed networks that correct estimates, as their logs say."""
    return [name for name, path in _logs().items() if _task(path) == TASK]


def _task(log: Path) -> object:
    """What a network was trained for, as its log says; None if the log cannot be read."""
    try:
        config = read_object(log, "log of a network", MAX_LOG_BYTES).get("config")
    except InputError:  # whoever reads the weights will say so
        return None
    return config.get("task", TASK) if isinstance(config, dict) else None


def weights_path(name: str) -> Path:
    """The weights file of an installed network."""
    paths = _files()
    if name in paths:
        return paths[name]
    if not paths:
        raise InputError(f"no weights are installed, so there are none called {name!r}: {INSTALL}")
    have = ", ".join(installed_weights())
    raise InputError(
        f"no weights {name!r} are installed (there are: {have}): train them, by mc2 train configs/{name}.toml, and "
        f"give the path of the {ENDING} file instead"
    )
