"""Speed of correction by networks against plain walks of equal quality, as ratios measured in one run.

python benchmarks/networks.py --json [--weights mc2]        on the CPU; and batches, where there is a GPU
"""

import argparse
import json
import statistics
import sys

import numpy as np
from solve import BATCH, GRID, instances, quality
from timing import best

from mc2.benchmark.runner import standard_walks
from mc2.networks.installed import installed_correctors
from mc2.solvers.correctors import find_corrector
from mc2.solvers.learned import load_network
from mc2.walks.gpu.launch import unavailable

WALKS = 8


def ratio(gain, walking, correcting):
    """Seconds of walks that are as good, over those of walking and correcting. Ten times the walks gain 10 dB."""
    return 10 ** (gain / 10) * walking / (walking + correcting)


def on_cpu(weights, count):
    """One estimate after the other."""
    corrector, rows = find_corrector(weights), []
    for instance in instances(None, count):
        problem = instance.problem
        walking, found = best(lambda instance=instance: standard_walks(instance, WALKS, 0, GRID, "cpu"))
        correcting, made = best(lambda found=found, problem=problem: corrector.correct(found, problem))
        raw, corrected = quality(problem, found.mean), quality(problem, made.values)
        rows.append(
            {
                "walking_seconds": walking,
                "correcting_seconds": correcting,
                "raw_psnr": raw,
                "psnr": corrected,
                "ratio": ratio(corrected - raw, walking, correcting),
            }
        )
    return {"count": count} | {name: statistics.median(row[name] for row in rows) for name in rows[0]}


def on_gpu(weights, compiled):
    """A batch: milliseconds per instance."""
    import torch

    from mc2.fits.batched_lift import lift_packed
    from mc2.fits.on_device import torch_on_device
    from mc2.networks.corrector_inputs import CorrectorData
    from mc2.solvers.learned import correct
    from mc2.walks.gpu.launch import evaluate_exact, walk_fields
    from mc2.walks.gpu.packing import pack
    from mc2.walks.many import plan_for_batch
    from mc2.walks.options import Options
    from mc2.zoo.fields import STANDARD

    chosen = instances(None, BATCH)
    problems, keys = [instance.problem for instance in chosen], [instance.key for instance in chosen]
    options = Options(estimator="reduced", **STANDARD)
    _, put, empty = torch_on_device("a batch")
    packed = pack([plan_for_batch(problem, options) for problem in problems], keys, options).upload(put)
    learned = load_network(weights, "cuda", compiled)
    operators = torch.tensor([problem.operator.coefficients for problem in problems], device="cuda")
    rules = np.array([(0.0, 1.0, 0.0) if problem.operator.order == 4 else (0.0, 0.0, 0.0) for problem in problems])
    twice = (operators[:, 2] != 0)[:, None, None]

    def walk():
        found = walk_fields(packed, GRID, [WALKS], options, empty)
        torch.cuda.synchronize()
        return found

    def everything():
        mean, variance, mask, _ = walk_fields(packed, GRID, [WALKS], options, empty)
        _, source = evaluate_exact(packed, GRID, mask, empty)
        mean, variance, source, mask = (torch.as_tensor(a, device="cuda") for a in (mean, variance, source, mask))
        source = torch.where(twice, lift_packed(packed, rules, GRID, empty) * mask, source)
        walks = torch.full((BATCH,), WALKS, device="cuda")
        fields = correct(learned, CorrectorData(mean[:, 0], variance[:, 0], walks, source, mask), operators)
        torch.cuda.synchronize()
        return mean[:, 0], fields

    everything()
    walking = min(best(walk)[0] for _ in range(5))
    whole, (mean, fields) = min((best(everything) for _ in range(5)), key=lambda pair: pair[0])
    mean, fields = (array.float().cpu().numpy() for array in (mean, fields))
    raw, corrected = (
        [quality(problem, field) for problem, field in zip(problems, part, strict=True)] for part in (mean, fields)
    )
    gains = [after - before for before, after in zip(raw, corrected, strict=True)]
    return {
        "batch": BATCH,
        "compiled": compiled,
        "walking_ms": 1e3 * walking / BATCH,
        "corrected_ms": 1e3 * whole / BATCH,
        "raw_psnr": statistics.median(raw),
        "psnr": statistics.median(corrected),
        "ratio": statistics.median(ratio(gain, walking, whole - walking) for gain in gains),
        "device": torch.cuda.get_device_name(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--weights", action="append", help="names of shipped weights, or files; all that are shipped")
    parser.add_argument("--count", type=int, default=20, help="instances on the CPU")
    parser.add_argument("--no-cpu", action="store_true", help="only CUDA")
    parser.add_argument("--compile", action="store_true", help="with torch.compile on the GPU")
    given = parser.parse_args()
    reason, results = unavailable(), {}
    if reason:
        print(f"CUDA: {reason}", file=sys.stderr)
    for weights in given.weights or installed_correctors():
        own = results.setdefault(weights, {})
        if not given.no_cpu:
            own["cpu"] = on_cpu(weights, given.count)
        if not reason:
            own["cuda"] = on_gpu(weights, given.compile)
    if given.json:
        print(json.dumps(results, indent=2))
        return
    for weights, parts in results.items():
        for part, row in parts.items():
            print(f"{weights}, {part}")
            for name, value in row.items():
                print(f"  {name:20} {value:.4g}" if isinstance(value, float) else f"  {name:20} {value}")


if __name__ == "__main__":
    main()
