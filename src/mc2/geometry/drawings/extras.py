"""Libraries that only some readers need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from mc2.errors import InputError


def needed(module: str, purpose: str) -> Any:
    """A library that is imported when it is first used. purpose: what for, for the message if it is missing."""
    try:
        return import_module(module)
    except ImportError:
        name = {"PIL": "pillow"}.get(module.partition(".")[0], module.partition(".")[0])
        raise InputError(f"{name} is needed {purpose}: pip install 'mc2-pde[drawings]'") from None
