"""What `mc2.solve` and its certificates promise, against exact solutions.

    python -m validation.solve [--part coverage …] [--instances 200] [--seeds 8] [--json]

coverage: error bars hold 68 % of the errors, and 95 % within 1.96 of them, over PDEZoo.
certificates: their 95 % intervals hold the true error in 95 % of the runs, also where fits are bad.
unbiased: the mean of many certified values is the exact one.
rough: the examples, beside plain walks with as many walks from every pixel.
oracle: what the best shrinkage of all would get from PDEZoo's standard estimates, beside what is got.

All parts take about a quarter of an hour on two cores.
"""

import argparse
import json
import sys
import time
import warnings
from itertools import count

import numpy as np
from examples import annulus, channel, corners, jump, l_shape, resonance, source_on_grid, two_holes

import mc2
from mc2.benchmark.runner import standard_walks
from mc2.fits.basis import HOLE_DEGREE, make_basis
from mc2.fits.field import lifted
from mc2.fits.projection import DEGREES, DEPENDENT, SamplePoints, Smoothing
from mc2.geometry import Grid
from mc2.metrics import psnr
from mc2.solvers import PhysicsCorrector
from mc2.solvers.correctors import FitEvaluator
from mc2.walks.plan import can_walk
from mc2.zoo import FAMILIES, generate
from validation.hunting.judge import in_region

GRID, FULL = Grid(96), Grid(256)
EXAMPLES = {
    "annulus": (annulus.problem, annulus.exact),
    "two holes": (two_holes.problem, two_holes.exact),
    "L-shape": (l_shape.problem, l_shape.exact),
    "jump": (jump.problem, jump.exact),
    "plus, x² + y": (corners.problem, None),
    "plus, harmonic": (corners.harmonic, corners.exact),
    "channel": (channel.problem, channel.exact),
    "channel, bent": (channel.bent, None),
    "source on grid": (source_on_grid.problem, source_on_grid.exact),
    "source known": (source_on_grid.known, source_on_grid.exact),
    "resonance": (resonance.problem, resonance.exact),
}
ROUGH = ("annulus", "two holes", "L-shape", "jump", "plus, harmonic", "channel")
"""Examples whose certificates are checked, from few walks: then fits are bad."""
REPEATS = 4
"""Certificates of every solution: their share has to be known well."""
UNBIASED = {"poisson": 1, "yukawa": 2, "biharmonic": 3, "annulus": None, "L-shape": None, "jump": None}
"""Problems whose certified values are averaged: indices of the test split, or examples."""


def track(name, items):
    """The items, with progress on stderr."""
    items, start = list(items), time.perf_counter()
    for done, item in enumerate(items):
        print(f"\r{name}: {done}/{len(items)}, {time.perf_counter() - start:.0f} s ", end="", file=sys.stderr)
        yield item
    print(f"\r{name}: {len(items)}/{len(items)}, {time.perf_counter() - start:.0f} s ", file=sys.stderr)


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


def on_grid(function, problem, grid):
    """The exact field, 0 outside the mask."""
    mask, (x, y) = problem.mask(grid), grid.points()
    field = np.zeros(grid.shape)
    field[mask] = function(x[mask], y[mask])
    return field


def steps(solution):
    """The kinds of a solution's steps, by their first letters; in capitals those that were not kept."""
    return "".join(step.kind[0] if step.kept else step.kind[0].upper() for step in solution.history)


# --- coverage -------------------------------------------------------------------------------------------------------


def coverage(instances, seeds):
    """A row for every solution: the shares of pixels whose error is within 1 and 1.96 error bars."""
    rows = []
    for index in track("coverage", range(instances)):
        instance = generate("test", index)
        problem, truth = instance.problem, on_grid(instance.problem.exact, instance.problem, GRID)
        walkable = can_walk(problem)
        for seed in range(seeds):
            found = {}
            if walkable or seed == 0:  # without walks, seeds do not matter
                found["solve"] = mc2.solve(problem, 8, grid=GRID, seed=seed)
            found["correct"] = PhysicsCorrector().correct(standard_walks(instance, 8, seed, GRID, "cpu"), problem)
            for kind, solution in found.items():
                row = {"kind": kind, "index": index, "family": instance.family, "seed": seed, "steps": steps(solution)}
                fell_back = kind == "correct" and not isinstance(solution.evaluator, FitEvaluator)
                rows.append(row | {"method": "walks" if fell_back else solution.method} | _shares(solution, truth))
    return {"rows": rows, "table": _coverage_table(rows)}


def _shares(solution, truth):
    error, bar = (solution.values - truth)[solution.mask], solution.standard_error[solution.mask]
    z = np.abs(error) / bar
    one, two = float(np.mean(z <= 1)), float(np.mean(z <= 1.96))
    return {"within 1": one, "within 1.96": two, "rms z": rms(z), "error": rms(error), "bar": rms(bar)}


def _coverage_table(rows):
    table = []
    for kind, method in dict.fromkeys((row["kind"], row["method"]) for row in rows):
        for family in (*FAMILIES, "overall"):
            own = [
                row
                for row in rows
                if (row["kind"], row["method"]) == (kind, method) and family in ("overall", row["family"])
            ]
            if own:
                means = {name: float(np.mean([row[name] for row in own])) for name in ("within 1", "within 1.96")}
                ratio = float(np.median([row["error"] / row["bar"] for row in own]))
                place = {"of": kind, "method": method, "family": family, "solutions": len(own)}
                table.append(place | means | {"error / bar, median": ratio})
    return table


# --- certificates ---------------------------------------------------------------------------------------------------


def certificates(runs):
    """A row for every run: whether the intervals of its certificate hold the true errors over all pixels.

    Of five runs four are of PDEZoo, two of which solved by rounds of 4 to 8 walks in all and two by the corrector
    `mc2-physics`; the fifth is an example, solved from 2 to 5 walks. Each solution is certified a few times.
    """
    indices = (index for index in count() if can_walk(generate("test", index).problem))
    rows = []
    for number in track("certificates", range(runs)):
        if number % 5 == 4:
            name, walks, corrector = ROUGH[number // 5 % len(ROUGH)], 2 + number // 5 % 4, "mc2-rounds"
            make, exact = EXAMPLES[name]
            problem = make()
        else:
            name, walks, corrector = next(indices), 4 + number % 5, ("mc2-rounds", "mc2-physics")[number % 2]
            problem = generate("test", name).problem
            exact = problem.exact
        solution = mc2.solve(problem, walks, grid=GRID, corrector=corrector, seed=number)
        left = (on_grid(exact, problem, GRID) - solution.values)[solution.mask]
        if rms(left) < 1e-11 * np.abs(solution.values).max():
            continue  # rounding, about which walks say nothing
        row = {"name": name, "family": problem.name, "corrector": corrector, "walks": walks, "steps": steps(solution)}
        for again in range(REPEATS):
            made = solution.certify(seed=number + runs * again)
            rows.append(row | {"rms error": rms(left)} | _judge(made, left, solution))
    return {"rows": rows, "table": _certificate_table(rows)}


def _judge(made, left, solution):
    x, y = (c[solution.mask] for c in solution.grid.points())
    holds = []
    for region in made.regions:
        own = left[in_region(region, made.overall, x, y)]
        holds.append((_within(region.rms, rms(own)), _within(region.mean, own.mean())))
    whole = made.overall
    return {
        "interval": [whole.rms.low, whole.rms.estimate, whole.rms.high],
        "rms held": _within(whole.rms, rms(left)),
        "mean held": _within(whole.mean, left.mean()),
        "regions": len(holds),
        "regions, rms held": sum(one for one, _ in holds),
        "regions, mean held": sum(two for _, two in holds),
    }


def _within(interval, value):
    return bool(interval.low <= value <= interval.high)


def _certificate_table(rows):
    table = []
    groups = {
        "rounds, PDEZoo": [row for row in rows if row["corrector"] == "mc2-rounds" and isinstance(row["name"], int)],
        "physics, PDEZoo": [row for row in rows if row["corrector"] == "mc2-physics"],
        "rounds, examples": [row for row in rows if isinstance(row["name"], str)],
        "overall": rows,
    }
    for name, own in groups.items():
        if own:
            regions = sum(row["regions"] for row in own)
            shares = {f"{kind} held": float(np.mean([row[f"{kind} held"] for row in own])) for kind in ("rms", "mean")}
            pooled = {
                f"regions, {kind} held": sum(row[f"regions, {kind} held"] for row in own) / regions
                for kind in ("rms", "mean")
            }
            width = float(np.median([row["interval"][2] / row["rms error"] for row in own]))
            table.append({"of": name, "runs": len(own)} | shares | pooled | {"upper end / error, median": width})
    return table


# --- unbiased -------------------------------------------------------------------------------------------------------


def unbiased(runs=64, points=100, walks=16, epsilon=1e-5):
    """For every problem: errors of the mean of certified values at points, in standard errors from their spread.

    Points are independent, so that the mean of z has a standard deviation of 0.1. ε is small: walks end that far from
    the boundary, which is the one bias they have.
    """
    table, options = [], {"epsilon": epsilon, "max_steps": 1024}
    for name, index in track("unbiased", UNBIASED.items()):
        instance = None if index is None else generate("test", index)
        problem = EXAMPLES[name][0]() if instance is None else instance.problem
        where = problem.domain.sample_interior(points, seed=1).astype(np.float32).astype(float)
        found, seen = [], []
        for seed in range(runs):
            solution = mc2.solve(problem, 2 if instance is None else 4, grid=GRID, seed=seed, **options)
            found.append(solution.certify(points=where, walks=walks, seed=seed).values)
            seen.append(solution(*where.T))
        exact, spread = problem.exact(*where.T), np.std(found, axis=0, ddof=1)
        z = (np.mean(found, axis=0) - exact) / (spread / np.sqrt(runs))
        table.append(
            {
                "problem": name,
                "rms error of a fit": rms(np.array(seen) - exact),
                "standard error": rms(spread / np.sqrt(runs)),
                "max |z|": float(np.abs(z).max()),
                "beyond 3": int((np.abs(z) > 3).sum()),
                "mean z": float(z.mean()),
                "rms z": rms(z),
            }
        )
    return {"runs": runs, "points": points, "walks": walks, "epsilon": epsilon, "table": table}


# --- rough ----------------------------------------------------------------------------------------------------------


def rough():
    """Every example, on 256 × 256 pixels."""
    table = []
    for name, walks in track("rough", [(name, walks) for name in EXAMPLES for walks in (8, 16)]):
        make, exact = EXAMPLES[name]
        problem = make()
        solution = mc2.solve(problem, walks, grid=FULL)
        row = {"example": name, "walks": walks, "dB": None, "plain dB": None, "true error": None}
        if exact:
            truth = on_grid(exact, problem, FULL)
            row["dB"] = psnr(solution.values, truth, solution.mask)
            row["true error"] = rms((solution.values - truth)[solution.mask])
            if can_walk(problem):
                plain = mc2.estimate(problem, walks, grid=FULL, device="cpu")
                row["plain dB"] = psnr(plain.mean, truth, plain.mask)
        row["error bar"] = rms(solution.standard_error[solution.mask])
        if solution.method == "mc2-rounds":
            found = solution.certify(walks=16).overall.rms
            row["certified"] = f"{found.low:.1e} … {found.high:.1e}"
        row |= {"walks in all": solution.walks, "seconds": solution.seconds, "steps": steps(solution)}
        table.append(row)
    return {"table": table}


# --- oracle ---------------------------------------------------------------------------------------------------------


def oracle(instances):
    """PSNR of PDEZoo's standard estimates from 8 walks: as they are, corrected by physics, and by an oracle."""
    rows = []
    for index in track("oracle", range(instances)):
        instance = generate("test", index)
        problem, truth = instance.problem, on_grid(instance.problem.exact, instance.problem, FULL)
        estimate = standard_walks(instance, 8, 0, FULL, "cpu")
        corrected = PhysicsCorrector().correct(estimate, problem)
        row = {"index": index, "family": instance.family, "kept": isinstance(corrected.evaluator, FitEvaluator)}
        fields = {"walks": estimate.mean, "physics": corrected.values}
        row |= {name: psnr(field, truth, estimate.mask) for name, field in fields.items()}
        tried = [psnr(field, truth, estimate.mask) for field in shrunk_by_oracle(estimate, problem, truth)]
        rows.append(row | {"oracle": max(tried)})
    table = []
    for family in (*FAMILIES, "overall"):
        own = [row for row in rows if family in ("overall", row["family"])]
        if own:
            means = {name: float(np.mean([row[name] for row in own])) for name in ("walks", "physics", "oracle")}
            line = {"family": family, "instances": len(own)} | means
            table.append(line | {"left to gain": means["oracle"] - means["physics"]})
    return {"rows": rows, "table": table}


def shrunk_by_oracle(estimate, problem, truth):
    """Fields fitted to an estimate, one for each basis that the projection may choose from.

    The fit's coefficients under orthonormal columns are the true ones with noise of variance 1. Those of a level are
    multiplied by e/(1 + e), e their true mean square: the factor with the least error (Wiener, 1949).
    """
    from scipy.linalg import solve_triangular

    grid, mask, domain = estimate.grid, estimate.mask, problem.domain
    x, y = (c[mask] for c in grid.points())
    deviation = np.sqrt(Smoothing(mask, domain.distance(*grid.points()))(estimate.variance[mask]))
    lift = lifted(problem, grid).on_grid(grid, mask)[mask]
    both = np.stack([(field[mask] - lift) / deviation for field in (estimate.mean, truth)], axis=1)
    for hole_degree in (-1, HOLE_DEGREE) if domain.holes() else (-1,):
        for degree in DEGREES:
            # the biharmonic basis has two functions for each of another's
            own_degree = degree // 2 if problem.laplacian else degree
            basis = make_basis(domain, problem.operator, own_degree, hole_degree)
            columns, levels = SamplePoints(x, y).columns(basis) / deviation, basis.levels[basis.order]
            factor, usable = _orthogonalise(columns @ columns.T)
            own, true = solve_triangular(factor, columns[:usable] @ both, lower=True).T
            levels = levels[:usable]
            energy = (np.bincount(levels, true**2) / np.maximum(np.bincount(levels), 1))[levels]
            found = solve_triangular(factor, energy / (1 + energy) * own, lower=True, trans=1)
            field = np.zeros(grid.shape)
            field[mask] = lift + deviation * (found @ columns[:usable])
            yield field


def _orthogonalise(products):
    """The Cholesky factor of the columns' products, as far as they are independent."""
    from scipy.linalg.lapack import dpotrf

    factor, failed = dpotrf(products, lower=1, clean=1)
    usable = failed - 1 if failed else len(products)
    dependent = np.flatnonzero(np.diag(factor)[:usable] ** 2 < DEPENDENT * np.diag(products)[:usable])
    usable = int(dependent[0]) if dependent.size else usable
    return factor[:usable, :usable], usable


# --- the command ----------------------------------------------------------------------------------------------------

PARTS = {
    "coverage": lambda chosen: coverage(chosen.instances, chosen.seeds),
    "certificates": lambda chosen: certificates(chosen.instances),
    "unbiased": lambda chosen: unbiased(),
    "rough": lambda chosen: rough(),
    "oracle": lambda chosen: oracle(chosen.instances),
}


def show(name, result):
    """A part's table as text."""
    names = list(dict.fromkeys(key for row in result["table"] for key in row))
    cells = [names, *([_cell(row.get(name)) for name in names] for row in result["table"])]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    print(f"\n{name}")
    for line in cells:
        print("  " + "  ".join(f"{cell:>{width}}" for cell, width in zip(line, widths, strict=True)).rstrip())


def _cell(value):
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.3f}" if 1e-2 <= abs(value) < 1e3 else f"{value:.1e}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", action="append", choices=PARTS, help="may be given several times; all if not given")
    parser.add_argument("--instances", type=int, default=200, help="of PDEZoo; also how many certificates")
    parser.add_argument("--seeds", type=int, default=8, help="of every instance, for the coverage")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.add_argument("--rows", action="store_true", help="with every solution's row in it")
    chosen = parser.parse_args()
    results = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of resonances and long walks, which PDEZoo has both
        for name in chosen.part or PARTS:
            results[name] = PARTS[name](chosen)
            if not chosen.json:
                show(name, results[name])
    if chosen.json:
        for found in results.values():
            if not chosen.rows:
                found.pop("rows", None)
        print(json.dumps(results, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
