"""Readers of drawings: one module per format. What they read ends as an `Outline`, mended where that is safe."""

from mc2.geometry.drawings.files import READERS, Reading, read_domain, read_drawing
from mc2.geometry.drawings.level import from_sdf
from mc2.geometry.drawings.objects import from_geometry, from_mask, from_points

__all__ = ["READERS", "Reading", "from_geometry", "from_mask", "from_points", "from_sdf", "read_domain", "read_drawing"]
