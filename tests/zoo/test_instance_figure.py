"""The picture of an instance: what it says and shows, for every family."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from mc2.geometry import Annulus, Disk, Grid, Rectangle, Stadium
from mc2.metrics import mse, psnr
from mc2.plotting import symmetric
from mc2.zoo import generate, make_fields
from mc2.zoo.instance_figure import describe, draw_instance, in_words

GRID = Grid(16)


def texts(figure):
    return [text.get_text() for text in figure.findobj(Text)]


@pytest.mark.parametrize("index", range(5))
def test_every_family(index):
    instance = generate("test", index)
    fields = make_fields([instance], (1, 4), grid=GRID, device="cpu")
    figure = draw_instance(fields, GRID)
    FigureCanvasAgg(figure).draw()
    mask = fields.mask[0].astype(bool)
    said = texts(figure)
    for budget, mean in zip(("1 walk", "4 walks"), fields.mean[0], strict=True):
        assert f"{budget}: {psnr(mean, fields.u[0], mask):.2f} dB" in said
        assert f"|error|, MSE {mse(mean, fields.u[0], mask):.3g}" in said
    assert ("source f" in said) == (instance.family != "laplace")
    assert any("clipped" in text for text in said)
    title = figure.get_suptitle().replace("\n", " ")
    assert instance.id in title
    assert f"estimator: {'reduced' if index == 4 else 'standard'}" in title


def test_estimates_have_the_colours_of_u():
    fields = make_fields([generate("test", 1)], (1, 4), grid=GRID, device="cpu")
    images = {ax.get_title(): ax.images[0] for ax in draw_instance(fields, GRID).axes if ax.images}
    inside = fields.u[0][fields.mask[0] == 1]
    shown = [image for title, image in images.items() if title.endswith("dB") or title == "exact solution u"]
    assert len(shown) == 3
    for image in shown:
        assert image.get_clim() == (inside.min(), inside.max())
        assert image.origin == "lower"
        np.testing.assert_array_equal(np.ma.getmaskarray(image.get_array()), fields.mask[0] == 0)
    errors = [image.get_clim() for title, image in images.items() if "error" in title]
    assert errors[0] == errors[1]
    assert errors[0][1] == pytest.approx(1000 * errors[0][0])


def test_a_domain_that_leaves_the_grid():
    inside, outside = (draw_instance(make_fields([generate("test", n)], (1,), grid=GRID), GRID) for n in (1, 3))
    assert "domain, leaves the grid" in texts(outside)
    assert not any("leaves" in text for text in texts(inside))
    assert outside.axes[0].get_xlim()[1] > generate("test", 3).domain.bounds[1] > 1


def test_long_titles_are_broken():
    long = next(i for i in (generate("test", 5 * n + 1) for n in range(50)) if len(describe(i)) > 170)
    figure = draw_instance(make_fields([long], (1,), grid=GRID), GRID)
    FigureCanvasAgg(figure).draw()
    [title] = [text for text in figure.findobj(Text) if text.get_text() == figure.get_suptitle()]
    box = title.get_window_extent()
    assert 0 < box.x0 < box.x1 < figure.bbox.x1


def test_domains_in_words():
    assert in_words(Annulus(0.25, 1.2).describe()) == "an annulus (inner 0.25, outer 1.2)"
    assert in_words(Stadium(0.5, 0.3).describe()) == "a stadium (half length 0.5, radius 0.3)"
    both = Rectangle(1.0, 0.5, angle=0.3) - Disk(0.4, center=(0.1, 0.0))
    assert in_words(both.describe()) == "the difference of a rectangle and a disk"
    assert in_words((both | Disk(0.2)).describe()) == "the union of the difference of a rectangle and a disk and a disk"


def test_symmetric_colours():
    values = np.r_[np.linspace(-1, 1, 1000), 1e6]
    norm = symmetric(values)
    assert norm.vmin == -norm.vmax
    assert 0.9 < norm.vmax < 1.1
    assert symmetric(np.zeros(3)).vmax == 1
