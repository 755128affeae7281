"""The zoo's random numbers: the same on every platform, from whole-number arithmetic alone."""

import hashlib

import numpy as np
from numpy.typing import NDArray

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def uniforms(version: str, split: str, index: int, attempt: int, count: int) -> NDArray[np.float64]:
    """Numbers in [0, 1) for one attempt at one instance: SplitMix64 (Steele, Lea and Flood, 2014) from a hashed key."""
    name = f"pdezoo/{version}/{split}/{index}/{attempt}".encode()
    key = np.frombuffer(hashlib.sha256(name).digest()[:8], "<u8")[0].astype(np.uint64)
    with np.errstate(over="ignore"):
        z = key + np.arange(1, count + 1, dtype=np.uint64) * GOLDEN
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-53
