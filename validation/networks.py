"""What networks promise beyond the table of results.

    python -m validation.networks [--weights mc2] [--part windows …] [--count 30] [--figure seams.png] [--json]

windows: estimates of 512 × 512 pixels by overlapping windows, beside those of 256 × 256 on the same problems. A figure
has the errors of both, which tells whether there are seams.
budgets: PSNR of the walks and of their correction, at 1 to 1,024 walks per pixel.
sweeps: PSNR and LPIPS at 8 walks after 0 to 16 sweeps of relaxation, on the validation split, by which their number was
chosen.
forms: PSNR at 8 walks of the network alone on problems of the other two equations, brought to the form of Poisson's and
not, on fresh problems.
"""

import argparse
import json
import sys
from dataclasses import replace
from functools import cache
from itertools import count as counting
from itertools import islice
from pathlib import Path

import numpy as np
import torch

from mc2.benchmark.lpips import lpips
from mc2.benchmark.methods.method import operator_of
from mc2.benchmark.runner import standard_walks
from mc2.benchmark.scores import score_field
from mc2.geometry import Grid
from mc2.metrics import psnr as psnr_of_field
from mc2.metrics import psnr_of_tensors
from mc2.problems.operator import LAPLACIAN
from mc2.solvers.learned import SWEEPS, correct, correct_by_network, load_network, source_of
from mc2.solvers.relaxation import relax
from mc2.training.config import Config
from mc2.training.data import held_batches
from mc2.training.tasks import by_family
from mc2.zoo import FAMILIES, TRAINING, generate

SIZES = (256, 512)
BUDGETS = tuple(1 << power for power in range(11))
RELAXED = (0, 1, 2, 4, 8, 16)
OTHERS = tuple(family for family in FAMILIES if family not in TRAINING)
POISSON = LAPLACIAN
SHOWN = 3
"""Problems in the figure."""


def corrected(learned, instance, size, walks=8, sweeps=SWEEPS):
    """The grid, mask, exact field and correction of a standard estimate."""
    problem, grid = instance.problem, Grid(size)
    found = standard_walks(instance, walks, 0, grid, "cpu")
    source = source_of(problem.source, problem.operator, grid, found.mask)
    fields = found.mean, found.variance, walks, found.mask, grid, source
    values = correct_by_network(learned, *fields, operator=problem.operator, sweeps=sweeps)
    return grid, found.mask, problem.on_grid(problem.exact, grid), values


def windows(learned, count, figure=None):
    """PSNR at both sizes, mean over the first test instances of the families of training."""
    rows, shown, index = [], [], 0
    while len(rows) < count:
        instance = generate("test", index)
        index += 1
        if instance.family not in TRAINING:
            continue
        made = [corrected(learned, instance, size) for size in SIZES]
        rows.append([psnr_of_field(values, exact, mask) for _, mask, exact, values in made])
        print(f"\r{len(rows)}/{count} ", end="", file=sys.stderr)
        if len(shown) < SHOWN:
            shown.append((instance.family, made))
    if figure:
        draw(shown, figure)
    means = np.mean(rows, 0)
    return {"count": count} | {f"psnr_{size}": float(mean) for size, mean in zip(SIZES, means, strict=True)}


def draw(shown, path):
    """Errors of both sizes side by side, in parts of the exact field's range."""
    from mc2.plotting import panels, save_figure, show_field, symmetric

    figure, axes = panels(len(SIZES), "errors, in parts of the range", rows=len(shown))
    places = iter(axes)
    for family, made in shown:
        errors = [(values - exact) / np.ptp(exact[mask]) for _, mask, exact, values in made]
        norm = symmetric(np.concatenate([error[mask] for error, (_, mask, _, _) in zip(errors, made, strict=True)]))
        for error, (grid, mask, _, _) in zip(errors, made, strict=True):
            title = f"{family}, {grid.size} × {grid.size}"
            show_field(next(places), error, mask, grid.bounds, title, "RdBu", norm=norm)
    save_figure(figure, path)


def operators(batch):
    """L as coefficients of u, Δu, Δ²u, [n, 3]."""
    names = [FAMILIES[number] for number in batch.family.tolist()]
    values = zip(names, batch.parameter.tolist(), strict=True)
    rows = [operator_of(name, parameter).coefficients for name, parameter in values]
    return torch.tensor(rows, device=batch.u.device)


@cache
def seen_source(index, size):
    """The source of a test instance as networks are given it."""
    problem, grid = generate("test", index).problem, Grid(size)
    return source_of(problem.source, problem.operator, grid, problem.mask(grid))


def as_seen(batch, first):
    """What networks are given of the test instances from `first` on."""
    source = batch.given.source.clone()
    for row in torch.nonzero(batch.family == FAMILIES.index("biharmonic"))[:, 0].tolist():
        source[row] = torch.from_numpy(seen_source(first + row, source.shape[-1]))
    return replace(batch.given, source=source)


def budgets(learned, count, chosen=BUDGETS, sweeps=SWEEPS):
    """Mean PSNR per family and overall, raw and corrected, at every budget."""
    config = Config("held", {"architecture": "unet"}, learned.inputs, grid=learned.grid, batch=min(64, count), steps=1)
    rows = {}
    for walks in chosen:
        batches = held_batches(config, "test", count, walks, learned.device)
        raw = torch.cat([psnr_of_tensors(batch.given.mean, batch.u, batch.given.mask) for batch in batches])
        found = [
            psnr_of_tensors(
                correct(learned, as_seen(batch, number * config.batch), operators(batch), sweeps),
                batch.u,
                batch.given.mask,
            )
            for number, batch in enumerate(batches)
        ]
        rows[str(walks)] = {"walks": by_family(raw, batches), "corrected": by_family(torch.cat(found), batches)}
        print(f"\r{walks} walks ", end="", file=sys.stderr)
    return rows


def sweeps(learned, count):
    """Mean PSNR and LPIPS over the first validation instances, for every number of sweeps."""
    distance, scores = lpips(), {chosen: [] for chosen in RELAXED}
    for index in range(count):
        problem = (instance := generate("validation", index)).problem
        grid, mask, exact, field = corrected(learned, instance, SIZES[0], sweeps=0)
        source = source_of(problem.source, problem.operator, grid, mask)
        u, f, inside = (torch.from_numpy(np.asarray(part, np.float32))[None] for part in (field, source, mask))
        for chosen, own in scores.items():
            found = relax(u, f, torch.tensor([problem.operator.mass]), inside, grid.spacing[0], chosen)
            own.append(score_field(found[0], exact, mask, distance))
        print(f"\r{index + 1}/{count} ", end="", file=sys.stderr)
    return {
        str(chosen): {name: float(np.mean([score[name] for score in own])) for name in ("psnr", "lpips")}
        for chosen, own in scores.items()
    }


def forms(learned, count):
    """Mean PSNR by family: the source as it is, none at all, and the form of Poisson's equation."""
    grid, scores = Grid(SIZES[0]), {}
    for family in OTHERS:
        fresh = (instance for index in counting() if (instance := generate("fresh-3", index)).family == family)
        rows = []
        for instance in islice(fresh, count):
            problem, found = instance.problem, standard_walks(instance, 8, 0, grid, "cpu")
            mask, operator, exact = found.mask, problem.operator, problem.on_grid(problem.exact, grid)
            plain, brought = (source_of(problem.source, own, grid, mask) for own in (POISSON, operator))
            ways = (plain, POISSON), (np.zeros_like(plain), POISSON), (brought, operator)
            fields = [
                correct_by_network(learned, found.mean, found.variance, 8, mask, grid, source, operator=own, sweeps=0)
                for source, own in ways
            ]
            rows.append([psnr_of_field(field, exact, mask) for field in fields])
            print(f"\r{family} {len(rows)}/{count} ", end="", file=sys.stderr)
        scores[family] = dict(zip(("as it is", "none", "Poisson's"), np.mean(rows, 0).tolist(), strict=True))
    return {"count": count, "families": scores}


PARTS = {"windows": windows, "budgets": budgets, "sweeps": sweeps, "forms": forms}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", default="mc2")
    parser.add_argument("--part", action="append", choices=PARTS)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--figure", type=Path, help="where to draw the errors of windows")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    learned, results = load_network(given.weights), {"weights": given.weights, "count": given.count}
    for part in given.part or PARTS:
        options = {"figure": given.figure} if part == "windows" else {}
        results[part] = PARTS[part](learned, given.count, **options)
    print(json.dumps(results, indent=2 if given.json else None))


if __name__ == "__main__":
    main()
