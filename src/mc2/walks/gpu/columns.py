"""What the columns of packed problems mean: packing writes them and kernels read them, by these names.

Rows of `programs`, one for each problem, in whole numbers. A program is given by its first row and the one after its
last, in two columns next to each other, the first of which is named.
"""

DOMAIN, SOURCE, BOUNDARY, LAPLACIAN = 0, 2, 4, 6
TABLE = SOURCE
"""The terms of an exact solution, in place of the source, where all data are made of the same atoms."""
SHAPE_1, SHAPE_2, BOOLEAN = 8, 9, 10
"""Two shapes and how they combine: −1 for what is not there."""
FAMILY, MOST_WALKS = 11, 12
"""The family's number, and the most walks from a point."""
PROGRAM_COLUMNS = 13

PARAMETER, EPSILON, LARGEST, ON_VALUE, ON_LAPLACIAN = range(5)
"""Columns of `rules`, in float32: λ or k's part of the equation, where walks end, the largest radius, and the
coefficients of u and Δu in the source, for tables of atoms."""
RULE_COLUMNS = 6
SHAPE_NUMBERS = 6
"""Numbers of a shape in `shapes`, which has those of two."""

ENDS, WALLS, VERTICES, STAR_SOURCE, STEPS, ROBIN, GIVEN, CONVEX = 0, 2, 4, 6, 8, 9, 10, 11
"""Columns of `stars.columns`, in whole numbers: where a problem's rows of each kind and its source's program begin,
and end in the next column; where walks are cut off; and whether there are Robin walls, walls with data, and only walls
that hide nothing."""
STAR_COLUMNS = 12
RATE, SHELL, CAP, WALL_CAP, NEAR, BOX = range(6)
"""Columns of `stars.numbers`, in float32: √λ, ε, caps of radii in general and on Robin walls, the distance within which
a start point is on a wall, and the box outside of which a walk is lost."""
STAR_NUMBERS = 9
VALUE, SCALED, GRADIENT_X, GRADIENT_Y = 0, 2, 4, 6
"""Programs of a piece's data, which are their sum: as it is, times the Robin coefficient, and times the normal."""
DATA_COLUMNS = 8
