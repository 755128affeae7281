"""Conditions on named parts of the boundary: what problems make of them, and what they refuse."""

import numpy as np
import pytest

import mc2
from mc2 import Dirichlet, InputError, Neumann, Robin
from mc2.fits.boundary import fit_boundary
from mc2.geometry import Disk, Grid, Rectangle
from mc2.problems import Frame
from mc2.problems.boundary_data import insulated, part_points

PLATE = Rectangle(width=2, height=1) - Disk(0.2, center=(0.4, 0.1), name="pipe")
EXACT = "exp(x)*sin(y) + x"


def by_name(problem):
    return dict(zip((part.name for part in problem.domain.parts), problem.conditions, strict=True))


def test_every_part_has_its_condition_and_the_rest_a_common_one():
    problem = mc2.Laplace(PLATE, {"pipe": 80, "top": Robin(0.2, 4), "left": "x + y", "*": Neumann(0)})
    found = by_name(problem)
    assert {name: type(condition) for name, condition in found.items()} == {
        "pipe": Dirichlet, "top": Robin, "left": Dirichlet, "bottom": Neumann, "right": Neumann
    }  # fmt: skip
    assert problem.reflecting
    np.testing.assert_allclose(found["left"].value(-1.0, 0.25), -0.75)
    np.testing.assert_allclose(problem.boundary([0.6, -1.0], [0.1, 0.25]), [80, -0.75])
    assert np.isnan(problem.boundary(1.0, 0.0))  # no Dirichlet data there, and nobody may take them for any


def test_data_by_parts_alone_are_a_dirichlet_problem():
    """A part's value is its own on both sides of a corner."""
    problem = mc2.Laplace(Rectangle(width=2, height=1), {"right": 100, "*": 0})
    assert not problem.reflecting
    np.testing.assert_array_equal(problem.boundary([1, 1, 0.999999], [0.4999999, -0.4999999, 0.5]), [100, 100, 0])
    assert len(mc2.Laplace(Disk(), "x").conditions) == 1


def test_data_follow_from_a_known_solution():
    """Normal derivatives on every side and around the hole, against differences of the solution."""
    problem = mc2.Laplace(PLATE, {"pipe": Neumann(), "top": Robin("1 + x**2"), "*": Dirichlet()}, exact=EXACT)
    step = 1e-6
    for index, condition in enumerate(problem.conditions):
        x, y, nx, ny = part_points(PLATE, index, 9)
        a, b = condition.weights(x, y)
        slope = (problem.exact(x + step * nx, y + step * ny) - problem.exact(x - step * nx, y - step * ny)) / (2 * step)
        np.testing.assert_allclose(condition.data(x, y, nx, ny), a * problem.exact(x, y) + b * slope, atol=1e-8)


@pytest.mark.parametrize(("length", "value", "at"), [(1e-6, 1.0, 0.0), (1e6, 1e15, 3e6)])
def test_frames_keep_conditions(length, value, at):
    """a·u + b·∂u/∂n = value means the same in other units."""
    domain = Rectangle(width=2 * length, height=length, center=(at, 0.0))
    inner = f"(x - {at!r})/{length!r}", f"y/{length!r}"
    exact = f"{value!r}*exp({inner[0]})*sin({inner[1]})"
    given = {"top": Robin(3 / length), "left": Neumann(), "*": Dirichlet()}
    problem = mc2.Laplace(domain, given, exact=exact)
    frame = Frame.of(problem)
    framed = frame.problem(problem)
    assert not frame.trivial
    for index, condition in enumerate(framed.conditions):
        x, y, nx, ny = part_points(framed.domain, index, 7)
        a, b = condition.weights(x, y)
        scale = frame.length / length
        px, py = (p / length for p in (frame.outward(x, y)[0] - at, frame.outward(x, y)[1]))
        u = value / frame.value * np.exp(px) * np.sin(py)
        slope = value / frame.value * scale * np.exp(px) * (nx * np.sin(py) + ny * np.cos(py))
        np.testing.assert_allclose(
            condition.data(x, y, nx, ny), a * u + b * slope, rtol=1e-6, atol=1e-9 * np.abs(u).max()
        )


@pytest.mark.parametrize(
    ("boundary", "message"),
    [
        ({"tpo": 1, "*": 0}, "unknown part of the boundary 'tpo': did you mean 'top'"),
        ({"top": 1, "left": 0}, "boundary says nothing of the parts .*right.*: name them, or give \"\\*\""),
        ({"top": Robin(-1, 0), "*": 0}, "robin coefficient on 'top' is -1 at .*must not be negative"),
        ({"top": Neumann(), "*": 0}, "boundary 'top' has a neumann condition without a value"),
        ({"top": "1/(y - 0.5)", "*": 0}, "boundary 'top' is not finite at"),
        ({"top": "sni(x)", "*": 0}, "boundary 'top': .*unknown function 'sni'"),
        ({"top": [1], "*": 0}, "boundary 'top' = \\[1\\]: must be a number"),
    ],
)  # fmt: skip
def test_refusals_name_the_part(boundary, message):
    with pytest.raises(InputError, match=message):
        mc2.Laplace(PLATE, boundary)


def test_data_that_contradict_a_known_solution_are_refused():
    with pytest.raises(InputError, match=r"exact does not solve this problem: at .* on 'top' it gives neumann data"):
        mc2.Laplace(PLATE, {"top": Neumann("x"), "*": Dirichlet()}, exact=EXACT)


def test_the_biharmonic_equation_takes_no_neumann_data():
    with pytest.raises(InputError, match="no Neumann or Robin conditions"):
        mc2.Biharmonic(Disk(), source=1, boundary=Neumann(0), laplacian=0)


def test_components_that_float_are_refused():
    """One component's values say nothing of another, whose walks would never end."""
    ring = Disk(0.4, center=(1, 0), name="room") - Disk(0.1, center=(1.1, 0), name="stove")
    both = Disk(0.5, center=(-1, 0), name="cold") | ring
    with pytest.raises(InputError, match=r"the component of the domain at \(.*\) has Neumann conditions all around"):
        mc2.Laplace(both, {"cold": 1, "*": Neumann(0)})
    assert mc2.Laplace(both, {"cold": 1, "stove": 2, "*": Neumann(0)}).reflecting
    assert mc2.Yukawa(both, 0, {"cold": 1, "*": Neumann(0)}, lam=2).reflecting


def test_only_insulated_problems_are_known_but_for_a_constant():
    assert insulated(mc2.Laplace(PLATE, Neumann(0)).conditions)
    assert insulated(mc2.Laplace(PLATE, {"top": Robin(0, 1), "*": Neumann(0)}).conditions)
    assert not insulated(mc2.Laplace(PLATE, {"top": Robin(1, 1), "*": Neumann(0)}).conditions)
    assert not insulated(mc2.Laplace(PLATE, {"top": 0, "*": Neumann(0)}).conditions)


def test_boundary_fits_and_correctors_refuse_what_they_cannot_solve():
    """What would not see a wall that reflects must say so."""
    problem = mc2.Laplace(PLATE, {"pipe": 80, "*": Neumann(0)})
    for run in (
        lambda task: fit_boundary(task, Grid(16)),
        lambda task: mc2.solve(task, corrector="mc2-physics"),
    ):
        with pytest.raises(InputError, match="'bottom' has a neumann condition"):
            run(problem)


FILE = """
family = "laplace"
[domain]
difference = [
    {shape = "rectangle", width = 2, height = 1},
    {shape = "disk", radius = 0.2, center = [0.4, 0.1], name = "pipe"},
]
[boundary]
pipe = 80
left = "x + y"
top = {robin = {coefficient = 0.2, value = 4}}
"*" = {neumann = 0}
"""


def test_problem_files_give_conditions_by_parts(tmp_path):
    path = tmp_path / "plate.toml"
    path.write_text(FILE)
    found = by_name(mc2.read_problem(path).problem)
    wanted = by_name(mc2.Laplace(PLATE, {"pipe": 80, "left": "x + y", "top": Robin(0.2, 4), "*": Neumann(0)}))
    assert found == wanted


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("top = {robbin = 1}", "unknown condition of boundary.top 'robbin': did you mean 'robin'"),
        ("top = {robin = 4}", "boundary.top.robin lacks 'coefficient': an expression text or a number"),
        ("top = {robin = {coefficient = 1, valeu = 2}}", "unknown key of boundary.top.robin 'valeu'"),
        ("top = {neumann = [1]}", r"boundary.top.neumann.value = \[1\] must be an expression text or a number"),
        ("top = {neumann = 1, robin = 2}", "must have one key, of dirichlet, neumann, robin"),
        ("top = [1]", r"boundary.top.value = \[1\] must be an expression text or a number"),
        ("tpo = 1", "unknown part of the boundary 'tpo'"),
    ],
)
def test_problem_files_refuse_other_conditions(tmp_path, line, message):
    path = tmp_path / "plate.toml"
    path.write_text(FILE.replace("top = {robin = {coefficient = 0.2, value = 4}}", line))
    with pytest.raises(InputError, match=f"plate.toml: .*{message}"):
        mc2.read_problem(path)
