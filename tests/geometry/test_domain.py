"""The signed distance against brute force: Lipschitz, never too large, exact where it says so."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.spatial import cKDTree

from mc2.errors import InputError
from mc2.geometry import Annulus, Disk, Domain, Ellipse, Grid, Polygon, Rectangle, Square, Triangle

from .plain import COMPOSED, LEAVES, RINGS, boundary, build, inside, name_of, random_tree

each_tree = pytest.mark.parametrize("tree", LEAVES + COMPOSED, ids=name_of)


def check_distance(tree: tuple, random: np.random.Generator, boundary_points: int) -> None:
    domain = build(tree)
    p = random.uniform(-2, 2, (10_000, 2))
    step = 10.0 ** random.uniform(-6, 0, (10_000, 1))
    q = p + step * random.normal(size=p.shape)
    d = domain.distance(*p.T)
    assert np.all(np.abs(d - domain.distance(*q.T)) <= np.hypot(*(p - q).T) + 1e-12)

    points, length = boundary(tree, boundary_points)
    within = inside(tree, *p.T)
    clear = np.abs(d) > 1e-9
    assert np.array_equal((d > 0)[clear], within[clear])
    if len(points) == 0:
        return
    true, _ = cKDTree(points).query(p)
    assert np.all(np.abs(d) <= true + 1e-9)
    for side, exact in zip((within, ~within), domain.exactness, strict=True):
        if exact and side.any():
            assert np.abs(np.abs(d) - true)[side].max() <= 1.5 * length.max()


@each_tree
def test_distance_of_each_kind(tree):
    check_distance(tree, np.random.default_rng(1), 40_000)


@pytest.mark.parametrize("batch", range(10))
def test_distance_of_random_compositions(batch):
    random = np.random.default_rng(batch)
    for _ in range(50):
        check_distance(random_tree(random, int(random.integers(2, 5))), random, 4_000)


def test_lower_bounds_are_really_lower():
    assert not Ellipse(1.0, 0.5).exact
    assert Ellipse(1.0, 0.5).distance(0.9, 0.0) == pytest.approx(0.05)  # the nearest point is (1, 0)


@pytest.mark.parametrize(
    ("domain", "exactness"),
    [
        (Disk() - Disk(0.3), (True, False)),
        (Disk() - Rectangle(0.3, 0.2), (False, False)),
        (Rectangle(1, 1) - Annulus(0.2, 0.5), (True, False)),
        (Disk() | Disk(center=(1, 0)), (False, True)),
        (Disk() | Square(), (False, False)),
        (Square() & Disk(), (True, False)),
        (Disk() - (Disk(0.2) | Disk(0.2, center=(0.5, 0))), (True, False)),
        (Disk() - (Disk(0.2) & Disk(0.2, center=(0.1, 0))), (False, False)),
    ],
    ids=repr,
)
def test_exactness_of_compositions(domain, exactness):
    assert domain.exactness == exactness
    assert domain.exact == exactness[0]


@each_tree
def test_bounds_hold_the_domain_and_are_tight(tree):
    xmin, xmax, ymin, ymax = build(tree).bounds
    x, y = boundary(tree, 40_000)[0].T
    slack = 1e-12
    assert xmin - slack <= x.min()
    assert xmax + slack >= x.max()
    assert ymin - slack <= y.min()
    assert ymax + slack >= y.max()
    if tree[0] not in ("intersection", "difference"):
        assert np.allclose((xmin, xmax, ymin, ymax), (x.min(), x.max(), y.min(), y.max()), atol=1e-3)


@each_tree
def test_moving_and_turning_follow_the_points(tree):
    domain = build(tree)
    x, y = np.random.default_rng(2).uniform(-2, 2, (2, 1000))
    assert np.allclose(domain.move(0.4, -0.3).distance(x + 0.4, y - 0.3), domain.distance(x, y), atol=1e-13)
    z = (x + 1j * y) * np.exp(0.9j)
    assert np.allclose(domain.rotate(0.9).distance(z.real, z.imag), domain.distance(x, y), atol=1e-13)


@each_tree
@pytest.mark.parametrize("factor", [1e-9, 3.0, 1e9])
def test_scaling_scales_all_lengths(tree, factor):
    domain = build(tree).move(0.3, -0.2)
    x, y = np.random.default_rng(2).uniform(-2, 2, (2, 1000))
    scaled = domain.scale(factor)
    assert np.allclose(scaled.distance(factor * x, factor * y) / factor, domain.distance(x, y), atol=1e-13)
    assert np.allclose(np.array(scaled.bounds) / factor, domain.bounds, atol=1e-13)


@pytest.mark.parametrize("factor", [0, -1.0, np.inf, "2"])
def test_wrong_factors(factor):
    for domain in (Disk(), Polygon([(0, 0), (1, 0), (0, 1)])):
        with pytest.raises(InputError, match="factor"):
            domain.scale(factor)


def test_distance_broadcasts_in_float64():
    d = Disk().distance(np.zeros((3, 1), np.float32), [0.0, 0.5])
    assert d.shape == (3, 2)
    assert d.dtype == np.float64
    assert np.ndim(Disk().distance(0, 0)) == 0
    assert Disk().contains(0.5, 0.5)
    assert not Disk().contains(1.0, 0.0)


def test_mask_has_y_by_row():
    mask = Rectangle(1.0, 0.5, center=(0.0, 0.5)).mask(Grid(4))
    assert np.array_equal(mask, [[False] * 4, [False] * 4, [True] * 4, [True] * 4])


def test_program_is_built_once():
    domain = Disk() - Disk(0.1)
    assert domain.program is domain.program
    assert domain.program.code.dtype == np.int32
    assert domain.program.constants.dtype == np.float64


@pytest.mark.parametrize("domain", [Disk() - Triangle(0.3), Polygon(*RINGS[:1], holes=RINGS[1:])], ids=repr)
def test_plot_draws_an_outline(domain: Domain):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    assert domain.plot(ax) is ax
    assert len(ax.patches) == 1
    assert [lines.get_label() for lines in ax.collections] == [part.name for part in domain.parts]
    assert ax.get_aspect() == 1


def test_import_is_light():
    """Neither matplotlib nor the parts of scipy that we use, and nothing compiled."""
    code = (
        "import sys, mc2.geometry; from mc2.geometry import kernels;"
        "print(any(m in sys.modules for m in ('matplotlib', 'scipy.ndimage', 'scipy.spatial')),"
        "len(kernels.distance.signatures))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "0"]
