"""`mc2 certify` as a user meets it."""

import json

import numpy as np
import pytest

import mc2 as package
from mc2.geometry import Disk, Grid
from tests.cli.test_commands import mc2

PROBLEM = "title = 'Waves'\nfamily = 'laplace'\nexact = 'exp(2*x)*cos(2*y)'\ngrid = 32\n[domain]\nshape = 'disk'\n"
HELMHOLTZ = "family = 'helmholtz'\nexact = 'sin(3*x)*cos(4*y)'\nk = 6.0\ngrid = 32\n[domain]\nshape = 'disk'\n"
GRID = Grid(32)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "p.toml").write_text(PROBLEM)
    return tmp_path


@pytest.mark.slow
def test_json_is_the_certificate(folder):
    """The field is zero, in a file that does not say where it lies."""
    np.save(folder / "zeros.npy", np.zeros(GRID.shape))
    few = ("--walks", 8, "--points", 300, "--confidence", 0.99, "--seed", 3)
    done = mc2("certify", "p.toml", "zeros.npy", "--bounds=-1,1,-1,1", *few, "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    found = json.loads(done.stdout)
    keys = {"problem", "field", "kind", "confidence", "walks", "points", "rms", "mean", "regions", "note", "seconds"}
    assert set(found) == keys
    assert (found["problem"], found["kind"], found["confidence"]) == ("Waves", "walks", 0.99)
    assert found["walks"] == 8 * 300
    problem, zeros = package.Laplace(Disk(), exact="exp(2*x)*cos(2*y)"), np.zeros(GRID.shape)
    made = package.certify(problem, zeros, walks=8, points=300, confidence=0.99, seed=3, grid=GRID)
    assert found["rms"] == vars(made.overall.rms)
    assert found["mean"] == vars(made.overall.mean)
    assert [region["rms"] for region in found["regions"]] == [vars(region.rms) for region in made.regions]
    assert all({"bounds", "points", "mean", "rms"} == set(region) for region in found["regions"])


@pytest.mark.parametrize("ending", ["npz", "nc"])
def test_a_saved_solution(folder, ending):
    solved = mc2("solve", "p.toml", "--walks", 4, "--out", f"s.{ending}", "--json", folder=folder)
    true = json.loads(solved.stdout)["rms_error"]
    found = json.loads(mc2("certify", "p.toml", f"s.{ending}", "--json", folder=folder).stdout)
    assert 0 < found["rms"]["low"] <= true <= found["rms"]["high"] < 1.3 * true


def test_a_method_by_its_name(folder):
    done = mc2("certify", "p.toml", "fd", "--grid", 24, "--walks", 8, "--points", 200, folder=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for words in ("fd: laplace, Waves", "with 95% interval, from 1,600 walks", "overall", "time"):
        assert words in done.stdout


def test_a_bound_is_called_one(folder):
    (folder / "h.toml").write_text(HELMHOLTZ)
    found = json.loads(mc2("certify", "h.toml", "fd", "--json", folder=folder).stdout)
    assert (found["kind"], found["walks"]) == ("bound", 0)
    assert "boundary" in found["note"]
    printed = mc2("certify", "h.toml", "fd", folder=folder).stdout
    assert "a bound from least squares" in printed


def test_seeds_give_other_walks(folder):
    runs = [
        json.loads(mc2("certify", "p.toml", "wos", "--seed", seed, "--json", folder=folder).stdout)["rms"]["estimate"]
        for seed in (0, 0, 1)
    ]
    assert runs[0] == runs[1] != runs[2]


def write_bad_files(folder):
    values, ends = np.ones(GRID.shape), np.array(GRID.bounds)
    np.savez(folder / "whole.npz", values=values, bounds=ends)
    (folder / "damaged.npz").write_bytes((folder / "whole.npz").read_bytes()[:3000])
    (folder / "text.npz").write_text("1 2 3\n")
    (folder / "text.npy").write_text("1 2 3\n")
    (folder / "text.nc").write_text("1 2 3\n")
    np.save(folder / "cube.npy", np.ones((2, 8, 8)))
    np.save(folder / "whole.npy", values)
    np.save(folder / "objects.npy", np.array([[None, 1]], dtype=object), allow_pickle=True)
    np.savez(folder / "nan.npz", values=np.where(GRID.points()[0] > 0.5, np.nan, 1.0), bounds=ends)
    np.savez(folder / "nameless.npz", solution=values, bounds=ends)
    np.savez(folder / "nowhere.npz", values=values)
    np.savez(folder / "elsewhere.npz", values=values, bounds=ends + 10)
    np.savez(folder / "mask.npz", values=values, bounds=ends, mask=np.ones((3, 3), bool))


BAD = {
    "missing.npz": "missing.npz: no such file",
    "missing.nc": "missing.nc: no such file",
    "damaged.npz": "damaged.npz: not a field",
    "text.npz": "text.npz: not a field: is not a whole .npz file",
    "text.npy --bounds=0,1,0,1": "text.npy: not a field",
    "text.nc": "text.nc: not a field",
    "cube.npy --bounds=0,1,0,1": "must be real numbers [rows, columns], not float64 [2, 8, 8]",
    "objects.npy --bounds=0,1,0,1": "objects.npy: not a field",
    "whole.npy": "give --bounds xmin,xmax,ymin,ymax",
    "whole.npy --bounds=0,1,0": "bounds = '0,1,0' must be four numbers",
    "whole.npy --bounds=1,0,0,1": "each min below its max",
    "nan.npz": "the field is not finite, or not known, at 1",
    "nameless.npz": "needs an array called values, u, field or mean",
    "nowhere.npz": "needs an array called bounds",
    "elsewhere.npz": "lies inside the domain",
    "mask.npz": "its mask is [3, 3]",
    "whole.npz --grid=8": "--grid is for methods",
    "whole.txt": "must end in .npz, .npy, .nc",
    "fdd": "unknown method 'fdd': did you mean 'fd'?",
    "wos_points": "the method wos_points gives no field",
    "fd --bounds=0,1,0,1": "--bounds are those of",
    "fd --walks=1": "walks = 1",
    "fd --points=0": "points = 0",
    "fd --confidence=95": "confidence = 95.0 must lie between 0 and 1",
    "fd --seed=-1": "seed = -1",
}


@pytest.mark.parametrize("arguments", BAD)
def test_bad_fields_are_one_line(folder, arguments):
    write_bad_files(folder)
    done = mc2("certify", "p.toml", *arguments.split(), folder=folder)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert BAD[arguments] in done.stderr


def test_usage(folder):
    assert mc2("certify", "p.toml", folder=folder).returncode == 2
    assert mc2("certify", "none.toml", "fd", folder=folder).returncode == 1
