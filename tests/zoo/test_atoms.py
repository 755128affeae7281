"""Every atom against the paper's formula, differentiated by SymPy."""

import numpy as np
import pytest
import sympy

from mc2.errors import InputError
from mc2.functions import TermSum, read_expression
from mc2.functions.machine import run
from mc2.zoo import GENERAL_ATOMS, HARMONIC_ATOMS

DRAWS, POINTS = 50, 1000
ATOMS = {**GENERAL_ATOMS, **HARMONIC_ATOMS}
SX, SY = sympy.symbols("x y", real=True)
POLAR = "(x**2 + y**2)**(n/2)*cos(n*atan2(y, x))"
AWAY = "((x - rho*cos(phi))**2 + (y - rho*sin(phi))**2)"

FORMULAS = {  # as the paper's tables write them; {name} stands for a choice
    "poly": "c0 + c1*x + c2*y + c3*x**2 + c4*x*y + c5*y**2 + c6*x**3 + c7*x**2*y + c8*x*y**2 + c9*y**3",
    "trig": "a*sin(k*pi*x)",
    "exp": "a*exp(b*x)",
    "log": "a*log(x**2 + 0.01)",
    "hyper": "a*{f}(x)",
    "special": {"erf": "a*erf(x)", "sqrt": "a*sqrt(x**2 + 0.01)"},
    "harmonic_polar": f"a*{POLAR}",
    "plane_wave": "a*cos(k*(cos(phi)*x + sin(phi)*y))",
    "yukawa_i0": "a*besseli(0, sqrt(lam)*sqrt(x**2 + y**2))",
    "log_source": f"a*log(sqrt{AWAY})",
    "gaussian_bump": "a*exp(-w*((x - x0)**2 + (y - y0)**2))",
    "rational": "a/(1 + b*x**2 + c*y**2)",
    "product": "a*{f1}(k1*x)*{f2}(k2*y)",
    "multi_rbf": None,
    "high_freq_trig": "a*sin(k1*pi*x)*cos(k2*pi*y)",
    "logsumexp": "a*log(exp(b*x) + exp(c*y))",
    "sech_bump": "a/(cosh(b*(x - x0))**2*cosh(c*(y - y0))**2)",
    "very_high_freq_trig": "a*sin(k1*pi*x)*cos(k2*pi*y)",
    "narrow_bump": "a*exp(-w*((x - x0)**2 + (y - y0)**2))",
    "sharp_transition": "a*tanh(k*(cos(phi)*x + sin(phi)*y - c))",
    "h_polar": {"cos": f"a*{POLAR}", "sin": f"a*{POLAR}".replace("cos", "sin")},
    "h_exp_trig": "a*exp(k*x)*{part}(k*y)",
    "h_trig_hyp": "a*{f}(k*x)*{g}(k*y)",
    "h_log_source": f"a*log(sqrt{AWAY})",
    "h_linear": "a*x + b*y",
    "h_bilinear": "a*x*y",
    "h_arctan": "a*atan2(y - y0, x + rho)",
    "h_inversion": f"a*(x - rho*cos(phi))/{AWAY}",
    "h_dipole": f"a*((x - rho*cos(phi))**2 - (y - rho*sin(phi))**2)/{AWAY}**2",
    "h_quadratic": {
        "cos": "a*((cos(phi)*x + sin(phi)*y)**2 - (cos(phi)*y - sin(phi)*x)**2)",
        "sin": "2*a*(cos(phi)*x + sin(phi)*y)*(cos(phi)*y - sin(phi)*x)",
    },
    "h_high_freq_exp_trig": "a*exp(k*x)*{part}(k*y)",
    "h_high_n_polar": {"cos": f"a*{POLAR}", "sin": f"a*{POLAR}".replace("cos", "sin")},
}
_compiled = {}


def _formula(atom):
    """The paper's formula with the atom's choices filled in."""
    if atom.type.name == "multi_rbf":
        return " + ".join(
            f"a_{i}*exp(-w_{i}*((x - x0_{i})**2 + (y - y0_{i})**2))" for i in range(1, atom.values["n"] + 1)
        )
    choices = {name: value for name, value in atom.values.items() if isinstance(value, str)}
    formula = FORMULAS[atom.type.name]
    return formula[next(iter(choices.values()))] if isinstance(formula, dict) else formula.format(**choices)


def _reference(atom):
    """u, Δu and Δ²u as NumPy functions of x, y and the parameters; harmonic atoms only u."""
    formula = _formula(atom)
    numbers = sorted(name for name, value in atom.values.items() if not isinstance(value, str))
    key = (atom.type.name, formula)
    if key not in _compiled:
        u = sympy.sympify(
            formula, locals={"x": SX, "y": SY} | {name: sympy.Symbol(name, real=True) for name in numbers}
        )
        parts = [u]
        if atom.type.name in GENERAL_ATOMS and atom.type.name not in ("harmonic_polar", "log_source", "yukawa_i0"):
            for _ in range(2):
                parts.append(sympy.diff(parts[-1], SX, 2) + sympy.diff(parts[-1], SY, 2))
        arguments = [SX, SY, *(sympy.Symbol(name, real=True) for name in numbers)]
        _compiled[key] = [sympy.lambdify(arguments, part, ["scipy", "numpy"], cse=True) for part in parts]
    values = [atom.values[name] for name in numbers]
    return [lambda x, y, f=f: np.broadcast_to(f(x, y, *values), x.shape) for f in _compiled[key]]


def _error(got, expected):
    return np.abs(got - expected).max() / np.abs(expected).max()


@pytest.mark.parametrize("name", ATOMS)
def test_closed_forms(name):
    rng = np.random.default_rng(17)
    atom_type = ATOMS[name]
    for _ in range(DRAWS):
        atom = atom_type.draw(rng.random(len(atom_type.parameters)))
        x, y = rng.uniform(-1.2, 1.2, (2, POINTS))
        value, laplacian, bilaplacian = atom(x, y), atom.apply(0, 1, 0)(x, y), atom.apply(0, 0, 1)(x, y)
        reference = _reference(atom)
        assert _error(value, reference[0](x, y)) < 1e-8
        if len(reference) == 3:
            assert _error(laplacian, reference[1](x, y)) < 1e-8
            expected = reference[2](x, y)
            assert _error(bilaplacian, expected) < 1e-8 if np.any(expected) else not np.any(bilaplacian)
        elif name == "yukawa_i0":
            lam = atom.values["lam"]
            assert _error(laplacian, lam * reference[0](x, y)) < 1e-8
            assert _error(bilaplacian, lam**2 * reference[0](x, y)) < 1e-8
        else:  # harmonic: compare with the scale of the second derivatives' parts
            assert np.abs(laplacian).max() <= 1e-9 * np.abs(value).max()
            assert np.abs(bilaplacian).max() <= 1e-9 * np.abs(value).max()


@pytest.mark.parametrize("name", HARMONIC_ATOMS)
def test_harmonic_atoms_are_harmonic(name):
    """The text of the atom, differentiated on its own, has no Laplacian either."""
    rng = np.random.default_rng(23)
    atom_type = HARMONIC_ATOMS[name]
    for _ in range(10):
        u = read_expression(atom_type.draw(rng.random(len(atom_type.parameters))).text)
        x, y = rng.uniform(-1.2, 1.2, (2, POINTS))
        assert np.abs(u.laplacian()(x, y)).max() <= 1e-9 * np.abs(u(x, y)).max()


@pytest.mark.parametrize("name", ATOMS)
def test_text_and_single_precision(name):
    rng = np.random.default_rng(29)
    for _ in range(20):
        atom = ATOMS[name].draw(rng.random(len(ATOMS[name].parameters)))
        x, y = rng.uniform(-1, 1, (2, 500)).astype(np.float32).astype(float)
        assert _error(read_expression(atom.text)(x, y), atom(x, y)) < 1e-12
        for operator in [(1, 0, 0), (0, 1, 0), (0, 0, 1)][: 3 if name in GENERAL_ATOMS else 1]:
            function = atom.apply(*operator)
            scale = max(np.abs(function(x, y)).max(), np.abs(atom(x, y)).max())
            assert np.abs(run(function.program, x, y, np.float32) - function(x, y)).max() < 2e-5 * scale


def test_sums_of_many_atoms():
    rng = np.random.default_rng(31)
    for count in range(1, 7):
        types = rng.choice(list(GENERAL_ATOMS.values()), count)
        u = TermSum.join([t.draw(rng.random(len(t.parameters))) for t in types])
        x, y = rng.uniform(-1, 1, (2, 300))
        expression = read_expression(u.text)
        np.testing.assert_allclose(u(x, y), expression(x, y), rtol=1e-9, atol=1e-9)
        mixed, expected = u.apply(3.0, -2.0, 0.25)(x, y), expression.apply(3.0, -2.0, 0.25)(x, y)
        assert _error(mixed, expected) < 1e-9


def test_pools_have_the_sizes_of_the_paper():
    assert len(GENERAL_ATOMS) == 20
    assert len(HARMONIC_ATOMS) == 12
    assert sum(atom.hard for atom in GENERAL_ATOMS.values()) == 5
    assert sum(atom.weight for atom in HARMONIC_ATOMS.values()) == 19


def test_draws_stay_in_their_ranges():
    for atom_type in ATOMS.values():
        for uniform in (0.0, 0.25, 0.499, 0.5, 0.999999):
            atom = atom_type.draw([uniform] * len(atom_type.parameters))
            assert atom_type(**atom.values).values == atom.values


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"a": 1.0}, "needs k"),
        ({"a": 1.0, "k": 2, "b": 1}, "unknown parameter of atom trig 'b'"),
        ({"a": 1.0, "k": 7}, r"k = 7: must be an integer in \[1, 6\]"),
        ({"a": 1.0, "k": 2.5}, "must be an integer"),
        ({"a": 9.0, "k": 2}, r"must be ± a number in \[0.1, 1\]"),
        ({"a": float("nan"), "k": 2}, "must be"),
        ({"a": True, "k": 2}, "must be"),
        ({"a": "1", "k": 2}, "must be"),
    ],
)
def test_wrong_values_are_refused(values, message):
    with pytest.raises(InputError, match=message):
        GENERAL_ATOMS["trig"](**values)
