"""What solutions outside of bodies are at infinity, and logarithmic capacities."""

from typing import TYPE_CHECKING

import numpy as np

from mc2.checks import checked
from mc2.errors import InputError, short
from mc2.fits.conditions import fit_conditions
from mc2.fits.field import Field
from mc2.geometry import Domain, Exterior
from mc2.problems import Frame, Laplace
from mc2.solvers.answers import Answer

if TYPE_CHECKING:
    from mc2.solvers.solution import Solution

FAR = 1e17
"""Distance, in units of the domain's size, from which bounded functions are at infinity to rounding."""
LARGEST = 600.0
"""Of exponents."""
SAFETY = 1.5
"""Times the largest misfit that is met at points of the boundary."""


def limit(domain: Exterior, field: Field) -> float:
    """The limit of u − growth · log r at infinity."""
    (x, y), distance = domain.holes()[0].center, FAR * domain.size
    return float(field(x + distance, y)) - domain.growth * float(np.log(distance))


def at_infinity(solution: "Solution") -> Answer:
    """What `Solution.at_infinity` documents. An error is nowhere larger than it is on the boundary."""
    domain = solution.problem.domain
    if not isinstance(domain, Exterior):
        raise InputError(f"only exterior domains have an infinity, and {short(domain)} is none")
    inner, frame = solution.inner or solution, solution.frame
    assert isinstance(inner.problem.domain, Exterior)
    value = limit(inner.problem.domain, inner.fitted) * frame.value - domain.growth * float(np.log(frame.length))
    x, y = domain.sample_boundary(512, seed=0).T
    left = solution.problem.boundary(x, y) - solution.evaluator.values(x, y)
    error = max(float(solution.standard_error[solution.mask].max()), float(np.abs(left).max()))
    return Answer(value, error)


@checked
def log_capacity(body: Domain) -> Answer:
    """The logarithmic capacity of a body, a length: its conformal radius seen from infinity; a disk's is its radius.

    It is e^{−γ}, where log r + γ + o(1) is the harmonic function outside of the body that is 0 on its boundary.

    body: a bounded domain without holes, or several.
    """
    if not isinstance(body, Domain):
        raise InputError(f"body = {short(body)}: must be a domain, such as mc2.geometry.Disk(1.0)")
    outside = Exterior(body)
    xmin, xmax, ymin, ymax = body.bounds
    frame = Frame((0.5 * (xmin + xmax), 0.5 * (ymin + ymax)), 0.5 * body.size)
    inner = frame.domain(outside)
    assert isinstance(inner, Exterior)
    x, y = inner.holes()[0].center
    # the function is log r from there, and what mends that on the boundary
    fit = fit_conditions(Laplace(inner, f"-0.5*log((x - ({x!r}))**2 + (y - ({y!r}))**2)")).fit
    capacity = frame.length * float(np.exp(-limit(inner, fit.field)))
    return Answer(capacity, capacity * float(np.expm1(min(SAFETY * fit.worst, LARGEST))))
