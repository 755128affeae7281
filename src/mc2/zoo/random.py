"""The zoo's random numbers: the same on every platform, from whole-number arithmetic alone."""

import hashlib

import numpy as np

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
COUNT = 128
"""Numbers per attempt: more than the largest instance needs."""
_STEPS = np.arange(1, COUNT + 1, dtype=np.uint64) * GOLDEN


def uniforms(version: str, split: str, index: int, attempt: int) -> list[float]:
    """Numbers in [0, 1) for one attempt at one instance: SplitMix64 (Steele, Lea and Flood, 2014) from a hashed key."""
    name = f"pdezoo/{version}/{split}/{index}/{attempt}".encode()
    key = np.uint64(int.from_bytes(hashlib.sha256(name).digest()[:8], "little"))
    z = key + _STEPS  # wraps around, as it should
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    numbers: list[float] = ((z >> np.uint64(11)).astype(np.float64) * 2.0**-53).tolist()
    return numbers
