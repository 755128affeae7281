"""Networks by the names that configurations and weights files use."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from mc2.errors import InputError, one_line, short, unknown
from mc2.networks.fno import FNO
from mc2.networks.noise_unet import NoiseUNet
from mc2.networks.own import OWN, check_option, unknown_code
from mc2.networks.sunet import SUNet
from mc2.networks.unet import UNet

ARCHITECTURES: dict[str, Callable[..., nn.Module]] = {
    "sunet": SUNet,
    "unet": UNet,
    "fno": FNO,
    "noise-unet": NoiseUNet,
}


LARGEST = {
    "patch": 32, "embedding": 2048, "depths": 64, "heads": 256, "head": 2048, "window": 32, "mlp": 16, "drop_path": 0.9,
    "widths": 2048, "blocks": 64, "width": 2048, "modes": 256, "layers": 64, "padding": 1.0,
}  # fmt: skip
"""Largest values of what a network is described by: generous for images of some hundred pixels."""
MAX_LEVELS = 8
"""Entries of `depths` or `widths`: stages, each of half the resolution of the one before."""
MAX_MULTIPLE = 1024
"""Pixels of which the sides of images must be a multiple, to which smaller ones are padded."""
MAX_BYTES = 1 << 30
"""Most bytes of a network's parameters and tables in memory: 268 million parameters. The paper's SUNet has 99."""


def make_network(description: Mapping[str, Any], channels: int) -> nn.Module:
    """A new network.

    description: its `architecture`, and whatever its class takes.
    channels: of its input.
    """
    plan_network(description, channels)
    return _make(description, channels)


def plan_network(description: Mapping[str, Any], channels: int) -> dict[str, tuple[int, ...]]:
    """The names and shapes of a network's parameters, without the memory for them; too large a network is refused."""
    _check_description(description)
    with torch.device("meta"):
        network = _make(description, channels)
    if not 1 <= int(network.multiple) <= MAX_MULTIPLE:  # type: ignore[arg-type]
        raise InputError(f"the network needs images of a multiple of {network.multiple} pixels: at most {MAX_MULTIPLE}")
    size = sum(part.numel() * part.element_size() for part in (*network.parameters(), *network.buffers()))
    if size > MAX_BYTES:
        raise InputError(
            f"the network has {size:,} bytes, more than {MAX_BYTES:,}: make it smaller, or raise "
            "mc2.networks.architectures.MAX_BYTES"
        )
    return {name: tuple(value.shape) for name, value in network.state_dict().items()}


def _make(description: Mapping[str, Any], channels: int) -> nn.Module:
    options = {key: value for key, value in description.items() if key != "architecture"}
    name = description["architecture"]
    if name in ARCHITECTURES:
        return ARCHITECTURES[name](channels, **options)
    try:
        network = OWN[name](channels, **options)
    except Exception as error:  # whatever somebody's class does
        raise InputError(f"{name} cannot be made with these options: {one_line(error)}") from error
    if not hasattr(network, "multiple"):
        network.multiple = 1  # type: ignore[assignment]
    return network


def _check_description(description: Mapping[str, Any]) -> None:
    name = description.get("architecture")
    if isinstance(name, str) and ":" in name:
        if name not in OWN:
            raise unknown_code(name)
    elif not isinstance(name, str) or name not in ARCHITECTURES:
        raise unknown("architecture", name, ARCHITECTURES)
    known = inspect.signature(OWN.get(name) or ARCHITECTURES[name]).parameters
    for key, value in description.items():
        if key == "architecture":
            continue
        if key not in known or key == "channels":
            raise unknown(f"option of {name}", key, [other for other in known if other != "channels"])
        if name in OWN:
            check_option(key, value)
        else:
            _check(key, value, known[key].default)


def _check(key: str, value: object, usual: object) -> None:
    """Refuse a value of another kind than the usual one, below 1 where counts are meant, or beyond its limit."""
    if isinstance(usual, bool):
        if not isinstance(value, bool):
            raise InputError(f"{key} = {short(value)} must be true or false")
        return
    several = not isinstance(usual, int | float)
    entries = value if isinstance(value, list | tuple) else [value]
    kinds = (int, float) if isinstance(usual, float) else (int,)
    low = 0 if isinstance(usual, float) or usual == 0 else 1
    fine = isinstance(value, list | tuple) == several and 0 < len(entries) <= MAX_LEVELS
    if not fine or any(
        isinstance(v, bool) or not isinstance(v, kinds) or not low <= v <= LARGEST[key] for v in entries
    ):
        single = "an integer" if kinds == (int,) else "a number"
        wanted = f"a list of at most {MAX_LEVELS} integers, each" if several else single
        raise InputError(f"{key} = {short(value)} must be {wanted} from {low} to {LARGEST[key]:g}")


def count_parameters(network: nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())
