"""What commands are given: options that several share, and texts that hold several numbers."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from mc2.errors import InputError, short, unknown

Split = Annotated[str, typer.Option(help="train, validation, test, conditions or coefficients.")]
GridSize = Annotated[int, typer.Option("--grid", help="Pixels along a side.")]
Device = Annotated[str, typer.Option(help="auto, cpu or cuda.")]
Seed = Annotated[int, typer.Option(help="Seed of the walks.")]
FreshSeed = Annotated[
    int | None,
    typer.Option(help="Of the fresh split, 1 to 999999; drawn from the system's entropy if not given."),
]
Plot = Annotated[Path | None, typer.Option(help="Draw it to this .png, .svg or .pdf file.")]
Code = Annotated[
    list[str] | None,
    typer.Option("--code", help="Import this network of your own, module:Class, from here or as installed: it is run."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def use_code(names: list[str] | None) -> None:
    """Import networks of the user's own, from the working folder first."""
    if not names:
        return
    from mc2.networks.installed import need_torch

    need_torch("a network")
    from mc2.networks.own import use_network

    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    for name in names:
        use_network(name)


def parse_range(text: str | None, split: str) -> range:
    """Indices A ≤ i < B of a split from `A:B`; an end that is left out is the split's. None: all."""
    from mc2.zoo import SPLITS
    from mc2.zoo.laws import OTHERS

    sizes = SPLITS | {name: other.SIZE for name, other in OTHERS.items()}
    if split not in sizes:
        raise unknown("split", split, sizes)
    size = sizes[split]
    if text is None:
        return range(size)
    low, colon, high = text.partition(":")
    try:
        start, stop = int(low or "0"), int(high or str(size))
    except ValueError:
        start = stop = -1
    if not (colon and 0 <= start < stop <= size):
        raise InputError(f"range = {short(text)} must be A:B with 0 ≤ A < B ≤ {size}, the size of {split}")
    return range(start, stop)


def parse_budgets(text: str) -> tuple[int, ...]:
    """Walks per pixel from a text such as `1,8,64`."""
    from mc2.walks.engine import check_budgets

    try:
        budgets = [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"budgets = {short(text)} must be whole numbers such as 1,8,64") from None
    return tuple(check_budgets(budgets))


def parse_families(text: str) -> tuple[str, ...]:
    """Families from a text such as `laplace,poisson`."""
    from mc2.zoo import FAMILIES, media

    names, known = tuple(part.strip() for part in text.split(",")), (*FAMILIES, *media.FAMILIES)
    for name in names:
        if name not in known:
            raise unknown("family", name, known)
    return names


def parse_bounds(text: str) -> tuple[float, float, float, float]:
    """A box from a text such as `-1,1,-1,1`."""
    from mc2.geometry import Grid

    try:
        xmin, xmax, ymin, ymax = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"bounds = {short(text)} must be four numbers xmin,xmax,ymin,ymax") from None
    return Grid(1, bounds=(xmin, xmax, ymin, ymax)).bounds
