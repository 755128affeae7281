"""Checkpoints: all that a run needs to go on as if it had never stopped, in files that run nothing when read.

state.json                            step, seconds, history, and the names of the two below; written last
network-STEP.safetensors              weights (network.…) and their average (average.…)
optimiser-STEP.safetensors            moments of AdamW
state.journal                         while a checkpoint is written: the names of its files and of those it replaces
NAME.safetensors, NAME.json           the best average so far, ready for use, and the log; made after the checkpoint

The journal tells which files to remove after a kill: nothing else is, whatever its name.
"""

import json
import os
import re
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor, nn

from mc2.errors import InputError, short
from mc2.files import remove, write_bytes, write_json
from mc2.training.config import FIXED, Config, config_from_data

STATE, JOURNAL = "state.json", "state.journal"
PARTS = ("network", "optimiser")
OURS = re.compile(r"(network|optimiser)-\d+(-\d+)?\.safetensors")
"""Names that files of a checkpoint have."""


@dataclass
class State:
    """A run at some moment.

    average: the network with averaged weights. step, seconds: done so far. recent: losses since the last entry of
    history["losses"]. history: `losses`, [step, mean loss]; `validations`; `best`, one of them; `before`, its like
    without the network; `returns`, the steps at which losses leapt, and of the checkpoints that the run went back to;
    `start`, the log of the run whose weights it began with, if there is one beside them.
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
    try:
        found = json.loads(path.read_text("utf-8"))
        names = found["files"].values() if isinstance(found, dict) else found
        return [name for name in names if isinstance(name, str) and OURS.fullmatch(name)]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
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
    _save(folder / names["network"], tensors)
    moments = state.optimiser.state_dict()["state"]
    _save(folder / names["optimiser"], {f"{n}.{key}": v for n, entry in moments.items() for key, v in entry.items()})
    contents = {
        "step": state.step,
        "seconds": state.seconds,
        "recent": state.recent,
        "history": state.history,
        "config": config.data,
        "files": names,
    }
    write_json(folder / STATE, contents)


def load_state(folder: Path, state: State, config: Config) -> bool:
    """Take up the checkpoint in a folder, if there is one."""
    path = folder / STATE
    if not path.is_file():
        return False
    try:
        found = json.loads(path.read_text("utf-8"))
        _check_same(folder, found["config"], config)
        tensors, moments = (load_file(folder / found["files"][part]) for part in PARTS)
        for part, module in (("network", state.network), ("average", state.average)):
            own = {name.removeprefix(f"{part}."): v for name, v in tensors.items() if name.startswith(f"{part}.")}
            module.load_state_dict(own)
        _load_moments(state.optimiser, moments)
        state.step, state.seconds = int(found["step"]), float(found["seconds"])
        state.recent, state.history = list(found["recent"]), {"returns": []} | found["history"]
    except InputError:
        raise
    except (OSError, SafetensorError, ValueError, TypeError, KeyError, RuntimeError, AttributeError) as error:
        line = " ".join(str(error).split())[:200]
        raise InputError(f"{folder} has no checkpoint that can be read ({line}): begin anew with --no-resume") from None
    return True


def _save(path: Path, tensors: dict[str, Tensor]) -> None:
    write_bytes(path, save({name: value.detach().contiguous().cpu() for name, value in tensors.items()}))


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
    then, now = (json.loads(json.dumps(own.data)) for own in (config_from_data(before), config))
    for key in FIXED:
        if then[key] != now[key]:
            raise InputError(
                f"{folder} holds a run with {key} = {short(then[key])}, not {short(now[key])}: choose another "
                "--out, or begin anew with --no-resume"
            )
