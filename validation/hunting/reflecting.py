"""Problems with Neumann and Robin conditions on some parts, whose data follow from the known solution."""

from dataclasses import dataclass

import numpy as np

import mc2
from mc2.geometry import from_description
from mc2.problems import Condition
from validation.hunting.case import Data, Draft, log_uniform, uniform
from validation.hunting.shapes import Description, Random, any_domain, walled

FAMILIES = ("laplace", "poisson", "yukawa")
TRIES = 50


@dataclass(frozen=True)
class Given:
    """Conditions by parts. robin: the coefficient on each part of that kind, in the units of the draft."""

    parts: tuple[tuple[str, str, float], ...]

    def conditions(self, size: float) -> dict[str, Condition]:
        """As a problem takes them, on a domain that is so many times larger."""
        kinds = {"dirichlet": mc2.Dirichlet, "neumann": mc2.Neumann}
        return {
            name: mc2.Robin(coefficient / size) if kind == "robin" else kinds[kind]()
            for name, kind, coefficient in self.parts
        }

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{name!r}: {kind}" for name, kind, _ in self.parts) + "}"


def draw_conditions(random: Random, names: list[str], family: str) -> Given:
    """A kind for every part; some hold u itself, or its walls take up heat, unless the operator does."""
    while True:
        kinds = random.choice(["dirichlet", "neumann", "robin"], len(names), p=[0.3, 0.4, 0.3])
        if (kinds != "dirichlet").any() and (family == "yukawa" or (kinds != "neumann").any()):
            break
    return Given(
        tuple((name, str(kind), log_uniform(random, 0.05, 20)) for name, kind in zip(names, kinds, strict=True))
    )


def parted(random: Random, description: Description) -> Description:
    """A domain with another part, on one side of a line, if it has only one."""
    domain = from_description(description)
    if len(domain.parts) > 1 and random.random() < 0.7:
        return description
    for _ in range(TRIES):
        x, y = domain.sample_boundary(1, seed=int(random.integers(1 << 30)))[0]
        turn = random.uniform(0, 2 * np.pi)
        where = f"{np.cos(turn):.4f}*(x - {x:.4f}) + {np.sin(turn):.4f}*(y - {y:.4f}) > 0"
        try:
            return domain.mark("marked", where).describe()
        except mc2.InputError:
            continue
    return description


def smooth_text(random: Random, family: str) -> tuple[str, float]:
    """A smooth solution, and λ."""
    a, b, c = (uniform(random, -2, 2) for _ in range(3))
    harmonic = f"{a}*exp({b}*x)*cos({b}*y + {c}) + {c}*(x**2 - y**2) + {b}*x*y"
    if family == "laplace":
        return harmonic, 0.0
    k, m = uniform(random, 0.5, 6), uniform(random, 0.5, 6)
    return f"{harmonic} + sin({k}*x + {a})*cos({m}*y)", log_uniform(random, 0.5, 50) if family == "yukawa" else 0.0


def made(random: Random, domain: Description, family: str, u: str, lam: float, note: str) -> Draft:
    """A draft whose data follow from u."""
    names = [part.name for part in from_description(domain).parts]
    given = draw_conditions(random, names, family)
    data: dict[str, Data] = {"exact": u, "boundary": given}  # type: ignore[dict-item]
    return Draft(domain, family, data, u, lam, note=f"{note}; {given!r}")


def conditions(random: Random) -> Draft:
    """A smooth solution on any domain, with random conditions."""
    place, domain = "two", {}
    while place == "two":
        place, domain = any_domain(random, easy=0.5)
    family = str(random.choice(FAMILIES))
    return made(random, parted(random, domain), family, *smooth_text(random, family), place)


def mixed_corner(random: Random) -> Draft:
    """√r and its fellows where a Dirichlet side meets a Neumann side, on a rectangle; and others around them."""
    width, height = uniform(random, 0.6, 1.0), uniform(random, 0.5, 1.0)
    shape = {"shape": "rectangle", "a": width, "b": height / 2, "center": [0.0, height / 2]}
    domain = from_description(shape).mark("cold", "x < 0", on="bottom").describe()
    r2, angle = "(x**2 + y**2)", "arctan2(y, x)"
    terms = [f"{uniform(random, -2, 2)}*{r2}**{0.5 * k - 0.25!r}*cos({k - 0.5!r}*{angle})" for k in range(1, 4)]
    family = "laplace"
    names = [part.name for part in from_description(domain).parts]
    given = dict(zip(names, draw_conditions(random, names, family).parts, strict=True))
    given |= {"cold": ("cold", "dirichlet", 0.0), "bottom": ("bottom", "neumann", 0.0)}
    data: dict[str, Data] = {"exact": " + ".join(terms), "boundary": Given(tuple(given.values()))}  # type: ignore[dict-item]
    return Draft(domain, family, data, data["exact"], note=f"{Given(tuple(given.values()))!r}")


def near_charge(random: Random) -> Draft:
    """A charge closely outside a part of any kind: its data have a peak as narrow as the charge is near."""
    while True:
        place, domain = any_domain(random, easy=0.7)
        found = walled(random, domain) if place != "two" else None
        if found is not None:
            break
    at, normal = found
    depth = log_uniform(random, 0.003, 0.3)
    center = at + depth * normal
    u = f"log((x - {center.real!r})**2 + (y - {center.imag!r})**2)"
    return made(random, parted(random, domain), "laplace", u, 0.0, f"{place}; {depth:g} outside")


KINDS = {"conditions": conditions, "mixed corner": mixed_corner, "near charge": near_charge}
