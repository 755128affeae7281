"""Networks by the names that configurations and weights files use."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from torch import nn

from mc2.errors import InputError, short, unknown
from mc2.networks.fno import FNO
from mc2.networks.noise_unet import NoiseUNet
from mc2.networks.sunet import SUNet
from mc2.networks.unet import UNet

ARCHITECTURES: dict[str, Callable[..., nn.Module]] = {
    "sunet": SUNet,
    "unet": UNet,
    "fno": FNO,
    "noise-unet": NoiseUNet,
}


def make_network(description: Mapping[str, Any], channels: int) -> nn.Module:
    """A new network. description: its `architecture`, and whatever its class takes. channels: of its input."""
    options = dict(description)
    name = options.pop("architecture", None)
    if name not in ARCHITECTURES:
        raise unknown("architecture", name, ARCHITECTURES)
    known = inspect.signature(ARCHITECTURES[name]).parameters
    for key, value in options.items():
        if key not in known or key == "channels":
            raise unknown(f"option of {name}", key, [other for other in known if other != "channels"])
        _check(key, value, known[key].default)
    return ARCHITECTURES[name](channels, **options)


def _check(key: str, value: object, usual: object) -> None:
    """Refuse a value of another kind than the usual one, or below 1 where counts are meant."""
    if isinstance(usual, bool):
        if not isinstance(value, bool):
            raise InputError(f"{key} = {short(value)} must be true or false")
        return
    several = not isinstance(usual, int | float)
    entries = value if isinstance(value, list | tuple) else [value]
    kinds = (int, float) if isinstance(usual, float) else (int,)
    low = 0 if isinstance(usual, float) else 1
    fine = isinstance(value, list | tuple) == several and len(entries) > 0
    if not fine or any(isinstance(v, bool) or not isinstance(v, kinds) or v < low for v in entries):
        wanted = "a list of positive integers" if several else "a positive integer" if low else "a number of 0 or more"
        raise InputError(f"{key} = {short(value)} must be {wanted}")


def count_parameters(network: nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())
