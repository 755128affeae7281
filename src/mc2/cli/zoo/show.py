"""`mc2 zoo show`: draw one instance."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mc2.cli.arguments import Device, GridSize, Json, Seed, Split, parse_budgets
from mc2.cli.output import check_plot, interruptible
from mc2.cli.progress import progress

if TYPE_CHECKING:
    from mc2.zoo import Fields, Instance


def show(
    index: Annotated[int, typer.Argument(help="Index in the split.", show_default=False)],
    split: Split = "test",
    budgets: Annotated[str, typer.Option(help="Increasing walks per pixel, with commas.")] = "1,8,64",
    grid: GridSize = 256,
    device: Device = "auto",
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Picture to write: .png, .svg or .pdf.")] = Path("instance.png"),
    as_json: Json = False,
) -> None:
    """Draw an instance: its domain, source and exact solution, and estimates with their errors.

    Instances of the split `conditions` are drawn without estimates: their walks would have to reflect.
    """
    with interruptible():
        from mc2.geometry import Grid
        from mc2.plotting import save_figure
        from mc2.problems.problem_figure import draw_problem
        from mc2.zoo import generate, make_fields
        from mc2.zoo.instance_figure import describe, draw_instance

        check_plot(out)
        walks, where, instance = parse_budgets(budgets), Grid(grid), generate(split, index)
        if instance.boundary:
            save_figure(draw_problem(instance.problem, where, instance.id), out)
            _print_given(instance, out, as_json)
            return
        with progress("walking", "instances"):
            fields = make_fields([instance], walks, grid=where, device=device, seed=seed)
        save_figure(draw_instance(fields, where), out)
    contents = summary(fields)
    if as_json:
        print(json.dumps(contents, ensure_ascii=False))
        return
    share = contents["truncated_share"]
    print(describe(instance))
    for row in contents["estimates"]:
        print(f"{row['walks']:>9,} per pixel: PSNR {row['psnr']:.2f} dB, MSE {row['mse']:.4g}")
    print(f"drawn to {out}" + (f"; {share:.1e} of the walks were cut off" if share else ""))


def _print_given(instance: "Instance", out: Path, as_json: bool) -> None:
    """An instance without estimates."""
    from mc2.zoo import to_record
    from mc2.zoo.instance_figure import describe

    if as_json:
        print(json.dumps({"record": to_record(instance)}, ensure_ascii=False))
        return
    print(f"{describe(instance)}\ndrawn to {out}")


def summary(fields: "Fields") -> dict[str, Any]:
    """What the picture says in numbers: the record of the instance, and the scores of its estimates."""
    from mc2.metrics import mse, psnr
    from mc2.zoo import to_record

    u, mask = fields.u[0], fields.mask[0].astype(bool)
    estimates = [
        {"walks": budget, "psnr": psnr(mean, u, mask), "mse": mse(mean, u, mask)}
        for budget, mean in zip(fields.budgets, fields.mean[0], strict=True)
    ]
    walks = fields.budgets[-1] * int(mask.sum())
    return {
        "record": to_record(fields.instances[0]),
        "pixels": int(mask.sum()),
        "device": fields.device,
        "truncated_share": int(fields.counts[0, 1]) / walks,
        "estimates": estimates,
    }
