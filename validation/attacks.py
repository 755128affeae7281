"""What once read strangers' files, took gigabytes or minutes, or was accepted although it was damaged: tried again.

    python -m validation.attacks [--json] [--only NAME …] [--seconds 60]
    python -m validation.attacks --tree OTHER/src    # the same of another version's source

Every attack is a function in `validation.attacking`, run in a process and a folder of its own, with at most 8 GB and a
minute. Its outcome is one of

- refused: one clear line, exit code 1;
- fine: it ran, and what came out is right;
- accepted: it ran, although it should have been refused; or it did harm;
- traceback, killed (for its memory), late.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from validation.attacking import ATTACKS
from validation.markdown import table

MEMORY = 8 << 30
GOOD = ("refused", "fine")
WARM, WARMING = "shard with NaN", 600.0
"""The attack that is made first, for nothing, and the seconds that it may take."""
ROOT = Path(__file__).parents[1]
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def attack(name, tree, seconds):
    """What becomes of an attack on the package whose source is in `tree`."""
    paths = {"PYTHONPATH": os.pathsep.join(map(str, (tree, ROOT)))}
    with tempfile.TemporaryDirectory(prefix="mc2-attack-") as folder, (Path(folder) / "said").open("w") as said:
        begun = time.perf_counter()
        child = subprocess.Popen(
            [sys.executable, "-m", "validation.attacking", name], cwd=folder, env=os.environ | ONE_THREAD | paths,
            preexec_fn=limit, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said,
        )  # fmt: skip
        usage, code = wait(child, begun + seconds)
        said = (Path(folder) / "said").read_text("utf-8", "replace")
    spent = float(said.rsplit("seconds: ", 1)[1].split()[0]) if "seconds: " in said else time.perf_counter() - begun
    outcome, detail = judge(code, said)
    return {
        "item": ATTACKS[name].item,
        "attack": name,
        "outcome": outcome,
        "seconds": round(spent, 2),
        "processor": round(usage.ru_utime + usage.ru_stime, 2),
        "megabytes": round(usage.ru_maxrss / 1024),
        "detail": detail,
    }


def wait(child, until):
    """The resources and the exit code of a process, which is killed if it lasts too long."""
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            child.returncode = os.waitstatus_to_exitcode(status)
            return usage, child.returncode
        if time.perf_counter() > until:
            child.kill()
            _, _, usage = os.wait4(child.pid, 0)
            child.returncode = -9
            return usage, "late"
        time.sleep(0.02)


def judge(code, said):
    """The outcome, and the last thing that was said."""
    lines = [line for line in said.splitlines() if line.strip() and not line.startswith("seconds: ")]
    last = lines[-1][:160] if lines else ""
    if code == "late":
        return "late", ""
    if "MemoryError" in said or "Unable to allocate" in said or "Cannot allocate memory" in said:
        return "killed", last
    if "Traceback" in said:
        return "traceback", last
    return {0: "fine", 1: "refused", 3: "accepted"}.get(code, f"exit {code}"), last


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, default=ROOT / "src", help="the source to attack")
    parser.add_argument("--only", nargs="+", choices=ATTACKS, metavar="NAME", help=f"of {', '.join(ATTACKS)}")
    parser.add_argument("--seconds", type=float, default=60.0, help="after which an attack counts as late")
    parser.add_argument("--json", action="store_true", help="one object on stdout")
    given = parser.parse_args()
    attack(WARM, given.tree.resolve(), WARMING)  # which compiles what is not compiled yet
    rows = []
    for name in sorted(given.only or ATTACKS, key=lambda name: ATTACKS[name].item):
        rows.append(attack(name, given.tree.resolve(), given.seconds))
        print(" ".join(str(value) for value in rows[-1].values()), file=sys.stderr, flush=True)
    if given.json:
        print(json.dumps({"attacks": rows}, indent=1))
    else:
        print(table(list(rows[0]), [list(row.values()) for row in rows]))
    sys.exit(any(row["outcome"] not in GOOD for row in rows))


if __name__ == "__main__":
    main()
