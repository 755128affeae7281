"""Draws the figures of the results pages from the results files; `python docs/tables.py` calls it when they are stale.

docs/images/figures.json says which results they were drawn from.
"""

import hashlib
import json

import numpy as np
from docs.measured import HERE, NAMES, RESULTS, evaluations, network_studies, result, walked
from validation import diffusion

from mc2.benchmark.curve import shipped_curve
from mc2.benchmark.methods.method import Case
from mc2.benchmark.methods.registry import make_method
from mc2.benchmark.paper import paper_psnr
from mc2.benchmark.runner import case_values
from mc2.benchmark.scores import score_field
from mc2.geometry import Grid
from mc2.plotting import panels, save_figure, show_field
from mc2.problems import read_problem
from mc2.solvers import solve
from mc2.zoo import generate

IMAGES = HERE / "images"
SHOWN = ("wos", "nlm", "mc2", "mc2-physics", "fd")
PANEL = (0, 1, 2, 3, 4)
"""Test instances in the qualitative panel: one of every family."""
TIMES = (0.03, 0.05, 0.1, 0.2, 0.5)
"""Ticks of the seconds per field."""


def sources():
    """What the figures depend on: digests of the results and of the curve."""
    files = sorted(RESULTS.glob("evaluate_*.json")) + sorted(RESULTS.glob("networks_mc2*.json"))
    files.append(RESULTS / "diffusion.json")
    digests = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    curve = json.dumps(shipped_curve(), sort_keys=True).encode()
    return digests | {"wos_curve.json": hashlib.sha256(curve).hexdigest()}


def stale():
    try:
        return json.loads((IMAGES / "figures.json").read_text("utf-8")) != sources()
    except (OSError, ValueError):
        return True


def draw_budgets(found):
    """PSNR of raw walks against the budget, and where methods on 8 walks stand."""
    figure, [ax] = panels(1, size=(7.2, 4.6))
    curve = shipped_curve()
    budgets = curve["budgets"]
    for number, (family, own) in enumerate(curve["families"].items()):
        colour = f"C{number}"
        ax.semilogx(budgets, own["psnr"]["mean"], color=colour, label=family)
        paper = [(b, p) for b in budgets if (p := paper_psnr("wos", b, family)) is not None]
        ax.semilogx(*zip(*paper, strict=True), "o", color=colour, markersize=3)
        for name, marker in (("gaussian_1", "v"), ("nlm", "s"), ("fd", "*")):
            at = 8 if name != "fd" else budgets[-1]
            ax.plot(at, found[name]["families"][family]["psnr"]["mean"], marker, color=colour, markersize=8)
    for name, marker in (
        ("gaussian_1, on 8 walks", "v"),
        ("nlm, on 8 walks", "s"),
        ("finite differences, no walks", "*"),
    ):
        ax.plot([], [], marker, color="grey", label=name)
    ax.plot([], [], "o", color="grey", markersize=3, label="raw walks in the paper")
    ax.set(xlabel="walks per pixel", ylabel="PSNR / dB", title="raw walks against their number")
    ax.set_xticks(budgets[::2], [f"{b:,}" for b in budgets[::2]])
    ax.legend(fontsize=7, ncols=2)
    return figure


def draw_times(found):
    """Overall PSNR against seconds per field, walks included."""
    figure, [ax] = panels(1, size=(9.4, 5.2))
    whole = {name: own for name, own in found.items() if not own.get("absent")}
    places = {}
    for name, own in whole.items():
        marker, colour = {"correction": ("o", "C0"), "dense": ("s", "C1")}[own["setting"]]
        places[NAMES[name]] = walked(own)[1], own["overall"]["psnr"]["mean"]
        ax.semilogx(*places[NAMES[name]], marker, color=colour, markersize=7)
    cores = found["wos"]["hardware"]["cores"]
    ax.set(xlabel=f"seconds per field, walks included ({cores} CPU cores)", ylabel="PSNR / dB, mean over five families")
    ax.set_title("accuracy against time")
    ax.plot([], [], "o", color="C0", label="corrections of 8 walks")
    ax.plot([], [], "s", color="C1", label="solvers of the whole problem")
    ax.legend(fontsize=8, loc="upper left")
    seconds = [x for x, _ in places.values()]
    ax.set_xlim(0.7 * min(seconds), 1.7 * max(seconds))
    ax.set_xticks(TIMES, [f"{time:g}" for time in TIMES])
    ax.minorticks_off()
    label(ax, places)
    return figure


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
    """PSNR of walks and of what networks make of them, against the walks' number."""
    networks = network_studies()
    figure, axes = panels(len(networks), size=(5.6, 4.4))
    for ax, found in zip(axes, networks, strict=True):
        rows = found["budgets"]
        budgets = [int(walks) for walks in rows]
        for number, family in enumerate(rows["8"]["walks"]):
            colour = "black" if family == "overall" else f"C{number}"
            for kind, style in (("walks", "--"), ("corrected", "-")):
                scores = [row[kind][family] for row in rows.values()]
                ax.semilogx(budgets, scores, style, color=colour, label=family if kind == "corrected" else None)
        ax.plot([], [], "--", color="grey", label="walks alone")
        ax.axvspan(4, 32, color="grey", alpha=0.15, linewidth=0, label="budgets of training")
        ax.set(xlabel="walks per pixel", ylabel="PSNR / dB", title=f"{found['weights']} on any number of walks")
        ax.set_xticks(budgets[::2], [f"{walks:,}" for walks in budgets[::2]])
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
    found = evaluations()
    used = sources()
    save_figure(draw_budgets(found), IMAGES / "budgets.png")
    save_figure(draw_times(found), IMAGES / "times.png")
    save_figure(draw_hero(), IMAGES / "solution.png", dpi=72)
    save_figure(draw_scaling(), IMAGES / "scaling.png")
    save_figure(diffusion.draw(result("diffusion")), IMAGES / "diffusion.png")
    save_figure(draw_panel(), IMAGES / "panel.png", dpi=75)
    (IMAGES / "figures.json").write_text(json.dumps(used, indent=1) + "\n", "utf-8")
