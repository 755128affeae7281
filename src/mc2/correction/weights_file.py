"""Weights files: safetensors with the network's description, and a JSON file beside them that has their checksum.

Reading one runs nothing.
"""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import nn

from mc2.correction.inputs import Inputs
from mc2.errors import InputError
from mc2.files import write_bytes
from mc2.networks.registry import make_network

FORMAT = "mc2-weights-1"


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
    return save(tensors, {"mc2": json.dumps(about)})


def read_weights(path: Path, kind: type[AnyKind] = Inputs) -> tuple[nn.Module, AnyKind, int]:  # type: ignore[assignment]
    """The network, its inputs, and the size of the grid it was trained on. A JSON file beside it must agree.

    kind: of inputs, which tells the task that the network must have been trained for.
    """
    _check_sum(path)
    try:
        with safe_open(path, "pt") as file:
            about = _about(file)
            tensors = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118
        if _task(about) != kind.task:
            raise InputError(f"its network was trained for the task {_task(about)!r}, not {kind.task!r}")
        inputs = kind(**about["inputs"])
        network = make_network(about["network"], inputs.size)
        network.load_state_dict(tensors)
        return network.eval(), inputs, int(about["grid"])
    except FileNotFoundError:
        raise InputError(f"there is no weights file {path}") from None
    except (OSError, SafetensorError, ValueError, TypeError, KeyError, RuntimeError) as error:
        line = " ".join(str(error).split())[:200]
        raise InputError(f"{path} is not a weights file that this version reads: {line}") from None


def task_of(path: Path) -> str:
    """What the network in a file was trained for."""
    try:
        with safe_open(path, "pt") as file:
            return _task(_about(file))
    except (OSError, SafetensorError, ValueError):
        return Inputs.task  # whoever reads the file as one of those will say what is wrong with it


def _about(file: Any) -> dict[str, Any]:
    about = json.loads((file.metadata() or {}).get("mc2", "{}"))
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise InputError(f"it says nothing of {FORMAT}")
    return about


def _task(about: dict[str, Any]) -> str:
    return str(about.get("task", Inputs.task))


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_sum(path: Path) -> None:
    """Refuse a file that is not the one that its log is about."""
    beside = path.with_suffix(".json")
    if not path.is_file() or not beside.is_file():
        return
    try:
        expected = json.loads(beside.read_text("utf-8"))["sha256"]
    except (OSError, ValueError, TypeError, KeyError):
        raise InputError(f"{beside} has no checksum of {path.name}: restore it, or remove it") from None
    if sha256(path) != expected:
        raise InputError(f"{path} is damaged, or not the file that {beside.name} is about: its checksum differs")


def on_device(network: nn.Module, device: torch.device) -> nn.Module:
    """Moved there, in the memory layout that convolutions like best."""
    return network.to(device=device, memory_format=torch.channels_last)  # type: ignore[call-overload]
