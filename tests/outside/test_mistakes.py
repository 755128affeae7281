"""What people get wrong when they add something of their own is said in one line."""

from dataclasses import dataclass

import numpy as np
import pytest

import mc2
from mc2 import InputError
from mc2.benchmark.methods import Method, make_method
from mc2.benchmark.runner import evaluate
from mc2.geometry import SHAPES, Disk, Grid
from mc2.geometry.primitive import CorneredShape
from mc2.problems import FAMILIES, Problem
from mc2.problems.operator import Operator
from mc2.problems.problem_file import problem_from_data
from mc2.problems.writing import problem_as_data
from mc2.solvers import CORRECTORS, EstimateCorrector

KITE = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -2.0))


def kite(corners, names):
    @dataclass(frozen=True, repr=False)
    class Kite(CorneredShape):
        sides, ranges = names, {}
        vertices = np.array(corners)

    return Kite


class Membrane(Problem):
    """Δu − s u = f, with a parameter of its own."""

    name, equation, data = "membrane", "Δu − s u = f", ("source", "boundary")
    parameters, lengths = {"stiffness": (0.5, 50.0)}, {"stiffness": 2}

    def __init__(self, domain, source=None, boundary=None, *, stiffness, exact=None):
        self.stiffness = stiffness
        super().__init__(domain, exact, source=source, boundary=boundary)

    @classmethod
    def make_operator(cls, parameters):
        return Operator(mass=-parameters["stiffness"])


@pytest.mark.parametrize(
    ("corners", "names", "message"),
    [
        (KITE[::-1], ("a", "b", "c", "d"), "kite must have finite vertices, counter-clockwise"),
        (KITE, ("a", "b"), r"vertices \[4, 2\] and 2 sides"),
        ((1.0, 2.0), ("a", "b"), r"vertices \[2\] and 2 sides"),
    ],
)
def test_shapes_whose_sides_would_be_wrong(corners, names, message):
    with pytest.raises(InputError, match=message):
        kite(corners, names)()


@pytest.mark.parametrize(("registry", "thing"), [(SHAPES, kite(KITE, ("a",) * 4)), (FAMILIES, Membrane)])
def test_names_that_files_would_not_know(registry, thing):
    with pytest.raises(InputError, match=r"'diamond' = .* calls itself '(kite|membrane)'"):
        registry.register("diamond", thing)


def test_a_parameter_of_its_own_is_a_key_of_files_and_has_a_unit(register):
    register(FAMILIES, "membrane", Membrane)
    data = {"family": "membrane", "exact": "x*y", "domain": {"shape": "disk", "radius": 1.0}}
    problem = problem_from_data(data | {"stiffness": 3}).problem
    assert problem.stiffness == 3.0
    assert problem_as_data(problem)["stiffness"] == 3.0
    far = Membrane(Disk(1000.0), stiffness=3e-6, exact="x*y")
    assert abs(mc2.solve(far, grid=16)(300.0, 200.0) - 6e4) < 1
    for told, message in (({}, "needs stiffness"), ({"stiffness": -1}, "above 0"), ({"lambda": 1}, "takes no lambda")):
        with pytest.raises(InputError, match=message):
            problem_from_data(data | told)
    with pytest.raises(InputError, match="Unitless must say stiffness's unit"):
        type("Unitless", (Membrane,), {"lengths": {}})


def test_shapes_that_frames_could_not_scale():
    problem = mc2.Laplace(kite(100 * np.array(KITE), tuple("abcd"))(), boundary="x")
    with pytest.raises(InputError, match="kite cannot be scaled: its parameters must be lengths"):
        mc2.solve(problem, grid=16)


class Mean(EstimateCorrector):
    name, reads = "my-mean", ("estimate",)

    def field(self, observed):
        return observed.mean


def corrector(**own):
    return type("Own", (Mean,), own)


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"name": None}, "must be a Corrector with a name"),
        ({"field": Mean.__base__.field}, "Own cannot be made: it lacks field"),
        (
            {"__init__": lambda self, width: None},
            "Own cannot be made by its name: missing a required argument: 'width'",
        ),
        ({"field": lambda self, observed: None}, r"as an array \[8, 8\], not "),
        ({"field": lambda self, observed: "none"}, r"as an array \[8, 8\], not 'none'"),
        ({"field": lambda self, observed: observed.mean * np.nan}, "some of its values are not finite"),
    ],
)
def test_correctors_that_make_no_field(register, own, message):
    register(CORRECTORS, "own", corrector(**own))
    with pytest.raises(InputError, match=message):
        mc2.solve(mc2.Laplace(Disk(), boundary="x"), walks=2, grid=8, corrector="own")


def test_a_corrector_is_told_what_it_forgot_to_declare(register):
    register(CORRECTORS, "own", corrector(field=lambda self, observed: observed.mean * (observed.variance > 0)))
    with pytest.raises(InputError, match=r"failed: .* it does not declare that it reads is missing: .*variance"):
        evaluate(make_method("own"), count=1, grid=Grid(16), lpips=False)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"method": 3}, "corrector = 3: must be"),
        ({"method": type("Silent", (Method,), {"solve": lambda self, case: 0})()}, "needs a name, a setting"),
        ({"method": make_method("wos"), "grid": "16"}, "grid size = '16' must be an integer"),
    ],
)
def test_what_cannot_be_evaluated(given, message):
    with pytest.raises(InputError, match=message):
        evaluate(**given, count=1, lpips=False)
