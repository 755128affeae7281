"""What every domain can do."""

from __future__ import annotations

from abc import abstractmethod
from array import array
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from mc2.checks import CheckedArguments
from mc2.compute.compile import as_points
from mc2.compute.portions import portions
from mc2.errors import InputError
from mc2.geometry import kernels
from mc2.geometry.corners import Corner, find_corners, find_reentrant
from mc2.geometry.grid import Grid
from mc2.geometry.holes import Hole, find_holes
from mc2.geometry.nearest import project
from mc2.geometry.parts import Part, Where, list_parts, part_index
from mc2.geometry.pieces import Boundary, Pieces
from mc2.geometry.sampling import sample_boundary, sample_interior
from mc2.plotting import as_html, as_png

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Bounds = tuple[float, float, float, float]
"""(xmin, xmax, ymin, ymax)."""
Constants: TypeAlias = "array[float]"
"""The constants of a program, as a list of numbers grows."""


class DomainProgram(NamedTuple):
    """A domain as the kernels read it (see `mc2.geometry.kernels`). Shared by all users of the domain: do not write."""

    code: np.ndarray  # int32 [n, 4]
    constants: np.ndarray  # float64 [m]


class Domain(metaclass=CheckedArguments):
    """An open set of the plane, given by a signed distance d: the points where d > 0.

    Everywhere |d(p) - d(q)| ≤ |p - q|, so a ball of radius d around a point inside stays inside.
    Domains are values: they never change, compare by content, and combine with ``|``, ``&`` and ``-``.
    """

    unbounded: ClassVar[bool] = False
    """Whether it reaches as far as infinity; `bounds` is then only the window that grids cover."""

    @property
    @abstractmethod
    def bounds(self) -> Bounds:
        """A box (xmin, xmax, ymin, ymax) that holds the domain; the smallest one for shapes, polygons and unions."""

    @property
    @abstractmethod
    def exactness(self) -> tuple[bool, bool]:
        """Whether |d| is the true distance to the boundary (inside, outside); where not, it is a lower bound."""

    @property
    @abstractmethod
    def registers(self) -> int:
        """Registers that the program needs."""

    @abstractmethod
    def emit(self, code: list[tuple[int, int, int, int]], constants: Constants, out: int) -> None:
        """Append the program that leaves the distance in register `out`, using only registers from there on."""

    @abstractmethod
    def leaves(self) -> Iterator[Leaf]:
        """The shapes and polygons that the domain is made of."""

    @abstractmethod
    def move(self, dx: float, dy: float) -> Domain:
        """The domain moved by (dx, dy)."""

    @abstractmethod
    def rotate(self, angle: float) -> Domain:
        """The domain turned about the origin, counter-clockwise, in radians."""

    @abstractmethod
    def scale(self, factor: float) -> Domain:
        """The domain with all its lengths, and its distance from the origin, multiplied by a factor above 0."""

    @abstractmethod
    def find_boundary(self) -> Boundary:
        """The pieces of the boundary, and the names of its parts."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """The domain as plain data, for `from_description`."""

    @cached_property
    def program(self) -> DomainProgram:
        """The domain as the kernels read it."""
        if self.registers > kernels.PROGRAM_REGISTERS:
            raise InputError(
                f"the domain needs {self.registers} registers and {kernels.PROGRAM_REGISTERS} are there: "
                "build it with fewer nested operations, e.g. Union(a, b, c, ...)"
            )
        code: list[tuple[int, int, int, int]] = []
        constants = array("d")
        self.emit(code, constants, 0)
        return DomainProgram(np.array(code, np.int32), np.array(constants, float))

    @cached_property
    def boundary(self) -> Boundary:
        """The pieces of the boundary, and the names of its parts."""
        return self.find_boundary()

    @property
    def pieces(self) -> Pieces:
        """The boundary as lines and circular arcs, with the domain on their left.

        Ellipses are made of many arcs that end on them and agree with them to 1e-6 of their size.
        """
        return self.boundary.pieces

    @cached_property
    def reentrant(self) -> tuple[np.ndarray, np.ndarray]:
        """The pieces at whose ends the boundary turns back, tips of slits included, and by how many radians."""
        return find_reentrant(self)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The named parts of the boundary, with their lengths, in the order in which they first appear along it."""
        return list_parts(self.boundary)

    def part_index(self, x: Any, y: Any) -> np.ndarray:
        """For points on or near the boundary, the part that each belongs to, as an index into `parts`.

        It is the part of the nearest piece; of two sides of a slit, of the one that the point is on.
        """
        return part_index(self, x, y)

    def mark(self, name: str, where: str | Where | None = None, on: str | Sequence[str] | None = None) -> Domain:
        """The same domain, with a new part of its boundary.

        name: of the new part. A name that is there already grows.
        where: true on the new part: an expression such as "x > 280", or a function of arrays x and y. Pieces are cut
            exactly where it changes. By default everywhere.
        on: the part, or the parts, that it is split off. By default the whole boundary.
        """
        from mc2.geometry.marks import Mark, Marked, as_names

        found = Marked(self, Mark(name, where, as_names(on)))
        _ = found.boundary  # a mark that is nowhere, or on an unknown part, is refused here
        return found

    @property
    def depth(self) -> int:
        """How deep operations are nested."""
        return 0

    @property
    def exact(self) -> bool:
        """Whether the distance at interior points is the true distance to the boundary."""
        return self.exactness[0]

    @property
    def size(self) -> float:
        """The longer side of the bounding box."""
        xmin, xmax, ymin, ymax = self.bounds
        return max(xmax - xmin, ymax - ymin)

    @property
    def rounding(self) -> float:
        """A length safely above the rounding of a distance: 1e-12 of the largest coordinate or extent."""
        return 1e-12 * max(self.size, *map(abs, self.bounds))

    def distance(self, x: Any, y: Any) -> np.ndarray:
        """Signed distance, positive inside; x and y broadcast."""
        x, y, shape = as_points(x, y)
        out = np.empty_like(x)
        for part in portions(x.size):
            kernels.distance(*self.program, x[part], y[part], out[part])
        return out.reshape(shape)[()]

    def contains(self, x: Any, y: Any) -> np.ndarray:
        """Whether the points lie inside."""
        return self.distance(x, y) > 0

    def mask(self, grid: Grid) -> np.ndarray:
        """The pixels whose centre lies inside."""
        x, y = grid.points()
        return np.concatenate([self.contains(x[rows], y[rows]) for rows in grid.blocks()])

    def project(self, x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """The nearest boundary point where the distance is exact, elsewhere a boundary point near."""
        return project(self, x, y)

    def sample_interior(self, count: int, seed: int | np.random.Generator = 0) -> np.ndarray:
        """Points [count, 2] uniform over the domain."""
        return sample_interior(self, count, seed)

    def sample_boundary(self, count: int, seed: int | np.random.Generator = 0) -> np.ndarray:
        """Points [count, 2] uniform by arc length over the boundary.

        The seam of two parts that only share an edge is boundary too: the distance is 0 there.
        """
        return sample_boundary(self, count, seed)

    @cached_property
    def boundary_tree(self) -> tuple[np.ndarray, Any]:
        """Many boundary points [n, 2], and a tree that finds the nearest of them."""
        from scipy.spatial import cKDTree

        samples = self.sample_boundary(4096, seed=0)
        return samples, cKDTree(samples)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from mc2.geometry.picture import domain_figure

        return as_html(as_png(domain_figure(self)), repr(self))

    def holes(self) -> tuple[Hole, ...]:
        """The bounded components of the complement, the largest first."""
        return find_holes(self)

    def corners(self) -> tuple[Corner, ...]:
        """The points where the boundary turns."""
        return find_corners(self)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the filled region, and its outline with a colour for every named part."""
        import matplotlib.pyplot as plt

        from mc2.geometry.picture import draw_domain

        ax = plt.gca() if ax is None else ax
        draw_domain(self, ax)
        return ax

    def __or__(self, other: object) -> Domain:
        from mc2.geometry.compositions import Union

        return Union(self, other) if isinstance(other, Domain) else NotImplemented

    def __and__(self, other: object) -> Domain:
        from mc2.geometry.compositions import Intersection

        return Intersection(self, other) if isinstance(other, Domain) else NotImplemented

    def __sub__(self, other: object) -> Domain:
        from mc2.geometry.compositions import Difference

        return Difference(self, other) if isinstance(other, Domain) else NotImplemented


class Leaf(Domain):
    """A domain with a boundary curve of its own: a shape or a polygon."""

    @property
    @abstractmethod
    def perimeter(self) -> float:
        """Length of the boundary."""

    @abstractmethod
    def outline(self, t: np.ndarray) -> np.ndarray:
        """Boundary points [n, 2] at the fractions t in [0, 1) of the arc length."""

    @property
    def breaks(self) -> tuple[float, ...]:
        """Fractions of the arc length at which the outline has a vertex."""
        return ()

    @property
    def vertex_count(self) -> int:
        """Vertices that every distance visits: those of polygons."""
        return 0

    @property
    def turns(self) -> np.ndarray:
        """By how much the outline turns at its vertices, about, in radians: to tell the sharpest of many."""
        return np.full(len(self.breaks), np.pi)

    @property
    def boxes(self) -> tuple[Bounds, ...]:
        """The bounding box of every boundary curve."""
        return (self.bounds,)

    @property
    def registers(self) -> int:
        return 1

    def leaves(self) -> Iterator[Leaf]:
        yield self
