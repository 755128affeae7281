"""Packages that only some parts need: imported when they are used, with a helpful word when they are missing."""

from importlib import import_module
from typing import Any

from mc2.errors import InputError


def load_extra(module: str, package: str, asks: str, extra: str = "baselines") -> Any:
    """The module of a package that may be missing.

    package: the name that pip knows it by.
    asks: what needs it.
    extra: of ours, which brings it.
    """
    try:
        return import_module(module)
    except ImportError:
        raise InputError(f"{asks} needs {package}: pip install 'mc2-pde[{extra}]'") from None
