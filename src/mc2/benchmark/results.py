"""Results files: everything about an evaluation in one JSON object, with every score."""

import json
from pathlib import Path
from typing import Any

from mc2.benchmark.curve import equivalent_budget
from mc2.benchmark.paper import paper_psnr
from mc2.errors import InputError
from mc2.files import check_target, write_text
from mc2.reading.json import read_object
from mc2.reading.plain import naming
from mc2.zoo import FAMILIES

MAX_BYTES = 8 << 20
"""Bytes of a results file: that of all of `test` has two million."""
PLACES = (*FAMILIES, "overall")


def add_references(found: dict[str, Any]) -> dict[str, Any]:
    """Results with the paper's PSNR and the equivalent budget of raw walks, where there are any.

    Equivalent budgets are for the test split on the full grid, where the curve of raw walks was measured. Where
    families are absent, the others' mean is not comparable with it.
    """
    rows = {**found["families"], "overall": found["overall"]}
    paper = {place: paper_psnr(found["method"], found["walks"], place) for place in rows}
    comparable = found["split"] == "test" and found["grid"] == 256 and found["setting"] != "points"
    budgets = (
        {place: equivalent_budget(row["psnr"]["mean"], place) for place, row in rows.items()} if comparable else {}
    )
    if found["absent"] and comparable:
        budgets["overall"] = None
    instances = found["instances"]
    rest = {name: value for name, value in found.items() if name != "instances"}
    return rest | {"paper": paper, "equivalent_budget": budgets, "instances": instances}


def write_results(found: dict[str, Any], path: Path) -> None:
    """Write a results file, whole or not at all: one line per instance."""
    check_target(path, ".json")
    head = {name: value for name, value in found.items() if name != "instances"}
    lines = ",\n  ".join(json.dumps(row, ensure_ascii=False, allow_nan=False) for row in found["instances"])
    text = json.dumps(head, ensure_ascii=False, allow_nan=False, indent=1)
    write_text(path, f'{text[:-2]},\n "instances": [\n  {lines}\n ]\n}}\n')


def read_results(path: Path) -> dict[str, Any]:
    """Read a results file."""
    with naming(path):
        found = read_object(path, "results file", MAX_BYTES)
        if not {"method", "families", "overall", "instances"} <= found.keys():
            raise InputError("is no results file: it needs method, families, overall and instances")
    return found
