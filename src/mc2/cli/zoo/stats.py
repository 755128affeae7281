"""`mc2 zoo stats`: what the zoo is made of."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mc2.cli.arguments import Json, Plot, Split
from mc2.cli.output import present_study, table

if TYPE_CHECKING:
    from rich.console import Console


def stats(
    split: Split = "train",
    count: Annotated[int, typer.Option(help="Instances: the first ones of the split.")] = 3000,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Count families, domains, atoms, terms, rejections and retries, from records alone."""
    from mc2.zoo.studies import draw_statistics, study_statistics

    study = partial(study_statistics, split, count)
    present_study("making instances", study, _print_tables, draw_statistics, plot, as_json)


def _print_tables(console: "Console", contents: dict[str, Any]) -> None:
    where = f"{contents['split']}, generator {contents['generator_version']}, {contents['count']:,} instances"
    named = {"family": contents["families"], "domain": contents["domains"], "atoms in a solution": contents["terms"]}
    named |= {f"atom, {pool} pool": found for pool, found in contents["atoms"].items()}
    for number, (name, found) in enumerate(named.items()):
        rows = table("" if number else where, name, "count", "%", "% as drawn")
        for key, row in found.items():
            expected = "–" if row["expected"] is None else f"{row['expected']:.1f}"
            rows.add_row(key, f"{row['count']:,}", f"{row['share']:.1f}", expected)
        console.print(rows)
    console.print("As drawn: by the law, before filters. What filters reject is missing in the instances.")
    rows = table("", "filter", "rejected", f"% of {contents['attempts']:,} attempts")
    for key, row in contents["filters"].items():
        rows.add_row(key, f"{row['count']:,}", f"{row['share']:.2f}")
    console.print(rows)
    most = max(contents["retries"], key=int)
    first = contents["retries"]["0"]["share"]
    console.print(f"Retries: {contents['mean_retries']:.3f} per instance, {most} at most; {first:.1f} % needed none.")
    _print_quantiles(console, contents["quantiles"])


def _print_quantiles(console: "Console", quantiles: dict[str, Any]) -> None:
    rows = table("", "quantiles", *(f"{100 * at:g} %" for at in quantiles["at"]))
    for name, found in quantiles.items():
        for family, values in found.items() if name != "at" else ():
            rows.add_row(f"{'λ' if name == 'lam' else name}, {family}", *map(_two_digits, values))
    console.print(rows)


def _two_digits(value: float) -> str:
    return f"{float(f'{value:.2g}'):,.10g}"
