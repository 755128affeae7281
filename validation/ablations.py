"""The ablations: trains every run of configs/ablations.toml, corrects walks at many budgets, and writes the table.

    python -m validation.ablations --out runs/ablations [--seconds 540] [--only error,lifted] [--count 128]

Runs that are finished are not trained again, so that the same command goes on where it stopped; --seconds stops it in
time. Weights and logs are in a folder per run; ablations.json and ablations.md have what was measured on the first
instances of the test split: PSNR in dB of corrected walks, and of the walks themselves.
"""

import argparse
import json
import sys
import time
from pathlib import Path

from mc2.correction.learned import load_network
from mc2.errors import InputError, unknown
from mc2.files import read_toml
from mc2.training.checkpoints import write_json
from mc2.training.config import config_from_data
from mc2.training.loop import train

from .networks import BUDGETS
from .networks import budgets as measure


def read_runs(path):
    """Configurations by name: the base, changed by each run's own keys; tables are merged."""
    contents = read_toml(path, "configuration")
    base, runs = contents.get("base", {}), contents.get("runs", {})

    def merged(own):
        return base | {
            key: base.get(key, {}) | value if isinstance(value, dict) else value for key, value in own.items()
        }

    return {name: config_from_data({"name": name} | merged(own)) for name, own in runs.items()}


def table(results):
    """All runs at 8 walks per pixel, and the first one at every budget, in Markdown."""
    families = list(next(iter(results.values()))["budgets"]["8"]["corrected"])
    lines = [f"| run | {' | '.join(families)} | at 4 walks | steps | seconds |", "|---" * (len(families) + 4) + "|"]
    for name, found in results.items():
        scores, four = found["budgets"]["8"]["corrected"], found["budgets"].get("4")
        cells = [f"{scores[family]:.2f}" for family in families]
        cells += [
            f"{four['corrected']['overall']:.2f}" if four else "–",
            f"{found['steps']:,}",
            f"{found['seconds']:.0f}",
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += ["", "| walks | raw | " + " | ".join(results) + " |", "|---" * (len(results) + 2) + "|"]
    first = next(iter(results.values()))["budgets"]
    for walks, row in first.items():
        cells = [f"{row['walks']['overall']:.2f}"]
        cells += [f"{found['budgets'][walks]['corrected']['overall']:.2f}" for found in results.values()]
        lines.append(f"| {walks} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--config", type=Path, default=Path("configs/ablations.toml"))
    parser.add_argument("--only", help="names of runs, with commas")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--count", type=int, default=128)
    parser.add_argument("--budgets", default=",".join(map(str, BUDGETS)))
    parser.add_argument("--device", default="auto")
    given = parser.parse_args()
    runs = read_runs(given.config)
    for name in (given.only or "").split(",") if given.only else ():
        if name not in runs:
            raise unknown("run", name, runs)
    budgets = sorted({8} | {int(part) for part in given.budgets.split(",")})
    began, results = time.monotonic(), {}
    for name in given.only.split(",") if given.only else runs:
        folder, left = given.out / name, given.seconds - (time.monotonic() - began)
        if left <= 0:
            break
        log = train(runs[name], folder, seconds=left, device=given.device)
        print(f"{name}: {log['steps']:,} steps, {log['seconds']:.0f} s", file=sys.stderr, flush=True)
        if not log["finished"]:
            break
        kept = folder / "budgets.json"
        if not kept.is_file():
            write_json(kept, measure(load_network(str(folder / f"{name}.safetensors")), given.count, budgets))
        results[name] = {"steps": log["steps"], "seconds": log["seconds"], "instances": log["instances"]}
        results[name]["budgets"] = json.loads(kept.read_text())
    if results:
        write_json(given.out / "ablations.json", results)
        (given.out / "ablations.md").write_text(table(results))
        print(table(results))


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        sys.exit(f"error: {error}")
