"""Networks of your own: a class of yours by the name `module:Class`, once you have said that its code may run.

No file makes that happen. A configuration or a weights file with a class that nobody has named before is refused, since
to import a module is to run it.
"""

import inspect
import re
from collections.abc import Callable
from importlib import import_module

from torch import nn

from mc2.errors import InputError, one_line, short

NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
"""What names of classes in modules look like."""
MAX_NUMBER = 1 << 16
"""Largest number that a network of one's own is described by."""
OWN: dict[str, Callable[..., nn.Module]] = {}
"""Classes that may be used, by their names."""


def use_network(name: str) -> Callable[..., nn.Module]:
    """Import a class of networks, and let configurations and weights files name it, in this process.

    name: `module:Class`. A network is made by Class(channels, **options), with what else [network] says in the
        configuration, and maps [n, channels, h, w] to [n, 1, h, w]. Its `multiple` says of how many pixels the sides of
        images must be a multiple; 1 if it has none.
    """
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise InputError(f"network = {short(name)} must be written as module:Class, such as my_networks:MyNet")
    module, attribute = name.split(":")
    try:
        found = getattr(import_module(module), attribute, None)
    except Exception as error:  # whatever somebody's module does
        raise InputError(f"{name} cannot be imported: {one_line(error)}") from error
    if not (isinstance(found, type) and issubclass(found, nn.Module)):
        raise InputError(f"{name} is no class of torch.nn.Module")
    if "channels" not in inspect.signature(found).parameters:
        raise InputError(f"{name} must take channels, the number of its input's, as its first argument")
    OWN[name] = found
    return found


def check_option(key: str, value: object) -> None:
    """Refuse options of a network of one's own that are no plain data."""
    for entry in value if isinstance(value, list | tuple) else [value]:
        number = isinstance(entry, int | float) and abs(entry) <= MAX_NUMBER
        if not number and not (isinstance(entry, str) and len(entry) <= 80):
            raise InputError(f"{key} = {short(value)} must be made of numbers up to {MAX_NUMBER:,}, or short texts")


def unknown_code(name: str) -> InputError:
    """The refusal of a class that nobody has named yet."""
    return InputError(
        f"architecture = {short(name)} is code from outside the package, which no file can have run: if it is yours, "
        f"name it with --code {name}, or with mc2.networks.own.use_network({name!r})"
    )
