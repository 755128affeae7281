"""What was measured: the results files, by name."""

import json
from pathlib import Path

from mc2.benchmark.results import read_results

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
    "mc2-alone": "SUNet, without relaxation",
    "mc2": "SUNet",
    "mc2-unet": "U-Net",
    "mc2-physics": "lift and projection",
    "fd": "finite differences, direct",
    "fd_amg": "finite differences, multigrid",
    "trefftz": "Trefftz, boundary least squares",
    "fno": "FNO, source alone",
    "pino": "PINO, source alone",
    "fno-fair": "FNO, whole problem",
    "diffusion-pde": "DiffusionPDE",
    "cocogen": "CoCoGen",
    "diffusion-pde-prior": "DiffusionPDE, no walks",
    "cocogen-prior": "CoCoGen, no walks",
}
"""Methods in the order of the tables."""


def result(name):
    return json.loads((RESULTS / f"{name}.json").read_text("utf-8"))


def evaluations():
    """The results files of all methods, in order."""
    return {name: read_results(RESULTS / f"evaluate_{name}.json") for name in NAMES}


def network_studies():
    """What `python -m validation.networks` found, by weights."""
    files = sorted(RESULTS.glob("networks_mc2*.json"), key=lambda file: file.stem)
    return [json.loads(file.read_text("utf-8")) for file in files]


def walked(found):
    """Mean of the method's seconds, and with its walks."""
    own = found["overall"]["seconds"]["mean"]
    return own, own + found["overall"]["walking_seconds"]["mean"]


def shown(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return (
            f"{value:.3f}" if 1e-2 <= abs(value) < 10 else f"{value:.1f}" if 10 <= abs(value) < 1e3 else f"{value:.1e}"
        )
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else value
