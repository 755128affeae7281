"""Constant data of straight walls, which are integrated without samples."""

import numpy as np
import pytest
from validation.stars import DOMAINS, errors

import mc2
from mc2 import Neumann, Robin
from mc2.compute.compile import kernel
from mc2.geometry import Disk, Rectangle
from mc2.walks import Options, estimate
from mc2.walks.cpu.star_flow_kernels import half_own_share, line_integral
from mc2.walks.stars import Walker

LINEAR = "2*x - y"


def linear(name, ends):
    """Δu = 0 with u linear, so that ∂u/∂n is constant along every wall."""
    domain = DOMAINS[name]
    normal = -1j * domain.pieces.direction(0.5)
    flows = {
        part.name: Neumann(2.0 * normal[k].real - normal[k].imag)
        for index, part in enumerate(domain.parts)
        for k in np.flatnonzero(domain.pieces.part == index)
    }
    return mc2.Laplace(domain, flows | dict.fromkeys(ends, LINEAR), exact=LINEAR)


@pytest.mark.parametrize(("name", "ends"), [("L-shape", ["edge 0"]), ("polygon", ["edge 1", "hole 1"])])
def test_unbiased(name, ends):
    task = linear(name, ends)
    assert Walker(task, 0.0, Options(), 0).rules.flows
    z, _ = errors(task, 4096)
    assert abs(z.mean()) < 4 / np.sqrt(z.size)
    assert np.abs(z).max() < 4.5


def test_as_samples_would_have_it_and_with_less_noise(monkeypatch):
    """A hole hides walls from each other, and its arcs are the nearest walls of many balls."""
    domain = Rectangle(width=2, height=1.4) - Disk(0.3, center=(0.3, 0.1))
    walls = {"left": Neumann(1.5), "right": Robin(2.0, 3.0), "top": Neumann(-1), "*": Neumann(0)}
    task, points = mc2.Laplace(domain, {"bottom": 1, **walls}), domain.sample_interior(60, 0)
    found = estimate(task, 8192, points=points, device="cpu")
    made = Walker.__init__

    def sampled(self, *arguments, **options):
        made(self, *arguments, **options)
        self.rules = self.rules._replace(flows=False)

    monkeypatch.setattr(Walker, "__init__", sampled)
    other = estimate(task, 8192, points=points, device="cpu", seed=1)
    z = (found.mean - other.mean) / np.sqrt(found.variance + other.variance)
    assert abs(z.mean()) < 4 / np.sqrt(z.size)
    assert np.abs(z).max() < 4.5
    assert found.variance.sum() < 0.6 * other.variance.sum()


@kernel
def integrate(height, behind, ahead, other, own):
    for i in range(height.size):
        other[i] = line_integral(height[i], behind[i], ahead[i], np.float32(1))
        own[i] = half_own_share(behind[i], np.float32(1), np.float32(1)) + half_own_share(
            ahead[i], np.float32(1), np.float32(1)
        )


def test_integrals_along_lines():
    """∫ ln(1/r) over the part of a line in the unit ball, against sums."""
    lines = [(0, 0.3, 2), (0.2, 0.5, 0.1), (0.2, -0.1, 0.7), (0.4, 5, 5), (0.01, 0.4, 0.9), (0.3, 3, -2)]
    numbers = np.array(lines, np.float32).T.copy()
    found, own = np.empty_like(numbers[0]), np.empty_like(numbers[0])
    integrate(*numbers, found, own)
    for index, (height, behind, ahead) in enumerate(lines):
        edges = np.linspace(-behind, ahead, 1_000_001)
        square = height**2 + (0.5 * (edges[1:] + edges[:-1])) ** 2
        expected = -0.5 * np.log(square[square < 1]).sum() * (edges[1] - edges[0])
        assert found[index] == pytest.approx(expected, abs=1e-5)
        if height == 0:
            assert own[index] == pytest.approx(expected, abs=1e-5)
