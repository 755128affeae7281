"""Verification: does a claim hold on problems that nobody has seen?

A claim is about the first instances of `test`, which everyone knows. Here the method is judged on a split that is drawn
afterwards. The two means of a family differ by chance, with standard error s √(1/n + 1/m), where n instances are fresh
and the claim is about m. s is the standard deviation over the fresh ones, or the root mean square over all families
where that is larger: with ten instances a family, a low mean tends to come with a small s, and by its own s alone about
one in twenty honest claims failed (resampled scores of raw walks and of a Gaussian filter).
"""

import math
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mc2.benchmark.leaderboard.entries import Entry
from mc2.benchmark.leaderboard.predictions import read_predictions
from mc2.benchmark.leaderboard.schema import FEWEST
from mc2.benchmark.leaderboard.scoring import Report, means, score_predictions
from mc2.benchmark.scores import METRICS
from mc2.checks import finite, whole
from mc2.errors import InputError
from mc2.geometry import Grid
from mc2.zoo import FAMILIES, Instance, generate
from mc2.zoo.laws import family_of, size_of

SEEDS = 999_999
"""Fresh splits are numbered from 1 to this."""
STANDARD_ERRORS = 3.0
ROUNDING = {"psnr": 0.01, "snr": 0.01}
"""Decibels between a claim and the scores of the same file; other metrics may differ by one per cent."""

Run = Callable[..., dict[str, Any]]
"""Judges a method of this package, as `run_method` does."""


@dataclass(frozen=True)
class Verdict:
    """On one family, in dB: what was claimed and found, the standard error of their difference, what it may be."""

    family: str
    claimed: float
    found: float
    error: float
    allowed: float

    @property
    def holds(self) -> bool:
        return abs(self.found - self.claimed) <= self.allowed


def draw_seed() -> int:
    """A seed from the system's entropy, for which nobody can have prepared."""
    return 1 + secrets.randbelow(SEEDS)


def fresh_split(seed: int) -> str:
    """The split of a seed."""
    return f"fresh-{whole('seed', seed, 1, SEEDS)}"


def draw_instances(seed: int, count: int) -> Iterator[Instance]:
    """Fresh instances, as many of every family."""
    split = fresh_split(seed)
    return (generate(split, index) for index in range(whole("count", count, 1, size_of(split))))


def check_claim(entry: Entry, scores: dict[str, Any]) -> None:
    """Refuse an entry that claims other scores than its file of predictions gets."""
    for part, table in means(scores).items():
        for metric in METRICS:
            claimed, found = entry.claimed[part][metric], table[metric]
            if claimed is None or found is None:
                continue
            if abs(claimed - found) > ROUNDING.get(metric, 0.01 * max(abs(claimed), abs(found))):
                raise InputError(f"{entry.method} claims {part} {metric} {claimed:.6g}, but its file gets {found:.6g}")


def verify(
    entry: Entry,
    seed: int,
    count: int = 50,
    *,
    predictions: str | Path | None = None,
    tolerance: float = 1.0,
    grid: Grid | None = None,
    lpips: bool = True,
    run: Run | None = None,
    progress: Report | None = None,
) -> dict[str, Any]:
    """Judge an entry on the first instances of a fresh split; plain data, ready for JSON.

    predictions: a file for these instances; without one, the method is run if it is one of this package's.
    tolerance: dB that a family's mean PSNR may differ from its claim, besides three standard errors.
    run: what runs a method of this package.
    """
    split = fresh_split(seed)
    count, tolerance = whole("count", count, FEWEST, size_of(split)), finite("tolerance", tolerance)
    if tolerance < 0:
        raise InputError(f"tolerance = {tolerance:g} must not be negative")
    if predictions is not None:
        scores = score_predictions(
            read_predictions(predictions, split, count, grid=grid), lpips=lpips, progress=progress
        )
    else:
        scores = (run or run_method)(
            entry, split=split, count=count, seed=seed, grid=grid, lpips=lpips, report=progress
        )
    verdicts = list(compare(entry, scores, split, count, tolerance))
    return {
        "method": entry.method,
        "split": split,
        "count": count,
        "tolerance": tolerance,
        "holds": all(verdict.holds for verdict in verdicts),
        "families": {verdict.family: asdict(verdict) | {"holds": verdict.holds} for verdict in verdicts},
        "evaluated": means(scores),
    }


def run_method(entry: Entry, **options: Any) -> dict[str, Any]:
    """Run a method of this package; nobody else's code is ever run."""
    from mc2.benchmark.methods.registry import METHODS, make_method
    from mc2.benchmark.runner import evaluate

    if entry.method not in METHODS:
        raise InputError(
            f"{entry.method!r} is not a method of this package: give its --predictions for problems from "
            "'mc2 leaderboard draw', with the same --seed"
        )
    method = make_method(entry.method)
    if method.setting != entry.setting:
        raise InputError(f"{entry.method} is of the setting {method.setting!r}, but its entry says {entry.setting!r}")
    return evaluate(method, walks=entry.walks, **options)


def compare(entry: Entry, scores: dict[str, Any], split: str, count: int, tolerance: float) -> Iterator[Verdict]:
    """Claimed and found PSNR of every family."""
    played = [family for family in FAMILIES if entry.claimed[family]["psnr"] is not None]
    missing = [family for family in played if family not in scores["families"]]
    if missing:
        raise InputError(f"{entry.method} claims scores for {', '.join(missing)}, of which nothing was found")
    fresh = Counter(family for index in range(count) if (family := family_of(split, index)) in played)
    known = Counter(family_of(entry.split, index) for index in range(entry.count))
    found = {family: scores["families"][family]["psnr"] for family in played}
    spreads = {family: found[family]["std"] * math.sqrt(n / (n - 1)) for family, n in fresh.items()}
    usual = math.sqrt(sum(spread**2 for spread in spreads.values()) / len(spreads))
    for family, spread in spreads.items():
        claimed = entry.claimed[family]["psnr"]
        assert claimed is not None
        error = max(spread, usual) * math.sqrt(1 / fresh[family] + 1 / known[family])
        yield Verdict(family, claimed, found[family]["mean"], error, tolerance + STANDARD_ERRORS * error)


def broken(found: dict[str, Any]) -> str:
    """What does not hold, in one line; nothing if all does."""
    parts: Sequence[str] = [
        f"{family} {row['found']:.2f} dB instead of {row['claimed']:.2f} ± {row['allowed']:.2f}"
        for family, row in found["families"].items()
        if not row["holds"]
    ]
    return f"the claim of {found['method']} does not hold: {', '.join(parts)}" if parts else ""
