"""What tests of readers share: files with a drawing, and what a domain measures."""

import warnings

from mc2.geometry.drawings import read_drawing


def read(folder, name, content, **options):
    """The reading of a file of this content."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return read_drawing(path, **options)


def area(domain):
    """From its pieces: exact for lines and arcs."""
    return float(domain.pieces.areas().sum())


def lengths(domain):
    """The parts by their names, rounded to 8 digits of their lengths."""
    return {part.name: float(f"{part.length:.8g}") for part in domain.parts}
