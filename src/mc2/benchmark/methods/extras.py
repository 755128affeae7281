"""Packages that only some baselines need: imported when they are used, with a helpful word when they are missing."""

from importlib import import_module
from typing import Any

from mc2.errors import InputError


def load_extra(module: str, package: str, method: str) -> Any:
    """The module. package: the name that pip knows it by. method: which one asks."""
    try:
        return import_module(module)
    except ImportError:
        raise InputError(f"method {method} needs {package}: pip install 'mc2-pde[baselines]'") from None
