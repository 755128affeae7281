"""`mc2 zoo calibrate`: whether the zoo is as hard for plain walks as the paper's data were."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mc2.cli.arguments import Device, GridSize, Json, Plot
from mc2.cli.output import present_study, table, walking_facts

if TYPE_CHECKING:
    from rich.console import Console


def calibrate(
    per_family: Annotated[int, typer.Option(help="Instances of each family.")] = 200,
    device: Device = "auto",
    grid: GridSize = 256,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Compare plain walks on the zoo with the paper: PSNR at 8 walks per pixel, and the tiers of difficulty."""
    from mc2.geometry import Grid
    from mc2.zoo.studies import draw_calibration, study_calibration

    study = partial(study_calibration, per_family, grid=Grid(grid), device=device)
    present_study("walking", study, _print_tables, draw_calibration, plot, as_json)


def _print_tables(console: "Console", contents: dict[str, Any]) -> None:
    title = f"PSNR / dB at {contents['walks_per_pixel']} walks per pixel, {contents['per_family']} test instances each"
    rows = table(title, "family", "ours", "std", "paper", "difference", "allowed", "")
    for name, row in contents["families"].items():
        numbers = (f"{row['psnr']:.2f}", f"{row['std']:.2f}", f"{row['paper']:.2f}", f"{row['difference']:+.2f}")
        rows.add_row(name, *numbers, f"± {row['allowed']:g}", _verdict(row["within"]))
    console.print(rows)
    by_family = contents["tiers_by_family"]
    count = len(by_family) * contents["per_family"]
    rows = table(f"tiers, % of {count} training instances", "tier", "ours", "paper", "allowed", "", *by_family)
    for place, name in enumerate(("easy", "medium", "hard", "very hard")):
        rows.add_row(
            name,
            f"{contents['tiers'][place]:.1f}",
            f"{contents['paper_tiers'][place]:.0f}",
            f"± {contents['allowed_tiers']:g}",
            _verdict(contents["tiers_within"][place]),
            *(f"{shares[place]:.1f}" for shares in by_family.values()),
        )
    console.print(rows)
    console.print(walking_facts(contents))


def _verdict(within: bool) -> str:
    return "within" if within else "OUTSIDE"
