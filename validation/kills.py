"""Commands that are killed, or meet a full disk, or SIGTERM, at every step that touches a file.

    python -m validation.kills [--only WORK …] [--faults kill error terminate] [--sample N] [--json]
    python -m validation.kills --random 200 [--seed 0]    # kill -9 at random moments

After each: every file is as it was before or as it will be, nothing is half-written; an error is one line, and leaves
no temporary file. Then the same command runs again, and must end with the files of an undisturbed run, to the byte
where they tell no seconds. All steps take about ten minutes on two cores. The exit code is 1 if anything is wrong.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from pathlib import Path

from validation.killing.faults import FAULTS
from validation.killing.trial import Trials, warm
from validation.killing.works import WORKS
from validation.markdown import table

RANDOM = ("build", "train", "evaluate", "solve")


def choose(steps, sample, random):
    """The numbers of all steps, or of some at random."""
    count = len(steps)
    return range(count) if sample is None else sorted(random.sample(range(count), min(sample, count)))


def random_kills(works, count, random):
    """Rows of kills at random moments, the works in turn, until so many have come before the end of their work."""
    killed = 0
    while killed < count:
        row = works[killed % len(works)].random_kill(random.random())
        killed += row["exit"] < 0
        yield row


def try_all(works, folder, given):
    """A row for every trial, with progress on stderr."""
    rows, begun, moments = [], time.perf_counter(), random.Random(given.seed)
    warm(works, folder)
    made = {work.name: Trials(work, folder) for work in works}
    if given.random:
        plan = random_kills(list(made.values()), given.random, moments)
    else:
        plan = (
            trials.fault(fault, at)
            for trials in made.values()
            for fault in given.faults
            for at in choose(trials.steps, given.sample, moments)
        )
    for row in plan:
        rows.append(row)
        bad = sum(bool(row["wrong"]) for row in rows)
        if sys.stderr.isatty():
            line = f"\r{row['work']}: {len(rows)} trials, {bad} wrong, {time.perf_counter() - begun:.0f} s "
            print(line, end="", file=sys.stderr, flush=True)
    return rows


def summary(rows):
    """A row for every work and fault: how many trials, what was there after them, and how many went wrong."""
    found = {}
    for row in rows:
        own = found.setdefault((row["work"], row["fault"]), [])
        own.append(row)
    return [
        {
            "work": work,
            "fault": fault,
            "trials": len(own),
            "all as before": sum(not row["found"]["new"] and not row["found"]["other"] for row in own),
            "some new": sum(bool(row["found"]["new"]) for row in own),
            "between": sum(bool(row["found"]["other"]) and not row["found"]["new"] for row in own),
            "temporary left": sum(any(name.endswith(".tmp") for name in row["hidden"]) for row in own),
            "half a file": sum(any("whole" in text or "neither" in text for text in row["wrong"]) for row in own),
            "wrong": sum(bool(row["wrong"]) for row in own),
        }
        for (work, fault), own in found.items()
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=WORKS, metavar="WORK", help=f"of {', '.join(WORKS)}")
    parser.add_argument("--faults", nargs="+", choices=FAULTS, default=list(FAULTS))
    parser.add_argument("--sample", type=int, help="only so many steps of each work for each fault, at random")
    parser.add_argument("--random", type=int, default=0, help="instead: so many kills at random moments")
    parser.add_argument("--seed", type=int, default=0, help="of the random moments and steps")
    parser.add_argument("--json", action="store_true", help="one object on stdout")
    given = parser.parse_args()
    names = given.only or (RANDOM if given.random else list(WORKS))
    with tempfile.TemporaryDirectory() as folder:
        rows = try_all([WORKS[name] for name in names], Path(folder), given)
    found = {"summary": summary(rows), "trials": rows}
    if given.json:
        print(json.dumps(found))
    else:
        lines = found["summary"]
        print(table(list(lines[0]), [list(line.values()) for line in lines]))
        for row in rows:
            for text in row["wrong"]:
                print(f"WRONG {row['work']}, {row['fault']}, {row.get('step', '')} {row.get('what', '')}: {text}")
    return int(any(row["wrong"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
