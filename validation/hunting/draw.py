"""Cases from a seed and an index: the kinds take turns, all else is drawn."""

from dataclasses import replace
from typing import Any

import numpy as np

from validation.hunting import boundaries, reflecting, sources
from validation.hunting.case import Case, Draft, height, log_uniform, uniform

DIRECT = {name: sources.source_kind(name) for name in sources.MAKERS} | {"grounded": sources.grounded}
DIRECT |= boundaries.KINDS
REFLECTING = reflecting.KINDS
"""Kinds with Neumann and Robin conditions, which have indices of their own."""
FIRST_REFLECTING = 1_000_000
UNITS = ("size", "values")
"""Kinds that are any of the others in other units."""
KINDS = (*DIRECT, *UNITS)
CORRECTORS = {"physics": "mc2-physics", "none": "wos"}
WAYS = {"plain": 0.4, "walks": 0.1, "boundary": 0.15, "tolerance": 0.2, "physics": 0.08, "none": 0.07}
"""How often a case is solved in which way."""


def draw(seed: int, index: int) -> Case:
    """Case number `index`. The same two numbers give the same case."""
    random = np.random.default_rng((seed, index))
    if index >= FIRST_REFLECTING:
        return _reflecting(random, seed, index)
    kind = KINDS[index % len(KINDS)]
    if kind not in UNITS:
        draft = DIRECT[kind](random)
        return Case(seed, index, kind, draft, _way(random, draft))
    inner = str(random.choice([name for name in DIRECT if name != "rim"]))
    draft = DIRECT[inner](random)
    case = Case(seed, index, kind, replace(draft, note=f"{inner}; {draft.note}"), _way(random, draft))
    if kind == "values":
        return case.scaled(value=float(f"1e{int(random.integers(-290, 291))}"))
    size = log_uniform(random, 1e-9, 1e9)
    offset = (0.0, 0.0)
    if random.random() < 0.6:
        far = log_uniform(random, 0.1, 300)
        offset = uniform(random, -far, far), uniform(random, -far, far)
    return case.scaled(size=size, offset=offset)


def _reflecting(random: np.random.Generator, seed: int, index: int) -> Case:
    """A case with Neumann and Robin conditions; one in three in other units."""
    kind = list(REFLECTING)[index % len(REFLECTING)]
    draft = REFLECTING[kind](random)
    options = {name: value for name, value in _way(random, draft).items() if name not in ("corrector", "start")}
    case = Case(seed, index, kind, draft, options)
    if random.random() < 2 / 3:
        return case
    return case.scaled(size=log_uniform(random, 1e-6, 1e6), value=float(f"1e{int(random.integers(-12, 13))}"))


def _way(random: np.random.Generator, draft: Draft) -> dict[str, Any]:
    """How to solve: by default in two of five cases. Tolerances are relative to the height of the solution."""
    options: dict[str, Any] = {"seed": int(random.integers(1000))}
    way = random.choice(list(WAYS), p=list(WAYS.values()))
    if way == "walks":
        options["walks"] = int(random.choice([2, 4, 16, 32]))
    if way == "boundary":
        options["start"] = "boundary"
    if way == "tolerance":
        options["tolerance"] = float(f"{height(draft) * 10 ** random.uniform(-7, -3):.1e}")
        if random.random() < 0.3:
            options["start"] = "boundary"
    if way in CORRECTORS:
        options |= {"corrector": CORRECTORS[way], "walks": int(random.choice([4, 8, 16]))}
    return options
