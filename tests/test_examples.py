"""The examples, at a small size: as accurate as they should be, and what they print."""

import importlib
import re
from pathlib import Path

import numpy as np
import pytest
from examples import (
    certificate,
    certify,
    channel,
    corners,
    drawings,
    heat_sink,
    l_bend,
    motz,
    nafems_t4,
    resonance,
    source_on_grid,
)

import mc2
from mc2.geometry import Grid
from mc2.metrics import psnr

GRID, WALKS = Grid(64), 16
FOLDER = Path(__file__).parents[1] / "examples"
BARS = {
    "annulus.problem": 70,
    "l_shape.problem": 50,
    "jump.problem": 50,
    "corners.harmonic": 50,
    "two_holes.problem": 70,
    "channel.problem": 70,
    "source_on_grid.problem": 50,
}
CONDITIONS = ("heat_sink", "l_bend", "motz", "nafems_t4")
"""Examples with insulated and convective walls, without plain walks."""


def test_every_example_is_here():
    known = {name.split(".")[0] for name in BARS} | {"resonance", "certificate", "certify", "drawings", *CONDITIONS}
    assert {file.stem for file in FOLDER.glob("*.py")} == known


@pytest.mark.parametrize(("name", "bar"), BARS.items())
def test_accuracy(name, bar):
    """In dB; and never below plain walks, as many from every pixel."""
    module, make = name.split(".")
    example = importlib.import_module(f"examples.{module}")
    problem = getattr(example, make)()
    solution, plain = mc2.solve(problem, WALKS, grid=GRID), mc2.estimate(problem, WALKS, grid=GRID, device="cpu")
    exact = np.where(solution.mask, example.exact(*GRID.points()), 0.0)
    found = psnr(solution.values, exact, solution.mask)
    assert found >= bar
    assert found > psnr(plain.mean, exact, plain.mask)
    assert np.sqrt(np.mean(solution.error**2)) < 1e-3 * np.ptp(exact)


@pytest.mark.parametrize("make", [corners.problem, channel.bent])
def test_without_an_exact_solution(make):
    """The certificate finds hardly any error, and plain walks from the middle of the domain agree."""
    problem = make()
    solution = mc2.solve(problem, WALKS, grid=GRID)
    scale = np.ptp(solution.values[solution.mask])
    assert solution.certify(walks=16, points=1024).overall.rms.high < 1e-4 * scale
    points = problem.domain.sample_interior(16, seed=3)
    plain = mc2.estimate(problem, 20_000, points=points, device="cpu")
    z = (solution(*points.T) - plain.mean) / plain.standard_error
    assert np.abs(z).max() < 4


def test_a_source_on_pixels_costs_little():
    """Cubic splines of a 256 × 256 source are off by about 1e-6 of it; a solution is smoother than its source."""
    values, function = (mc2.solve(make(), WALKS, grid=GRID) for make in (source_on_grid.problem, source_on_grid.known))
    lost = np.abs(values.values - function.values).max()
    assert 1e-12 < lost < 1e-6


def test_resonance():
    exact = np.where(resonance.problem().mask(GRID), resonance.exact(*GRID.points()), 0.0)
    clear = mc2.solve(resonance.problem(), grid=GRID)
    assert clear.method == "trefftz"
    assert np.abs(clear.values - exact).max() < 1e-10
    with pytest.warns(UserWarning, match="Dirichlet eigenvalue"):
        close = mc2.solve(resonance.problem(resonance.RESONANT), grid=GRID)
    assert 100 * clear.error.max() < close.error.max() < 1e-6
    assert np.abs(close.values - exact).max() < close.error.max()


def test_the_certificate_covers_the_error():
    problem = certificate.problem()
    solution = mc2.solve(problem, 4, grid=GRID)
    truth = np.where(solution.mask, certificate.exact(*GRID.points()), 0.0)
    error = (truth - solution.values)[solution.mask]
    found = solution.certify(walks=64, points=2048).overall
    assert found.rms.low < np.sqrt(np.mean(error**2)) < found.rms.high
    assert found.mean.low < error.mean() < found.mean.high


@pytest.mark.slow
def test_somebody_elses_field():
    """Its error is held, also by finer grids; the closed form solves the problem, or finite differences would not."""
    errors = []
    for size in (32, 64, 128):
        task, grid = certify.problem(), Grid(size)
        field = certify.five_points(task, grid)
        errors.append(np.sqrt(np.mean((field - certify.exact(*grid.points())) ** 2)))
        found = mc2.certify(task, field, grid=grid).overall.rms
        assert found.low < errors[-1] < found.high < 10 * errors[0]
    assert errors[0] > errors[1] > errors[2]


def test_published_values():
    """Motz's coefficient, NAFEMS T4 by a series, and a conformal map's resistance."""
    assert motz.coefficient(mc2.solve(motz.problem(), grid=GRID)) == pytest.approx(motz.PUBLISHED, rel=1e-11)
    temperature = mc2.solve(nafems_t4.problem(), grid=GRID)
    assert float(nafems_t4.series(*nafems_t4.POINT)) == pytest.approx(18.25375653713, abs=1e-10)
    assert temperature(*nafems_t4.POINT) == pytest.approx(18.25375653713, abs=1e-8)
    found = mc2.resistance(l_bend.sheet(), "right end", "top end")
    assert l_bend.exact() == pytest.approx(2.558523142342, abs=1e-12)
    assert abs(found.value - l_bend.exact()) < min(found.standard_error, 1e-11)


def test_the_heat_sink_loses_what_it_takes():
    """And is as warm as finite volumes say, 140.4323, 140.4536 and 140.5096 with cells of 1/8, 1/4 and 1/2 mm."""
    solution = mc2.solve(heat_sink.problem(), grid=GRID)
    parts = [part.name for part in solution.problem.domain.parts if part.name not in ("bottom", "chip")]
    lost = -heat_sink.CONDUCTS * solution.flux(parts).value
    assert lost == pytest.approx(heat_sink.POWER, rel=1e-6)
    assert solution(0, 0) == pytest.approx(140.419, abs=2e-3)
    assert heat_sink.fin_theory() == pytest.approx(solution(0, heat_sink.BASE / 2), rel=0.05)


@pytest.mark.parametrize("name", ["motz", "nafems_t4", "l_bend"])
def test_main_of_conditions(name, tmp_path, capsys):
    """Prints what is found and what is known; and draws a picture."""
    importlib.import_module(f"examples.{name}").main(tmp_path / "picture.png")
    found, known = capsys.readouterr().out.splitlines()[:2]
    first, second = (re.search(r"\d+\.\d{9,}", line) for line in (found, known))
    assert float(first[0]) == pytest.approx(float(second[0]), rel=1e-9)
    assert (tmp_path / "picture.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    "name", sorted(file.stem for file in FOLDER.glob("*.py") if file.stem not in (*CONDITIONS, "drawings"))
)
def test_main(name, tmp_path, capsys):
    """Prints at least two accuracies, the first ours, the last that of plain walks; and draws a picture."""
    picture = tmp_path / "picture.png"
    importlib.import_module(f"examples.{name}").main(picture)
    printed = capsys.readouterr().out
    accuracies = [float(number) for number in re.findall(r"([\d.]+) dB", printed)]
    assert len(accuracies) >= 2
    assert "plain walks" in printed
    assert name == "resonance" or accuracies[-1] < 40 < accuracies[0]
    assert picture.stat().st_size > 10_000


def test_no_picture_unless_told_to(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    certificate.main()
    assert not list(tmp_path.iterdir())


def largest_in_a_t(cells):
    """Δu = −1 by finite differences on the T of the drawing: a bar 3 × ½ on a stem 1 × 2."""
    from scipy.sparse import coo_array
    from scipy.sparse.linalg import spsolve

    x, y = np.meshgrid(*(np.arange(1, size * cells) for size in (3, 2.5)))
    inside = (y > 2 * cells) | ((x > cells) & (x < 2 * cells))
    number = np.where(inside, np.cumsum(inside).reshape(inside.shape) - 1, -1)
    entries = [(number[inside], number[inside], np.full(inside.sum(), 4.0))]
    for one, other in ((number[1:], number[:-1]), (number[:, 1:], number[:, :-1])):
        both = (one >= 0) & (other >= 0)
        links = -np.ones(both.sum())
        entries += [(one[both], other[both], links), (other[both], one[both], links)]
    rows, columns, values = (np.concatenate(column) for column in zip(*entries, strict=True))
    return spsolve(coo_array((values, (rows, columns))).tocsc(), np.full(inside.sum(), 1 / cells**2)).max()


@pytest.mark.slow
def test_drawings(capsys):
    found = drawings.main(grid=128, names=("tee.obj", "curve.csv"))
    assert found["tee.obj"] == pytest.approx(largest_in_a_t(40), rel=5e-3)
    assert "crack left" in capsys.readouterr().out
