"""Problem files: what they say, what they refuse, and that no damage to one breaks anything."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import mc2
from mc2.errors import InputError
from mc2.geometry import Disk, Grid, Rectangle
from mc2.problems import Clamped, Neumann, Robin, Yukawa, read_problem
from mc2.problems.problem_file import problem_from_data
from mc2.problems.writing import problem_as_data

GOOD = """
title = "Good"
family = "yukawa"
lambda = 9.0
source = "40*x*y"
boundary = "x**2 - y"
grid = 64

[domain]
difference = [
    { shape = "disk", radius = 1.0 },
    { shape = "rectangle", a = 0.3, b = 0.2, center = [0.2, 0.1], angle = 0.4 },
]
"""
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "problem.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_a_good_file(tmp_path):
    loaded = read_problem(write(tmp_path, GOOD))
    problem = loaded.problem
    assert isinstance(problem, Yukawa)
    assert (problem.lam, loaded.grid.size, loaded.title) == (9.0, 64, "Good")
    assert problem.domain == Disk(1.0) - Rectangle(0.3, 0.2, center=(0.2, 0.1), angle=0.4)
    np.testing.assert_allclose(problem.source(0.5, 0.2), 4.0)


def test_the_grid_covers_the_domain(tmp_path):
    assert read_problem(write(tmp_path, GOOD)).grid == Grid(64)
    far = read_problem(write(tmp_path, GOOD.replace("radius = 1.0", "radius = 4.0, center = [9, 9]")))
    assert far.grid == Grid(64, bounds=(5, 13, 5, 13))


def test_another_number_of_pixels_keeps_the_bounds(tmp_path):
    bounded = read_problem(write(tmp_path, "bounds = [-1, 1, 0, 1]\n" + GOOD))
    assert bounded.grid == Grid(64, 32, bounds=(-1, 1, 0, 1))
    assert bounded.sized(16) == Grid(16, 8, bounds=(-1, 1, 0, 1))
    assert bounded.sized(None) == bounded.grid
    assert read_problem(write(tmp_path, GOOD)).sized(16) == Grid(16)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples(path):
    assert read_problem(path).problem.mask(read_problem(path).grid).any()


BAD = [  # a change to the good file, and what the message must name
    (("yukawa", "yukava"), "did you mean 'yukawa'?"),
    (('family = "yukawa"', ""), "lacks 'family': the name of an equation, such as 'poisson'"),
    (("lambda = 9.0", ""), "yukawa needs lambda"),
    (("lambda = 9.0", "lambda = -1"), "lambda = -1"),
    (("lambda = 9.0", "k = 2\nlambda = 9.0"), "yukawa takes no k"),
    (("lambda = 9.0", "lambda = 9.0\nbounds = [1, 0, 0, 1]"), "grid bounds = (1.0, 0.0, 0.0, 1.0)"),
    (("source =", "sorce ="), "unknown key 'sorce': did you mean 'source'?"),
    (("source =", "laplacian ="), "yukawa takes no laplacian"),
    (('"40*x*y"', '"40*x*z"'), "source: expression '40*x*z'"),
    (('"40*x*y"', "true"), "source = True"),
    (('"40*x*y"', "[1]"), "source = [1]"),
    (('"40*x*y"', "inf"), "source"),
    (('"40*x*y"', '"1/(x-x)"'), "source is not finite"),
    (("grid = 64", "grid = 0"), "grid size = 0"),
    (("grid = 64", "grid = 1.5"), "grid = 1.5 must be a number of pixels, or two, of columns"),
    (("grid = 64", "grid = [64]"), "grid = [64] must be a number of pixels, or two, of columns and rows"),
    (("grid = 64", "grid = [64, 1.5]"), "grid = [64, 1.5] must be a number of pixels, or two"),
    (('"Good"', "3"), "title = 3"),
    (("radius = 1.0", "radius = -1.0"), "radius = -1.0"),
    (("radius = 1.0", "radios = 1.0"), "radios"),
    (("radius = 1.0", "radius = 0.001"), "empty"),
    (('"disk"', '"disc"'), "did you mean 'disk'?"),
    (("center = [0.2, 0.1]", "center = [0.2]"), "center"),
    (("[domain]", "[domain]\nunion = []"), "union"),
    (("[domain]", "[domain"), "not valid TOML"),
]


@pytest.mark.parametrize(("change", "message"), BAD, ids=range(len(BAD)))
def test_bad_files(tmp_path, change, message):
    path = write(tmp_path, GOOD.replace(*change))
    with pytest.raises(InputError) as refused:
        read_problem(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("content", [b"\x00\xff\xfe", b"\x89PNG\r\n\x1a\n" * 10, b"a" * (1 << 21), b""])
def test_not_problem_files(tmp_path, content):
    with pytest.raises(InputError):
        read_problem(write(tmp_path, content))


def test_unreadable(tmp_path):
    with pytest.raises(InputError, match=r"missing\.toml: no such file"):
        read_problem(tmp_path / "missing.toml")
    with pytest.raises(InputError, match="cannot be read: it is a folder, not a plain file"):
        read_problem(tmp_path)


def test_a_thousand_damaged_files(tmp_path):
    rng = np.random.default_rng(8)
    pieces = [b"[", b"]", b"{", b"}", b'"', b"=", b"\n", b"-", b"9", b"e9", b"nan", b"inf", b"\xff", b"x", b"domain"]
    accepted = 0
    for _ in range(1000):
        content = GOOD.encode()
        for _ in range(rng.integers(1, 4)):
            place, cut = int(rng.integers(0, len(content))), int(rng.choice([0, 1, 3, 30]))
            content = content[:place] + pieces[rng.integers(len(pieces))] * rng.integers(0, 3) + content[place + cut :]
        path = write(tmp_path, content)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                loaded = read_problem(path)
        except InputError as error:
            assert "\n" not in str(error)
            continue
        accepted += 1
        assert np.all(np.isfinite(loaded.problem.on_grid(loaded.problem.boundary, loaded.grid)))
    assert 10 < accepted < 990
    assert [path.name for path in tmp_path.iterdir()] == ["problem.toml"]


def test_deep_nesting_is_refused(tmp_path):
    deep = "family = 'laplace'\nboundary = 1\ndomain = " + "{union=[" * 400 + "]}" * 400
    with pytest.raises(InputError):
        read_problem(write(tmp_path, deep))


@pytest.mark.parametrize(
    ("lines", "grid"),
    [
        ("grid = 40", Grid(40, 10, (1, 5, -0.5, 0.5))),
        ("grid = [40, 30]", Grid(40, 30, (1, 5, -0.5, 0.5))),
        ("grid = 40\nbounds = [0, 8, -1, 1]", Grid(40, 10, (0, 8, -1, 1))),
        ("grid = [8, 3]\nbounds = [0, 8, -1, 1]", Grid(8, 3, (0, 8, -1, 1))),
    ],
)
def test_grids_are_as_wide_and_high_as_the_domain_or_as_they_are_told(tmp_path, lines, grid):
    path = tmp_path / "strip.toml"
    domain = 'domain = {shape = "rectangle", width = 4, height = 1, center = [3, 0]}'
    path.write_text(f'family = "laplace"\nboundary = "x"\n{lines}\n{domain}\n')
    assert read_problem(path).grid == grid


WRITTEN = {
    "keyhole": mc2.Yukawa(Disk(1.0) - Rectangle(0.3, 0.2, angle=0.4), source="40*x*y", boundary="x**2 - y", lam=1 / 3),
    "known": mc2.Biharmonic(Disk(0.7, center=(0.1, 0)), exact="sin(3.1*x)*exp(y/7)"),
    "traced": mc2.Poisson(Disk(), source=lambda x, y: np.where(x > 0.1, np.sin(x) / 3, y**2), boundary=1.25e-7),
    "parts": mc2.Laplace(
        Disk(1.0) - Rectangle(width=0.5, height=0.2, name="bar"), {"bar": mc2.Robin("1 + x**2", 0.1), "*": "x"}
    ),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_problems_are_written_down_and_read_as_the_same(name):
    problem = WRITTEN[name]
    again = problem_from_data(json.loads(json.dumps(problem_as_data(problem)))).problem
    assert (type(again), again.domain, again.operator) == (type(problem), problem.domain, problem.operator)
    x, y = problem.domain.sample_interior(50).T
    edge = problem.domain.sample_boundary(50).T
    for function, points in (("source", (x, y)), ("boundary", edge), ("laplacian", edge), ("exact", (x, y))):
        one, two = getattr(problem, function), getattr(again, function)
        assert (one is None) == (two is None)
        if one is not None:
            np.testing.assert_array_equal(one(*points), two(*points))
    assert [type(condition) for condition in again.conditions] == [type(condition) for condition in problem.conditions]


@pytest.mark.slow
def test_functions_without_a_text_are_not_written_down():
    table = np.linspace(0, 1, 9)
    with warnings.catch_warnings(action="ignore"):
        problem = mc2.Laplace(Disk(), boundary=lambda x, y: np.interp(x, table, table**2))
    assert problem_as_data(problem) is None


@pytest.mark.parametrize(
    ("family", "part", "kind"),
    [
        ("laplace", "robin = {coefficient = 0.2, value = 4}", Robin),
        ("laplace", "neumann = 3", Neumann),
        ("biharmonic", 'clamped = {value = 0, slope = "x"}', Clamped),
    ],
)
def test_conditions_as_tables(tmp_path, family, part, kind):
    file = tmp_path / "plate.toml"
    more = "source = 1\nlaplacian = 0\n" if family == "biharmonic" else ""
    head = f'family = "{family}"\n{more}domain = {{shape = "square", half = 1}}\n'
    file.write_text(f'{head}[boundary]\n"*" = 1\n[boundary.top]\n{part}\n')
    problem = read_problem(file).problem
    names = [one.name for one in problem.domain.parts]
    assert isinstance(problem.conditions[names.index("top")], kind)
    again = problem_from_data(problem_as_data(problem)).problem
    assert [type(one) for one in again.conditions] == [type(one) for one in problem.conditions]
