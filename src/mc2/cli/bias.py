"""`mc2 bias`: what a correction trades: bias for variance."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mc2.cli.arguments import Device, GridSize, Json, Plot, Split
from mc2.cli.output import check_plot, interruptible, present, table
from mc2.cli.progress import progress

if TYPE_CHECKING:
    from rich.console import Console


def bias(
    method: Annotated[str, typer.Option(help="A correction, as in `mc2 evaluate`.")],
    walks: Annotated[int, typer.Option(help="Walks per pixel of the estimates it is given.")] = 8,
    cases: Annotated[int, typer.Option(help="Instances: the first ones of the split.")] = 10,
    repeats: Annotated[int, typer.Option(help="Independent walk sets per instance.")] = 16,
    split: Split = "test",
    grid: GridSize = 256,
    device: Device = "auto",
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Measure bias², variance and the Lipschitz factor of a correction over repeated walks."""
    with interruptible():
        from mc2.benchmark.bias import draw_bias, study_bias
        from mc2.benchmark.methods.registry import make_method
        from mc2.geometry import Grid

        check_plot(plot)
        chosen = make_method(method)
        with progress("walking and correcting", "instances") as report:
            contents = study_bias(
                chosen, walks=walks, cases=cases, repeats=repeats, split=split, grid=Grid(grid), device=device,
                report=report,
            )  # fmt: skip
        figure = draw_bias(contents) if plot else None
        del contents["first"]
        present(contents, _print_table, lambda _: figure, plot, as_json)  # type: ignore[arg-type, return-value]


def _print_table(console: "Console", contents: dict[str, Any]) -> None:
    title = f"{contents['method']} on {contents['walks']} walks per pixel ({contents['split']}): medians over instances"
    rows = table(title, "family", "bias²", "variance", "raw", "improves", "pixels", "factor", "largest", "cases")
    for name, row in [*contents["families"].items(), ("overall", contents["overall"])]:
        rows.add_row(
            name,
            *(f"{row[key]:.1e}" for key in ("bias2", "variance", "raw_variance")),
            f"{row['improves']:.0f} %",
            f"{100 * row['improved_pixels']:.0f} %",
            f"{row['lipschitz_rms']:.3f}",
            f"{row['lipschitz']:.3f}",
            str(row["count"]),
        )
    console.print(rows)
    console.print(
        "Squares in units of the exact field's squared range; raw: variance of the walks. improves: instances with "
        "bias² + variance below that; pixels: where it holds. factor: ‖Φ(z) − Φ(z′)‖/‖z − z′‖, root mean square and "
        "largest."
    )
