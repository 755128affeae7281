"""Random numbers without state: a hash of where they are used.

A walk's numbers at a step are pcg4d(pixel, walk, step, block) (Jarzynski and Olano, *Hash Functions for GPU
Rendering*, 2020) after adding a 128-bit key that is itself a hash of (seed, instance). So a result does not depend on
threads, batches or order, and streams with different seeds or instances have nothing to do with each other.
"""

from typing import Any

import numpy as np

from mc2.compute.compile import scalar

u32 = np.uint32
MASK = (1 << 64) - 1


def make_key(seed: int, instance: int) -> np.ndarray:
    """Four 32-bit words from a seed and an instance number, by SplitMix64 (Steele, Lea and Flood, 2014)."""
    state = seed & MASK
    words = []
    for addend in (0, instance & MASK, 0, 0):
        state = (state + addend + 0x9E3779B97F4A7C15) & MASK
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        state = z ^ (z >> 31)
        words.append(state)
    mixed = [words[2] & 0xFFFFFFFF, words[2] >> 32, words[3] & 0xFFFFFFFF, words[3] >> 32]
    return np.array(mixed, u32)


@scalar
def hash4(x: Any, y: Any, z: Any, w: Any) -> Any:
    """pcg4d: four words to four words, every input bit reaching every output bit."""
    a, c = u32(1664525), u32(1013904223)
    x, y, z, w = u32(x * a + c), u32(y * a + c), u32(z * a + c), u32(w * a + c)
    x = u32(x + y * w)
    y = u32(y + z * x)
    z = u32(z + x * y)
    w = u32(w + y * z)
    x = u32(x ^ (x >> u32(16)))
    y = u32(y ^ (y >> u32(16)))
    z = u32(z ^ (z >> u32(16)))
    w = u32(w ^ (w >> u32(16)))
    x = u32(x + y * w)
    y = u32(y + z * x)
    z = u32(z + x * y)
    w = u32(w + y * z)
    return x, y, z, w


@scalar
def uniform(word: Any) -> Any:
    """A float32 in (0, 1] from the upper 24 bits, the better ones."""
    return (np.float32(np.int32(word >> u32(8))) + np.float32(0.5)) * np.float32(2.0**-24)


@scalar
def draw(pixel: Any, walk: Any, step: Any, key0: Any, key1: Any, key2: Any, key3: Any) -> Any:
    """Four independent uniform numbers for one step of one walk."""
    a, b, c, d = hash4(u32(pixel + key0), u32(walk + key1), u32(step + key2), key3)
    return uniform(a), uniform(b), uniform(c), uniform(d)


@scalar
def draw_choice(pixel: Any, walk: Any, step: Any, key0: Any, key1: Any, key2: Any, key3: Any) -> Any:
    """A fifth number for the same step, independent of the four."""
    a, _, _, _ = hash4(u32(pixel + key0), u32(walk + key1), u32(step + key2), u32(key3 + u32(2)))
    return uniform(a)


@scalar
def first_turn(pixel: Any, walk: Any, key0: Any, key1: Any, key2: Any, key3: Any) -> Any:
    """Stratified first directions: the van der Corput sequence in the walk, shifted at random for every pixel.

    Each direction is uniform by itself, so the estimate stays unbiased, and the first 2ᵏ walks have one direction in
    each of 2ᵏ equal sectors, so nested budgets stay nested.
    """
    bits = u32(walk)
    bits = u32(u32(bits << u32(16)) | u32(bits >> u32(16)))
    bits = u32(u32((bits & u32(0x00FF00FF)) << u32(8)) | u32((bits & u32(0xFF00FF00)) >> u32(8)))
    bits = u32(u32((bits & u32(0x0F0F0F0F)) << u32(4)) | u32((bits & u32(0xF0F0F0F0)) >> u32(4)))
    bits = u32(u32((bits & u32(0x33333333)) << u32(2)) | u32((bits & u32(0xCCCCCCCC)) >> u32(2)))
    bits = u32(u32((bits & u32(0x55555555)) << u32(1)) | u32((bits & u32(0xAAAAAAAA)) >> u32(1)))
    shift, _, _, _ = hash4(u32(pixel + key0), key1, key2, u32(key3 + u32(1)))
    return uniform(u32(bits + shift))
