"""Tables of docs/coefficients.md, from what `python -m validation.coefficients` has measured."""

import numpy as np
from docs.measured import result
from validation.markdown import table


def walks():
    """Walks through coefficients that vary, over all majorants."""
    found = result("coefficients")
    rows = []
    for name in dict.fromkeys(row["problem"] for row in found["rows"]):
        own = [row for row in found["rows"] if row["problem"] == name]
        z = np.array([[row["mean z"], row["std of z"], row["largest"], row["slope"], row["steps"]] for row in own])
        slopes = f"{z[:, 3].min():.2f} … {z[:, 3].max():.2f}"
        least = own[0]["least σ'"]
        steps = f"{z[:, 4].min():.0f} … {z[:, 4].max():.0f}"
        rows.append((
            name, f"{least:+.1f}", f"{z[:, 0].mean():+.3f}", f"{np.sqrt(np.mean(z[:, 1] ** 2)):.3f}",
            f"{z[:, 2].max():.2f}", slopes, steps,
        ))  # fmt: skip
    majorants = ", ".join(f"{m:g}" for m in sorted({row["majorant"] for row in found["rows"]}))
    first = f"{found['walks']:,} walks, majorant × {majorants}"
    return table((first, "least σ'", "mean z", "std of z", "largest", "slope", "steps"), rows)


def solved():
    """`solve` on instances of PDEZoo's split `coefficients`."""
    found = result("coefficients_solve")["summary"]
    names = [name for name in found if name not in ("count", "median seconds")]
    rows = [(name, f"{found[name]:.2g}") for name in names]
    return table((f"first {found['count']} instances", "measured"), rows)


BLOCKS = {"coefficient walks": walks, "coefficient instances": solved}
