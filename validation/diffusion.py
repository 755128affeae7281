"""DiffusionPDE and CoCoGen: error against steps, and what their guidance does.

    python -m validation.diffusion --out runs/diffusion [--folder runs/edm] [--count 3] [--steps 5,10,20,40,80]

Over the first validation instances of each family at 8 walks per pixel: the PSNR at every number of steps, and the
misfit of the observations and the equation's residual with and without each kind of guidance, which is measured at the
last but one number of steps. Writes diffusion.json and diffusion.png; --folder has edm-FAMILY.safetensors, in place of
the shipped weights.
"""

import argparse
from pathlib import Path

import numpy as np
import torch

from mc2.benchmark.methods import Case, make_method
from mc2.benchmark.runner import case_values
from mc2.benchmark.scores import score_field
from mc2.files import write_json
from mc2.geometry import Grid
from mc2.networks.residual import inside, residual
from mc2.plotting import panels, save_figure
from mc2.zoo import TRAINING, generate

STEPS = (5, 10, 20, 40, 80)
GUIDANCE = {
    "diffusion-pde": {
        "none": {"observation_weight": 0.0, "residual_weight": 0.0},
        "observations": {"residual_weight": 0.0},
        "residual": {"observation_weight": 0.0},
        "both": {},
    },
    "cocogen": {
        "none": {"observation_weight": 0.0, "corrections": 0, "corrections_after": 0},
        "observations": {"corrections": 0, "corrections_after": 0},
        "residual": {"observation_weight": 0.0},
        "both": {},
    },
}
"""Parameters of the methods with and without each kind of guidance."""


def measure_field(method, instance, walks, grid):
    """What the method reads, and the PSNR and the relative residual of the field that it finds; and that field."""
    values, _ = case_values(method, instance, walks, 0, grid, "auto")
    field = np.asarray(method.solve(Case(method, values)), float)
    problem, mask = instance.problem, values["mask"]
    exact = problem.on_grid(problem.exact, grid)
    scores = {
        "psnr": score_field(field, exact, mask)["psnr"],
        "residual": relative_residual(field, values["source"], problem, mask, grid, exact),
    }
    return values, scores, field


def measure(method, instance, walks, grid):
    """The same, and the misfit of the estimate: Σ (found − estimate)²/Σ variance over the mask, 1 for the solution."""
    values, scores, field = measure_field(method, instance, walks, grid)
    mask, variance = values["mask"], values["variance"].astype(float)
    return scores | {"misfit": float(np.sum((field - values["estimate"])[mask] ** 2) / variance[mask].sum())}


def relative_residual(field, source, problem, mask, grid, exact):
    """Root mean square of Δu + cu − f, in units of the source's and 100 times the solution's spread."""
    inner = torch.from_numpy(mask.astype(float))[None]
    fields = (torch.from_numpy(np.asarray(part, float))[None] for part in (field, source))
    found = residual(*fields, torch.tensor([problem.operator.mass]), inner, grid.spacing[0])
    unit = np.hypot(np.sqrt(np.mean(source[mask] ** 2)), 100 * exact[mask].std())
    return float((found.square().sum() / inside(inner).sum().clamp_min(1)).sqrt() / unit)


def study(name, instances, walks, grid, **parameters):
    """Medians over instances."""
    method = make_method(name, **parameters)
    rows = [measure(method, instance, walks, grid) for instance in instances]
    return {key: float(np.median([row[key] for row in rows])) for key in rows[0]}


def run(folder, instances, steps, walks, grid, methods=tuple(GUIDANCE)):
    """All that is measured, as plain data."""
    guided = steps[max(len(steps) - 2, 0)]
    found = {"count": len(instances), "walks": walks, "grid": grid.size, "guided_steps": guided, "methods": {}}
    for name in methods:
        found["methods"][name] = {
            "steps": {n: study(name, instances, walks, grid, folder=folder, steps=n) for n in steps},
            "guidance": {
                kind: study(name, instances, walks, grid, folder=folder, steps=guided, **parameters)
                for kind, parameters in GUIDANCE[name].items()
            },
        }
    return found


def draw(found):
    figure, axes = panels(3, f"guided diffusion models, medians of {found['count']} instances", size=(4.4, 3.6))
    for number, (name, own) in enumerate(found["methods"].items()):
        steps = [int(n) for n in own["steps"]]
        axes[0].semilogx(steps, [row["psnr"] for row in own["steps"].values()], "o-", label=name)
        axes[0].set_xticks(steps, map(str, steps))
        places = np.arange(len(own["guidance"]))
        for ax, key in zip(axes[1:], ("misfit", "residual"), strict=True):
            heights = [row[key] for row in own["guidance"].values()]
            bars = ax.bar(places + 0.4 * number, heights, 0.38)
            ax.bar_label(bars, fmt="%.3g", fontsize=8)
            ax.set_xticks(places + 0.2, own["guidance"])
    axes[0].minorticks_off()
    axes[0].set(xlabel="steps", ylabel="PSNR / dB", title="error against steps")
    axes[0].legend(fontsize=8)
    for ax, title in zip(axes[1:], ("misfit of the observations", "residual of the equation"), strict=True):
        ax.set(xlabel=f"guidance by, {found['guided_steps']} steps", title=title)
        ax.margins(y=0.1)
    axes[2].set_yscale("log")
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--methods", default=",".join(GUIDANCE))
    parser.add_argument("--folder", default="")
    parser.add_argument("--count", type=int, default=3, help="instances of each family")
    parser.add_argument("--steps", default=",".join(map(str, STEPS)))
    parser.add_argument("--walks", type=int, default=8)
    parser.add_argument("--grid", type=int, default=256)
    given = parser.parse_args()
    instances = [generate("validation", index) for index in range(given.count * len(TRAINING))]
    steps = sorted(map(int, given.steps.split(",")))
    found = run(given.folder, instances, steps, given.walks, Grid(given.grid), given.methods.split(","))
    given.out.mkdir(parents=True, exist_ok=True)
    write_json(given.out / "diffusion.json", found)
    save_figure(draw(found), given.out / "diffusion.png")
    for name, own in found["methods"].items():
        for part in ("steps", "guidance"):
            for key, row in own[part].items():
                cells = f"{row['psnr']:.2f} dB, misfit {row['misfit']:.3g}, residual {row['residual']:.3g}"
                print(f"{name}, {part} {key}: {cells}")


if __name__ == "__main__":
    main()
