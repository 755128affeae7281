"""The ablations: trains every run of configs/ablations.toml, corrects walks at many budgets, and writes the table.

    python -m validation.ablations --out runs/ablations [--seconds 540] [--only only-8,lifted] [--count 100]

Runs that are finished are not trained again, so that the same command goes on where it stopped; --seconds stops it in
time, and several processes may share a GPU, each with its own --only. Weights and logs are in a folder per run.
ablations.json has the logs of all runs that are finished and what was measured on the first instances of the test
split: PSNR in dB of walks corrected by the network alone, and of the walks themselves. ablations.md has its tables.
"""

import argparse
import json
import sys
import time
from pathlib import Path

from mc2.errors import InputError, unknown
from mc2.files import write_json
from mc2.reading.toml import read_toml
from mc2.solvers.learned import load_network
from mc2.training.config import config_from_data
from mc2.training.loop import train

from .markdown import table
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


CLAIMS = (
    ("mixed budgets help", "multi-budget", "only-8", 8, "+0.7 to +0.8"),
    ("so do those from 1 to 32", "budgets-1-to-32", "only-8", 8, "+0.7 to +0.8"),
    ("the source helps", "multi-budget", "no-source", 4, "+6.8"),
    ("a loss in fp32 helps", "mse-fp32", "mse-bf16", 8, "+2.9"),
    *((f"{2 * n} % of the data instead of {n} %", f"data-{2 * n}", f"data-{n}", 8, "more") for n in (4, 8, 16, 32)),
    ("all the data instead of 64 %", "multi-budget", "data-64", 8, "more"),
    ("ours: the standard error helps", "multi-budget", "paper-inputs", 8, ""),
    ("ours: the lift helps", "lifted", "multi-budget", 8, ""),
)
"""What the paper says or we do: the run that should win, the one that should lose, at so many walks; the paper's dB."""


def scores(found, walks):
    """PSNR per family of what a run corrects, or nothing."""
    return found["budgets"].get(str(walks), {}).get("corrected", {})


def claims(results):
    """How much better the one run of every claim is than the other, in Markdown."""
    rows = []
    for text, winner, loser, walks, paper in CLAIMS:
        if winner in results and loser in results:
            ours = [scores(results[name], walks).get("overall", float("nan")) for name in (winner, loser)]
            rows.append((text, f"`{winner}`", f"`{loser}`", walks, f"{ours[0] - ours[1]:+.2f}", paper))
    return table(("claim", "run", "instead of", "walks", "gain, dB", "the paper's"), rows)


def at_eight(results):
    """All runs at 8 walks per pixel, in Markdown."""
    families = list(scores(next(iter(results.values())), 8))
    rows = [
        (f"`{name}`", *(f"{scores(found, 8)[family]:.2f}" for family in families), f"{found['log']['instances']:,}")
        for name, found in results.items()
    ]
    return table(("run", *families, "samples"), rows)


def by_budget(results):
    """Overall PSNR of the walks, and of what every run makes of them, in Markdown."""
    first = next(iter(results.values()))["budgets"]
    rows = [
        (
            walks,
            f"{row['walks']['overall']:.2f}",
            *(f"{scores(found, walks)['overall']:.2f}" for found in results.values()),
        )
        for walks, row in first.items()
    ]
    return table(("walks", "raw", *(f"`{name}`" for name in results)), rows)


def finished(out, runs):
    """What all finished runs of a folder have left, in the order of the configuration."""
    found = {}
    for name in runs:
        log, kept = out / name / f"{name}.json", out / name / "budgets.json"
        if log.is_file() and kept.is_file():
            found[name] = {"log": json.loads(log.read_text()), "budgets": json.loads(kept.read_text())}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--config", type=Path, default=Path("configs/ablations.toml"))
    parser.add_argument("--only", help="names of runs, with commas")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--budgets", default=",".join(map(str, BUDGETS)))
    parser.add_argument("--device", default="auto")
    given = parser.parse_args()
    runs = read_runs(given.config)
    for name in (given.only or "").split(",") if given.only else ():
        if name not in runs:
            raise unknown("run", name, runs)
    budgets = sorted({8} | {int(part) for part in given.budgets.split(",")})
    began = time.monotonic()
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
            learned = load_network(str(folder / f"{name}.safetensors"))
            write_json(kept, measure(learned, given.count, budgets, sweeps=0))
    results = finished(given.out, runs)
    if results:
        write_json(given.out / "ablations.json", results)
        text = "\n\n".join(part(results) for part in (at_eight, claims, by_budget)) + "\n"
        (given.out / "ablations.md").write_text(text)
        print(text)


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        sys.exit(f"error: {error}")
