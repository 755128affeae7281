"""Weights files: safetensors with the network's description, and a JSON file beside them that has their checksum.

Reading one runs nothing.
"""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import nn

from mc2.correction.inputs import Inputs
from mc2.correction.networks import make_network
from mc2.errors import InputError
from mc2.files import replacing

FORMAT = "mc2-weights-1"


def write_weights(path: Path, network: nn.Module, description: dict[str, Any], inputs: Inputs, grid: int) -> str:
    """Write the parameters in half precision, which is enough for them. Returns the file's SHA-256."""
    about = {"format": FORMAT, "network": description, "inputs": asdict(inputs), "grid": grid}
    tensors = {name: value.detach().half().contiguous().cpu() for name, value in network.state_dict().items()}
    with replacing(path) as temporary:
        temporary.write_bytes(save(tensors, {"mc2": json.dumps(about)}))
        return sha256(temporary)


def read_weights(path: Path) -> tuple[nn.Module, Inputs, int]:
    """The network, its inputs, and the size of the grid it was trained on. A JSON file beside it must agree."""
    _check_sum(path)
    try:
        with safe_open(path, "pt") as file:
            about = json.loads((file.metadata() or {}).get("mc2", "{}"))
            tensors = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise InputError(f"it says nothing of {FORMAT}")
        inputs = Inputs(**about["inputs"])
        network = make_network(about["network"], inputs.size)
        network.load_state_dict(tensors)
        return network.eval(), inputs, int(about["grid"])
    except FileNotFoundError:
        raise InputError(f"there is no weights file {path}") from None
    except (OSError, SafetensorError, ValueError, TypeError, KeyError, RuntimeError) as error:
        line = " ".join(str(error).split())[:200]
        raise InputError(f"{path} is not a weights file that this version reads: {line}") from None


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
