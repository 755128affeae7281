"""`mc2 zoo difficulty`: how hard instances are for 32 walks per pixel."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mc2.cli.arguments import Device, GridSize, Json, Plot, Split
from mc2.cli.output import present_study, table, walking_facts

if TYPE_CHECKING:
    from rich.console import Console


def difficulty(
    cases: Annotated[int, typer.Option(help="Instances: the first ones of the split.")] = 300,
    split: Split = "train",
    grid: GridSize = 256,
    device: Device = "auto",
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Sort instances into the four tiers of difficulty by their mean squared error at 32 walks per pixel."""
    from mc2.geometry import Grid
    from mc2.zoo.studies import draw_difficulty, study_difficulty

    study = partial(study_difficulty, cases, split, grid=Grid(grid), device=device)
    present_study("walking", study, _print_table, draw_difficulty, plot, as_json)


def _print_table(console: "Console", contents: dict[str, Any]) -> None:
    title = (
        f"% of instances in each tier, by MSE at {contents['reference_walks']} walks per pixel ({contents['split']})"
    )
    rows = table(title, "family", *contents["tiers"], "25 %", "50 %", "75 %", "cases")
    for name, row in [*contents["families"].items(), ("overall", contents["overall"])]:
        rows.add_row(
            name,
            *(f"{share:.1f}" for share in row["shares"]),
            *(f"{value:.2f}" for value in row["quartiles"]),
            str(row["count"]),
        )
    rows.add_row("paper", *(f"{share:.0f}" for share in contents["paper_shares"]))
    console.print(rows)
    console.print(
        "Tiers end at an MSE of 0.01, 1 and 100. On the right: quartiles of log₁₀ MSE. Paper: its training mix."
    )
    console.print(walking_facts(contents))
