"""What a solution claims, against the truth: error bars, certificates, convergence, refusals.

A claim that is off counts by how many times: the true rms error over what was claimed to hold it, 1.96 error bars or
the upper end of the certificate's interval. Errors below rounding, 1e-12 of the largest value (or the accuracy of the
truth itself), are held by any claim.
"""

import inspect
import signal
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np

import mc2
from mc2.errors import InputError
from mc2.geometry import from_description
from validation.hunting.case import CLASSES, Case

QUANTILE = 1.96
CERTIFICATE_WALKS = 32
FOREIGN_ERROR = 1e-3
"""Error in the foreign field that `mc2.certify` is given, as a part of the field's largest value."""

Row = dict[str, Any]


class OutOfTime(Exception):  # noqa: N818
    """The case took longer than it was given."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise `OutOfTime` in here after so many seconds, at the next instruction of Python's."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)  # again and again: compiled code may swallow the first
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def prepare() -> None:
    """Compile or load all kernels, so that seconds are of solving."""
    disk = from_description({"shape": "disk", "radius": 1.0})
    for family in CLASSES.values():
        parameter = {"Yukawa": {"lam": 1.0}, "Helmholtz": {"k": 1.0}}.get(family, {})
        problem = getattr(mc2, family)(disk, exact="x*y*x - x**2" if family != "Laplace" else "x*y", **parameter)
        for corrector in ("mc2-rounds", "mc2-physics", "wos"):
            solution = mc2.solve(problem, 2, grid=mc2.Grid(16), corrector=corrector)
        solution.certify(walks=2, points=8)


def run(case: Case, seconds: float = 30.0) -> Row:
    """Solve a case, certify it, and compare both with the truth. seconds: after which either is given up."""
    row: Row = {"index": case.index, "kind": case.kind, "family": case.draft.family, "note": case.draft.note}
    row |= {"options": case.solve_options(), "size": case.size, "value": case.value}
    begin = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            row |= {"outcome": "solved"} | _solve(case, seconds)
        except InputError as error:
            row |= {"outcome": "refused", "message": str(error)}
        except OutOfTime:
            row["outcome"] = "out of time"
        except Exception as error:  # a crash is what we hunt for
            row |= {"outcome": "crashed", "message": f"{type(error).__name__}: {error}"}
    row["seconds"] = round(time.perf_counter() - begin, 2)
    row["warnings"] = sorted({f"{w.category.__name__}: {str(w.message)[:160]}" for w in caught})
    row["broken"] = broken(row)
    return row


def _solve(case: Case, seconds: float) -> Row:
    problem, grid, options = case.problem(), case.grid, case.solve_options()
    if "tolerance" in options and "max_seconds" in inspect.signature(mc2.solve).parameters:
        options["max_seconds"] = seconds / 3
    with deadline(seconds):
        solution = mc2.solve(problem, grid=grid, **options)
    x, y = (c[solution.mask] for c in solution.grid.points())
    truth = case.truth(x, y)
    row = compare(case, solution, truth)
    if solution.standard_error.any() or row["true rms"] > row["floor"]:
        try:
            with deadline(seconds):
                made = solution.certify(walks=CERTIFICATE_WALKS, seed=case.index)
            row["certificate"] = judge_certificate(made, row, case.value)
            error = truth - solution.values[solution.mask] / case.value
            row["certificate"]["regions held"] = regions_held(made, x, y, error, case.value, row["floor"])
        except InputError as error:
            row["not certified"] = str(error)
    if hasattr(mc2, "certify") and case.index % 3 == 0:
        row["foreign"] = _foreign(case, problem, solution, truth)
    return row


def compare(case: Case, solution: mc2.Solution, truth: np.ndarray) -> Row:
    """Errors of the values and of their error bars, in units of the case's value."""
    values, bars = (field[solution.mask] / case.value for field in (solution.values, solution.standard_error))
    error, largest = truth - values, max(float(np.abs(truth).max()), case.height)
    floor = max(1e-12, case.draft.accuracy) * largest
    tolerance = case.options.get("tolerance")
    row = {
        "method": solution.method,
        "steps": "".join(step.kind[0] if step.kept else step.kind[0].upper() for step in solution.history),
        "converged": bool(solution.converged),
        "reason": getattr(solution, "reason", None),
        "largest": largest,
        "floor": floor,
        "finite": bool(np.isfinite(values).all() and not np.isnan(bars).any()),  # infinite bars claim nothing
        "true rms": rms(error),
        "true mean": float(error.mean()),
        "true max": float(np.abs(error).max()),
        "bar": rms(bars),
        "within": float(np.mean(np.abs(error) <= QUANTILE * bars + floor)),
    }
    for name in ("true rms", "true mean", "true max", "bar"):
        row[name] = _finite(row[name])
    row["off bar"] = _off(row["true rms"], QUANTILE * row["bar"], floor)
    if tolerance is not None and solution.converged:
        row["off tolerance"] = _off(row["true rms"], QUANTILE * tolerance, floor)
    return row


def judge_certificate(made: Any, row: Row, value: float) -> Row:
    """Whether its intervals hold the true errors, and by how much the upper end is off or wide."""
    whole, floor = made.overall, row["floor"]
    low, high = whole.rms.low / value, whole.rms.high / value
    mean_low, mean_high = whole.mean.low / value, whole.mean.high / value
    nothing = row["true rms"] <= floor  # walks say nothing about rounding
    return {
        "rms": [_finite(low), _finite(high)],
        "mean": [_finite(mean_low), _finite(mean_high)],
        "rms held": bool(nothing or low - floor <= row["true rms"] <= high + floor),
        "mean held": bool(nothing or mean_low - floor <= row["true mean"] <= mean_high + floor),
        "off": 0.0 if nothing else max(_off(row["true rms"], high, floor), _off(low, row["true rms"], floor)),
        "width": _finite(high / max(row["true rms"], floor, 1e-300)),
    }


def regions_held(made: Any, x: np.ndarray, y: np.ndarray, error: np.ndarray, value: float, floor: float) -> float:
    """The share of the certificate's regions whose rms intervals hold the true error there."""
    held = []
    for region in made.regions:
        own = error[in_region(region, made.overall, x, y)]
        if own.size:
            held.append(region.rms.low / value - floor <= rms(own) <= region.rms.high / value + floor)
    return float(np.mean(held)) if held else 1.0


def in_region(region: Any, whole: Any, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Which points lie in a region of a certificate: its upper edges are the next one's, but for the last."""
    xmin, xmax, ymin, ymax = region.bounds
    _, last_x, _, last_y = whole.bounds
    return (x >= xmin) & ((x < xmax) | (xmax == last_x)) & (y >= ymin) & ((y < ymax) | (ymax == last_y))


def _foreign(case: Case, problem: mc2.Problem, solution: mc2.Solution, truth: np.ndarray) -> Row:
    """`mc2.certify` of a field that no method of ours made: the truth and a smooth error of known size."""
    x, y = (c[solution.mask] for c in solution.grid.points())
    largest, size = float(np.abs(truth).max()), case.size
    wrong = FOREIGN_ERROR * largest * np.cos(3 * (x / size - case.offset[0]) + 2 * (y / size - case.offset[1]))
    field = np.zeros(solution.grid.shape)
    field[solution.mask] = case.value * (truth + wrong)
    known: dict[str, Any] = {"walks": CERTIFICATE_WALKS, "grid": solution.grid, "seed": case.index}
    accepted = inspect.signature(mc2.certify).parameters
    try:
        made = mc2.certify(problem, field, **{name: given for name, given in known.items() if name in accepted})
    except InputError as error:
        return {"refused": str(error)}
    floor = 1e-12 * largest
    return judge_certificate(
        made, {"true rms": rms(wrong), "true mean": -float(wrong.mean()), "floor": floor}, case.value
    )


def rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def _off(true: float, claimed: float, floor: float) -> float:
    """How many times the claim is exceeded: 1 or less where it holds, at most 1e99."""
    if not (np.isfinite(true) and np.isfinite(claimed)) or true >= 1e99:
        return 1e99
    if true <= floor:
        return 0.0
    return float(min(true / max(claimed, floor, 1e-300), 1e99))


def broken(row: Row) -> list[str]:
    """The claims of a case that its true error breaks, three times off, or a crash."""
    if row["outcome"] != "solved":
        fine = row["outcome"] == "out of time" or (row["outcome"] == "refused" and "\n" not in row["message"])
        return [] if fine else [f"{row['outcome']}: {row['message'].splitlines()[0]}"]
    found = [] if row["finite"] else ["not finite"]
    found += [f"error bar {row['off bar']:.2g}× too small"] if row["off bar"] > 3 else []
    for name in ("certificate", "foreign"):
        if row.get(name, {}).get("off", 0.0) > 3:
            found.append(f"{name} {row[name]['off']:.2g}× off")
    if row.get("off tolerance", 0.0) > 3:
        found.append(f"converged, but {row['off tolerance']:.2g}× the tolerance")
    if row["converged"] and row["within"] < 0.7:
        found.append(f"{row['within']:.0%} of the pixels within 1.96 error bars")
    return found


def severity(row: Row) -> float:
    """By how much the worst claim of a case is off."""
    if row["outcome"] in ("crashed", "out of time"):
        return 1e98 if row["outcome"] == "crashed" else 1.5
    if row["outcome"] == "refused":
        return 1e97 if row["broken"] else 0.0
    offs = [row["off bar"], row.get("off tolerance", 0.0)]
    offs += [row.get(name, {}).get("off", 0.0) for name in ("certificate", "foreign")]
    return max(*offs, 1e96 if not row["finite"] else 0.0, 3.0 * (row["converged"] and row["within"] < 0.7))


def summary(rows: list[Row]) -> Row:
    """Shares over a list of cases; None where there is nothing to take a share of.

    useless: solutions with a larger error than the truth has values, whether or not that was said.
    """
    solved = [row for row in rows if row["outcome"] == "solved"]
    made = [row["certificate"] for row in solved if "certificate" in row]
    foreign = [row["foreign"] for row in solved if "rms held" in row.get("foreign", {})]
    found: Row = {"cases": len(rows), "solved": len(solved)}
    found |= {what: sum(row["outcome"] == what for row in rows) for what in ("refused", "out of time", "crashed")}
    found |= {
        "rms held": _mean(one["rms held"] for one in made),
        "mean held": _mean(one["mean held"] for one in made),
        "regions held": _mean(one["regions held"] for one in made),
        "foreign held": _mean(one["rms held"] for one in foreign),
        "upper / true, median": _median(one["width"] for one in made),
        "within": _mean(row["within"] for row in solved),
        "useless": sum(row["true rms"] > row["largest"] for row in solved),
        "broken": sum(bool(row["broken"]) for row in rows),
        "worst": max((severity(row) for row in rows), default=0.0),
        "seconds": _mean(row["seconds"] for row in rows),
    }
    return found


def verdict(rows: list[Row]) -> dict[str, bool]:
    """The rules of docs/solve.md, each true or false."""
    whole = summary(rows)
    held = [whole["rms held"], whole["mean held"]]
    low = [row["within"] for row in rows if row["outcome"] == "solved" and row["converged"]]
    return {
        "no case out of time": whole["out of time"] == 0,
        "intervals hold in 92 to 98 %": all(share is not None and 0.92 <= share <= 0.98 for share in held),
        "no claim off by more than 3×, no crash": whole["broken"] == 0,
        "within 1.96 bars, 90 % on average": (whole["within"] or 0.0) >= 0.9,
        "within 1.96 bars, 70 % in every converged case": min(low, default=1.0) >= 0.7,
    }


def _finite(value: float) -> float:
    """A number that JSON can hold."""
    return float(min(value, 1e99)) if np.isfinite(value) else 1e99


def _mean(values: Iterator[Any]) -> float | None:
    found = list(values)
    return float(np.mean(found)) if found else None


def _median(values: Iterator[float]) -> float | None:
    found = list(values)
    return float(np.median(found)) if found else None
