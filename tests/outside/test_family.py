"""A family from outside the package: its own class, which names its operator, and a line that registers it."""

import numpy as np
import pytest

import mc2
from mc2.geometry import Disk
from mc2.problems import FAMILIES, Problem
from mc2.problems.operator import Operator
from mc2.problems.problem_file import problem_from_data


class Membrane(Problem):
    """Δu − 4u = f: a membrane on an elastic ground."""

    name, equation, data = "membrane", "Δu − 4u = f", ("source", "boundary")

    def __init__(self, domain, source=None, boundary=None, *, exact=None):
        super().__init__(domain, exact, source=source, boundary=boundary)

    @classmethod
    def make_operator(cls, parameters):
        return Operator(mass=-4.0)


@pytest.mark.parametrize(("corrector", "most"), [("mc2-rounds", 1e-4), ("mc2-physics", 0.2)])
def test_it_is_solved_and_certified(register, corrector, most):
    register(FAMILIES, "membrane", Membrane)
    data = {"family": "membrane", "exact": "sin(3*x)*exp(y)", "domain": {"shape": "disk", "radius": 0.9}}
    problem = problem_from_data(data).problem
    solution = mc2.solve(problem, corrector=corrector, grid=48)
    exact = problem.on_grid(problem.exact, solution.grid)
    assert np.abs(solution.values - exact)[solution.mask].max() < most
    assert mc2.certify(problem, problem.exact, walks=16, points=500).overall.rms.low == 0
    assert mc2.certify(Membrane(Disk(0.9), source=1, boundary=0), lambda x, y: 0 * x, 16, 500).overall.rms.low > 0.01
