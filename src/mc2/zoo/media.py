"""The split `coefficients`, version 2 of the generator: ∇·(α∇u) + ω·∇u − σu = f with smooth random α, ω and σ.

Domains, atoms and filters are those of version 1, with the atoms of Poisson problems. What is drawn here is PDEZoo's
own. Coefficients are texts of plane waves, sin(k·x + phase), whose numbers have six decimals.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mc2.errors import InputError
from mc2.functions import Function
from mc2.geometry import Domain
from mc2.problems.coefficients import Coefficients, read_coefficients
from mc2.problems.elliptic import Elliptic
from mc2.zoo.atom_parts import circle

SPLIT = "coefficients"
VERSION = "2"
SIZE = 5_000
FAMILIES = ("elliptic",)
TURN = 6.283185307179586
WAVES = (1.0, 3.0)
"""Range of |k|."""
HALF_CONTRAST = 1.151292
"""Largest half of ln(largest α / least α): a contrast of 10."""
DRIFT = 2.0
"""Largest component of ω."""
REACTION = 20.0
"""Largest mean of σ."""
RIPPLE = 0.5
"""Of σ, as a part of its mean."""
LONGEST = 400
"""Characters of a coefficient in a record; the zoo's own have up to 100."""


@dataclass(frozen=True)
class Medium:
    """α, the two components of ω, and σ, as texts."""

    diffusion: str
    drift: tuple[str, str]
    reaction: str

    def coefficients(self, domain: Domain) -> Coefficients:
        """As functions."""
        return read_coefficients(self.diffusion, self.drift, self.reaction, domain.size)

    def problem(self, domain: Domain, exact: Function) -> Elliptic:
        """The problem that a function solves."""
        return Elliptic.from_solution_in(domain, exact, self.coefficients(domain))


def draw_medium(numbers: Iterator[float]) -> Medium:
    """α = exp(a sin + b sin), a + b half of the logarithm of its contrast; ω and σ are 0 with probability ½ each."""
    half, share = HALF_CONTRAST * next(numbers), next(numbers)
    first, second = round(half * share, 6), round(half * (1 - share), 6)
    diffusion = f"exp({first!r}*{_wave(numbers)} + {second!r}*{_wave(numbers)})"
    drift = ("0", "0")
    if next(numbers) < 0.5:
        one, other = (f"{round(DRIFT * (2 * next(numbers) - 1), 6)!r}*{_wave(numbers)}" for _ in "xy")
        drift = (one, other)
    reaction = "0"
    if next(numbers) < 0.5:
        reaction = f"{round(REACTION * next(numbers), 6)!r}*(1 + {RIPPLE!r}*{_wave(numbers)})"
    return Medium(diffusion, drift, reaction)


def _wave(numbers: Iterator[float]) -> str:
    low, high = WAVES
    length, (cos, sin) = low + (high - low) * next(numbers), circle(TURN * next(numbers))
    kx, ky, phase = round(length * cos, 6), round(length * sin, 6), round(TURN * next(numbers), 6)
    return f"sin({kx!r}*x + {ky!r}*y + {phase!r})"


def read_medium(data: dict[str, Any], domain: Domain) -> Medium:
    """Coefficients from a record; refused where they are none, in the domain."""
    texts = (data["diffusion"], *data["drift"], data["reaction"])
    if len(texts) != 4 or max(map(len, texts)) > LONGEST:
        raise InputError(f"its coefficients must be four texts, none longer than {LONGEST}")
    found = Medium(data["diffusion"], (texts[1], texts[2]), data["reaction"])
    inside, edge = domain.sample_interior(256, seed=0).T, domain.sample_boundary(256, seed=0).T
    with np.errstate(all="ignore"):
        found.coefficients(domain).check(inside, edge, domain)
    return found
