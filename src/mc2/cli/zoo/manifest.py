"""`mc2 zoo manifest`: whether this machine makes the same zoo as the package says."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from mc2.cli.arguments import Json
from mc2.cli.output import interruptible
from mc2.cli.progress import progress


def manifest(
    write: Annotated[Path | None, typer.Option(help="Write the manifest made here to this .json file.")] = None,
    as_json: Json = False,
) -> None:
    """Make the manifest here and now, and compare it with the one that comes with the package."""
    from mc2.errors import InputError

    with interruptible():
        made, shipped = _make(write)
    contents = compare(made, shipped)
    if as_json:
        print(json.dumps(contents))
    else:
        for name, row in contents["splits"].items():
            verdict = "agrees" if row["agrees"] else f"differs from {row['shipped']}"
            print(f"{name:<10} {row['count']:>6,} of {row['size']:,} records, SHA-256 {row['sha256']}: {verdict}")
        if write:
            print(f"written to {write}")
    if not contents["agrees"]:
        wrong = [name for name, row in contents["splits"].items() if not row["agrees"]]
        raise InputError(
            f"the manifest made here differs from the shipped one in {', '.join(wrong) or 'its generator version'}"
        )


def _make(write: Path | None) -> tuple[Any, Any]:
    """The manifest made here, written if asked for, and the shipped one."""
    from mc2.files import check_target, write_text
    from mc2.zoo import SPLITS, manifest

    if write:
        check_target(write, ".json")
    with progress("hashing records", "splits") as report:
        tell = None if report is None else lambda split: report(list(SPLITS).index(split), len(SPLITS))
        made = manifest.make_manifest(report=tell)
    if write:
        write_text(write, json.dumps(made, indent=2) + "\n")
    return made, manifest.shipped_manifest()


def compare(made: Any, shipped: Any) -> dict[str, Any]:
    """The manifest made here, with the shipped digest of every split and whether the two agree."""
    splits = {}
    for name, row in made["splits"].items():
        other = shipped["splits"].get(name, {})
        splits[name] = {**row, "shipped": other.get("sha256"), "agrees": row == other}
    same = made["generator_version"] == shipped["generator_version"]
    agrees = same and all(row["agrees"] for row in splits.values())
    return {"generator_version": made["generator_version"], "splits": splits, "agrees": agrees}
