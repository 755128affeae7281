"""Estimate: Walk on Spheres, on the CPU and on NVIDIA GPUs."""

from mc2.walks.channels import estimate_many
from mc2.walks.eigenvalue import first_eigenvalue
from mc2.walks.engine import estimate, trajectory
from mc2.walks.estimate import Estimate, Record
from mc2.walks.many import BatchEstimate, estimate_batch
from mc2.walks.merging import stream
from mc2.walks.options import Options

__all__ = [
    "BatchEstimate",
    "Estimate",
    "Options",
    "Record",
    "estimate",
    "estimate_batch",
    "estimate_many",
    "first_eigenvalue",
    "stream",
    "trajectory",
]
