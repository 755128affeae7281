"""Problems with rough sources, and their solutions in closed form, for every family."""

import numpy as np

import mc2

LAM, K = 30.0, 1.5
R2 = "((x - 0.3)**2 + (y - 0.2)**2)"
T = "(0.8*x + 0.6*y - 0.1)"

PARTICULAR = {
    "jump": ("-1.25*(x**2 + y**2) + 7.5*max(x - 0.1, 0)**2", "where(x > 0.1, 10, -5)"),
    "slanted jump": (f"5*max({T}, 0)**2", f"where({T} > 0, 10, 0)"),
    "heater": (
        f"where({R2} < 0.0025, 25*({R2} - 0.0025) + 0.0625*log(0.0025), 0.0625*log({R2}))",
        f"where({R2} < 0.0025, 100, 0)",
    ),
    "kink": ("abs(x - 0.1037)**3/6 + (x**2 + y**2)/4", "abs(x - 0.1037) + 1"),
    "1/r": ("sqrt(x**2 + y**2)", "1/sqrt(x**2 + y**2)"),
}
"""u and Δu."""


def _heater_potential():
    """V with ΔV = the heater's solution above: r⁴ and r² inside, r² log r², log r² and 1 outside, C¹ at the rim."""
    s, q = 0.0025, 100.0
    inner, outer = q * s / 16 * (np.log(s) - 1), q * s / 16
    # values and slopes in r² agree at r² = s
    a = s * (q * s / 32 + inner - outer * (np.log(s) - 1))
    b = q * s**2 / 64 + inner * s - outer * s * (np.log(s) - 2) - a * np.log(s)
    inner, outer, a, b = map(float, (inner, outer, a, b))
    rest = f"{outer!r}*{R2}*(log({R2}) - 2) + ({a!r})*log({R2}) + ({b!r})"
    return f"where({R2} < {s}, {q / 64!r}*({R2})**2 + ({inner!r})*{R2}, {rest})"


BIHARMONIC = {
    "jump": ("5*max(x - 0.1, 0)**4/12", "5*max(x - 0.1, 0)**2", "where(x > 0.1, 10, 0)"),
    "slanted jump": (f"5*max({T}, 0)**4/12", f"5*max({T}, 0)**2", f"where({T} > 0, 10, 0)"),
    "heater": (_heater_potential(), *PARTICULAR["heater"]),
    "kink": ("abs(x - 0.1037)**5/120 + (x**2 + y**2)**2/64", *PARTICULAR["kink"]),
    "1/r": ("(x**2 + y**2)**1.5/9", *PARTICULAR["1/r"]),
}
"""u, Δu and Δ²u."""


def problem(family, kind, domain):
    """A problem with the solution of the table, whose data on the boundary it has as well."""
    if family == "biharmonic":
        u, laplacian, source = BIHARMONIC[kind]
        return mc2.Biharmonic(domain, source=source, boundary=u, laplacian=laplacian)
    u, source = PARTICULAR[kind]
    if family == "yukawa":
        return mc2.Yukawa(domain, source=f"{source} - {LAM}*({u})", boundary=u, lam=LAM)
    if family == "helmholtz":
        return mc2.Helmholtz(domain, source=f"{source} + {K**2}*({u})", boundary=u, k=K)
    return mc2.Poisson(domain, source=source, boundary=u)
