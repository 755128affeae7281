"""Checkpoints: all that a run needs to go on as if it had never stopped, in files that run nothing when read.

state.json                            step, seconds, history, names and checksums of the two below; written last
network-STEP.safetensors              weights (network.…) and their average (average.…)
optimiser-STEP.safetensors            moments of AdamW
state.journal                         while a checkpoint is written: the names of its files and of those it replaces
NAME.safetensors, NAME.json           the best average so far, ready for use, and the log; made after the checkpoint

The journal tells which files to remove after a kill: nothing else is, whatever its name.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor, nn

from mc2.errors import InputError, short
from mc2.files import remove, write_bytes, write_json
from mc2.reading.json import MAX_LOG_BYTES, read_json
from mc2.training.config import FIXED, Config, config_from_data
from mc2.training.resume import NAMES, read_part, read_state, seal, shapes_of_moments, shapes_of_networks

STATE, JOURNAL = "state.json", "state.journal"
PARTS = ("network", "optimiser")


@dataclass
class State:
    """A run at some moment.

    average: the network with averaged weights.
    step, seconds: done so far.
    recent: losses since the last entry of history["losses"].
    history: `losses`, [step, mean loss]; `validations`; `best`, one of them; `before`, its like without the network;
        `returns`, the steps at which losses leapt, and of the checkpoints that the run went back to; `start`, the log
        of the run whose weights it began with, if there is one beside them.
    """

    network: nn.Module
    average: nn.Module
    optimiser: torch.optim.Optimizer
    step: int = 0
    seconds: float = 0.0
    recent: list[float] = field(default_factory=list)
    history: dict[str, Any] = field(
        default_factory=lambda: {"losses": [], "validations": [], "best": None, "returns": []}
    )


def save_state(folder: Path, state: State, config: Config) -> None:
    """Write a checkpoint, and remove the one before it once this is on the disk: at any moment one of them is whole."""
    before = tidy(folder)
    names = _new_names(folder, state.step)
    try:
        write_json(folder / JOURNAL, [*before, *names.values()])
        _write(folder, state, config, names)
    except BaseException:
        with suppress(InputError):  # the first one says more
            tidy(folder)
        raise
    tidy(folder)


def tidy(folder: Path) -> list[str]:
    """Remove what the journal names and state.json does not, then the journal. Returns what state.json names."""
    current, journal = _named(folder / STATE), folder / JOURNAL
    if current is None or not journal.exists():  # a state that cannot be read may name anything
        return current or []
    for name in _named(journal) or []:
        if name not in current:
            remove(folder / name)
    remove(journal)
    return current


def _named(path: Path) -> list[str] | None:
    """The files that a journal or a state is about: none that lie elsewhere, or could not be those of a checkpoint."""
    if not os.path.lexists(path):
        return []
    try:
        found = read_json(path, "list of files", MAX_LOG_BYTES)
        names = found["files"].values() if isinstance(found, dict) else found
        return [name for name in names if isinstance(name, str) and NAMES.fullmatch(name)]
    except (InputError, TypeError, KeyError, AttributeError):
        return None


def _new_names(folder: Path, step: int) -> dict[str, str]:
    """Names for the files of a checkpoint that nothing has: neither the checkpoint before it nor anybody else's."""
    for number in count():
        end = f"-{number}" if number else ""
        names = {part: f"{part}-{step}{end}.safetensors" for part in PARTS}
        if not any(os.path.lexists(folder / name) for name in names.values()):
            break
    return names


def _write(folder: Path, state: State, config: Config, names: dict[str, str]) -> None:
    parts = (("network", state.network), ("average", state.average))
    tensors = {f"{part}.{name}": value for part, module in parts for name, value in module.state_dict().items()}
    entries = state.optimiser.state_dict()["state"]
    moments = {f"{n}.{key}": value for n, entry in entries.items() for key, value in entry.items()}
    contents = {
        "step": state.step,
        "seconds": state.seconds,
        "recent": state.recent,
        "history": state.history,
        "config": config.data,
        "files": names,
        "sums": {
            "network": _save(folder / names["network"], tensors),
            "optimiser": _save(folder / names["optimiser"], moments),
        },
    }
    write_json(folder / STATE, seal(contents))


def load_state(folder: Path, state: State, config: Config) -> bool:
    """Take up the checkpoint in a folder, if there is one."""
    path = folder / STATE
    if not os.path.lexists(path):
        return False
    with _unreadable(folder):
        found = read_state(path)
    _check_same(folder, found["config"], config)
    with _unreadable(folder):
        names, sums = found["files"], found["sums"]
        tensors = read_part(folder / names["network"], shapes_of_networks(state.network), sums["network"])
        shapes = shapes_of_moments(state.optimiser, found["step"])
        moments = read_part(folder / names["optimiser"], shapes, sums["optimiser"])
    for part, module in (("network", state.network), ("average", state.average)):
        own = {name.removeprefix(f"{part}."): v for name, v in tensors.items() if name.startswith(f"{part}.")}
        module.load_state_dict(own)
    _load_moments(state.optimiser, moments)
    state.step, state.seconds = found["step"], float(found["seconds"])
    state.recent, state.history = list(found["recent"]), {"returns": [], **found["history"]}
    return True


@contextmanager
def _unreadable(folder: Path) -> Iterator[None]:
    """What is refused in this block is said of a folder's checkpoint, with the way out."""
    try:
        yield
    except InputError as error:
        raise InputError(
            f"{folder} has no checkpoint that can be read ({error}): begin anew with --no-resume"
        ) from None


def _save(path: Path, tensors: dict[str, Tensor]) -> str:
    """Write a file of tensors; returns its SHA-256."""
    content = save({name: value.detach().contiguous().cpu() for name, value in tensors.items()})
    write_bytes(path, content)
    return hashlib.sha256(content).hexdigest()


def _load_moments(optimiser: torch.optim.Optimizer, moments: dict[str, Tensor]) -> None:
    entries: dict[int, dict[str, Tensor]] = {}
    for name, value in moments.items():
        number, key = name.split(".")
        entries.setdefault(int(number), {})[key] = value
    optimiser.load_state_dict({"state": entries, "param_groups": optimiser.state_dict()["param_groups"]})
    for parameter, entry in optimiser.state.items():
        for key, value in entry.items():
            if value.shape == parameter.shape:  # in the memory layout of the parameter
                entry[key] = torch.empty_like(parameter, requires_grad=False).copy_(value)


def _check_same(folder: Path, before: dict[str, Any], config: Config) -> None:
    """Refuse to go on with another run's weights. How long a run is, and how it is looked at, may change."""
    # keys that an earlier version did not have get their usual values
    with _unreadable(folder):
        earlier = config_from_data(before)
    then, now = (json.loads(json.dumps(own.data)) for own in (earlier, config))
    for key in FIXED:
        if then[key] != now[key]:
            raise InputError(
                f"{folder} holds a run with {key} = {short(then[key])}, not {short(now[key])}: choose another "
                "--out, or begin anew with --no-resume"
            )
