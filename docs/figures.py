"""Draws the figures of the results pages from the results files; `python docs/tables.py` calls it when they are stale.

docs/images/figures.json says which results they were drawn from.
"""

import hashlib
import json

import numpy as np
from docs.measured import DIFFUSION, HERE, NAMES, NETWORKS, RESULTS, reproduced, result
from docs.result_tables import FEW, TRAINED, eight, subset
from validation import diffusion

from mc2.benchmark.methods.method import Case
from mc2.benchmark.methods.registry import make_method
from mc2.benchmark.paper import paper_psnr
from mc2.benchmark.runner import case_values
from mc2.benchmark.scores import score_field
from mc2.geometry import Grid
from mc2.plotting import panels, save_figure, show_field
from mc2.problems import read_problem
from mc2.solvers import solve
from mc2.zoo import FAMILIES, generate

IMAGES = HERE / "images"
SHOWN = ("wos", "nlm", "fno-fair", "sunet-compact-one-pass", "mc2", "mc2-physics", "fd")
PANEL = (0, 1, 2, 3, 4)
"""Test instances in the qualitative panel: one of every family."""
TRAINED_ON = 4, 32
"""Budgets that all of our networks were trained on."""


def sources():
    """What the figures depend on: digests of the results."""
    files = sorted(RESULTS.glob("reproduce_*.json")) + [RESULTS / f"evaluate_{name}.json" for name in DIFFUSION]
    files.append(RESULTS / "diffusion.json")
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def stale():
    try:
        return json.loads((IMAGES / "figures.json").read_text("utf-8")) != sources()
    except (OSError, ValueError):
        return True


def curve_of(method):
    """Rows of the curve, by walks per pixel."""
    return {row["walks"]: row for row in reproduced("curve")["rows"] if row["method"] == method}


def draw_budgets():
    """PSNR of raw walks against the budget, and where methods on 8 walks stand, on the same instances."""
    figure, [ax] = panels(1, size=(7.6, 5.0))
    curve, few = curve_of("wos"), subset(FEW)
    budgets = list(curve)
    methods = {"gaussian_1": "v", "nlm": "s", "sunet-compact-one-pass": "^", "mc2": "D", "mc2-physics": "P"}
    for number, family in enumerate(FAMILIES):
        colour = f"C{number}"
        ax.semilogx(budgets, [row[family]["mean"] for row in curve.values()], color=colour, label=family)
        paper = [(b, p) for b in budgets if (p := paper_psnr("wos", b, family)) is not None]
        ax.semilogx(*zip(*paper, strict=True), "o", color=colour, markersize=3)
        for name, marker in methods.items():
            ax.plot(8, few[name][family]["mean"], marker, color=colour, markersize=7, alpha=0.8)
    for name, marker in methods.items():
        ax.plot([], [], marker, color="grey", label=f"{NAMES[name]}, on 8 walks")
    ax.plot([], [], "o", color="grey", markersize=3, label="raw walks in the paper")
    ax.set(xlabel="walks per pixel", ylabel="PSNR / dB", title=f"raw walks against their number, {FEW} instances")
    ax.set_xticks(budgets[::3], [f"{b:,}" for b in budgets[::3]])
    ax.minorticks_off()
    ax.legend(fontsize=7, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.14), frameon=False)
    return figure


def draw_times():
    """PSNR against seconds per field, walks included: all of the test split, and the diffusion models' instances."""
    figure, axes = panels(2, size=(8.6, 6.0))
    few, walking = subset(FEW), eight()["wos"]["overall"]["seconds"]["mean"]
    places = [{}, {}]
    for name, row in eight().items():
        if name == "wos":
            continue
        time = row["overall"]["seconds"]["mean"] + walking * (row["walks"] > 0)
        places[0][name] = time, row["overall"]["psnr"]["mean"]
        places[1][name] = time, few[name]["trained"]["mean"]
    for name in DIFFUSION:
        own = result(f"evaluate_{name}")["overall"]
        time = own["seconds"]["mean"] + own["walking_seconds"]["mean"]
        places[1][name] = time, own["psnr"]["mean"]
    walks = [row["overall"] for row in reproduced("table")["rows"] if row["method"] == "wos"]
    lines = [
        ([row["seconds"]["mean"] for row in walks], [row["psnr"]["mean"] for row in walks]),
        zip(*((row["seconds"], row["trained"]["mean"]) for row in curve_of("wos").values()), strict=True),
    ]
    count = eight()["wos"]["overall"]["count"], few["wos"]["trained"]["count"]
    titles = f"all families, {count[0]:,} instances", f"{', '.join(TRAINED)}: the first {count[1]} instances"
    for ax, own, line, title in zip(axes, places, lines, titles, strict=True):
        ax.semilogx(*line, ".-", color="C7", linewidth=1, label="raw walks, 1, 2, 4, …")
        for name, place in own.items():
            marker, colour = look(name)
            ax.semilogx(*place, marker, color=colour, markersize=7)
        ax.set(xlabel="seconds per field, walks included", ylabel="PSNR / dB, mean", title=title)
        for marker, colour, text in LOOKS:
            ax.plot([], [], marker, color=colour, label=text)
        ax.legend(fontsize=8, loc="upper left")
        ax.set_xlim(1e-5, 1000)
        label(ax, {NAMES[name]: place for name, place in own.items()})
    return figure


LOOKS = (
    ("o", "C0", "corrections of 8 walks, on one core"),
    ("D", "C2", "networks on 8 walks, in batches on an H200"),
    ("s", "C1", "solvers of the whole problem, on one core"),
    ("^", "C3", "networks without walks, in batches on an H200"),
    ("X", "C4", "diffusion models, on two cores of another machine"),
)
"""Marker, colour and name of every kind of method."""


def look(name):
    """Marker and colour of a method."""
    if name in DIFFUSION:
        return LOOKS[4][:2]
    if name in ("fno", "pino", "fno-fair"):
        return LOOKS[3][:2]
    if name in NETWORKS:
        return LOOKS[1][:2]
    return LOOKS[2 if eight()[name]["walks"] == 0 or name == "mc2-rounds" else 0][:2]


def label(ax, places):
    """Write names beside points, each as near to its own as those above it leave room."""
    figure = ax.figure
    figure.draw_without_rendering()  # so that pixels are known
    marker = np.array([[-6, -6], [6, 6]])  # left, bottom; right, top
    taken = [ax.transData.transform(place) + marker for place in places.values()]
    for name, place in sorted(places.items(), key=lambda item: (-item[1][1], item[1][0])):
        x, y = ax.transData.transform(place)
        text = ax.annotate(name, place, fontsize=8, va="center")
        width, height = text.get_window_extent().width, 0.9 * text.get_window_extent().height
        shifts = sorted(range(-90, 91, 3), key=abs)
        tries = [(side, shift) for shift in shifts for side in (10, -10 - width)]
        for side, shift in tries:
            box = np.array([[x + side, y + shift - height / 2], [x + side + width, y + shift + height / 2]])
            if all((box[1] < own[0]).any() or (own[1] < box[0]).any() for own in taken):
                break
        taken.append(box)
        at = ax.transData.inverted().transform((box[0, 0], y + shift))
        text.set_position(at)
        if abs(shift) > 8:
            near = ax.transData.inverted().transform((box[0, 0] - 3 if side > 0 else box[1, 0] + 3, y + shift))
            ax.plot(*np.transpose([place, near]), color="0.6", linewidth=0.6, zorder=0)


def draw_scaling():
    """PSNR of walks and of what corrections make of them, against the walks' number."""
    names = ("mc2", "mc2-unet", "sunet-compact-one-pass", "mc2-physics")
    figure, axes = panels(2, rows=2, size=(5.6, 4.6))
    walks = curve_of("wos")
    for ax, name in zip(axes, names, strict=True):
        rows = curve_of(name)
        for number, place in enumerate((*FAMILIES, "overall")):
            colour = "black" if place == "overall" else f"C{number}"
            ax.semilogx(list(rows), [walks[own][place]["mean"] for own in rows], "--", color=colour)
            ax.semilogx(list(rows), [row[place]["mean"] for row in rows.values()], color=colour, label=place)
        ax.plot([], [], "--", color="grey", label="the walks alone")
        if name in NETWORKS:
            ax.axvspan(*TRAINED_ON, color="grey", alpha=0.15, linewidth=0, label="budgets of training")
        ax.set(xlabel="walks per pixel", ylabel="PSNR / dB", title=f"{NAMES[name]} (`{name}`)")
        ticks = list(rows)[::3]
        ax.set_xticks(ticks, [f"{own:,}" for own in ticks])
        ax.minorticks_off()
        ax.legend(fontsize=7, ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.14), frameon=False)
    return figure


def draw_hero():
    """The README's picture: what `mc2 solve examples/keyhole.toml --plot` draws."""
    posed = read_problem(HERE.parent / "examples" / "keyhole.toml")
    solution = solve(posed.problem, grid=posed.grid)
    return solution.plot(posed.problem.exact, posed.title)


def draw_panel():
    """One instance of every family: exact field, and what methods make of it, in the exact field's colours."""
    grid = Grid()
    figure, axes = panels(len(SHOWN) + 1, rows=len(PANEL), size=(2.6, 2.5))
    for row, index in enumerate(PANEL):
        instance = generate("test", index)
        problem, mask = instance.problem, instance.problem.mask(grid)
        exact = problem.on_grid(problem.exact, grid)
        own = axes[row * (len(SHOWN) + 1) : (row + 1) * (len(SHOWN) + 1)]
        limits = exact[mask].min(), exact[mask].max()
        show(own[0], exact, mask, limits, f"{instance.family}: exact")
        for ax, name in zip(own[1:], SHOWN, strict=True):
            method = make_method(name)
            values, _ = case_values(method, instance, 8, 0, grid, "cpu")
            field = np.asarray(method.solve(Case(method, values)))
            show(ax, field, mask, limits, f"{name}: {score_field(field, exact, mask)['psnr']:.1f} dB")
    return figure


def show(ax, field, mask, limits, title):
    from matplotlib.colors import Normalize

    show_field(ax, field, mask, (-1, 1, -1, 1), title, norm=Normalize(*limits), bar=False)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.title.set_fontsize(9)


def draw_all():
    used = sources()
    save_figure(draw_budgets(), IMAGES / "budgets.png", dpi=90)
    save_figure(draw_times(), IMAGES / "times.png", dpi=75)
    save_figure(draw_hero(), IMAGES / "solution.png", dpi=72)
    save_figure(draw_scaling(), IMAGES / "scaling.png", dpi=75)
    save_figure(diffusion.draw(result("diffusion")), IMAGES / "diffusion.png")
    save_figure(draw_panel(), IMAGES / "panel.png", dpi=55)
    (IMAGES / "figures.json").write_text(json.dumps(used, indent=1) + "\n", "utf-8")
