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
