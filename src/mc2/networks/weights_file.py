"""Weights files: safetensors with the network's description and a checksum of both, and beside them a log in JSON.

A file can be from a stranger. Its description and its header are checked against each other before a network is made,
and the checksum before it is given out. Reading one runs nothing.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, ClassVar, NotRequired, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save
from torch import nn
from typing_extensions import TypedDict

from mc2.errors import InputError, short
from mc2.files import write_bytes
from mc2.networks.architectures import make_network, plan_network
from mc2.networks.corrector_inputs import Inputs
from mc2.reading.json import MAX_LOG_BYTES, parse_json, read_object
from mc2.reading.models import between, one_of, read_as
from mc2.reading.plain import saying
from mc2.reading.tensors import Tensor, Tensors, open_tensors

FORMAT = "mc2-weights-2"
EARLIER = "mc2-weights-1"
"""The format of earlier files, without a checksum: read only where the log beside them has one."""
MAX_GRID = 4096
"""Pixels along a side of the images that a network was trained on: so many are corrected at once."""


class Description(TypedDict):
    """What a file says of its network."""

    format: Annotated[str, one_of(FORMAT, EARLIER)]
    network: dict[str, Any]
    inputs: dict[str, Any]
    grid: Annotated[int, between(1, MAX_GRID)]
    task: NotRequired[str]
    sha256: NotRequired[str]


class Kind(Protocol):
    """What a network is given: a dataclass for every task that networks are trained for.

    task: its name. size: channels of the network's input.
    """

    task: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def size(self) -> int: ...


AnyKind = TypeVar("AnyKind", bound=Kind)


def write_weights(path: Path, network: nn.Module, description: dict[str, Any], inputs: Kind, grid: int) -> str:
    """Write a weights file, whole or not at all. Returns its SHA-256."""
    content = pack_weights(network, description, inputs, grid)
    write_bytes(path, content)
    return hashlib.sha256(content).hexdigest()


def pack_weights(network: nn.Module, description: dict[str, Any], inputs: Kind, grid: int) -> bytes:
    """The contents of a weights file: the parameters in half precision, which is enough for them."""
    about = {"format": FORMAT, "network": description, "inputs": asdict(inputs), "grid": grid}
    if inputs.task != Inputs.task:
        about["task"] = inputs.task
    tensors = {name: value.detach().half().contiguous().cpu() for name, value in network.state_dict().items()}
    arrays = {name: value.numpy() for name, value in tensors.items()}
    about["sha256"] = fingerprint(about, arrays)
    return save(tensors, {"mc2": json.dumps(about)})  # one text: safetensors writes several in any order


def fingerprint(about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """A SHA-256 of a description and of tensors with their names, types and shapes, in hexadecimal digits."""
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    for name in sorted(arrays):
        digest.update(f"\n{name} {arrays[name].dtype} {arrays[name].shape}\n".encode())
        digest.update(np.ascontiguousarray(arrays[name]).data)
    return digest.hexdigest()


def read_weights(path: Path, kind: type[AnyKind] = Inputs) -> tuple[nn.Module, AnyKind, int]:  # type: ignore[assignment]
    """The network, its inputs, and the size of the grid it was trained on. A JSON file beside it must agree.

    kind: of inputs, which tells the task that the network must have been trained for.
    """
    if not path.exists():
        raise InputError(f"there is no weights file {path}")
    promised = _promised(path)
    with open_tensors(path) as file:
        with saying("is not a weights file that this version reads"):
            about = _about(file)
            inputs, grid = _inputs(about, kind), about["grid"]
            wanted = plan_network(about["network"], inputs.size)
            file.check({name: Tensor("F16", shape) for name, shape in wanted.items()})
            arrays = file.read()
        _check_sums(file, arrays, about, promised, path)
        network = make_network(about["network"], inputs.size)
        network.load_state_dict({name: torch.from_numpy(array).float() for name, array in arrays.items()})
        return network.eval(), inputs, grid


def task_of(path: Path) -> str:
    """What the network in a file was trained for."""
    try:
        with open_tensors(path) as file:
            return _task(_about(file))
    except InputError:
        return Inputs.task  # whoever reads the file as one of those will say what is wrong with it


def _about(file: Tensors) -> Description:
    """What a file says of its network, if it is one of ours."""
    if file.metadata.keys() != {"mc2"}:
        raise InputError(f"it says nothing of {FORMAT}")
    about = read_as(Description, parse_json(file.metadata["mc2"]))
    if (about["format"] == FORMAT) != ("sha256" in about):
        raise InputError(f"it must have a sha256 if its format is {FORMAT}, and only then")
    return about


def _inputs(about: Description, kind: type[AnyKind]) -> AnyKind:
    if _task(about) != kind.task:
        raise InputError(f"its network was trained for the task {short(_task(about))}, not {kind.task!r}")
    with saying("inputs"):
        return read_as(kind, about["inputs"])


def _task(about: Description) -> str:
    return about.get("task", Inputs.task)


def _promised(path: Path) -> str | None:
    """The file's checksum in the log beside it, if there is one."""
    beside = path.with_suffix(".json")
    if not beside.exists():
        return None
    try:
        found = read_object(beside, "log of a network", MAX_LOG_BYTES).get("sha256")
    except InputError:
        found = None
    if not isinstance(found, str):
        raise InputError(f"{beside} has no checksum of {path.name}: restore it, or remove it")
    return found


def _check_sums(
    file: Tensors, arrays: Mapping[str, NDArray[Any]], about: Description, promised: str | None, path: Path
) -> None:
    """Refuse a file that is not the one that was written, or not the one that its log is about."""
    beside = path.with_suffix(".json").name
    if promised is not None and file.sha256 != promised:
        raise InputError(f"is damaged, or not the file that {beside} is about: its checksum differs")
    told = about.pop("sha256", None)
    if about["format"] == FORMAT and told != fingerprint(about, arrays):
        raise InputError("is damaged: its checksum differs")
    if about["format"] == EARLIER and promised is None:
        raise InputError(f"is of an earlier version, which wrote no checksum into it: put its log, {beside}, beside it")


def on_device(network: nn.Module, device: torch.device) -> nn.Module:
    """Moved there, in the memory layout that convolutions like best."""
    return network.to(device=device, memory_format=torch.channels_last)  # type: ignore[call-overload]
