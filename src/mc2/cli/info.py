"""`mc2 info`: what the package knows."""

import json
from typing import Annotated, Any

import typer


def info(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> None:
    """List the families, domains and atoms with their parameters."""
    contents = describe()
    if as_json:
        print(json.dumps(contents, ensure_ascii=False, indent=2))
    else:
        _print_tables(contents)


def describe() -> dict[str, Any]:
    """Everything `mc2 info` tells, as plain data."""
    from mc2 import __version__
    from mc2.functions.vocabulary import ARITY, CONSTANTS
    from mc2.geometry import SHAPES
    from mc2.problems import FAMILIES
    from mc2.zoo import GENERAL_ATOMS, HARMONIC_ATOMS

    return {
        "version": __version__,
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


def _print_tables(contents: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    families = Table("family", "equation", "needs", "parameters (range in PDEZoo)", title=f"mc2 {contents['version']}")
    for name, family in contents["families"].items():
        families.add_row(name, family["equation"], ", ".join(family["data"]), _ranges(family["parameters"]))
    console.print(families)
    domains = Table("domain", "parameters (range in PDEZoo)")
    for name, ranges in contents["domains"].items():
        domains.add_row(name, _ranges(ranges))
    console.print(domains)
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
    console.print("functions in expressions: " + ", ".join(contents["expressions"]["functions"]), highlight=False)


def _ranges(parameters: dict[str, list[float]]) -> str:
    return ", ".join(f"{name} ∈ [{low:g}, {high:g}]" for name, (low, high) in parameters.items())
