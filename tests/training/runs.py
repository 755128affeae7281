"""Small runs for tests."""

import torch

from mc2.training.config import config_from_data

CPU = torch.device("cpu")
NETWORKS = {
    "unet": {"architecture": "unet", "widths": [8, 16], "blocks": 1},
    "sunet": {
        "architecture": "sunet", "patch": 2, "embedding": 8, "depths": [2, 2], "head": 4, "window": 4, "drop_path": 0.2
    },
}  # fmt: skip


def small(**options):
    """A configuration that takes a second or two."""
    usual = {
        "name": "small", "network": NETWORKS["unet"], "steps": 8, "grid": 32, "batch": 4, "rate": 1e-3,
        "precision": "fp32", "budgets": [4, 8], "validations": 2, "validation_count": 6,
        "inputs": {"channels": ["estimate", "source", "mask", "error"], "base": "mean"},
    }  # fmt: skip
    return config_from_data(usual | options)
