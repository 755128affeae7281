"""PDEZoo's instances against computations that share nothing with how they were made.

    python -m validation.zoo [--per-family 300]

For random instances of every family: the record's text of u, read by Python's own grammar, is differentiated by torch
in float64 and must give f; walks must agree with u; and the filters must hold when they are computed the plain way.
"""

import argparse
import ast
import operator
import time

import numpy as np
import torch

from mc2.geometry import Grid
from mc2.geometry.compositions import Composition
from mc2.walks import estimate
from mc2.zoo import FAMILIES, generate, to_record

OPERATIONS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


def evaluate(node, names):
    """A formula in PyTorch's spelling, from its syntax tree."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.Attribute):
        return getattr(evaluate(node.value, names), node.attr)
    if isinstance(node, ast.UnaryOp):
        return -evaluate(node.operand, names)
    if isinstance(node, ast.Call):
        arguments = [torch.as_tensor(evaluate(argument, names)) for argument in node.args]
        return evaluate(node.func, names)(*arguments)
    return OPERATIONS[type(node.op)](evaluate(node.left, names), evaluate(node.right, names))


def laplacian(u, x, y):
    """Δu by automatic differentiation."""
    total = torch.zeros_like(x)
    for variable in (x, y):
        (first,) = torch.autograd.grad(u.sum(), variable, create_graph=True, allow_unused=True)
        if first is not None and first.requires_grad:
            (second,) = torch.autograd.grad(first.sum(), variable, create_graph=True, allow_unused=True)
            total = total if second is None else total + second
    return total


def residual(instance, points=64):
    """Largest |f − Lu| relative to the largest of |f| and of the parts of Lu; and likewise for u itself."""
    record, problem = to_record(instance), instance.problem
    inside = problem.domain.sample_interior(points, seed=instance.index).T
    x, y = (torch.tensor(row, requires_grad=True) for row in inside)
    u = evaluate(ast.parse(record["u"], mode="eval").body, {"torch": torch, "x": x, "y": y})
    if instance.family == "biharmonic":
        parts = [laplacian(laplacian(u, x, y), x, y)]
    else:
        factor = {"yukawa": -record["lam"], "helmholtz": record["k"] ** 2}.get(instance.family, 0.0)
        parts = [laplacian(u, x, y), factor * u]
    expected = sum(part.detach().numpy() for part in parts)
    f = np.zeros(points) if problem.source is None else problem.source(*inside)
    scale = max(float(part.detach().abs().max()) for part in parts) + np.abs(u.detach().numpy()).max()
    u_error = np.abs(problem.exact(*inside) - u.detach().numpy()).max() / np.abs(u.detach().numpy()).max()
    return float(np.abs(f - expected).max() / scale), float(u_error)


def deviation(instance, walks=256):
    """The error of walks summed over a coarse grid, in standard errors."""
    problem, grid = instance.problem, Grid(32)
    found = estimate(
        problem, walks, grid=grid, instance=instance.key, sampling="uniform", estimator=instance.estimator,
        max_steps=4096, device="cpu",
    )  # fmt: skip
    error = (found.mean - problem.on_grid(problem.exact, grid))[found.mask]
    return float(error.sum() / np.sqrt(found.variance[found.mask].sum()))


def broken_filters(instance, samples=20_000):
    """The filters that do not hold, from many random points and the whole grid, with a margin for what is sampled."""
    problem, domain, grid = instance.problem, instance.problem.domain, Grid()
    random = np.random.default_rng(instance.index)
    square = random.uniform(-1, 1, (2, samples))
    distance = domain.distance(*square)
    inside = square[:, distance > 0]
    u = problem.exact(*inside)
    forced = instance.family != "laplace"
    composed = isinstance(domain, Composition)
    holds = {
        "finite test point": np.isfinite(problem.exact(0.3, 0.4)),
        "finite forcing": not forced or np.isfinite(problem.source(0.3, 0.4)),
        "domain interior": (distance > 0).mean() > 0.6 * 10 / 128,
        "composed thickness": not composed or np.median(distance[distance > 0]) > 0.6 * 0.03,
        "solution amplitude": 0.5e-3 < u.std() < 2 * 200,
        "boundary values": not composed or np.abs(problem.exact(*domain.sample_boundary(2000, 1).T)).max() < 2 * 500,
        "forcing amplitude": not forced or 0.5e-4 < problem.source(*inside).std() < 2 * 500,
        "finite ground truth": np.isfinite(problem.on_grid(problem.exact, grid)).all(),
    }
    return [name for name, held in holds.items() if not held]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--per-family", type=int, default=300)
    count = parser.parse_args().per_family
    print(f"{'family':12} {'count':>5} {'f − Lu':>9} {'u':>9} {'mean z':>7} {'max |z|':>8} filters broken, seconds")
    for number, family in enumerate(FAMILIES):
        start = time.perf_counter()
        chosen = np.random.default_rng(number).choice(1000, count, replace=False) * len(FAMILIES) + number
        instances = [generate("test", int(index)) for index in chosen]
        residuals, errors = zip(*map(residual, instances), strict=True)
        z = [deviation(instance) for instance in instances]
        broken = [name for instance in instances for name in broken_filters(instance)]
        print(
            f"{family:12} {count:5} {max(residuals):9.1e} {max(errors):9.1e} {np.mean(z):7.2f} "
            f"{np.abs(z).max():8.2f} {broken or 'none'}, {time.perf_counter() - start:.0f} s"
        )


if __name__ == "__main__":
    main()
