"""The manifest: SHA-256 of every split's first records, by which anyone can see that they have the same zoo."""

import hashlib
import json
from collections.abc import Callable, Iterable
from importlib.resources import files
from typing import Any

from mc2.zoo.instance import VERSION, Instance, generate
from mc2.zoo.laws import SPLITS
from mc2.zoo.records import to_line

COUNT = 10_000
"""Records per split that the manifest is about; all of them where there are fewer."""


def digest(instances: Iterable[Instance]) -> str:
    """SHA-256 of the records, one line each."""
    total = hashlib.sha256()
    for instance in instances:
        total.update(to_line(instance).encode() + b"\n")
    return total.hexdigest()


def make_manifest(version: str = VERSION, count: int = COUNT, report: Callable[[str], None] | None = None) -> Any:
    """The manifest of a generator version, computed here and now (about 10 seconds)."""
    splits = {}
    for split, size in SPLITS.items():
        if report:
            report(split)
        taken = min(size, count)
        splits[split] = {
            "size": size,
            "count": taken,
            "sha256": digest(generate(split, n, version) for n in range(taken)),
        }
    return {"generator_version": version, "splits": splits}


def shipped_manifest() -> Any:
    """The manifest that comes with the package."""
    return json.loads(files("mc2.zoo").joinpath("manifest.json").read_text("utf-8"))
