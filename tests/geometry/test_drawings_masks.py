"""Masks: outlines of pixels against the shapes that they were made from."""

import io
import math

import numpy as np
import pytest

from mc2.errors import InputError
from mc2.geometry.drawings import from_mask
from mc2.geometry.drawings.masks import read_mask, read_png
from tests.geometry.drawn import area, read

PILLOW = pytest.importorskip("PIL.Image")


def shade(shape, pixels, fine):
    """An image of a shape on pixels that are 1 wide; fine: points per pixel in each direction."""
    k = (np.arange(pixels * fine) + 0.5) / fine
    inside = shape(*np.meshgrid(k, k)).astype(float)
    return inside.reshape(pixels, fine, pixels, fine).mean(axis=(1, 3))


def turned_square(angle, half, center):
    def shape(x, y):
        u, v = x - center[0], y - center[1]
        cos, sin = math.cos(angle), math.sin(angle)
        return np.maximum(np.abs(cos * u + sin * v), np.abs(cos * v - sin * u)) < half

    return shape


def corners(drawing):
    """Where the lines of one outline meet."""
    return np.array([segment.start for segment in drawing.curves[0].segments])


@pytest.mark.parametrize(("fine", "error"), [(1, 0.75), (8, 0.15)])
@pytest.mark.parametrize("angle", [0.0, 0.1, 0.35, 0.7])
def test_squares_have_four_lines_and_sharp_corners(angle, fine, error):
    center, half = (50.2, 49.7), 30.3
    found = read_mask(shade(turned_square(angle, half, center), 100, fine))
    assert len(found.curves[0].segments) == 4
    z = np.exp(1j * (angle + math.pi / 4 + np.arange(4) * math.pi / 2)) * half * math.sqrt(2)
    apart = np.abs(corners(found) @ [1, 1j] - complex(*center) - z[:, None])
    assert apart.min(axis=0).max() < error
    assert apart.min(axis=1).max() < error


@pytest.mark.parametrize(("fine", "error"), [(1, 0.5), (8, 0.15)])
@pytest.mark.parametrize("radius", [6, 15, 40, 150])
def test_disks_have_no_corners(radius, fine, error):
    pixels, center = 2 * radius + 6, radius + 3.3
    found = read_mask(shade(lambda x, y: np.hypot(x - center, y - center) < radius, pixels, fine))
    domain = from_mask(shade(lambda x, y: np.hypot(x - center, y - center) < radius, pixels, fine))
    starts = domain.pieces.start - center
    assert np.abs(np.hypot(*starts.T) - radius).max() < error
    directions = domain.pieces.direction(0.0)
    assert np.abs(np.angle(directions / np.roll(directions, 1))).max() < 0.1
    assert len(found.curves[0].segments) < 12 + radius // 4


@pytest.mark.parametrize("fine", [1, 8])
def test_areas(fine):
    """A plate with a round and a square hole: its area to a tenth of a pixel along the boundary."""

    def shape(x, y):
        hole = (np.hypot(x - 40, y - 50) < 17) | turned_square(0.4, 12, (90, 60))(x, y)
        return (np.abs(x - 64) < 55) & (np.abs(y - 60) < 50) & ~hole

    domain = from_mask(shade(shape, 128, fine), bounds=(0, 64, 0, 64))
    expected, length = (110 * 100 - math.pi * 17**2 - 24**2) / 4, (420 + math.pi * 34 + 96) / 2
    assert abs(area(domain) - expected) < 0.1 * 0.5 * length
    assert len(read_mask(shade(shape, 128, fine)).curves) == 3


def test_a_domain_that_reaches_the_border_ends_there():
    domain = from_mask(np.ones((10, 20), bool), bounds=(-1, 1, 0, 1))
    assert np.allclose(domain.bounds if hasattr(domain, "bounds") else (-1, 1, 0, 1), (-1, 1, 0, 1), atol=0.02)
    assert area(domain) == pytest.approx(2, rel=0.02)


def picture(array, mode=None, **options):
    content = io.BytesIO()
    PILLOW.fromarray(array, mode).save(content, "PNG", **options)
    return content.getvalue()


def test_pictures(tmp_path):
    """Light and dark, grey, palettes, transparency: the same disk, the right way up."""
    inside = shade(lambda x, y: np.hypot(x - 30, y - 20) < 12, 64, 8)
    bytes_ = (255 * inside[::-1]).astype(np.uint8)
    rgba = np.zeros((64, 64, 4), np.uint8)
    rgba[..., 3] = bytes_
    contents = [
        (picture(bytes_), {}),
        (picture(255 - bytes_), {"inside": "dark"}),
        (picture(bytes_.astype(np.uint16) * 257), {}),
        (picture(rgba), {}),
        (picture(np.stack([bytes_] * 3, axis=2)), {"pixel": 1.0}),
    ]
    for content, options in contents:
        domain = read(tmp_path, "a.png", content, **options).domain
        assert area(domain) == pytest.approx(144 * math.pi, rel=0.01)
        assert np.allclose(domain.pieces.start.mean(axis=0), (30, 20), atol=1)
    large = read(tmp_path, "a.png", contents[0][0], pixel=0.5).domain
    assert area(large) == pytest.approx(36 * math.pi, rel=0.01)


def test_specks_are_left_out_and_said():
    mask = shade(lambda x, y: np.hypot(x - 30, y - 20) < 12, 64, 1)
    mask[60, 60] = 1
    found = read_mask(mask)
    assert len(found.curves) == 1
    assert found.notes == ("left out: 1 specks of less than 3 pixels",)


@pytest.mark.parametrize(
    ("mask", "said"),
    [
        (np.zeros((5, 5), bool), "all its pixels are outside"),
        (np.eye(3)[0], "rows, columns"),
        (np.full((5, 5), np.nan), "finite"),
        (np.full((5, 5), 255), "from 0 to 1"),
        (np.full((5, 5), "a"), "truth values"),
        (np.pad(np.ones((1, 1)), 3), "only specks"),
        (np.random.default_rng(0).random((1500, 1500)) > 0.5, "photograph"),
    ],
)
def test_what_is_no_mask_is_refused(mask, said):
    with pytest.raises(InputError, match=said):
        read_mask(mask)


def test_large_pictures_are_refused_before_they_are_unpacked():
    content = bytearray(picture(np.zeros((4, 4), np.uint8)))
    content[16:24] = (100_000).to_bytes(4, "big") * 2
    import zlib

    content[29:33] = zlib.crc32(content[12:29]).to_bytes(4, "big")
    with pytest.raises(InputError, match=r"100,000 × 100,000 pixels|can be read"):
        read_png(bytes(content))
    for bad in (b"", b"\x89PNG\r\n\x1a\n", picture(np.zeros((4, 4), np.uint8))[:40], b"GIF89a"):
        with pytest.raises(InputError, match="is no PNG"):
            read_png(bad)
