"""Records: instances as lines of JSON (paper, appendix A.4). Reading one from a stranger runs no code."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mc2.errors import InputError, short, unknown
from mc2.files import check_target, replacing
from mc2.geometry import from_description
from mc2.geometry.checks import finite, whole
from mc2.problems import FAMILIES, GENERAL_ATOMS, HARMONIC_ATOMS, Atom, Atoms, AtomType
from mc2.zoo.difficulty import TIERS
from mc2.zoo.filters import FILTERS, examine
from mc2.zoo.instance import RETRIES, Instance
from mc2.zoo.laws import size_of

MAX_ATOMS = 64
"""Most atoms in a record; the zoo's own have up to six."""
MAX_REACH = 10.0
"""Largest coordinate of a domain in a record; the zoo's own reach 2."""
KEYS = (
    "id", "version", "split", "index", "kind", "lam", "k", "u", "domain", "terms", "atoms", "std_u", "std_f",
    "estimator", "rejected",
)  # fmt: skip
ADDED = ("tier", "mse_32")
"""What a record may have once its walks were made."""


def to_record(instance: Instance) -> dict[str, Any]:
    """An instance as plain data."""
    return {
        "id": instance.id,
        "version": instance.version,
        "split": instance.split,
        "index": instance.index,
        "kind": instance.family,
        "lam": instance.parameters.get("lam", 0.0),
        "k": instance.parameters.get("k", 0.0),
        "u": Atoms(instance.atoms).text,
        "domain": instance.domain.describe(),
        "terms": len(instance.atoms),
        "atoms": [{"type": atom.type.name, **atom.values} for atom in instance.atoms],
        "std_u": instance.std_u,
        "std_f": instance.std_f,
        "estimator": instance.estimator,
        "rejected": list(instance.rejected),
    }


def to_line(instance: Instance) -> str:
    """An instance as one line of JSON: the bytes that the manifest is about."""
    return json.dumps(to_record(instance), separators=(",", ":"))


def from_line(line: str) -> Instance:
    """Read one line of JSON."""
    try:
        data = json.loads(line, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise InputError(f"record {short(line)} is not JSON: {str(error).splitlines()[0][:80]}") from None
    return from_record(data)


def from_record(data: Any) -> Instance:
    """Read a record, and refuse one that contradicts itself or whose problem fails the filters."""
    if not isinstance(data, dict):
        raise InputError(f"a record must be a JSON object, not {short(data)}")
    try:
        with np.errstate(all="ignore"):  # what overflows is refused
            return _read(data)
    except InputError as error:
        raise InputError(f"record {short(data.get('id'))}: {error}") from None


def _read(data: dict[str, Any]) -> Instance:
    for key in data:
        if key not in KEYS and key not in ADDED:
            raise unknown("key", key, [*KEYS, *ADDED])
    for key in KEYS:
        if key not in data:
            raise InputError(f"lacks {key!r}")
    family, split = data["kind"], data["split"]
    if not isinstance(family, str) or family not in FAMILIES:
        raise unknown("kind", family, FAMILIES)
    size = size_of(split)
    parameters = {name: finite(name, data[name]) for name in FAMILIES[family].parameters}
    for name, (low, high) in FAMILIES[family].parameters.items():
        if not low <= parameters[name] <= high:
            raise InputError(f"{name} = {parameters[name]} must lie in [{low:g}, {high:g}]")
    pool = HARMONIC_ATOMS if family == "laplace" else GENERAL_ATOMS
    atoms = tuple(_read_atom(atom, pool) for atom in _list("atoms", data["atoms"], MAX_ATOMS))
    domain = from_description(data["domain"])
    if not max(map(abs, domain.bounds)) <= MAX_REACH:
        raise InputError(f"its domain reaches beyond {MAX_REACH}")
    rejected = _list("rejected", data["rejected"], RETRIES)
    for name in rejected:
        if name not in FILTERS:
            raise unknown("filter", name, FILTERS)
    failure = examine(FAMILIES[family].from_exact(domain, Atoms(atoms), **parameters)).failure
    if failure:
        raise InputError(f"its problem fails the filter {failure!r}")
    if data.get("tier", "easy") not in TIERS:
        raise unknown("tier", data["tier"], TIERS)
    index = whole("index", data["index"], 0, size - 1)
    std_u, std_f = finite("std_u", data["std_u"]), finite("std_f", data["std_f"])
    version = data["version"]
    if not isinstance(version, str):
        raise InputError(f"version = {short(version)} must be a text")
    found = Instance(split, index, family, parameters, domain, atoms, tuple(rejected), std_u, std_f, version)
    for key, value in to_record(found).items():
        if data[key] != value and key != "domain":  # a domain may leave out what has a default
            raise InputError(f"{key} = {short(data[key])} disagrees with the rest, which gives {short(value)}")
    return found


def _read_atom(data: Any, pool: dict[str, AtomType]) -> Atom:
    if not isinstance(data, dict) or "type" not in data:
        raise InputError(f'atom {short(data)} must be an object with a "type"')
    values = dict(data)
    name = values.pop("type")
    if not isinstance(name, str) or name not in pool:
        raise unknown("atom", name, pool)
    return pool[name](**values)


def _list(name: str, data: Any, limit: int) -> list[Any]:
    if not isinstance(data, list) or len(data) > limit:
        raise InputError(f"{name} = {short(data)} must be a list of at most {limit}")
    return data


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def write_records(instances: Iterable[Instance], path: str | Path) -> int:
    """Write a JSONL file, whole or not at all; returns the number of records."""
    path, count = Path(path), 0
    check_target(path, ".jsonl")
    with replacing(path) as file:
        for instance in instances:
            file.write(f"{to_line(instance)}\n".encode())
            count += 1
    return count


def read_records(path: str | Path) -> Iterator[Instance]:
    """The instances of a JSONL file, one after the other."""
    try:
        with Path(path).open(encoding="utf-8") as file:
            for row, line in enumerate(file, 1):
                try:
                    yield from_line(line)
                except InputError as error:
                    raise InputError(f"{path}, line {row}: {error}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
