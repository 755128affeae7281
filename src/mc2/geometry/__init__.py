"""Where: domains as signed distance functions, positive inside, and the evaluation grid."""

from mc2.geometry.compositions import Difference, Intersection, Union
from mc2.geometry.corners import Corner
from mc2.geometry.description import from_description
from mc2.geometry.domain import Domain, DomainProgram
from mc2.geometry.exterior import Exterior
from mc2.geometry.grid import Grid, as_grid
from mc2.geometry.holes import Hole
from mc2.geometry.parts import Part
from mc2.geometry.pieces import Pieces
from mc2.geometry.polygon import Polygon
from mc2.geometry.shapes import (
    SHAPES,
    Annulus,
    Disk,
    Ellipse,
    Hexagon,
    Rectangle,
    Square,
    Stadium,
    Triangle,
)
from mc2.geometry.slit import Slit

__all__ = [
    "SHAPES",
    "Annulus",
    "Corner",
    "Difference",
    "Disk",
    "Domain",
    "DomainProgram",
    "Ellipse",
    "Exterior",
    "Grid",
    "Hexagon",
    "Hole",
    "Intersection",
    "Part",
    "Pieces",
    "Polygon",
    "Rectangle",
    "Slit",
    "Square",
    "Stadium",
    "Triangle",
    "Union",
    "as_grid",
    "from_description",
]
