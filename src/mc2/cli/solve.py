"""`mc2 solve`: solve the problem in a file."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mc2.cli.output import interruptible
from mc2.cli.progress import progress

if TYPE_CHECKING:
    from mc2.geometry import Grid
    from mc2.problems import ProblemFile
    from mc2.walks import Estimate


def solve(
    file: Annotated[Path, typer.Argument(help="Problem file (TOML).", show_default=False)],
    walks: Annotated[int, typer.Option(help="Walks per pixel. The error falls as 1/√walks.")] = 8,
    corrector: Annotated[str, typer.Option(help="What is done with the walks' estimate: none.")] = "none",
    out: Annotated[Path | None, typer.Option(help="Write the estimate and its variance to this .npz file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw it to this .png, .svg or .pdf file.")] = None,
    grid: Annotated[int | None, typer.Option(help="Pixels along a side, instead of the file's.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random numbers.")] = 0,
    epsilon: Annotated[float, typer.Option(help="Distance from the boundary at which a walk ends.")] = 1e-4,
    max_steps: Annotated[int, typer.Option(help="Steps after which a walk is cut off.")] = 128,
    sampling: Annotated[str, typer.Option(help="How sources are sampled: green or uniform.")] = "green",
    stratify: Annotated[bool, typer.Option("--stratify", help="Spread the walks' first directions evenly.")] = False,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    threads: Annotated[int | None, typer.Option(help="CPU threads; all cores if not given.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as one JSON object.")] = False,
) -> None:
    """Solve the problem in a file by random walks, and say how well."""
    with interruptible(), progress("walking", "walks") as report:
        loaded, where, found = _walk(
            file, corrector, out, plot, grid, walks=walks, seed=seed, epsilon=epsilon, max_steps=max_steps,
            sampling=sampling, stratify=stratify, device=device, threads=threads, progress=report,
        )  # fmt: skip
    exact = None if loaded.problem.exact is None else loaded.problem.on_grid(loaded.problem.exact, where)
    if out:
        found.save(out)
    if plot:
        from mc2.plotting import save_figure

        save_figure(found.plot(exact, loaded.title), plot)
    contents = summary(loaded, found, exact)
    if as_json:
        print(json.dumps(contents, ensure_ascii=False))
    else:
        _print_summary(contents, out, plot)


def _walk(
    file: Path, corrector: str, out: Path | None, plot: Path | None, size: int | None, **options: Any
) -> tuple["ProblemFile", "Grid", "Estimate"]:
    """Check everything that can be wrong before the walks, then walk."""
    from mc2.errors import unknown
    from mc2.files import check_target
    from mc2.geometry import Grid
    from mc2.plotting import FORMATS
    from mc2.problems import read_problem
    from mc2.walks import estimate

    if corrector != "none":
        raise unknown("corrector", corrector, ["none"])
    if plot:
        check_target(plot, *FORMATS)
    if out:
        check_target(out, ".npz")
    loaded = read_problem(file)
    where = loaded.grid if size is None else Grid(size)
    return loaded, where, estimate(loaded.problem, grid=where, **options)


def summary(loaded: "ProblemFile", found: "Estimate", exact: Any) -> dict[str, Any]:
    """What a solve tells, as plain data."""
    import numpy as np

    record, mask = found.record, found.mask
    total = record.walks * int(mask.sum())
    largest = float(found.standard_error[mask].max())
    contents: dict[str, Any] = {
        "problem": loaded.title,
        "family": loaded.problem.name,
        "estimator": record.estimator,
        "device": record.device,
        "pixels": int(mask.sum()),
        "walks_per_pixel": record.walks,
        "walks": total,
        "steps_per_walk": record.steps / total,
        "truncated": record.truncated,
        "seconds": record.seconds,
        "walks_per_second": total / record.seconds,
        "largest_standard_error": largest if np.isfinite(largest) else None,
    }
    if exact is not None:
        error = (found.mean - exact)[mask]
        contents["rms_error"] = float(np.sqrt(np.mean(error**2)))
        contents["largest_error"] = float(np.abs(error).max())
        contents["relative_l2_error"] = float(np.sqrt(np.sum(error**2) / max(np.sum(exact[mask] ** 2), 1e-300)))
    return contents


def _print_summary(contents: dict[str, Any], out: Path | None, plot: Path | None) -> None:
    c = contents
    largest = c["largest_standard_error"]
    print(f"{c['problem']}: {c['family']} on {c['pixels']:,} pixels ({c['device']})")
    print(
        f"walks       {c['walks']:,} ({c['walks_per_pixel']:,} per pixel, {c['steps_per_walk']:.1f} steps each, "
        f"{c['truncated']:,} cut off)"
    )
    print(f"time        {c['seconds']:.3f} s ({c['walks_per_second'] / 1e6:.1f} million walks per second)")
    print("std. error  " + ("unknown from one walk" if largest is None else f"{largest:.3g} at most"))
    if "rms_error" in c:
        print(
            f"error       {c['rms_error']:.3g} rms, {c['largest_error']:.3g} at most, "
            f"{c['relative_l2_error']:.2%} of the solution"
        )
    for path in (out, plot):
        if path:
            print(f"written     {path}")
