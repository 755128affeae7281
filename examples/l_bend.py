"""The resistance of a bend in a printed conductor: three squares make an L with electrodes at both ends.

    python examples/l_bend.py [picture.png]

The sheet is insulated but for its ends. Its resistance is that of 2.5585… squares: the square in the corner counts for
hardly more than half of one. The exact value is that of conformal maps. Along the diagonal u is ½, so half of the bend
is enough, a trapezoid; Schwarz and Christoffel map a half-plane onto it, and Jacobi's sn a rectangle onto that.
"""

import sys
from pathlib import Path

import numpy as np

import mc2
from mc2 import Neumann
from mc2.geometry import Polygon
from mc2.plotting import panels, save_figure


def sheet():
    bend = Polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)])
    return bend.mark("right end", "x > 2 - 1e-9").mark("top end", "y > 2 - 1e-9")


def exact():
    """Squares between the ends.

    The trapezoid (0, 0), (2, 0), (2, 1), (1, 1) has its vertices at ∞, 0, 1 and d of the real line, where d makes its
    sides from (2, 0) to (2, 1) and from there to (1, 1) equally long.
    """
    from scipy.integrate import quad
    from scipy.optimize import brentq
    from scipy.special import ellipk, ellipkm1

    def sides(d):
        right, _ = quad(lambda w: (d - w) ** -0.25, 0, 1, weight="alg", wvar=(-0.5, -0.5), epsabs=1e-14, epsrel=1e-14)
        top, _ = quad(lambda w: w**-0.5, 1, d, weight="alg", wvar=(-0.5, -0.25), epsabs=1e-14, epsrel=1e-14)
        return top - right

    d = brentq(sides, 1.5, 50.0, xtol=1e-14, rtol=1e-14)
    return 2 * ellipkm1(1 / d) / ellipk(1 / d)


def main(picture=None):
    found, known = mc2.resistance(sheet(), "right end", "top end"), exact()
    print(f"resistance {found.value:.12f} ± {found.standard_error:.1e} squares")
    print(f"exact      {known:.12f}; off by {abs(found.value - known):.1e}")
    if picture:
        solution = mc2.solve(mc2.Laplace(sheet(), boundary={"right end": 1, "top end": 0, "*": Neumann(0)}))
        figure, [ax] = panels(1, size=(5.2, 4.8))
        solution.plot(ax=ax, title="A bend: potential, at steps of 0.04", levels=np.linspace(0, 1, 26))
        save_figure(figure, Path(picture))


if __name__ == "__main__":
    main(*sys.argv[1:])
