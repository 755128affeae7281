"""`mc2 evaluate`: judge a method."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mc2.cli.arguments import Code, Device, GridSize, Json, Split, parse_families, use_code
from mc2.cli.output import WRITING, interruptible, table
from mc2.cli.progress import progress

if TYPE_CHECKING:
    from rich.console import Console


def evaluate(
    method: Annotated[
        str, typer.Option(help="wos, mean, a denoiser, fd, …, or a .safetensors file; an unknown name lists them.")
    ],
    walks: Annotated[int, typer.Option(help="Walks per pixel of the estimate that a correction is given.")] = 8,
    count: Annotated[int, typer.Option(help="Instances: the first ones of the split.")] = 250,
    split: Split = "test",
    families: Annotated[
        str, typer.Option(help="Families, with commas; others are left out.")
    ] = "laplace,poisson,yukawa,biharmonic,helmholtz,elliptic",
    seed: Annotated[int, typer.Option(help="Seed of the walks.")] = 0,
    grid: GridSize = 256,
    device: Device = "auto",
    lpips: Annotated[bool, typer.Option(help="Also compute LPIPS, which needs torch.")] = True,
    out: Annotated[Path | None, typer.Option(help="Write the results, with every score, to this .json file.")] = None,
    predictions: Annotated[
        Path | None, typer.Option(help="Write the predicted fields to this .npz file, for the leaderboard.")
    ] = None,
    code: Code = None,
    as_json: Json = False,
) -> None:
    """Judge a method on PDEZoo: PSNR, SNR, MSE, LPIPS, relative L2 error and seconds, per family and overall."""
    with interruptible():
        from mc2.benchmark.methods.registry import make_method
        from mc2.benchmark.results import add_references, write_results
        from mc2.benchmark.runner import evaluate as judge
        from mc2.files import check_target
        from mc2.geometry import Grid

        use_code(code)
        if out:
            check_target(out, ".json")
        if predictions:
            check_target(predictions, ".npz")
        fields: list[Any] = []
        keep = (lambda instance, field: fields.append((instance.id, field))) if predictions else None
        with progress("evaluating", "instances") as report:
            found = judge(
                make_method(method), walks=walks, count=count, split=split, families=parse_families(families),
                seed=seed, grid=Grid(grid), device=device, lpips=lpips, keep=keep, report=report,
            )  # fmt: skip
        found = add_references(found)
    with interruptible(WRITING):
        if out:
            write_results(found, out)
        if predictions:
            from mc2.benchmark.leaderboard.predictions import write_predictions

            write_predictions(predictions, [name for name, _ in fields], [field for _, field in fields])
    _present(found, [path for path in (out, predictions) if path], as_json)


def _present(found: dict[str, Any], written: list[Path], as_json: bool) -> None:
    if as_json:
        summary = {name: value for name, value in found.items() if name != "instances"}
        print(json.dumps(summary, ensure_ascii=False, allow_nan=False))
        return
    from rich.console import Console

    console = Console(highlight=False)
    _print_table(console, found)
    for path in written:
        console.print(f"written to {path}", soft_wrap=True)


def _print_table(console: "Console", found: dict[str, Any]) -> None:
    from mc2.benchmark.results import PLACES

    place = "pixel" if found["setting"] == "correction" else "point"
    given = f" on {found['walks']} walks per {place}" if found["walks"] else ""
    title = f"{found['method']}{given} ({found['setting']}; {found['split']}, {found['count']} instances)"
    rows = table(title, "family", "PSNR / dB", "paper", "SNR", "MSE", "LPIPS", "rel. L2", "seconds", "= B")
    reduced = found["setting"] == "correction" and "helmholtz" in found["families"]
    for name in PLACES:
        row = found["overall"] if name == "overall" else found["families"].get(name)
        if row is None:
            if name in found["absent"]:
                rows.add_row(name, *["–"] * 8)
            continue
        paper, equal = found["paper"].get(name), found["equivalent_budget"].get(name)
        rows.add_row(
            name + ("*" if reduced and row.get("estimator") == "reduced" else ""),
            f"{row['psnr']['mean']:.2f}±{row['psnr']['std']:.1f}",
            "–" if paper is None else f"{paper:.2f}",
            f"{row['snr']['mean']:.2f}",
            f"{row['mse']['mean']:.1e}",
            f"{row['lpips']['mean']:.3f}" if "lpips" in row else "–",
            f"{row['relative_l2']['mean']:.2g}",
            f"{row['seconds']['mean'] + row['walking_seconds']['mean']:.2g}",
            "–" if equal is None else f"{equal:,.0f}",
        )
    console.print(rows)
    tiers = ", ".join(f"{name} {row['psnr']['mean']:.1f} dB ({row['count']})" for name, row in found["tiers"].items())
    if tiers:
        console.print(f"By tier: {tiers}.")
    console.print(
        "seconds: per field, walks included. = B: walks per pixel at which raw walks have this PSNR; – where that is "
        "off the measured curve."
    )
    if found["absent"]:
        console.print(
            f"– for {' and '.join(found['absent'])}: {found['method']} cannot play there; overall without them."
        )
    if reduced:
        console.print("* estimator 'reduced': walks with the exact u in the source")
