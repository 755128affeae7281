"""What can be done with a solution: files, figures, records."""

import json
import pickle

import numpy as np
import pytest

import mc2
from mc2.errors import InputError
from mc2.geometry import Annulus, Disk, Grid, Square
from mc2.walks import estimate

GRID = Grid(24, bounds=(-1.0, 1.0, -1.2, 0.8))
PROBLEM = mc2.Poisson(Annulus(0.3, 1.0), exact="sin(3*x)*cos(y)")
KINDS = {
    "mc2-rounds": {"walks": 4},
    "mc2-physics": {"walks": 4, "corrector": "mc2-physics"},
    "wos": {"walks": 4, "corrector": "wos"},
    "one walk": {"walks": 1, "corrector": "wos"},
}
each_kind = pytest.mark.parametrize("kind", [*KINDS, "trefftz"])


def solved(kind):
    if kind == "trefftz":
        return mc2.solve(mc2.Helmholtz(Square(0.9), exact="sin(3*x)*cos(y)", k=5.0), grid=GRID)
    return mc2.solve(PROBLEM, grid=GRID, **KINDS[kind])


@each_kind
def test_save_and_read_npz(tmp_path, kind):
    found = solved(kind)
    found.save(tmp_path / "s.npz")
    with np.load(tmp_path / "s.npz", allow_pickle=False) as data:
        assert sorted(data) == ["bounds", "mask", "record", "standard_error", "values"]
        for name in ("values", "standard_error", "mask"):
            np.testing.assert_array_equal(data[name], getattr(found, name))
        assert data["bounds"].tolist() == [-1.0, 1.0, -1.2, 0.8]
        record = json.loads(str(data["record"]))
    assert record == json.loads(json.dumps(found.record()))
    assert record["family"] == found.problem.name
    assert [path.name for path in tmp_path.iterdir()] == ["s.npz"]


@pytest.mark.parametrize("kind", ["mc2-rounds", "trefftz"])
def test_save_and_read_netcdf(tmp_path, kind):
    xarray = pytest.importorskip("xarray")
    found = solved(kind)
    found.save(tmp_path / "s.nc")
    with xarray.open_dataset(tmp_path / "s.nc", engine="scipy") as data:
        np.testing.assert_array_equal(data["u"].values[found.mask], found.values[found.mask])
        assert np.isnan(data["u"].values[~found.mask]).all()
        np.testing.assert_array_equal(data["standard_error"].values[found.mask], found.standard_error[found.mask])
        np.testing.assert_array_equal(data["mask"].values.astype(bool), found.mask)
        np.testing.assert_allclose(data["x"], GRID.x)
        np.testing.assert_allclose(data["y"], GRID.y)
        assert data["u"].dims == ("y", "x")
        assert json.loads(data.attrs["record"])["method"] == found.method
    assert [path.name for path in tmp_path.iterdir()] == ["s.nc"]


def test_datasets_are_interpolated_by_coordinates():
    """A row is y: xarray finds the pixel of a point."""
    pytest.importorskip("xarray")
    found = solved("mc2-rounds")
    near = found.to_xarray()["u"].sel(x=0.6, y=-0.3, method="nearest")
    assert float(near) == pytest.approx(float(found(float(near.x), float(near.y))), abs=1e-12)


@pytest.mark.parametrize("name", ["s.npz", "s.nc"])
def test_an_interrupted_file_is_not_there(tmp_path, monkeypatch, name):
    if name == "s.nc":
        pytest.importorskip("xarray")

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    found = solved("mc2-rounds")
    found.save(tmp_path / name)
    before = (tmp_path / name).read_bytes()
    monkeypatch.setattr("numpy.savez", interrupt)
    monkeypatch.setattr("xarray.Dataset.to_netcdf", interrupt, raising=False)
    other = solved("mc2-physics")
    for target in (tmp_path / name, tmp_path / f"other-{name}"):
        with pytest.raises(KeyboardInterrupt):
            other.save(target)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_bytes() == before


@pytest.mark.parametrize("name", ["s.pkl", "s", "missing/s.npz", "missing/s.nc"])
def test_files_that_cannot_be_written(tmp_path, name):
    with pytest.raises(InputError, match="cannot write") as refused:
        solved("mc2-rounds").save(tmp_path / name)
    assert "\n" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


@each_kind
def test_figures(kind):
    import matplotlib.pyplot as plt

    found = solved(kind)
    exact = found.problem.on_grid(found.problem.exact, GRID)
    for given, panels in ((None, 2), (exact, 3)):
        figure = found.plot(given, title="a title")
        assert len([ax for ax in figure.axes if ax.get_title()]) == panels
        plt.close(figure)


@each_kind
def test_records_are_plain_data(kind):
    found = solved(kind)
    record = found.record()
    again = json.loads(json.dumps(record, allow_nan=False))
    assert again["walks"] == found.walks
    assert again["method"] == found.method == ("wos" if kind == "one walk" else kind)
    assert len(again["history"]) == len(found.history)
    assert again["converged"] is (kind in ("mc2-rounds", "trefftz"))  # others are judged by nobody
    assert again["options"]["seed"] == 0
    assert again["seconds"] > 0
    for step, told in zip(found.history, again["history"], strict=True):
        assert told["kind"] == step.kind
        assert told["walks"] == step.walks


@each_kind
def test_errors(kind):
    found = solved(kind)
    np.testing.assert_array_equal(found.error, found.standard_error)
    assert found.error.shape == GRID.shape
    assert (found.error[~found.mask] == 0).all()
    assert (found.error[found.mask] > 0).all()
    assert np.isfinite(found.error).all() == (kind != "one walk")


def test_the_walks_mean_is_the_estimate():
    found, walked = solved("wos"), estimate(PROBLEM, 4, grid=GRID)
    np.testing.assert_array_equal(found.values, walked.mean)
    np.testing.assert_array_equal(found.standard_error, walked.standard_error)
    assert found.walks == 4 * walked.mask.sum()
    assert found.history == ()


def test_correctors_take_estimates():
    """An estimate made elsewhere, with other options, which the solution remembers."""
    from mc2.solvers import PhysicsCorrector, PlainWalks

    walked = estimate(PROBLEM, 16, grid=GRID, seed=5, epsilon=1e-3, device="cpu")
    exact = PROBLEM.on_grid(PROBLEM.exact, GRID)
    plain, fitted = (corrector.correct(walked, PROBLEM) for corrector in (PlainWalks(), PhysicsCorrector()))
    assert (plain.method, fitted.method) == ("wos", "mc2-physics")
    errors = [np.sqrt(np.mean((found.values - exact)[found.mask] ** 2)) for found in (plain, fitted)]
    assert errors[1] < 0.3 * errors[0]
    ratio = np.abs(fitted.values - exact)[fitted.mask] / fitted.standard_error[fitted.mask]
    assert 0.3 < np.mean(ratio < 1) < 0.95
    assert fitted.options.seed == 5
    assert fitted.options.epsilon == 1e-3
    at_points = estimate(PROBLEM, 16, points=[[0.5, 0.1]], device="cpu")
    with pytest.raises(InputError, match="only an estimate on a grid"):
        PlainWalks().correct(at_points, PROBLEM)


def test_only_estimates_on_a_grid_are_corrected_by_physics():
    from mc2.solvers import PhysicsCorrector

    at_points = estimate(PROBLEM, 16, points=[[0.5, 0.1]], device="cpu")
    with pytest.raises(InputError, match="only an estimate on a grid"):
        PhysicsCorrector().correct(at_points, PROBLEM)


def test_what_physics_cannot_explain_is_left_to_the_walks():
    rough = mc2.Laplace(Disk(), boundary=lambda x, y: np.where(x * y > 0, 1.0, -1.0))
    with pytest.warns(UserWarning, match="it is kept as it is"):
        found = mc2.solve(rough, 4000, grid=Grid(48), corrector="mc2-physics")
    assert found.method == "wos"
    walked = estimate(rough, 4000, grid=Grid(48))
    np.testing.assert_array_equal(found.values, walked.mean)
    np.testing.assert_array_equal(found.standard_error, walked.standard_error)


@pytest.mark.parametrize("ending", [".npz", ".nc"])
@pytest.mark.parametrize("kind", ["mc2-rounds", "mc2-physics", "trefftz"])
def test_a_loaded_solution_answers_as_the_saved_one(tmp_path, kind, ending):
    """Anywhere, by its derivatives, and when it is certified."""
    found, path = solved(kind), tmp_path / f"s{ending}"
    found.save(path)
    again = mc2.Solution.load(path)
    assert again == found
    np.testing.assert_array_equal(again.values, found.values)
    np.testing.assert_array_equal(again.standard_error, found.standard_error)
    x, y = found.problem.domain.sample_interior(20, seed=1).T
    np.testing.assert_array_equal(again(x, y), found(x, y))
    np.testing.assert_array_equal(again.gradient(x, y), found.gradient(x, y))
    if kind != "trefftz":
        assert again.certify(walks=8, points=64).overall == found.certify(walks=8, points=64).overall


def bump(x, y):
    return 1.0 if x * x + y * y < 0.3 else np.cos(x)  # a branch: compiled, not a formula


@pytest.mark.parametrize("kind", [*KINDS, "trefftz", "units", "compiled"])
def test_solutions_are_pickled_and_compared(kind):
    others = {
        "units": lambda seed: mc2.solve(mc2.Laplace(Disk(1e-6), boundary="1e6*x"), grid=24, seed=seed),
        "compiled": lambda seed: mc2.solve(mc2.Laplace(Disk(), boundary=bump), grid=24, seed=seed),
    }
    found, other = (others[kind](seed) for seed in (0, 1)) if kind in others else (solved(kind), solved("one walk"))
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    x, y = found.problem.domain.sample_interior(20, seed=1).T
    np.testing.assert_array_equal(again(x, y), found(x, y))
    assert str(again.certify(8, 64)) == str(found.certify(8, 64))
    if kind != "one walk":
        assert found != other
    assert found != "something else"


def test_a_solution_whose_error_is_unknown_is_loaded_too(tmp_path):
    found = mc2.solve(mc2.Poisson(Disk(0.7), source="x", boundary="y"), corrector="trefftz", grid=12)
    assert found.record()["history"][0]["error"] is None
    json.dumps(found.record(), allow_nan=False)
    found.save(tmp_path / "s.npz")
    np.testing.assert_array_equal(mc2.Solution.load(tmp_path / "s.npz").values, found.values)


@pytest.mark.slow
def test_a_solution_with_a_function_without_text_needs_its_problem(tmp_path):
    values = np.random.default_rng(0).normal(size=(24, 24))
    problem = mc2.Poisson(Square(0.7), source=(values, GRID), boundary=0)
    found = mc2.solve(problem, 8, grid=24)
    found.save(tmp_path / "s.npz")
    with pytest.raises(InputError, match=r"functions without a text: give it, as Solution\.load"):
        mc2.Solution.load(tmp_path / "s.npz")
    np.testing.assert_array_equal(mc2.Solution.load(tmp_path / "s.npz", problem).values, found.values)
    other = mc2.Poisson(Square(0.7), source=0, boundary=1)
    with pytest.raises(InputError, match=r"its values differ by .* the file is damaged, belongs to another problem"):
        mc2.Solution.load(tmp_path / "s.npz", other)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"walks": 10**9}, "asks for 1000000000 walks: at most"),
        ({"corrector": "/tmp/other.safetensors"}, "which is no name"),
        ({"sed": 3}, "asks for 'sed', which there is not"),
        ({"walks": [8]}, r"record.asked.walks = \[8\] must be a finite number or true or false or a text or null"),
        (None, "does not say what was asked for"),
    ],
)
def test_files_that_ask_for_too_much_are_refused(tmp_path, change, message):
    path = tmp_path / "s.npz"
    solved("mc2-rounds").save(path)
    with np.load(path) as data:
        arrays = dict(data)
    record = json.loads(str(arrays["record"]))
    record["asked"] = None if change is None else record["asked"] | change
    np.savez(path, **(arrays | {"record": np.array(json.dumps(record))}))
    with pytest.raises(InputError, match=message):
        mc2.Solution.load(path)


def test_other_programs_read_csv_and_vtk(tmp_path):
    found = solved("mc2-rounds")
    found.save(tmp_path / "s.csv")
    table = np.genfromtxt(tmp_path / "s.csv", delimiter=",", names=True)
    x, y = (c[found.mask] for c in GRID.points())
    for name, wanted in (("x", x), ("y", y), ("u", found.values[found.mask])):
        np.testing.assert_array_equal(table[name], wanted)
    found.save(tmp_path / "s.vtk")
    head, _, rest = (tmp_path / "s.vtk").read_bytes().partition(b"LOOKUP_TABLE default\n")
    assert b"DIMENSIONS 24 24 1\n" in head
    field = np.frombuffer(rest[: 24 * 24 * 8], ">f8").reshape(24, 24)
    np.testing.assert_array_equal(field, np.where(found.mask, found.values, np.nan))
