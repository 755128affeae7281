"""Walks against exact solutions: bias, variance, rate and the effect of ε, for every family on five domains.

    python -m validation.walks        prints the four tables (about a minute on two cores)

The tests assert the same numbers.
"""

import numpy as np

import mc2
from mc2.geometry import Annulus, Disk, Domain, Grid, Polygon, Rectangle, Square, Triangle
from mc2.problems import CONSTANT, FAMILIES, Problem
from mc2.walks import estimate, trajectory

DOMAINS: dict[str, Domain] = {
    "disk": Disk(1.0),
    "square": Square(0.9, angle=0.3),
    "annulus": Annulus(0.35, 1.1),
    "composed": (Disk(0.8) | Rectangle(0.9, 0.3, center=(0.3, 0.2), angle=0.5)) - Triangle(0.3, center=(-0.2, 0.1)),
    "polygon": Polygon(
        [(-0.9, -0.8), (0.9, -0.7), (0.8, 0.9), (-0.2, 0.5), (-0.8, 0.8)],
        holes=[[(-0.3, -0.3), (0.2, -0.2), (0.0, 0.2)]],
    ),
}
SOLUTIONS = dict.fromkeys(CONSTANT, "sin(4*x)*cos(3*y) + exp(x)*tanh(2*y)") | {
    "laplace": "exp(2*x)*cos(2*y) + log((x - 2)**2 + (y - 1)**2)"
}
PARAMETERS = {"yukawa": {"lam": 25.0}, "helmholtz": {"k": 1.2}}


def problem(family: str, domain: str) -> Problem:
    return FAMILIES[family](DOMAINS[domain], exact=SOLUTIONS[family], **PARAMETERS.get(family, {}))


def bias(family: str, domain: str, sampling: str = "green", walks: int = 4096, size: int = 16, **options) -> float:
    """The mean error over pixels, in its standard errors."""
    task, grid = problem(family, domain), Grid(size)
    found = estimate(task, walks, grid=grid, sampling=sampling, device=options.pop("device", "cpu"), **options)
    error = (found.mean - task.on_grid(task.exact, grid))[found.mask]
    return float(error.sum() / np.sqrt(found.variance[found.mask].sum()))


def variance_ratio(family: str, domain: str, sampling: str = "green", walks: int = 32, seeds: int = 64) -> float:
    """The reported variance over the spread of the estimate between seeds, both averaged over pixels."""
    task, grid = problem(family, domain), Grid(32)
    found = [estimate(task, walks, grid=grid, seed=seed, sampling=sampling, device="cpu") for seed in range(seeds)]
    mask = found[0].mask
    spread = np.var([one.mean[mask] for one in found], axis=0, ddof=1).mean()
    return float(np.mean([one.variance[mask].mean() for one in found]) / spread)


def slope(family: str, domain: str, seeds: int = 4) -> float:
    """The slope of log MSE over log budget, from 1 to 1,024 walks; −1 in theory."""
    task, grid = problem(family, domain), Grid(40)
    exact = task.on_grid(task.exact, grid)
    budgets = [2**power for power in range(11)]
    errors = np.zeros(len(budgets))
    for seed in range(seeds):
        for index, one in enumerate(trajectory(task, budgets, grid=grid, seed=seed, device="cpu")):
            errors[index] += np.mean((one.mean - exact)[one.mask] ** 2) / seeds
    return float(np.polyfit(np.log(budgets), np.log(errors), 1)[0])


def epsilon_bias(epsilon: float, walks: int = 4096) -> tuple[float, float]:
    """The mean error for u = x² + y² on the disk, and its standard error: what stopping at ε costs.

    A walk ends where u = 1 − 2d, at a distance d < ε from the boundary, but is given the boundary's 1.
    """
    task, grid = mc2.Poisson(Disk(), exact="x**2 + y**2"), Grid(32)
    found = estimate(task, walks, grid=grid, epsilon=epsilon, device="cpu")
    error = (found.mean - task.on_grid(task.exact, grid))[found.mask]
    return float(error.mean()), float(np.sqrt(found.variance[found.mask].sum()) / error.size)


def main() -> None:
    print("mean error over pixels in standard errors, 4,096 walks (Green and uniform sampling)")
    for family in CONSTANT:
        row = [f"{bias(family, d):5.2f} {bias(family, d, 'uniform'):5.2f}" for d in DOMAINS]
        print(f"  {family:11}", "   ".join(f"{name} {value}" for name, value in zip(DOMAINS, row, strict=True)))
    print("reported variance over the spread between 64 seeds; slope of the MSE over 1…1,024 walks")
    for family in CONSTANT:
        ratios = ", ".join(f"{name} {variance_ratio(family, name):.3f}" for name in DOMAINS)
        slopes = ", ".join(f"{name} {slope(family, name):.3f}" for name in DOMAINS)
        print(f"  {family:11} variance: {ratios}\n{'':14}slope: {slopes}")
    print("bias of ε, for u = x² + y² on the disk")
    for epsilon in (1e-2, 1e-3, 1e-4):
        value, error = epsilon_bias(epsilon)
        print(f"  ε = {epsilon:g}: {value:.2e} ± {error:.1e}")


if __name__ == "__main__":
    main()
