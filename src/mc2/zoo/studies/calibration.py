"""Calibration: whether the zoo is as hard for plain walks as the paper's data were."""

from typing import TYPE_CHECKING, Any

import numpy as np

from mc2.checks import whole
from mc2.geometry import Grid
from mc2.metrics import psnr
from mc2.zoo.difficulty import PAPER_SHARES, TIERS, shares
from mc2.zoo.laws import FAMILIES, SPLITS, TRAINING
from mc2.zoo.studies.styling import label
from mc2.zoo.studies.tiers import reference_errors
from mc2.zoo.studies.walking import Report, Walker, estimators, first

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WALKS = 8
PAPER = {"laplace": 25.22, "poisson": 11.20, "yukawa": 13.89, "biharmonic": 15.01, "helmholtz": 10.93}
"""PSNR of plain walks at B = 8 in dB, from the table in the paper's main text."""
ALLOWED = dict.fromkeys(FAMILIES, 2.0) | {"biharmonic": 4.0}
"""How far we may be, in dB. Further for biharmonic, whose estimator the paper does not name."""
ALLOWED_SHARE = 6.0
"""How far a tier's share may be, in points."""


def study_calibration(
    per_family: int = 200,
    *,
    grid: Grid | None = None,
    device: str = "auto",
    seed: int = 0,
    report: Report | None = None,
) -> dict[str, Any]:
    """PSNR of 8 walks on the test split, and the tiers of the training mix, next to the paper's; as plain data."""
    per_family = whole("per_family", per_family, 1, SPLITS["test"] // len(FAMILIES))
    tests, trains = first("test", len(FAMILIES) * per_family), first("train", len(TRAINING) * per_family)
    walker = Walker(grid or Grid(), device, seed, report=report, total=len(tests) + len(trains))
    scores: dict[str, list[float]] = {family: [] for family in FAMILIES}
    for walked in walker.walk(tests, [WALKS]):
        scores[walked.instance.family].append(psnr(walked.means[0], walked.exact, walked.mask))
    errors: dict[str, list[float]] = {family: [] for family in TRAINING}
    for instance, error in zip(trains, reference_errors(walker, trains), strict=True):
        errors[instance.family].append(error)
    tiers = shares([error for own in errors.values() for error in own])
    names = estimators(tests)
    return {
        "families": {family: _row(family, own) | {"estimator": names[family]} for family, own in scores.items()},
        "tiers": tiers,
        "paper_tiers": list(PAPER_SHARES),
        "allowed_tiers": ALLOWED_SHARE,
        "tiers_within": [abs(a - b) <= ALLOWED_SHARE for a, b in zip(tiers, PAPER_SHARES, strict=True)],
        "tiers_by_family": {family: shares(own) for family, own in errors.items()},
        "very_hard_by_family": {family: shares(own)[-1] for family, own in errors.items()},
        "per_family": per_family,
        "walks_per_pixel": WALKS,
        **walker.facts(),
    }


def _row(family: str, scores: list[float]) -> dict[str, Any]:
    """A family's mean and standard deviation over instances in dB, and how far that is from the paper."""
    mean = float(np.mean(scores))
    difference = mean - PAPER[family]
    return {
        "psnr": mean,
        "paper": PAPER[family],
        "difference": difference,
        "std": float(np.std(scores)),
        "allowed": ALLOWED[family],
        "within": abs(difference) <= ALLOWED[family],
        "count": len(scores),
    }


def draw_calibration(contents: dict[str, Any]) -> "Figure":
    """Ours as bars, the paper's as marks with what is allowed around them."""
    from mc2.plotting import panels

    title = f"PDEZoo {contents['generator_version']}: plain walks, {contents['per_family']} instances per family"
    figure, (left, right) = panels(2, title, size=(4.6, 3.8))
    rows = contents["families"]
    labels = [label(name, row["estimator"]).replace(" ", "\n") for name, row in rows.items()]
    places = np.arange(len(rows))
    left.bar(places, [row["psnr"] for row in rows.values()], color="tab:blue", alpha=0.6, label="ours")
    paper, allowed = [row["paper"] for row in rows.values()], [row["allowed"] for row in rows.values()]
    left.errorbar(places, paper, allowed, fmt="k_", capsize=4, label="paper, and what is allowed")
    left.set_xticks(places, labels, fontsize=8)
    left.set(ylabel="PSNR / dB", title=f"{contents['walks_per_pixel']} walks per pixel, test")
    left.legend(fontsize=8)
    places = np.arange(len(TIERS))
    right.bar(places, contents["tiers"], color="tab:blue", alpha=0.6, label="ours")
    right.errorbar(
        places, contents["paper_tiers"], contents["allowed_tiers"], fmt="k_", capsize=4, label="paper, and allowed"
    )
    right.set_xticks(places, list(TIERS))
    right.set(ylabel="per cent", title="tiers of the training mix")
    right.legend(fontsize=8)
    return figure
