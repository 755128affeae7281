"""`mc2 zoo convergence`: whether the error of the walks falls as one over their number."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mc2.cli.arguments import Device, GridSize, Json, Plot, Seed, Split, parse_budgets, parse_families
from mc2.cli.output import present_study, table, walking_facts

if TYPE_CHECKING:
    from rich.console import Console


def convergence(
    cases: Annotated[int, typer.Option(help="Instances, spread evenly over the families.")] = 501,
    families: Annotated[str, typer.Option(help="Families, with commas.")] = "laplace,poisson,yukawa",
    split: Split = "test",
    budgets: Annotated[str, typer.Option(help="Increasing walks per pixel, with commas.")] = "1,2,4,8,16,32",
    grid: GridSize = 256,
    max_steps: Annotated[int, typer.Option(help="Steps after which a walk is cut off.")] = 256,
    repeats: Annotated[
        int, typer.Option(help="Independent runs whose errors are averaged: the slope's own noise falls as 1/√repeats.")
    ] = 4,
    device: Device = "auto",
    seed: Seed = 0,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Fit the slope of log error against log walks for every instance: −1 where all is consistent."""
    from mc2.geometry import Grid
    from mc2.zoo.studies import draw_convergence, study_convergence

    study = partial(
        study_convergence, cases, parse_families(families), split, parse_budgets(budgets), grid=Grid(grid),
        max_steps=max_steps, device=device, seed=seed, repeats=repeats,
    )  # fmt: skip
    present_study("walking", study, _print_table, draw_convergence, plot, as_json)


def _print_table(console: "Console", contents: dict[str, Any]) -> None:
    title = f"slope of log MSE against log walks ({contents['split']})"
    rows = table(title, "family", "median", "min", "max", "in band", "cases", "paper", "in band")
    for name, row in [*contents["families"].items(), ("overall", contents["overall"])]:
        paper = contents["paper"].get(name)
        if name == "overall" and set(contents["families"]) != set(contents["paper"]) - {"overall"}:
            paper = None  # the paper's is over its three families
        rows.add_row(
            name,
            *(f"{row[key]:.3f}" for key in ("median", "min", "max")),
            f"{row['within']:.1f} %",
            str(row["count"]),
            *(("–", "–") if paper is None else (f"{paper['median']:.3f}", f"{paper['within']:.1f} %")),
        )
    console.print(rows)
    repeats = f" Errors are means over {contents['repeats']} runs." if contents["repeats"] > 1 else ""
    console.print(f"Band: [−1.05, −0.95]. Budgets {', '.join(map(str, contents['budgets']))}, nested.{repeats}")
    console.print(walking_facts(contents))
