"""Speed of solving and correcting, always as ratios measured in one run.

python benchmarks/solve.py --json        on the CPU; and batches, where there is a GPU
"""

import argparse
import json
import statistics
import sys

import numpy as np
from timing import best

import mc2
from mc2.benchmark.methods.method import Case
from mc2.benchmark.methods.registry import make_method
from mc2.benchmark.runner import case_values, standard_walks
from mc2.geometry import Grid
from mc2.metrics import psnr
from mc2.solvers import PhysicsCorrector
from mc2.solvers.physics import correct_by_physics
from mc2.walks.gpu.launch import unavailable
from mc2.zoo import generate

GRID = Grid()
BATCH = 64
ENOUGH = 86.0
"""Decibels that a solve has to reach."""


def instances(family, count):
    """The first test instances of a family, or of all."""
    found, index = [], 0
    while len(found) < count:
        instance = generate("test", index)
        if family in (instance.family, None):
            found.append(instance)
        index += 1
    return found


def quality(problem, values):
    mask = problem.mask(GRID)
    return psnr(values, problem.on_grid(problem.exact, GRID), mask)


def solving(count):
    """The default solve of Poisson instances against multigrid finite differences, in turn."""
    amg = make_method("fd_amg")
    rows = []
    for instance in instances("poisson", count):
        problem = instance.problem
        case = Case(amg, case_values(amg, instance, 8, 0, GRID, "cpu")[0])
        ours, solution = best(lambda problem=problem: mc2.solve(problem, grid=GRID))
        bars, _ = best(lambda problem=problem: mc2.solve(problem, grid=GRID).standard_error)
        theirs, field = best(lambda case=case: amg.solve(case))
        rows.append(
            {
                "seconds": ours,
                "seconds_with_error_bars": bars,
                "fd_amg_seconds": theirs,
                "ratio": theirs / ours,
                "psnr": quality(problem, solution.values),
                "fd_amg_psnr": quality(problem, field),
                "walks_per_pixel": solution.walks / int(solution.mask.sum()),
            }
        )
    found = {name: statistics.median(row[name] for row in rows) for name in rows[0]}
    return found | {
        "count": count,
        "least_psnr": min(row["psnr"] for row in rows),
        "share_enough": sum(row["psnr"] >= ENOUGH for row in rows) / count,
        "least_ratio": min(row["ratio"] for row in rows),
    }


def correcting(count):
    """Correction of the standard estimate at 8 walks per pixel: seconds, and those of walking to the same quality."""
    rows = []
    for instance in instances(None, count):
        problem = instance.problem
        found = standard_walks(instance, 8, 0, GRID, "cpu")
        arguments = (found.mean, found.variance, found.mask, GRID, problem.domain, problem.operator, problem.source)
        seconds, made = best(lambda arguments=arguments: correct_by_physics(*arguments))
        bars, _ = best(lambda found=found, problem=problem: PhysicsCorrector().correct(found, problem).standard_error)
        raw, corrected = quality(problem, found.mean), quality(problem, made.values)
        # plain walks gain 10 dB for ten times the walks
        walking = found.record.seconds * 10 ** ((corrected - raw) / 10)
        rows.append(
            {
                "seconds": seconds,
                "seconds_with_error_bars": bars,
                "walking_seconds": found.record.seconds,
                "psnr": corrected,
                "raw_psnr": raw,
                "ratio_to_walks": walking / (found.record.seconds + seconds),
            }
        )
    return {name: statistics.median(row[name] for row in rows) for name in rows[0]} | {
        "count": count,
        "mean_seconds": statistics.fmean(row["seconds"] for row in rows),
        "most_seconds": max(row["seconds"] for row in rows),
        "mean_psnr": statistics.fmean(row["psnr"] for row in rows),
        "mean_raw_psnr": statistics.fmean(row["raw_psnr"] for row in rows),
    }


def batches():
    """A batch on the GPU: milliseconds per instance, walks included, with and without packing in Python."""
    import torch

    from mc2.fits.on_device import torch_on_device
    from mc2.solvers.physics_batch import BatchCorrector, correct_batch
    from mc2.walks.gpu.launch import evaluate_distances, walk_fields
    from mc2.walks.gpu.packing import pack
    from mc2.walks.many import plan_for_batch
    from mc2.walks.options import Options
    from mc2.zoo.fields import STANDARD

    chosen = instances(None, BATCH)
    problems, keys = [instance.problem for instance in chosen], [instance.key for instance in chosen]
    options = {"estimator": "reduced", **STANDARD}
    corrector, packed = BatchCorrector(GRID), None

    def everything():
        fields = correct_batch(problems, instances=keys, corrector=corrector, options=Options(**options))
        torch.cuda.synchronize()
        return fields

    def walk():
        found = walk_fields(packed, GRID, [8], Options(**options), empty)
        torch.cuda.synchronize()
        return found

    def walk_and_correct():
        mean, variance, mask, _ = walk_fields(packed, GRID, [8], Options(**options), empty)
        known = corrector.prepare(problems)
        fields = corrector.correct(known, packed, mean, variance, mask, evaluate_distances(packed, GRID, empty))
        torch.cuda.synchronize()
        return fields

    everything()
    plans = [plan_for_batch(problem, Options(**options)) for problem in problems]
    _, put, empty = torch_on_device("a corrected batch")
    packed = pack(plans, keys, Options(**options)).upload(put)
    times = {}
    for name, run in (("walks", walk), ("corrected", walk_and_correct), ("corrected_with_packing", everything)):
        for _ in range(5):
            seconds, result = best(run)
            times[name] = min(times.get(name, np.inf), 1e3 * seconds / BATCH)
    mean = walk()[0].copy_to_host()[:, 0]
    fields = result.cpu().numpy()
    raw = [quality(problem, field) for problem, field in zip(problems, mean, strict=True)]
    corrected = [quality(problem, field) for problem, field in zip(problems, fields, strict=True)]
    gain = [after - before for before, after in zip(raw, corrected, strict=True)]
    return {f"{name}_ms": value for name, value in times.items()} | {
        "batch": BATCH,
        "psnr": statistics.fmean(corrected),
        "raw_psnr": statistics.fmean(raw),
        "least_gain": min(gain),
        "ratio_to_walks": statistics.median(10 ** (db / 10) for db in gain) * times["walks"] / times["corrected"],
        "device": torch.cuda.get_device_name(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--count", type=int, default=20, help="instances")
    parser.add_argument("--no-cpu", action="store_true", help="only CUDA")
    options = parser.parse_args()
    results = {}
    if not options.no_cpu:
        results = {"solve": solving(options.count), "correct": correcting(2 * options.count)}
    reason = unavailable()
    if reason:
        print(f"CUDA: {reason}", file=sys.stderr)
    else:
        results["cuda"] = batches()
    if options.json:
        print(json.dumps(results, indent=2))
        return
    for part, row in results.items():
        print(part)
        for name, value in row.items():
            print(f"  {name:26} {value:.4g}" if isinstance(value, float) else f"  {name:26} {value}")


if __name__ == "__main__":
    main()
