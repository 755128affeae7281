"""Fuzzing of every reader and of the command line: inputs that are damaged, hostile or nonsense.

    python -m validation.fuzz --seconds 60 [--seed 0] [--jobs 2] [--only TARGET …] [--json] [--strict]
    python -m validation.fuzz --case "weights:17"    # one input again, and what became of it
    python -m validation.fuzz --list

There is no corpus: every input follows from (seed, target, index). Each is read in a forked process, which may take
2 GB of memory besides what it starts with, and 20 seconds of a processor. An input must be refused with one line, or be
read; and then its contents must be those that were written. Twenty minutes on two cores are about a hundred thousand
inputs. With --strict, the exit code is 1 if anything is wrong.
"""

import argparse
import json
import sys
import time

from validation.fuzzing import arrays, commands, drawings, networks, texts
from validation.fuzzing.child import poll, start
from validation.markdown import table

TARGETS = texts.TARGETS | drawings.TARGETS | arrays.TARGETS | networks.TARGETS | commands.TARGETS
WRONG = ("traceback", "bad message", "hang", "over memory", "crash", "wrong contents")
OUTCOMES = ("refused", "accepted", *WRONG)
BATCH = 16
"""Inputs of one process, one after the other."""
KEPT = 10
"""Inputs of every kind of failure and target that are named."""


def prepare(targets):
    """Make the samples that inputs are made from, and compile what reading needs, before processes are forked."""
    import torch

    torch.set_num_threads(1)  # forked processes have none of the other threads
    if not set(targets) <= {*texts.TARGETS, *drawings.TARGETS}:
        for sample in (*arrays.SAMPLES, *networks.SAMPLES):
            sample()
    for sample in (texts.configurations, texts.problems, texts.entries):
        sample()
    texts.read_expression("sin(x) + y")([0.1], [0.2])
    for index in range(5):
        texts.from_record(texts.to_record(texts.generate("test", index)))


def fuzz(targets, seconds, seed, jobs=1, most=None, say=lambda found: None):
    """Inputs of all targets in turn, until time is up; returns what became of them. most: of each target."""
    prepare(targets)
    found, failures, running, left = {name: _empty() for name in targets}, [], [], []
    first, begun = 0, time.monotonic()
    while True:
        due = time.monotonic() - begun < seconds and (most is None or first < most)
        if due and not left:
            indices = range(first, first + BATCH if most is None else min(first + BATCH, most))
            left, first = [(name, indices) for name in targets], indices.stop
            for name in targets:
                found[name]["inputs"] += len(indices)
        while left and len(running) < jobs:
            name, indices = left.pop(0)
            running.append(start(name, TARGETS[name], seed, indices))
        for child in list(running):
            heard, over = poll(child)
            for index, one in heard:
                _note(found[child.target], failures, f"{child.target}:{index}", one)
                say(found)
            if over:
                running.remove(child)
                if child.waiting:  # those after the one that ended it
                    left.append((child.target, child.waiting))
        if not (due or running or left):
            break
        time.sleep(0.002)
    return {"seed": seed, "seconds": time.monotonic() - begun, "targets": found, "failures": failures}


def _empty():
    return {"inputs": 0, **dict.fromkeys(OUTCOMES, 0), "seconds": 0.0, "megabytes": 0.0, "slowest": ""}


def _note(row, failures, case, one):
    row[one["outcome"]] += 1
    if one["seconds"] > row["seconds"]:
        row["slowest"] = case
    for name in ("seconds", "megabytes"):
        row[name] = max(row[name], one[name])
    if one["outcome"] in WRONG and row[one["outcome"]] <= KEPT:
        failures.append({"case": case, "outcome": one["outcome"], "detail": one["detail"]})


def total(found):
    """All targets in one row."""
    rows = found["targets"].values()
    sums = {name: sum(row[name] for row in rows) for name in ("inputs", *OUTCOMES)}
    return sums | {name: max(row[name] for row in rows) for name in ("seconds", "megabytes")}


def show(found):
    """The report as a table."""
    rows = {**found["targets"], "all": total(found)}
    head = ["target", "inputs", *OUTCOMES, "longest / s", "most / MB"]
    print(table(head, [[name, *_cells(row)] for name, row in rows.items()]))
    for failure in found["failures"]:
        print(f"\n{failure['outcome']}: {failure['case']}\n  {failure['detail']}", end="")
    print("\nslowest: " + ", ".join(f"{row['slowest']} ({row['seconds']:.1f} s)" for row in found["targets"].values()))
    print(f"{found['seconds']:.0f} s, seed {found['seed']}")


def _cells(row):
    return [*(str(row[name]) for name in ("inputs", *OUTCOMES)), f"{row['seconds']:.1f}", f"{row['megabytes']:.0f}"]


def again(case, seed):
    """One input, by its name and index."""
    name, index = case.rsplit(":", 1)
    prepare([name])
    child, heard = start(name, TARGETS[name], seed, [int(index)]), []
    while not heard:
        heard, _ = poll(child)
        time.sleep(0.01)
    return heard[0][1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="to go on for")
    parser.add_argument("--most", type=int, help="inputs of each target, whatever time is left")
    parser.add_argument("--seed", type=int, default=0, help="another one makes other inputs")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--only", nargs="+", choices=sorted(TARGETS), metavar="TARGET", help="of --list")
    parser.add_argument("--case", help="TARGET:INDEX, one input again")
    parser.add_argument("--list", action="store_true", help="the targets")
    parser.add_argument("--json", action="store_true", help="one object on stdout")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if anything is wrong")
    given = parser.parse_args()
    if given.list:
        print("\n".join(TARGETS))
        return 0
    if given.case:
        print(json.dumps(again(given.case, given.seed), indent=1))
        return 0
    begun = time.monotonic()

    def say(found):
        done, bad = (sum(sum(row[name] for name in names) for row in found.values()) for names in (("inputs",), WRONG))
        text = f"\r{done:,} inputs, {bad:,} wrong, {time.monotonic() - begun:.0f} s "
        print(text, end="", file=sys.stderr, flush=True)

    found = fuzz(given.only or TARGETS, given.seconds, given.seed, given.jobs, given.most, say)
    print(file=sys.stderr)
    found["all"] = total(found)
    print(json.dumps(found)) if given.json else show(found)
    return int(given.strict and any(found["all"][name] for name in WRONG))


if __name__ == "__main__":
    sys.exit(main())
