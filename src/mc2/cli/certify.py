"""`mc2 certify`: the error of anybody's field of the problem in a file."""

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mc2.cli.arguments import Json, parse_bounds
from mc2.cli.output import interruptible
from mc2.errors import InputError

if TYPE_CHECKING:
    from mc2.solvers import Certificate


def certify(
    file: Annotated[Path, typer.Argument(help="Problem file (TOML).", show_default=False)],
    field: Annotated[
        str, typer.Argument(help="A .npz, .npy or .nc file, or a method's name, such as fd.", show_default=False)
    ],
    walks: Annotated[int, typer.Option(help="Walks from each point.")] = 64,
    points: Annotated[int, typer.Option(help="Points, at random among the field's pixels.")] = 4096,
    confidence: Annotated[float, typer.Option(help="That each interval holds the truth.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Seed of the points and the walks.")] = 0,
    grid: Annotated[
        int | None, typer.Option(help="Pixels along the longer side for a method, instead of the file's.")
    ] = None,
    bounds: Annotated[
        str | None, typer.Option(help="xmin,xmax,ymin,ymax of a .npy file, which does not say where it lies.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Tell the error of a field by fresh walks, with confidence intervals; no exact solution is needed."""
    from mc2.benchmark.certify import certify
    from mc2.problems import read_problem

    loaded = read_problem(file)
    where: Any = loaded.sized(grid)
    if Path(field).suffix in (".npz", ".npy", ".nc"):  # files are on grids of their own
        if grid is not None:
            raise InputError("--grid is for methods: a file is certified at its own pixels")
        if bounds is None and Path(field).suffix == ".npy":
            raise InputError(f"{field}: an array does not say where it lies: give --bounds xmin,xmax,ymin,ymax")
        where = None if bounds is None else parse_bounds(bounds)
    elif bounds is not None:
        raise InputError("--bounds are those of a .npy or .npz file")
    begin = time.perf_counter()
    with interruptible():
        found = certify(loaded.problem, field, walks, points, grid=where, confidence=confidence, seed=seed)
    contents = summary(loaded.title, field, found, time.perf_counter() - begin)
    if as_json:
        print(json.dumps(contents, ensure_ascii=False, allow_nan=False))
        return
    print(f"{field}: {loaded.problem.name}, {loaded.title}")
    print(found)
    print(f"time        {contents['seconds']:.3f} s")


def summary(title: str, field: str, found: "Certificate", seconds: float) -> dict[str, Any]:
    """What a certificate says, as plain data."""
    overall = asdict(found.overall)
    return {
        "problem": title,
        "field": field,
        "kind": found.kind,
        "confidence": found.confidence,
        "walks": found.walks,
        "points": overall["points"],
        "rms": overall["rms"],
        "mean": overall["mean"],
        "regions": [asdict(region) for region in found.regions],
        "note": found.note,
        "seconds": seconds,
    }
