"""What a checkpoint's files may hold: they decide how a run goes on, and might be damaged or a stranger's.

A checkpoint is `state.json`, which has a checksum of itself and of the two files of tensors that it names.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NotRequired

import torch
from pydantic import FailFast
from torch import Tensor, nn
from typing_extensions import TypedDict

from mc2.errors import InputError
from mc2.reading import tensors
from mc2.reading.json import MAX_LOG_BYTES, read_object
from mc2.reading.models import Number, Rule, at_most, between, read_as
from mc2.reading.plain import naming

NAMES = re.compile(r"(network|optimiser)-\d{1,18}(-\d{1,9})?\.safetensors")
"""What the files of a checkpoint are called."""
MAX_STEPS = 1 << 50
MAX_RECENT = 1000
"""Losses that wait to be entered in the history, which happens every 50 steps."""
MOMENTS = ("step", "exp_avg", "exp_avg_sq")
"""What AdamW keeps of every parameter."""


def _is_step(value: object) -> bool:
    return type(value) is int and 0 <= value <= MAX_STEPS


Step = Annotated[int, between(0, MAX_STEPS)]
Scores = dict[str, Number]
Loss = Annotated[list[Number], FailFast(), Rule(lambda pair: len(pair) == 2 and _is_step(pair[0]), "[step, loss]")]
Validation = Annotated[
    dict[str, Number | Scores], Rule(lambda table: _is_step(table.get("step")), "scores with their step")
]
PartName = Annotated[str, Rule(lambda name: bool(NAMES.fullmatch(name)), "a name of a checkpoint's file")]


class History(TypedDict):
    """What the loop has noted; see `checkpoints.State`."""

    losses: Annotated[list[Loss], FailFast()]
    validations: Annotated[list[Validation], FailFast()]
    best: NotRequired[Validation | None]
    returns: NotRequired[Annotated[list[dict[str, Step]], FailFast()]]
    before: NotRequired[Scores]
    start: NotRequired[dict[str, Any]]


class PartNames(TypedDict):
    """Where the two parts of a checkpoint are."""

    network: PartName
    optimiser: PartName


class Sums(TypedDict):
    """Their SHA-256."""

    network: str
    optimiser: str


class StateFile(TypedDict):
    """What `state.json` holds, besides its own checksum."""

    step: Step
    seconds: Annotated[Number, between(0, 1e12)]
    recent: Annotated[list[Number], FailFast(), at_most(MAX_RECENT)]
    history: History
    config: dict[str, Any]
    files: PartNames
    sums: Sums


def seal(contents: Mapping[str, Any]) -> dict[str, Any]:
    """Plain data with their own checksum, which `read_state` compares."""
    return {**contents, "sha256": _sum(contents)}


def read_state(path: Path) -> StateFile:
    """The contents of a `state.json`, checked for damage, types and ranges."""
    with naming(path):
        found = read_object(path, "state of a run", MAX_LOG_BYTES)
        told = found.pop("sha256", None)
        if told is None:
            raise InputError("has no checksum: an earlier version wrote it, and can go on with it")
        if told != _sum(found):
            raise InputError("is damaged: its checksum differs")
        return read_as(StateFile, found)


def read_part(path: Path, wanted: Mapping[str, tuple[int, ...]], told: str) -> dict[str, Tensor]:
    """The tensors of one of a checkpoint's files, which must have these names and shapes.

    told: its SHA-256.
    """
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
