"""Cases that once broke a claim, each by name; they stay."""

from typing import Any

from validation.hunting.case import Case, Data, Draft
from validation.hunting.disk import Arc, Cosine, Grounded, Side, heated_side
from validation.hunting.shapes import UNIT_DISK
from validation.hunting.sources import Bump, Text

K = 536.165146
"""A frequency that a lattice of the lift takes for a slow one."""
WAVE = f"cos({K}*x)"
JUMP = "where(x > 0.1, 10, -5)"
HEATER = "where((x - 0.3)**2 + (y - 0.2)**2 < 0.0025, 100, 0)"
HEATED = (
    "where((x - 0.3)**2 + (y - 0.2)**2 < 0.0025, 25*((x - 0.3)**2 + (y - 0.2)**2 - 0.0025) + 0.0625*log(0.0025), "
    "0.0625*log((x - 0.3)**2 + (y - 0.2)**2))"
)


def _made(name: str, draft: Draft, *, value: float = 1.0, size: float = 1.0, **options: Any) -> Case:
    return Case(0, 0, name, draft, {"seed": 1} | options, size=size, value=value)


def _on_disk(family: str, data: dict[str, Data], truth: Data, parameter: float = 0.0, accuracy: float = 1e-10) -> Draft:
    return Draft(UNIT_DISK, family, data, truth, parameter, accuracy)


def _fast_source(family: str, parameter: float, factor: float, c: float) -> Draft:
    """1000 cos(Kx) as a source, 0 on the boundary. factor: of cos(Kx) in a particular solution."""
    data: dict[str, Data] = {"source": f"1000*{WAVE}", "boundary": 0.0}
    upper = None
    if family == "biharmonic":
        data["laplacian"], upper = 0.0, Text(f"{-factor * K**2!r}*{WAVE}")
    return _on_disk(family, data, Grounded(Text(f"{factor!r}*{WAVE}"), c, upper, terms=800), parameter)


def _jump() -> Draft:
    ground = Grounded(Text("-1.25*(x**2 + y**2) + 7.5*max(x - 0.1, 0)**2"))
    return _on_disk("poisson", {"source": JUMP, "boundary": 0.0}, ground)


def _exact(family: str, text: str) -> Draft:
    return _on_disk(family, {"exact": text}, text)


def known() -> dict[str, Case]:
    """All of them, by name."""
    heater = _on_disk("poisson", {"source": HEATER, "boundary": 0.0}, Grounded(Text(HEATED)))
    bump = {"source": "1e5*exp(-((x - 0.2)**2 + y**2)*1e6)", "boundary": 0.0}
    weak = {"source": "1/sqrt(x**2 + y**2)", "boundary": 1.0}
    arc = "where(abs(arctan2(y, x) - 0.7) < 1e-4, {}, 0)"
    drafts = {
        "fast source": _fast_source("poisson", 0.0, -1000 / K**2, 0.0),
        "fast source, yukawa": _fast_source("yukawa", 10.0, -1000 / (K**2 + 10), -10.0),
        "fast source, helmholtz": _fast_source("helmholtz", 1.5, 1000 / (2.25 - K**2), 2.25),
        "fast source, biharmonic": _fast_source("biharmonic", 0.0, 1000 / K**4, 0.0),
        "jump": _jump(),
        "heater": heater,
        "bump": _on_disk("poisson", bump, Grounded(Bump(0.2, 0.0, 1e-3, 1e5), terms=256)),
        "source 1/r": _on_disk("poisson", weak, "sqrt(x**2 + y**2)"),
        "tanh(1000 x)": _exact("poisson", "tanh(1000*x)"),
        "growing outside": _exact("poisson", "exp(20*(x**2 + y**2 - 1))"),
        "pole": _exact("poisson", "1/(1.2 - x)"),
        "drum, k = 500": _on_disk("helmholtz", {"source": 0.0, "boundary": 1.0}, Cosine(0, 250_000.0), 500.0, 1e-9),
        "cos 1600θ, k = 3": _on_disk(
            "helmholtz", {"source": 0.0, "boundary": "cos(1600*arctan2(y, x))"}, Cosine(1600, 9.0), 3.0
        ),
        "electrode, k = 3": _on_disk(
            "helmholtz", {"source": 0.0, "boundary": arc.format(1)}, Arc(0.7, 1e-4, 1.0, 9.0), 3.0, 1e-9
        ),
        "electrode": _on_disk("laplace", {"boundary": arc.format(1e4)}, Arc(0.7, 1e-4, 1e4), accuracy=1e-12),
        "side x == 1": Draft(
            {"shape": "square", "half": 1.0}, "laplace", {"boundary": Side(100.0)}, heated_side(100.0)
        ),
    }
    cases = {name: _made(name, draft) for name, draft in drafts.items()}
    for tolerance in (1e-5, 1e-6):
        for name in ("jump", "heater"):
            full = f"{name}, tolerance {tolerance:g}"
            cases[full] = _made(full, drafts[name], tolerance=tolerance)
    small = _exact("poisson", "x*y + x**2 + sin(3*x)")
    cases["walks on Disk(1e-4)"] = _made("walks on Disk(1e-4)", small, size=1e-4, corrector="wos", walks=64)
    cases["1e-300 x"] = _made("1e-300 x", _exact("laplace", "x"), value=1e-300)
    return cases
