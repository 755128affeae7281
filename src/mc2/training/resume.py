"""What a checkpoint's files may hold: they decide how a run goes on, and might be damaged or a stranger's.

A checkpoint is `state.json`, which has a checksum of itself and of the two files of tensors that it names.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from mc2.checks import finite, listed, whole
from mc2.errors import InputError, short
from mc2.reading import tensors
from mc2.reading.json import MAX_LOG_BYTES, read_object
from mc2.reading.plain import naming

KEYS = frozenset({"step", "seconds", "recent", "history", "config", "files", "sums"})
NAMES = re.compile(r"(network|optimiser)-\d{1,18}(-\d{1,9})?\.safetensors")
"""What the files of a checkpoint are called."""
MAX_STEPS = 1 << 50
MAX_RECENT = 1000
"""Losses that wait to be entered in the history, which happens every 50 steps."""
MOMENTS = ("step", "exp_avg", "exp_avg_sq")
"""What AdamW keeps of every parameter."""


def seal(contents: Mapping[str, Any]) -> dict[str, Any]:
    """Plain data with their own checksum, which `read_state` compares."""
    return {**contents, "sha256": _sum(contents)}


def read_state(path: Path) -> dict[str, Any]:
    """The contents of a `state.json`, checked for damage, types and ranges."""
    with naming(path):
        found = read_object(path, "state of a run", MAX_LOG_BYTES)
        told = found.pop("sha256", None)
        if told is None:
            raise InputError("has no checksum: an earlier version wrote it, and can go on with it")
        if told != _sum(found):
            raise InputError("is damaged: its checksum differs")
        if found.keys() != KEYS:
            raise InputError(f"must have the keys {', '.join(sorted(KEYS))}")
        whole("step", found["step"], 0, MAX_STEPS)
        if not 0 <= finite("seconds", found["seconds"]) <= 1e12:
            raise InputError(f"seconds = {short(found['seconds'])} must lie between 0 and 1e12")
        recent = listed("recent", found["recent"], "losses")
        if len(recent) > MAX_RECENT:
            raise InputError(f"recent has {len(recent):,} losses: at most {MAX_RECENT:,}")
        for loss in recent:
            finite("recent", loss)
        check_history(found["history"])
        _table("config", found["config"])
        _check_files(found)
    return found


def check_history(history: object) -> None:
    """Refuse a history that the loop could not go on with; see `State`."""
    table = _table("history", history)
    for key in table:
        if key not in ("losses", "validations", "best", "returns", "before", "start"):
            raise InputError(f"history has an unknown key {short(key)}")
    for entry in listed("losses", table.get("losses"), "[step, loss]"):
        pair = listed("losses", entry, "[step, loss]")
        if len(pair) != 2:
            raise InputError(f"losses has {short(entry)}, which must be [step, loss]")
        whole("losses", pair[0], 0, MAX_STEPS)
        finite("losses", pair[1])
    found = listed("validations", table.get("validations"), "tables")
    best = [] if table.get("best") is None else [table["best"]]
    for entry in (*found, *best):
        _check_validation(entry)
    for entry in listed("returns", table.get("returns", []), "tables"):
        for key, value in _table("returns", entry).items():
            whole(f"returns {short(key)}", value, 0, MAX_STEPS)
    _check_scores("before", table.get("before", {}))
    if "start" in table:
        _table("start", table["start"])


def read_part(path: Path, wanted: Mapping[str, tuple[int, ...]], told: str) -> dict[str, Tensor]:
    """The tensors of one of a checkpoint's files, which must have these names and shapes. told: its SHA-256."""
    with tensors.open_tensors(path) as file:
        file.check({name: tensors.Tensor("F32", shape) for name, shape in wanted.items()})
        found = file.read()
        if file.sha256 != told:
            raise InputError("is damaged, or not the file that state.json is about: its checksum differs")
    return {name: torch.from_numpy(array) for name, array in found.items()}


def shapes_of_networks(network: nn.Module) -> dict[str, tuple[int, ...]]:
    """The tensors of a network and of its average."""
    own = {name: tuple(value.shape) for name, value in network.state_dict().items()}
    return {f"{part}.{name}": shape for part in ("network", "average") for name, shape in own.items()}


def shapes_of_moments(optimiser: torch.optim.Optimizer, step: int) -> dict[str, tuple[int, ...]]:
    """The tensors of an optimiser after so many steps: none before the first."""
    parameters = [parameter for group in optimiser.param_groups for parameter in group["params"]]
    return {
        f"{number}.{key}": () if key == "step" else tuple(parameter.shape)
        for number, parameter in enumerate(parameters)
        for key in MOMENTS
        if step
    }


def _sum(contents: Mapping[str, Any]) -> str:
    """A SHA-256 of plain data, whatever the order of keys and the spaces between them."""
    text = json.dumps(contents, sort_keys=True, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _check_files(found: dict[str, Any]) -> None:
    files, sums = _table("files", found["files"]), _table("sums", found["sums"])
    if files.keys() != {"network", "optimiser"} or sums.keys() != files.keys():
        raise InputError("files and sums must be of network and optimiser")
    for name in files.values():
        if not isinstance(name, str) or not NAMES.fullmatch(name):
            raise InputError(f"files has {short(name)}, which is no name of a checkpoint's file")


def _check_validation(entry: object) -> None:
    table = _table("validations", entry)
    for key, value in table.items():
        if key == "step":
            whole(key, value, 0, MAX_STEPS)
        elif isinstance(value, dict):
            _check_scores(short(key), value)
        else:
            finite(short(key), value)
    if "step" not in table:
        raise InputError("validations has an entry without its step")


def _check_scores(name: str, value: object) -> None:
    for key, score in _table(name, value).items():
        finite(f"{name} {short(key)}", score)


def _table(name: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{name} = {short(value)} must be an object")
    return value
