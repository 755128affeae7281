"""Polygons with many corners: seconds to a tolerance, the error that walks certify, and memory, a process for each.

python benchmarks/corners.py --json               all cases
python benchmarks/corners.py --cases 100 wedge    some of them
python benchmarks/corners.py --peers              beside NGSolve (pip install mc2-pde[peers]), at the same errors

NGSolve has its own mesh, graded towards the corners, and elements of order 6; meshes are refined until its error, which
walks certify in the same way, is as small.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from importlib.util import find_spec

import numpy as np

import mc2
from mc2.geometry import Grid, Polygon

WIGGLY = {"100": (100, 1e-5), "300": (300, 1e-5), "1000": (1000, 1e-4), "10000": (10_000, 1e-3)}
"""Vertices and tolerances."""
OPENING = 0.04
WEDGES = {"wedge": OPENING, "notch": 2 * np.pi - OPENING}
"""Angles, in radians, of the domain at its tip."""
SEED = 0
REPEATS = 3
LIMIT = 240
"""Seconds for a case."""
ORDER = 6
GRADES = [(0.2, 1.0), (0.2, 0.3), (0.1, 0.1), (0.05, 0.03), (0.05, 0.005), (0.03, 0.001), (0.02, 1e-4)]
"""Meshes of NGSolve: the largest element, and those at the corners as parts of their sides, or of that."""


def wiggly(count, seed=SEED):
    """Corners of r(t) = 0.7 + Σ 0.12 k^−1.2 a cos(kt + b), with normal a and uniform b, k = 1 … 39."""
    random, k, t = np.random.default_rng(seed), np.arange(1, 40), np.linspace(0, 2 * np.pi, count, endpoint=False)
    sizes, phases = 0.12 * k**-1.2 * random.normal(size=k.size), random.uniform(0, 2 * np.pi, k.size)
    radius = 0.7 + np.cos(np.outer(t, k) + phases) @ sizes
    assert radius.min() > 0
    return np.stack([radius * np.cos(t), radius * np.sin(t)], axis=1)


def root(x, y):
    """Re √z."""
    return np.sqrt(x + 1j * y).real


def make(name):
    """A problem, its tolerance, and its solution where that is known."""
    if name in WIGGLY:
        count, tolerance = WIGGLY[name]
        return mc2.Poisson(Polygon(wiggly(count)), source=-1, boundary="abs(x)"), tolerance, None
    angles = np.linspace(-0.5 * WEDGES[name], 0.5 * WEDGES[name], 299)
    domain = Polygon([(0, 0), *np.stack([np.cos(angles), np.sin(angles)], axis=1)])
    return mc2.Laplace(domain, boundary=root), 1e-6, root


def summary(name, seconds, certificate, field, grid, **more):
    """One row: memory is the largest of this process so far, in MB."""
    problem, tolerance, exact = make(name)
    row = {
        "case": name,
        "tolerance": tolerance,
        "seconds": seconds,
        "certified": certificate.overall.rms.high,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    } | more
    if exact is not None:
        mask = problem.mask(grid)
        x, y = (c[mask] for c in grid.points())
        row["error"] = float(np.sqrt(np.mean((field[mask] - exact(x, y)) ** 2)))
    return row


def ours(name):
    """The best of a few solves; the first of all loads compiled kernels, and does not count."""
    mc2.solve(mc2.Poisson(Polygon(wiggly(40)), source=-1, boundary="abs(x)"), tolerance=1e-4)
    seconds = []
    for _ in range(REPEATS):
        problem, tolerance, _ = make(name)  # nothing is known of its domain
        start = time.perf_counter()
        solution = mc2.solve(problem, tolerance=tolerance)
        seconds.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    certificate = solution.certify()
    fit = next(step for step in solution.history if step.kind == "boundary")
    return summary(
        name, min(seconds), certificate, solution.values, solution.grid,
        unknowns=fit.functions, misfit=fit.after, converged=solution.converged, solve_peak_mb=peak,
    )  # fmt: skip


def ngsolve(name):
    """NGSolve on ever finer meshes until its certified error is below the tolerance; seconds of the last one."""
    if find_spec("ngsolve") is None:
        return {"case": name, "missing": "ngsolve"}
    problem, tolerance, _ = make(name)
    grid = Grid.covering(problem.domain, 256)
    row = {}
    for size, grade in GRADES:
        seconds = []
        try:
            for _ in range(REPEATS):
                start = time.perf_counter()
                values, unknowns = by_elements(problem, name, grid, size, grade)
                seconds.append(time.perf_counter() - start)
        except Exception as error:  # netgen's own, where it finds no mesh
            row = {"case": name, "tolerance": tolerance, "failed": str(error)}
            continue
        certificate = mc2.certify(problem, values, grid=grid)
        row = summary(name, min(seconds), certificate, values, grid, unknowns=unknowns, mesh=[size, grade])
        if row["certified"] < tolerance:
            return row
    return {"failed": "no mesh was fine enough"} | row


def by_elements(problem, name, grid, size, grade):
    """Values at the pixels of a grid, and how many unknowns."""
    import ngsolve as ng
    from netgen.geom2d import SplineGeometry

    vertices = np.array(problem.domain.vertices)
    sides = np.hypot(*(np.roll(vertices, -1, axis=0) - vertices).T)
    near = grade * np.minimum(sides, np.roll(sides, 1))
    geometry = SplineGeometry()
    points = [geometry.AppendPoint(*map(float, v), float(h)) for v, h in zip(vertices, near, strict=True)]
    for one, other in zip(points, [*points[1:], points[0]], strict=True):
        geometry.Append(["line", one, other], bc="rim", leftdomain=1, rightdomain=0)
    mesh = ng.Mesh(geometry.GenerateMesh(maxh=size, grading=0.5))
    space = ng.H1(mesh, order=ORDER, dirichlet="rim")
    u, v = space.TnT()
    form = ng.BilinearForm(ng.grad(u) * ng.grad(v) * ng.dx, condense=True)
    right = ng.LinearForm(space)
    if name in WIGGLY:
        right += 1.0 * v * ng.dx
    right.Assemble()
    given = ng.sqrt(ng.x * ng.x) if name in WIGGLY else ng.sqrt(0.5 * (ng.sqrt(ng.x**2 + ng.y**2) + ng.x))
    field = ng.GridFunction(space)
    with ng.TaskManager():
        form.Assemble()
        field.Set(given, definedon=mesh.Boundaries("rim"))
        ng.solvers.BVP(bf=form, lf=right, gf=field, inverse="sparsecholesky", print=False)
    mask = problem.mask(grid)
    values = np.zeros(grid.shape)
    x, y = (c[mask] for c in grid.points())
    values[mask] = np.asarray(field(mesh(x, y))).ravel()
    return values, space.ndof


def in_process(how, name):
    """A row from a process of its own."""
    command = [sys.executable, __file__, "--one", how, name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return {"case": name, "tolerance": make(name)[1], "failed": f"stopped after {LIMIT} seconds"}
    if done.returncode:
        return {"case": name, "failed": done.stderr.strip().splitlines()[-1:]}
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--peers", action="store_true", help="also NGSolve")
    parser.add_argument("--cases", nargs="*", default=[*WIGGLY, *WEDGES], choices=[*WIGGLY, *WEDGES])
    parser.add_argument("--one", nargs=2, metavar=("HOW", "CASE"), help="one row, in this process")
    options = parser.parse_args()
    if options.one:
        how, name = options.one
        print(json.dumps({"ours": ours, "ngsolve": ngsolve}[how](name)))
        return
    found = {}
    for how in ("ours", "ngsolve") if options.peers else ("ours",):
        found[how] = []
        for name in options.cases:
            row = in_process(how, name)
            found[how].append(row)
            print(how, row, file=sys.stderr)
    print(json.dumps(found, indent=None if options.json else 2))


if __name__ == "__main__":
    main()
