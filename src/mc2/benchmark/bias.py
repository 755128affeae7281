"""Bias and variance of a correction (paper, appendix on bias and variance).

For one instance, independent walks give independent inputs z₁ … z_S and outputs Φ(z₁) … Φ(z_S). Their mean minus u is
the bias, their spread the variance, per pixel. The correction improves on raw walks where bias² + variance is below the
variance of z, and by how much it passes noise on is told by ‖Φ(z) − Φ(z′)‖/‖z − z′‖.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mc2.benchmark.methods.method import Case, Method
from mc2.benchmark.runner import case_values
from mc2.checks import whole
from mc2.errors import InputError
from mc2.geometry import Grid
from mc2.zoo import FAMILIES, VERSION, Instance, generate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
AVERAGED = ("bias2", "variance", "raw_variance")


def study_bias(
    method: Method,
    *,
    walks: int = 8,
    cases: int = 10,
    repeats: int = 16,
    split: str = "test",
    grid: Grid | None = None,
    device: str = "auto",
    report: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Bias², variance and the Lipschitz factor over the first instances of a split that the method can play in.

    Plain data. repeats: independent walk sets per instance. Squares are in units of the exact field's squared range.
    """
    if method.setting != "correction":
        raise InputError(f"{method.name} is no correction: bias and variance are over the walks that it is given")
    cases, repeats, grid = whole("cases", cases, 1), whole("repeats", repeats, 2), grid or Grid()
    rows: list[dict[str, Any]] = []
    maps: dict[str, Any] = {}
    for index in range(cases):
        instance = generate(split, index)
        if instance.family not in method.families:
            continue
        fields = decompose(method, instance, walks, repeats, grid, device)
        rows.append(_row(instance, fields))
        maps = maps or {name: fields[name] for name in (*AVERAGED, "mask")}
        if report:
            report(index + 1, cases)
    if not rows:
        raise InputError(f"{method.name} can play in none of the first {cases} instances of {split}")
    families = {family: [row for row in rows if row["family"] == family] for family in FAMILIES}
    return {
        "method": method.name,
        "walks": walks,
        "repeats": repeats,
        "cases": len(rows),
        "split": split,
        "grid": grid.size,
        "generator_version": VERSION,
        "families": {family: _summary(own) for family, own in families.items() if own},
        "overall": _summary(rows),
        "instances": rows,
        "first": {"id": rows[0]["id"], "maps": maps},
    }


def decompose(method: Method, instance: Instance, walks: int, repeats: int, grid: Grid, device: str) -> dict[str, Any]:
    """Per pixel: bias², variance and the raw variance, [n, n]; and the factors by which noise was passed on."""
    inputs, outputs = [], []
    for seed in range(repeats):
        values, _ = case_values(method, instance, walks, seed, grid, device)
        inputs.append(values["estimate"].astype(float))
        outputs.append(np.asarray(method.solve(Case(method, values)), float))
    exact = instance.problem.on_grid(instance.truth, grid)
    return decompose_fields(np.stack(inputs), np.stack(outputs), exact, instance.problem.mask(grid))


def decompose_fields(z: Array, found: Array, exact: Array, mask: NDArray[np.bool_]) -> dict[str, Any]:
    """Bias², variance and noise factors from independent inputs z and their outputs, both [repeats, n, n]."""
    repeats = len(z)
    scale = float(np.ptp(exact[mask])) ** 2
    variance, raw_variance = found.var(0, ddof=1), z.var(0, ddof=1)
    # the mean of a finite number of outputs has a variance of its own, which is no bias
    bias2 = (found.mean(0) - exact) ** 2 - variance / repeats
    far = [np.linalg.norm((a - b)[:, mask], axis=1) for a, b in ((found[1:], found[:-1]), (z[1:], z[:-1]))]
    fields = {"bias2": bias2, "variance": variance, "raw_variance": raw_variance}
    return {name: np.where(mask, field, 0.0) / scale for name, field in fields.items()} | {
        "mask": mask,
        "factors": far[0] / far[1],
    }


def _row(instance: Instance, fields: dict[str, Any]) -> dict[str, Any]:
    place = {"id": instance.id, "family": instance.family, "estimator": instance.estimator}
    return place | balance(fields)


def balance(fields: dict[str, Any]) -> dict[str, Any]:
    """Means over the mask of what `decompose` gives, and what they say together."""
    mask = fields["mask"]
    means = {name: float(fields[name][mask].mean()) for name in AVERAGED}
    error = fields["bias2"] + fields["variance"]
    return {
        **means,
        "improves": means["bias2"] + means["variance"] < means["raw_variance"],
        "improved_pixels": float(np.mean(error[mask] < fields["raw_variance"][mask])),
        "lipschitz": float(fields["factors"].max()),
        "lipschitz_rms": float(np.sqrt(np.mean(fields["factors"] ** 2))),
    }


def _summary(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Medians over instances, since squares of hard ones would drown the others; the largest Lipschitz factor."""
    names = (*AVERAGED, "improved_pixels", "lipschitz_rms")
    return {name: float(np.median([row[name] for row in rows])) for name in names} | {
        "improves": 100 * float(np.mean([row["improves"] for row in rows])),
        "lipschitz": max(row["lipschitz"] for row in rows),
        "count": len(rows),
    }


def draw_bias(contents: dict[str, Any]) -> "Figure":
    """Maps of the first instance, and the balance of every instance."""
    from matplotlib.colors import LogNorm

    from mc2.plotting import panels, show_field

    title = f"{contents['method']} on {contents['walks']} walks per pixel, {contents['repeats']} repeats"
    figure, axes = panels(4, title)
    maps, extent = contents["first"]["maps"], (-1.0, 1.0, -1.0, 1.0)
    top = float(np.quantile(maps["raw_variance"][maps["mask"]], 0.99))
    titles = {"raw_variance": "variance of raw walks", "variance": "variance of the output", "bias2": "bias²"}
    for ax, (name, text) in zip(axes, titles.items(), strict=False):
        field = np.clip(maps[name], 1e-6 * top, None)
        show_field(ax, field, maps["mask"], extent, text, "magma", norm=LogNorm(1e-4 * top, top))
    ax = axes[3]
    for family in contents["families"]:
        own = [row for row in contents["instances"] if row["family"] == family]
        error = [max(row["bias2"], 0.0) + row["variance"] for row in own]
        ax.loglog([row["raw_variance"] for row in own], error, "o", label=family)
    raw = [row["raw_variance"] for row in contents["instances"]]
    ax.loglog([min(raw), max(raw)], [min(raw), max(raw)], "k--", linewidth=0.8)
    ax.set(xlabel="raw variance", ylabel="bias² + variance", title="below the line: improved")
    ax.legend(fontsize=7)
    return figure
