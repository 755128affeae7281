"""Estimate: Walk on Spheres, on the CPU and on NVIDIA GPUs."""

from mc2.walks.eigenvalue import first_eigenvalue
from mc2.walks.engine import Options, estimate, trajectory
from mc2.walks.estimate import Estimate, Record
from mc2.walks.many import BatchEstimate, estimate_batch

__all__ = [
    "BatchEstimate",
    "Estimate",
    "Options",
    "Record",
    "estimate",
    "estimate_batch",
    "first_eigenvalue",
    "trajectory",
]
