"""A hunt for problems whose true error lies outside what `mc2.solve` and its certificates claim.

    python -m validation.hunt [--count 500] [--seed 0] [--only KIND …] [--worst 10] [--json [--brief]] [--strict]
    python -m validation.hunt --case 17    # one case again: its lines of Python, and all that was found
    python -m validation.hunt --known      # the cases that once broke a claim

Every case is a problem with a known solution, drawn from (seed, index) to be hard in one respect, its kind; see
`validation.hunting`. Five hundred take about half an hour on two cores. The exit code is 0 unless --strict is given
and a rule is broken.
"""

import argparse
import json
import sys
import time
from functools import partial
from itertools import count

from validation.hunting.draw import FIRST_REFLECTING, KINDS, REFLECTING, draw
from validation.hunting.judge import prepare, run, severity, summary, verdict
from validation.hunting.known import known
from validation.markdown import table


def hunt(cases, seconds):
    """A row for every case, with progress on stderr."""
    prepare()
    rows, start = [], time.perf_counter()
    for done, case in enumerate(cases, 1):
        rows.append(run(case() if callable(case) else case, seconds))
        if rows[-1]["broken"]:
            print(f"\r{rows[-1]['index']}: {'; '.join(rows[-1]['broken'])}", file=sys.stderr)
        bad = sum(bool(row["broken"]) for row in rows)
        line = f"\r{done}/{len(cases)} cases, {bad} broken, {time.perf_counter() - start:.0f} s "
        print(line, end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return rows


def choose(total, only):
    """The first indices, of these kinds if any are named; those with conditions of their own only if they are."""
    own, first = (list(REFLECTING), FIRST_REFLECTING) if only and only[0] in REFLECTING else (KINDS, 0)
    wanted = (index for index in count(first) if not only or own[index % len(own)] in only)
    return [next(wanted) for _ in range(total)]


def report(rows, seed, worst):
    """Everything, as plain data."""
    ranked = sorted((row for row in rows if severity(row) > 1), key=severity, reverse=True)
    kinds = {kind: [row for row in rows if row["kind"] == kind] for kind in (*KINDS, *REFLECTING)}
    families = {row["family"]: [one for one in rows if one["family"] == row["family"]] for row in rows}
    return {
        "seed": seed,
        "verdict": verdict(rows),
        "overall": summary(rows),
        "kinds": {kind: summary(own) for kind, own in kinds.items() if own},
        "families": {family: summary(own) for family, own in families.items()},
        "worst": [line(row) for row in ranked[:worst]],
        "refusals": {row["index"]: row["message"] for row in rows if row["outcome"] == "refused"},
        "cases": rows,
    }


def line(row):
    """A case in one line of a table."""
    made = row.get("certificate", {})
    return {
        "case": row["index"],
        "kind": row["kind"],
        "family": row["family"],
        "note": row["note"],
        "true rms": row.get("true rms"),
        "bar": row.get("bar"),
        "certified at most": made.get("rms", [None, None])[1],
        "within": row.get("within"),
        "converged": row.get("converged"),
        "reason": row.get("reason"),
        "seconds": row["seconds"],
        "broken": "; ".join(row["broken"]) or row["outcome"],
    }


def written(rows):
    """Rows as a table in Markdown."""
    return table(list(rows[0]), [[cell(value) for value in row.values()] for row in rows])


def cell(value):
    """A value in a few characters."""
    if value is None:
        return "–"
    return f"{value:.2g}" if isinstance(value, float) else str(value)


def show(found):
    """The report as tables."""
    overall = [{"kind": kind} | own for kind, own in found["kinds"].items()]
    print(written([*overall, {"kind": "overall"} | found["overall"]]))
    print(f"\nThe worst {len(found['worst'])}:\n")
    print(written(found["worst"]) if found["worst"] else "none")
    for index, message in found["refusals"].items():
        print(f"\nrefused, case {index}: {message}", end="")
    print("\n")
    for rule, kept in found["verdict"].items():
        print(f"{'kept  ' if kept else 'BROKEN'} {rule}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=500, help="cases to draw")
    parser.add_argument("--seed", type=int, default=0, help="another one draws other cases")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=(*KINDS, *REFLECTING),
        metavar="KIND",
        help=f"of {', '.join(KINDS)}; or of {', '.join(REFLECTING)}",
    )
    parser.add_argument("--case", type=int, help="run one case again, and show everything about it")
    parser.add_argument("--known", action="store_true", help="the cases that once broke a claim, instead")
    parser.add_argument("--worst", type=int, default=10, help="cases to name")
    parser.add_argument("--seconds", type=float, default=30.0, help="after which a case is given up")
    parser.add_argument("--json", action="store_true", help="one object on stdout")
    parser.add_argument("--brief", action="store_true", help="the object without a row for every case")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a rule is broken")
    given = parser.parse_args()
    if given.case is not None:
        case = draw(given.seed, given.case)
        if not given.json:
            print(case.code())
        prepare()
        print(json.dumps(run(case, given.seconds), indent=2))
        return 0
    if given.known:
        names, rows = list(known()), hunt(list(known().values()), given.seconds)
        lines = [{"name": name} | line(row) for name, row in zip(names, rows, strict=True)]
        print(json.dumps(lines if given.brief else rows, indent=1) if given.json else written(lines))
        return int(given.strict and any(row["broken"] for row in rows))
    cases = [partial(draw, given.seed, index) for index in choose(given.count, given.only)]
    found = report(hunt(cases, given.seconds), given.seed, given.worst)
    if given.json:
        print(
            json.dumps({name: part for name, part in found.items() if not (given.brief and name == "cases")}, indent=1)
        )
    else:
        show(found)
    return int(given.strict and not all(found["verdict"].values()))


if __name__ == "__main__":
    sys.exit(main())
