"""How fast PDEZoo is made: records on one core, and training batches on the device that trains.

    python benchmarks/zoo.py --json

`records`: instances with filters and JSON lines, per second and core; also as a multiple of the rate at which the same
problems are made with the checks that a user's problem gets. `stream`: instances per second in ready batches at 8 walks
per pixel, and what part of the rate of walks alone that is.
"""

import argparse
import json
import time
from itertools import islice

import timing  # noqa: F401 (a NumPy that numba-cuda can load)

from mc2.problems import FAMILIES
from mc2.walks.gpu.launch import unavailable
from mc2.zoo import generate, to_line
from mc2.zoo.stream import Stream, prepare


def records(count=4000):
    """Seconds for records, and for building the same problems as a user would."""
    for split in ("train", "test"):
        to_line(generate(split, 0))  # compiles
    result = {}
    for split in ("train", "test"):
        start = time.perf_counter()
        for index in range(count):
            to_line(generate(split, index))
        seconds = time.perf_counter() - start
        instances = [generate(split, index) for index in range(count // 10)]
        start = time.perf_counter()
        for instance in instances:
            FAMILIES[instance.family](instance.domain, exact=list(instance.atoms), **instance.parameters)
        checked = time.perf_counter() - start
        rate = count / seconds
        result[split] = {"per_second": rate, "times_checked_problems": rate * checked / len(instances)}
    return result


def stream(batches, batch, workers):
    """Instances per second in ready batches, and what walking prepared batches alone would give."""
    import torch
    from numba import cuda

    from mc2.walks.gpu.launch import walk_fields

    source = Stream(batch=batch, budgets=(8,), workers=workers)
    examples = iter(source)
    for _ in islice(examples, 20):  # starts processes, compiles, fills the queue
        pass
    torch.cuda.synchronize()
    start, total = time.perf_counter(), torch.zeros((), device="cuda")
    for made in islice(examples, batches):
        total += ((made.mean - made.u) ** 2).mean()  # a user of the batch
    torch.cuda.synchronize()
    seconds = time.perf_counter() - start
    examples.close()
    packed = prepare(source, 0)[0].upload()
    walk_fields(packed, source.grid, [8], source.options)
    cuda.synchronize()
    start = time.perf_counter()
    for _ in range(20):
        walk_fields(packed, source.grid, [8], source.options)
    cuda.synchronize()
    walking = (time.perf_counter() - start) / 20
    rate = batches * batch / seconds
    return {
        "device": torch.cuda.get_device_name(),
        "batch": batch,
        "workers": workers,
        "instances_per_second": rate,
        "walking_alone_per_second": batch / walking,
        "part_of_walking_alone": rate * walking / batch,
        "mean_squared_error": float(total) / batches,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--batches", type=int, default=200)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--workers", type=int, default=8)
    options = parser.parse_args()
    result = {"records": records()}
    if not unavailable():
        result["stream"] = stream(options.batches, options.batch, options.workers)
    print(json.dumps(result) if options.json else json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
