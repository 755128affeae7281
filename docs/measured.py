"""What was measured: the results files, by name."""

import json
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "results"
NAMES = {
    "wos": "raw walks",
    "mean": "mean of the field",
    "gaussian_1": "Gaussian, σ = 1",
    "gaussian_2": "Gaussian, σ = 2",
    "median": "median, disk 2",
    "bilateral": "bilateral",
    "tv": "total variation",
    "nlm": "non-local means",
    "sunet-compact-one-pass": "SUNet, the paper's form",
    "sunet-compact": "that network, our forms, relaxed",
    "mc2-alone": "our SUNet, one pass",
    "mc2": "our SUNet, relaxed",
    "mc2-unet": "our U-Net, relaxed",
    "mc2-physics": "lift and projection",
    "mc2-rounds": "rounds of walks and fits",
    "fd": "finite differences",
    "trefftz": "Trefftz",
    "fno": "FNO, source alone",
    "pino": "PINO, source alone",
    "fno-fair": "FNO, whole problem",
    "diffusion-pde": "DiffusionPDE",
    "cocogen": "CoCoGen",
    "diffusion-pde-prior": "DiffusionPDE, no walks",
    "cocogen-prior": "CoCoGen, no walks",
}
"""Methods in the order of the tables."""
NETWORKS = ("mc2", "mc2-alone", "mc2-unet", "sunet-compact", "sunet-compact-one-pass")
"""Correctors that have learned."""
DIFFUSION = ("diffusion-pde", "cocogen", "diffusion-pde-prior", "cocogen-prior")
"""Those too slow for all of the test split; of three families alone."""


def result(name):
    return json.loads((RESULTS / f"{name}.json").read_text("utf-8"))


@cache
def reproduced(study):
    """What `docs/reproduced.py` kept of a study."""
    return result(f"reproduce_{study}")


def network_studies():
    """What `python -m validation.networks` found, by weights."""
    files = sorted(RESULTS.glob("networks_mc2*.json"), key=lambda file: file.stem)
    return [json.loads(file.read_text("utf-8")) for file in files]


def shown(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return (
            f"{value:.3f}" if 1e-2 <= abs(value) < 10 else f"{value:.1f}" if 10 <= abs(value) < 1e3 else f"{value:.1e}"
        )
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else value
