"""`mc2 solve`: solve the problem in a file."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mc2.cli.arguments import Code, use_code
from mc2.cli.output import WRITING, check_plot, interruptible, table
from mc2.cli.progress import progress

if TYPE_CHECKING:
    from mc2.geometry import Grid
    from mc2.problems import ProblemFile
    from mc2.solvers import Solution


def solve(
    file: Annotated[Path, typer.Argument(help="Problem file (TOML).", show_default=False)],
    walks: Annotated[int, typer.Option(help="Walks per fitted point; per pixel without rounds.")] = 8,
    tolerance: Annotated[float | None, typer.Option(help="Instead: go on until the standard error is below.")] = None,
    max_seconds: Annotated[
        float | None, typer.Option(help="Give up on a tolerance after so long; 20 if no limit is given.")
    ] = None,
    max_walks: Annotated[int | None, typer.Option(help="Likewise, after so many walks in all.")] = None,
    corrector: Annotated[
        str,
        typer.Option(help="mc2-rounds, mc2-physics, wos, trefftz, a network's name, or a file of weights."),
    ] = "mc2-rounds",
    start: Annotated[str, typer.Option(help="In rounds: walks, or boundary to fit the boundary data first.")] = "walks",
    certify: Annotated[int, typer.Option(help="Walks per point of a certificate of the error; 0 for none.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Write the solution to this .npz or .nc file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw it to this .png, .svg or .pdf file.")] = None,
    grid: Annotated[int | None, typer.Option(help="Pixels along the longer side, instead of the file's.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random numbers.")] = 0,
    epsilon: Annotated[
        float, typer.Option(help="A walk ends this close to the boundary, in half-sizes of the domain.")
    ] = 1e-4,
    max_steps: Annotated[
        int | None, typer.Option(help="Steps after which a walk is cut off: 1,024 in rounds, else 128.")
    ] = None,
    sampling: Annotated[str, typer.Option(help="How sources are sampled: green or uniform.")] = "green",
    stratify: Annotated[bool, typer.Option("--stratify", help="Spread the walks' first directions evenly.")] = False,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda; rounds walk on the CPU.")] = "auto",
    threads: Annotated[int | None, typer.Option(help="CPU threads; all cores if not given.")] = None,
    code: Code = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as one JSON object.")] = False,
) -> None:
    """Solve the problem in a file, and say how well."""
    with interruptible(), progress("solving") as report:
        use_code(code)
        loaded, where, found = _solve(
            file, out, plot, grid, walks=walks, tolerance=tolerance, max_seconds=max_seconds, max_walks=max_walks,
            corrector=corrector, start=start, seed=seed, epsilon=epsilon, max_steps=max_steps, sampling=sampling,
            stratify=stratify, device=device, threads=threads, progress=report,
        )  # fmt: skip
        certificate = found.certify(certify) if certify else None
    with interruptible(WRITING):
        exact = None if loaded.problem.exact is None else loaded.problem.on_grid(loaded.problem.exact, where)
        if out:
            found.save(out)
        if plot:
            from mc2.plotting import save_figure

            save_figure(found.plot(exact, loaded.title), plot)
    contents = summary(loaded, found, exact)
    if certificate:
        rms = certificate.overall.rms
        contents["certificate"] = {"rms_error": rms.estimate, "low": rms.low, "high": rms.high}
    if as_json:
        print(json.dumps(contents, ensure_ascii=False))
        return
    _print_summary(contents, found)
    if certificate:
        print(certificate)
    for path in (out, plot):
        if path:
            print(f"written     {path}")


def _solve(
    file: Path, out: Path | None, plot: Path | None, size: int | None, **options: Any
) -> tuple["ProblemFile", "Grid", "Solution"]:
    """Check everything that can be wrong before the walks, then solve."""
    from mc2.problems import read_problem
    from mc2.solvers import solve
    from mc2.solvers.solution_file import check_solution_target

    check_plot(plot)
    if out:
        check_solution_target(out)
    if options["max_steps"] is None:  # what is best depends on the corrector
        del options["max_steps"]
    loaded = read_problem(file)
    where = loaded.sized(size)
    return loaded, where, solve(loaded.problem, grid=where, **options)


def summary(loaded: "ProblemFile", found: "Solution", exact: Any) -> dict[str, Any]:
    """What a solve tells, as plain data."""
    import numpy as np

    mask = found.mask
    errors = found.standard_error[mask]
    contents: dict[str, Any] = {
        **found.record(),
        "problem": loaded.title,
        "pixels": int(mask.sum()),
        "standard_error": _rms(errors) if np.isfinite(errors).all() else None,
        "largest_standard_error": float(errors.max()) if np.isfinite(errors).all() else None,
    }
    if exact is not None:
        error = (found.values - exact)[mask]
        contents["rms_error"] = _rms(error)
        contents["largest_error"] = float(np.abs(error).max())
        contents["relative_l2_error"] = _relative(error, exact[mask])
    return contents


def _rms(values: Any) -> float:
    """Root mean square, also of values whose squares are no float64."""
    import numpy as np

    largest = float(np.abs(values).max())
    unit = 1.0 if largest == 0 or 1e-140 < largest < 1e140 else largest
    return unit * float(np.sqrt(np.mean((values / unit) ** 2)))


def _relative(error: Any, exact: Any) -> float:
    """Root mean square of an error, as a part of that of the solution."""
    import numpy as np

    largest = float(np.abs(exact).max())
    unit = 1.0 if largest == 0 or 1e-140 < largest < 1e140 else largest
    return float(np.sqrt(np.sum((error / unit) ** 2) / max(np.sum((exact / unit) ** 2), 1e-300)))


def _print_summary(contents: dict[str, Any], found: "Solution") -> None:
    c = contents
    print(f"{c['problem']}: {c['family']} on {c['pixels']:,} pixels, by {c['method']}")
    if found.history:
        _print_history(found)
    print(f"walks       {c['walks']:,} in all, {c['walks'] / c['pixels']:.2g} per pixel")
    print(f"time        {c['seconds']:.3f} s")
    if c["reason"]:
        print(f"reason      {c['reason']}")
    if c["standard_error"] is None:
        print("std. error  unknown" + (" from one walk" if found.method == "wos" else ""))
    else:
        print(f"std. error  {c['standard_error']:.2g} rms, {c['largest_standard_error']:.2g} at most")
    if "rms_error" in c:
        print(
            f"error       {c['rms_error']:.2g} rms, {c['largest_error']:.2g} at most, "
            f"{c['relative_l2_error']:.2g} of the solution"
        )


def _print_history(found: "Solution") -> None:
    from rich.console import Console

    columns = ("points", "walks each", "functions", "spread before", "after", "std. error", "kept")
    steps = table("", "step", *columns)
    for step in found.history:
        numbers = (f"{value:.2g}" for value in (step.before, step.after, step.error))
        kept = "yes" if step.kept else "no"
        steps.add_row(step.kind, f"{step.points:,}", str(step.walks), str(step.functions), *numbers, kept)
    Console(highlight=False).print(steps)
