"""`mc2 info`: what the package knows."""

import json
import platform
from enum import StrEnum
from importlib import metadata
from textwrap import wrap
from typing import Annotated, Any

import typer

PACKAGES = (
    "numpy", "scipy", "numba", "numba-cuda", "matplotlib", "torch", "mc2-pde-weights", "xarray", "shapely", "h5py",
    "pyamg",
)  # fmt: skip
"""Packages whose versions matter: some of them are optional."""
WIDTH, MARGIN = 80, 15
"""Characters of a line, and of what is before its words."""


class Topic(StrEnum):
    """What can be told more of."""

    atoms = "atoms"


def info(
    topic: Annotated[Topic | None, typer.Argument(help="More of this: the atoms that PDEZoo is made of.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Tell versions, device, equations, shapes, correctors, methods and functions on one screen."""
    contents = describe()
    if as_json:
        print(json.dumps(contents, ensure_ascii=False, indent=2))
    elif topic is None:
        print("\n".join(overview(contents)))
    else:
        _print_atoms(contents)


def describe() -> dict[str, Any]:
    """Everything `mc2 info` tells, as plain data."""
    from mc2 import __version__
    from mc2.benchmark.methods.registry import METHODS
    from mc2.functions.vocabulary import ARITY, CONSTANTS
    from mc2.geometry import SHAPES
    from mc2.problems import FAMILIES
    from mc2.problems.condition import CONDITIONS
    from mc2.solvers import CORRECTORS
    from mc2.zoo import GENERAL_ATOMS, HARMONIC_ATOMS

    return {
        "version": __version__,
        "device": _device(),
        "packages": {name: _version(name) for name in PACKAGES},
        "families": {
            name: {
                "equation": family.equation,
                "data": list(family.data),
                "parameters": {key: list(bounds) for key, bounds in family.parameters.items()},
            }
            for name, family in FAMILIES.items()
        },
        "domains": {
            name: {key: list(bounds) for key, bounds in shape.ranges.items()} for name, shape in SHAPES.items()
        },
        "conditions": list(CONDITIONS),
        "correctors": list(CORRECTORS),
        "methods": [name for name in METHODS if name not in CORRECTORS],
        "atoms": {
            pool: {
                name: {
                    "formula": atom.formula,
                    "hard": atom.hard,
                    "weight": atom.weight,
                    "parameters": {parameter.name: parameter.describe() for parameter in atom.parameters},
                }
                for name, atom in atoms.items()
            }
            for pool, atoms in (("general", GENERAL_ATOMS), ("harmonic", HARMONIC_ATOMS))
        },
        "expressions": {"functions": sorted(ARITY), "constants": sorted(CONSTANTS)},
    }


def _device() -> dict[str, Any]:
    """What walks run on here."""
    from mc2.walks.engine import cores
    from mc2.walks.gpu.launch import unavailable

    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": cores(),
        "cuda": unavailable() or "available",
    }


def _version(package: str) -> str | None:
    """A package's version; None if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def overview(contents: dict[str, Any]) -> list[str]:
    """All but the atoms, as lines that fit on one screen."""
    device, packages = contents["device"], contents["packages"]
    there = [f"{name} {version}" for name, version in packages.items() if version]
    missing = [name for name, version in packages.items() if not version]
    lines = [
        f"mc2 {contents['version']} with Python {device['python']} on {device['system']}, {device['cores']} cores",
        *_wrapped("GPU", [device["cuda"]]),
        *_wrapped("packages", there),
        *(_wrapped("not installed", missing) if missing else []),
        "",
    ]
    for name, family in contents["families"].items():
        takes = ", ".join([*family["data"], *family["parameters"]])
        lines.append(f"{name:{MARGIN}}{family['equation']:16}{takes}")
    lines += _wrapped("conditions", contents["conditions"])
    shapes = [f"{name}({', '.join(parameters)})" for name, parameters in contents["domains"].items()]
    expressions = contents["expressions"]
    return [
        *lines,
        "",
        *_wrapped("shapes", [*shapes, "polygon", "drawings: mc2.read_domain"]),
        *_wrapped("functions", [*expressions["functions"], *expressions["constants"]]),
        "",
        *_wrapped("correctors", contents["correctors"]),
        *_wrapped("methods", [*contents["methods"], "and every corrector"]),
        "",
        "mc2 info atoms     what the problems of PDEZoo are made of",
        "mc2 info --json    all of this, with the ranges of parameters in PDEZoo",
        "mc2 --help         the commands",
    ]


def _wrapped(title: str, words: list[str]) -> list[str]:
    """Words after a title in the margin, in lines of 80 characters."""
    indent = " " * MARGIN
    return wrap(", ".join(words), WIDTH, initial_indent=f"{title:{MARGIN}}", subsequent_indent=indent,
                break_on_hyphens=False)  # fmt: skip


def _print_atoms(contents: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for pool, atoms in contents["atoms"].items():
        table = Table(f"{pool} atom", "formula", "parameters")
        for name, atom in atoms.items():
            parameters = "; ".join(f"{key}: {text}" for key, text in list(atom["parameters"].items())[:5])
            more = len(atom["parameters"]) - 5
            table.add_row(
                name + (" †" if atom["hard"] else ""),
                atom["formula"],
                parameters + (f"; … ({more} more)" if more > 0 else ""),
            )
        console.print(table)
    console.print("† hard: over-represented in PDEZoo")
