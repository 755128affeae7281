"""Pictures of solutions: what is drawn is the field, cut along the outline, and errors share their colours."""

import io
from html import escape

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.path import Path

import mc2
from mc2.geometry import Disk, Rectangle
from mc2.plotting import outline_path
from mc2.solvers.pictures import compare, error_norm

DOMAIN = Disk(1.0) - Rectangle(0.3, 0.2, center=(0.2, 0.1))


@pytest.fixture(scope="module")
def solution():
    return mc2.solve(mc2.Laplace(DOMAIN, exact="exp(x)*sin(y)"), grid=48)


def test_outlines_are_paths_with_their_holes():
    path, points = outline_path(DOMAIN, 400), np.random.default_rng(0).uniform(-1.1, 1.1, (4000, 2))
    far = np.abs(DOMAIN.distance(*points.T)) > 1e-3
    rings = [Path(ring).contains_points(points[far]) for ring in path.to_polygons()]
    assert len(rings) == 2
    np.testing.assert_array_equal(np.sum(rings, 0) % 2 == 1, DOMAIN.contains(*points[far].T))


def test_a_figure_has_no_empty_panel_and_one_range_of_errors(solution):
    for exact, count in ((None, 2), (solution.problem.exact, 3)):
        figure = solution.plot(exact, "a title")
        titled = [ax for ax in figure.axes if ax.get_title()]
        assert len(titled) == count
        assert all(ax.images for ax in titled)
        ranges = {ax.images[0].get_clim() for ax in titled[1:]}
        assert len(ranges) == 1
        plt.close(figure)


def test_a_solution_is_drawn_in_axes_of_ones_own(solution):
    _, ax = plt.subplots()
    figure = solution.plot(ax=ax, isolines=0, cmap="cividis", gradient=True)
    assert figure is ax.figure
    assert ax.images[0].get_cmap().name == "cividis"
    assert ax.images[0].get_clip_path() is not None
    solution.plot(ax=ax, levels=[0.0, 0.5])
    assert ax.collections
    plt.close(figure)


def test_two_solutions_are_compared_on_one_grid(solution):
    other = mc2.solve(solution.problem, grid=48, seed=1)
    figure = compare(solution, other)
    first, second = figure.axes[0].images[0], figure.axes[1].images[0]
    assert first.get_clim() == second.get_clim()
    plt.close(figure)
    with pytest.raises(mc2.InputError, match="compared on one grid"):
        compare(solution, mc2.solve(solution.problem, grid=24))


def test_errors_of_any_size_have_a_range():
    for parts in ([np.zeros(4)], [np.full(4, np.inf)], [np.array([1e-300, 1e-290])], [np.array([2.0, 2.0])]):
        norm = error_norm(parts)
        assert 0 < norm.vmin < norm.vmax


@pytest.mark.slow
def test_notebooks_show_pictures_and_tables(solution):
    problem, walks = solution.problem, mc2.estimate(solution.problem, 4, grid=24)
    for shown in (solution, problem, walks):
        content = shown._repr_png_()
        assert content.startswith(b"\x89PNG")
        assert plt.imread(io.BytesIO(content)).std() > 0.01
    assert ">error, root mean square" in solution.certify(walks=8, points=64)._repr_html_()
    assert mc2.estimate(problem, 4, points=[[0.0, -0.5]])._repr_png_() is None


def test_long_domains_have_their_panels_above_each_other():
    low, tall = (mc2.solve(mc2.Laplace(Rectangle(*sides), boundary="x"), grid=48) for sides in ((6, 0.3), (0.3, 6)))
    panels = [[ax for ax in one.plot().axes if ax.get_title()] for one in (low, tall)]
    assert [ax.get_subplotspec().colspan.start for ax in panels[0]] == [0, 0]
    assert [ax.get_subplotspec().colspan.start for ax in panels[1]] == [0, 1]
    np.testing.assert_allclose(panels[0][0].get_yticks(), [-0.3, 0.3])
    np.testing.assert_allclose(panels[1][0].get_xticks(), [-0.3, 0.3])


def test_a_solution_compared_with_itself():
    solution = mc2.solve(mc2.Laplace(Disk(), boundary="x"), grid=24)
    assert compare(solution, solution).axes[2].get_title() == "a − b is 0 everywhere"


def test_what_notebooks_show():
    """A picture with a text below that is short, for each of them, and for a figure itself."""
    problem = mc2.Laplace(Disk(name="rim of a cup") - Disk(0.2, name="hole"), boundary="x")
    found = mc2.estimate(problem, 8, grid=24)
    solution = mc2.solve(problem, grid=24)
    for thing in (problem.domain, problem, found, solution):
        text = repr(thing)
        assert len(text) < 250
        page = thing._repr_html_()
        assert page.startswith('<img src="data:image/png;base64,iVBOR')
        assert page.endswith(f"<div>{escape(text)}</div>")
    assert solution.plot()._repr_png_().startswith(b"\x89PNG")
    assert "8 walks per point, 24 × 24 pixels" in repr(found)
    assert "converged" in repr(solution)
    assert mc2.estimate(problem, 8, points=[[0.5, 0.5]])._repr_html_() is None
    assert repr(mc2.estimate(problem, 8, points=[[1.0, 0.0]])) == "Estimate(8 walks per point: 1 ± 0)"
    assert repr(mc2.estimate(problem, 1, points=[[0.5, 0.5]])).endswith("± inf)")
    certificate = solution.certify(8, 64)
    assert escape(str(certificate)) in certificate._repr_html_()
    assert len(repr(certificate)) < 120


PLATE = (Rectangle(12.0, 8.0) - Disk(1.2, center=(-2, 0), name="pipe")).mark("heater", "x > 2", on="bottom")
WALLS = mc2.Poisson(
    PLATE, source=-1, boundary={"pipe": "80 + y", "heater": 120, "top": mc2.Robin(0.2, "4*x"), "*": mc2.Neumann(0)}
)


def drawn_lines(ax):
    """The lines of a panel by their colours: all their points together."""
    found = {}
    for line in ax.lines:
        if len(line.get_xdata()) > 2:
            found.setdefault(to_hex(line.get_color()), []).append(np.array([line.get_xdata(), line.get_ydata()], float))
    return {colour: np.concatenate(lines, 1) for colour, lines in found.items()}


def test_a_problem_shows_its_conditions_and_its_data_along_the_boundary():
    figure = WALLS.plot_boundary()
    outline, *rows = figure.axes
    told = [text.get_text() for text in outline.get_legend().get_texts()]
    assert "heater: u = 120" in told
    assert "top: ∂u/∂n + 0.2 u = 4 * x" in told
    assert [ax.get_ylabel() for ax in rows] == ["u", "∂u/∂n", "∂u/∂n + μu"]
    assert len(told) == len(PLATE.parts) == sum(len(drawn_lines(ax)) for ax in rows)
    colours = [to_hex(lines.get_color()[0]) for lines in outline.collections]
    assert {colour for ax in rows for colour in drawn_lines(ax)} == set(colours)
    top = drawn_lines(rows[2])
    ((along, values),) = top.values()  # Robin data 4x, from right to left
    np.testing.assert_allclose(values, 4 * (12 - (along - along.min())), atol=0.2)
    plt.close(figure)


def test_a_solution_shows_what_it_misses_of_its_conditions():
    found = mc2.solve(WALLS, grid=32)
    figure = found.plot_boundary("title")
    outline, u, slope, misfit = figure.axes
    assert misfit.get_yscale() == "log"
    assert max(points[1].max() for points in drawn_lines(misfit).values()) < 1e-4
    values = np.concatenate([points[1] for points in drawn_lines(u).values()])
    assert values.max() == pytest.approx(found.maximum().value, rel=1e-3)
    assert len(drawn_lines(slope)) == len(outline.collections) == len(PLATE.parts)
    for kind in ("svg", "png"):
        file = io.BytesIO()
        figure.savefig(file, format=kind)
    plt.close(figure)


def test_boundaries_of_other_problems_are_drawn():
    clamped = mc2.Biharmonic(Disk(), source=1, boundary=mc2.Clamped("x", 0))
    plain = mc2.Biharmonic(Disk(), exact="x**4")
    varying = mc2.Elliptic(Disk(), diffusion="2 + x", source=1, boundary=mc2.Robin(1, 0))
    outside = mc2.Laplace(mc2.geometry.Exterior(Disk()), "x")
    for problem, rows in (
        (clamped, ["u", "∂u/∂n"]), (plain, ["u", "Δu"]), (varying, ["α ∂u/∂n + μu"]), (outside, ["u"])
    ):  # fmt: skip
        figure = problem.plot_boundary()
        assert [ax.get_ylabel() for ax in figure.axes[1:]] == rows
        plt.close(figure)
        figure = mc2.solve(problem, grid=24).plot_boundary()
        assert max(points[1].max() for points in drawn_lines(figure.axes[-1]).values()) < 1e-4
        plt.close(figure)
    with pytest.raises(mc2.InputError, match="known on its grid only"):
        mc2.solve(plain, corrector="mc2", grid=24).plot_boundary()
