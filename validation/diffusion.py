"""DiffusionPDE and CoCoGen: error against steps, and what their guidance does.

    python -m validation.diffusion --out runs/diffusion [--folder runs/edm] [--count 4] [--steps 5,10,20,40,80]

Over the first validation instances of each family at 8 walks per pixel: the PSNR at every number of steps, and the
misfit of the observations and the equation's residual with and without each kind of guidance. Writes diffusion.json and
diffusion.png; --folder has edm-FAMILY.safetensors, in place of the shipped weights.
"""

import argparse
from pathlib import Path

import numpy as np
import torch

from mc2.baselines import Case, make_method
from mc2.evaluation.metrics import score_field
from mc2.evaluation.runner import case_values
from mc2.geometry import Grid
from mc2.networks.physics import inside, residual
from mc2.plotting import panels, save_figure
from mc2.training.checkpoints import write_json
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
    found = residual(*fields, torch.tensor([problem.operator()[0]]), inner, grid.spacing[0])
    unit = np.hypot(np.sqrt(np.mean(source[mask] ** 2)), 100 * exact[mask].std())
    return float((found.square().sum() / inside(inner).sum().clamp_min(1)).sqrt() / unit)


def study(name, instances, walks, grid, **parameters):
    """Medians over instances."""
    method = make_method(name, **parameters)
    rows = [measure(method, instance, walks, grid) for instance in instances]
    return {key: float(np.median([row[key] for row in rows])) for key in rows[0]}


def run(folder, instances, steps, walks, grid):
    """All that is measured, as plain data."""
    found = {}
    for name, kinds in GUIDANCE.items():
        found[name] = {
            "steps": {n: study(name, instances, walks, grid, folder=folder, steps=n) for n in steps},
            "guidance": {
                kind: study(
                    name, instances, walks, grid, folder=folder, steps=steps[max(len(steps) - 2, 0)], **parameters
                )
                for kind, parameters in kinds.items()
            },
        }
    return found


def draw(found):
    figure, axes = panels(3, "guided diffusion models", size=(4.2, 3.6))
    for name, own in found.items():
        axes[0].semilogx(
            [int(n) for n in own["steps"]], [row["psnr"] for row in own["steps"].values()], "o-", label=name
        )
        for ax, key in zip(axes[1:], ("misfit", "residual"), strict=True):
            ax.semilogy(list(own["guidance"]), [row[key] for row in own["guidance"].values()], "o", label=name)
    axes[0].set(xlabel="steps", ylabel="PSNR / dB", title="error against steps")
    axes[1].set(xlabel="guidance by", title="misfit of the observations")
    axes[2].set(xlabel="guidance by", title="residual of the equation")
    for ax in axes:
        ax.legend(fontsize=8)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--folder", default="")
    parser.add_argument("--count", type=int, default=4, help="instances of each family")
    parser.add_argument("--steps", default=",".join(map(str, STEPS)))
    parser.add_argument("--walks", type=int, default=8)
    parser.add_argument("--grid", type=int, default=256)
    given = parser.parse_args()
    instances = [generate("validation", index) for index in range(given.count * len(TRAINING))]
    steps = sorted(map(int, given.steps.split(",")))
    found = run(given.folder, instances, steps, given.walks, Grid(given.grid))
    given.out.mkdir(parents=True, exist_ok=True)
    write_json(given.out / "diffusion.json", found)
    save_figure(draw(found), given.out / "diffusion.png")
    for name, own in found.items():
        for part in ("steps", "guidance"):
            for key, row in own[part].items():
                cells = f"{row['psnr']:.2f} dB, misfit {row['misfit']:.3g}, residual {row['residual']:.3g}"
                print(f"{name}, {part} {key}: {cells}")


if __name__ == "__main__":
    main()
