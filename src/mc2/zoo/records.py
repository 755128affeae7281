"""Records: instances as lines of JSON (paper, appendix A.4). Reading one from a stranger runs no code."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Annotated, Any, NotRequired

import numpy as np
from typing_extensions import TypedDict

from mc2.checks import whole
from mc2.errors import InputError, short, unknown
from mc2.files import check_target, replacing
from mc2.functions import TermSum
from mc2.geometry import from_description
from mc2.problems import Problem
from mc2.reading.json import parse_json
from mc2.reading.models import Rule, at_least, at_most, one_of, read_as
from mc2.reading.plain import naming, open_plain, saying
from mc2.zoo import conditions, media
from mc2.zoo.atoms import Atom, AtomType
from mc2.zoo.difficulty import TIERS, tier
from mc2.zoo.filters import FILTERS, examine
from mc2.zoo.general_atoms import GENERAL_ATOMS
from mc2.zoo.harmonic_atoms import HARMONIC_ATOMS
from mc2.zoo.instance import RETRIES, VERSION, Instance, generate, version_of
from mc2.zoo.laws import PROBLEMS, RANGES, size_of

MAX_ATOMS = 64
"""Most atoms in a record; the zoo's own have up to six."""
MAX_REACH = 10.0
"""Largest coordinate of a domain in a record; the zoo's own reach 2."""
MAX_PARTS = 64
"""Most parts of a boundary in a record."""
MAX_LINE = 1 << 16
"""Most bytes of a record; the zoo's own have up to 2,000."""
VERSIONS = re.compile(r"[0-9A-Za-z.-]{1,20}")
"""What versions of the generator look like."""
SAME = 1e-4
"""Part by which a standard deviation may differ from what it is here: records have six digits of it."""


class GivenRecord(TypedDict):
    """What is given on a part of the boundary."""

    part: str
    kind: Annotated[str, one_of(*conditions.KINDS)]
    coefficient: float


class MediumRecord(TypedDict):
    """The coefficients α, ω and σ."""

    diffusion: str
    drift: Annotated[list[str], at_most(2)]
    reaction: str


class Record(TypedDict):
    """What a line holds. `boundary` is of the split `conditions`, `coefficients` of the split of that name; the last
    two are added once walks were made."""

    id: str
    version: Annotated[str, Rule(lambda text: bool(VERSIONS.fullmatch(text)), f"a text such as {VERSION!r}")]
    split: str
    index: int
    kind: Annotated[str, one_of(*PROBLEMS, *media.FAMILIES)]
    lam: float
    k: float
    u: str
    domain: Any
    terms: int
    atoms: Annotated[list[dict[str, Any]], at_most(MAX_ATOMS)]
    std_u: float
    std_f: float
    estimator: str
    rejected: Annotated[list[Annotated[str, one_of(*FILTERS)]], at_most(RETRIES)]
    boundary: NotRequired[Annotated[list[GivenRecord], at_most(MAX_PARTS)]]
    coefficients: NotRequired[MediumRecord]
    mse_32: NotRequired[Annotated[float, at_least(0)]]
    tier: NotRequired[Annotated[str, one_of(*TIERS)]]


def to_record(instance: Instance) -> dict[str, Any]:
    """An instance as plain data."""
    given: dict[str, Any] = {"boundary": [asdict(one) for one in instance.boundary]} if instance.boundary else {}
    if instance.medium is not None:
        own = instance.medium
        given = {"coefficients": {"diffusion": own.diffusion, "drift": [*own.drift], "reaction": own.reaction}}
    return {
        "id": instance.id,
        "version": instance.version,
        "split": instance.split,
        "index": instance.index,
        "kind": instance.family,
        "lam": instance.parameters.get("lam", 0.0),
        "k": instance.parameters.get("k", 0.0),
        "u": TermSum.join(instance.atoms).text,
        "domain": instance.domain.describe(),
        "terms": len(instance.atoms),
        "atoms": [{"type": atom.type.name, **atom.values} for atom in instance.atoms],
        "std_u": instance.std_u,
        "std_f": instance.std_f,
        "estimator": instance.estimator,
        "rejected": list(instance.rejected),
        **given,
    }


def to_line(instance: Instance) -> str:
    """An instance as one line of JSON: the bytes that the manifest is about."""
    return json.dumps(to_record(instance), separators=(",", ":"))


def from_line(line: str) -> Instance:
    """Read one line of JSON."""
    if len(line) > MAX_LINE:
        raise InputError(f"record {short(line)} has {len(line):,} characters: at most {MAX_LINE:,} are read")
    try:
        data = parse_json(line)
    except InputError as error:
        raise InputError(f"record {short(line)} {error}") from None
    return from_record(data)


def from_record(data: Any) -> Instance:
    """Read a record, and refuse one that contradicts itself, or the zoo, or whose problem fails the filters."""
    name = data.get("id") if isinstance(data, dict) else data
    with saying(f"record {short(name)}"), np.errstate(all="ignore"):  # what overflows is refused
        return _read(read_as(Record, data))


def _read(data: Record) -> Instance:
    family, split, told = data["kind"], data["split"], dict[str, Any](data)
    index = whole("index", data["index"], 0, size_of(split) - 1)
    parameters: dict[str, float] = {}
    if family in RANGES:
        name, low, high = RANGES[family]
        parameters[name] = told[name]
        if not low <= told[name] <= high:
            raise InputError(f"{name} = {told[name]} must lie in [{low:g}, {high:g}]")
    pool = HARMONIC_ATOMS if family == "laplace" else GENERAL_ATOMS
    atoms = tuple(_read_atom(atom, pool) for atom in data["atoms"])
    domain = from_description(data["domain"])
    if not max(map(abs, domain.bounds)) <= MAX_REACH:
        raise InputError(f"its domain reaches beyond {MAX_REACH}")
    if ("coefficients" in data) != (split == media.SPLIT) or (family in media.FAMILIES) != (split == media.SPLIT):
        raise InputError(f"records of split {media.SPLIT!r}, and no others, are elliptic and have coefficients")
    medium, exact = None, TermSum.join(atoms)
    if "coefficients" in data:
        medium = media.read_medium(told["coefficients"], domain)
        problem: Problem = medium.problem(domain, exact)
    else:
        problem = PROBLEMS[family].from_exact(conditions.plain(domain), exact, **parameters)
    failure, *spreads = examine(problem)
    if failure:
        raise InputError(f"its problem fails the filter {failure!r}")
    error = data.get("mse_32")
    if error is not None and data.get("tier", tier(error)) != tier(error):
        raise InputError(f"tier = {data['tier']!r} disagrees with mse_32 = {error:g}, which makes it {tier(error)!r}")
    for name, spread in zip(("std_u", "std_f"), spreads, strict=True):
        if not abs(told[name] - spread) <= SAME * spread:
            raise InputError(f"{name} = {told[name]} disagrees with the rest, which gives {spread:.6g}")
    if ("boundary" in data) != (split == conditions.SPLIT):
        raise InputError(f"records of split {conditions.SPLIT!r}, and no others, say what is given on the boundary")
    given = conditions.read_given(told.get("boundary", []), domain) if "boundary" in data else ()
    found = Instance(
        split=split, index=index, family=family, parameters=parameters, domain=domain, atoms=atoms,
        rejected=tuple(data["rejected"]), std_u=data["std_u"], std_f=data["std_f"], version=data["version"],
        boundary=given, medium=medium,
    )  # fmt: skip
    for key, value in to_record(found).items():
        if told[key] != value and key != "domain":  # a domain may leave out what has a default
            raise InputError(f"{key} = {short(told[key])} disagrees with the rest, which gives {short(value)}")
    _check_place(found)
    return found


def _check_place(found: Instance) -> None:
    """Refuse an instance that is not the one at its index of its split, where this generator made it."""
    if found.version != version_of(found.split):
        return
    own, read = to_record(generate(found.split, found.index)), to_record(found)
    for key in own:
        if key not in ("std_u", "std_f") and own[key] != read[key]:
            raise InputError(f"{key} = {short(read[key])} is not that of {found.id}, which has {short(own[key])}")


def _read_atom(data: dict[str, Any], pool: Mapping[str, AtomType]) -> Atom:
    if "type" not in data:
        raise InputError(f'atom {short(data)} must be an object with a "type"')
    values = dict(data)
    name = values.pop("type")
    if not isinstance(name, str) or name not in pool:
        raise unknown("atom", name, pool)
    return pool[name](**values)


def write_records(instances: Iterable[Instance], path: str | Path) -> int:
    """Write a JSONL file, whole or not at all; returns the number of records."""
    path, written = Path(path), 0
    check_target(path, ".jsonl")
    with replacing(path) as file:
        for instance in instances:
            file.write(f"{to_line(instance)}\n".encode())
            written += 1
    return written


def read_records(path: str | Path) -> Iterator[Instance]:
    """The instances of a JSONL file, one after the other."""
    with naming(path), open_plain(path) as file:
        for row in count(1):
            line = file.readline(MAX_LINE + 1)
            if not line:
                return
            try:
                instance = from_line(line.decode("utf-8"))
            except UnicodeDecodeError:
                raise InputError(f"line {row}: is not a text in UTF-8") from None
            except InputError as error:
                raise InputError(f"line {row}: {error}") from None
            yield instance
