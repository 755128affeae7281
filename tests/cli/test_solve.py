"""`mc2 solve` as a user meets it."""

import json
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from tests.cli.test_commands import EXAMPLE, interrupt, mc2

JUMPS = "family = 'laplace'\nboundary = 'where(sin(30*x) > 0, 1, 0)'\ngrid = 12\n[domain]\nshape = 'disk'\n"
HELMHOLTZ = "family = 'helmholtz'\nexact = 'sin(3*x)*cos(4*y)'\nk = {k}\ngrid = 24\n[domain]\nshape = 'disk'\n"


@pytest.mark.parametrize("corrector", ["mc2-rounds", "wos"])
def test_summary_and_files(tmp_path, corrector):
    out, plot = tmp_path / "s.npz", tmp_path / "s.png"
    done = mc2("solve", EXAMPLE, "--walks", 16, "--corrector", corrector, "--out", out, "--plot", plot, "--grid", 64)
    assert done.returncode == 0, done.stderr
    for word in (
        f"by {corrector}",
        "walks",
        "reason      ",
        "std. error",
        "error",
        "of the solution",
        "s.npz",
        "s.png",
    ):
        assert word in done.stdout
    assert ("16 per pixel" in done.stdout) == (corrector != "mc2-rounds")
    assert ("functions" in done.stdout) == (corrector == "mc2-rounds")
    with np.load(out, allow_pickle=False) as found:
        assert found["values"].shape == (56, 64)
        assert json.loads(str(found["record"]))["method"] == corrector
    assert imread(plot)[..., :3].std() > 0.05
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.npz", "s.png"]


def test_json_tells_the_truth():
    done = mc2("solve", EXAMPLE, "--walks", 8, "--grid", 64, "--json", "--device", "cpu")
    contents = json.loads(done.stdout)
    assert contents["walks"] == sum(step["points"] * step["walks"] for step in contents["history"])
    assert [step["kind"] for step in contents["history"]] == ["lift", "walks", "walks", "walks", "walks"]
    assert [step["walks"] for step in contents["history"]] == [0, 2, 2, 2, 2]
    assert contents["reason"] == "walks spent, judged by walks"
    assert contents["method"] == "mc2-rounds"
    assert contents["problem"] == "Keyhole plate"
    assert 0 < contents["rms_error"] < contents["largest_error"] < 1e-3
    assert 0.2 < contents["rms_error"] / contents["standard_error"] < 5
    assert contents["standard_error"] <= contents["largest_standard_error"]
    again = json.loads(mc2("solve", EXAMPLE, "--walks", 8, "--grid", 64, "--json", "--threads", 1).stdout)
    assert again["rms_error"] == contents["rms_error"]


def test_tolerances():
    contents = json.loads(mc2("solve", EXAMPLE, "--grid", 32, "--json", "--tolerance", "1e-5").stdout)
    assert contents["converged"]
    assert contents["rms_error"] < 3e-5
    assert contents["reason"].startswith("tolerance met, judged by walks")
    assert len(contents["history"]) > 2


def test_a_tolerance_that_is_not_met_is_one_warning(tmp_path):
    (tmp_path / "p.toml").write_text(JUMPS)
    done = mc2("solve", tmp_path / "p.toml", "--tolerance", "1e-9", "--max-seconds", 0.5, "--json")
    assert done.returncode == 0
    assert done.stderr.startswith("warning: ")
    assert "the tolerance 1e-09" in done.stderr
    assert done.stderr.count("\n") == 1
    contents = json.loads(done.stdout)
    assert not contents["converged"]
    assert contents["reason"].startswith("stopped at max_seconds = 0.5, judged by walks")


def test_a_limit_of_walks(tmp_path):
    (tmp_path / "p.toml").write_text(JUMPS)
    done = mc2("solve", tmp_path / "p.toml", "--tolerance", "1e-9", "--max-walks", 60_000, "--json")
    contents = json.loads(done.stdout)
    assert not contents["converged"]
    assert contents["reason"].startswith("stopped at max_walks = 60,000")
    assert contents["walks"] <= 60_000
    assert done.stderr.startswith("warning: no basis fits this problem: the tolerance 1e-09 would take about ")
    assert done.stderr.count("\n") == 1


def test_certificates():
    done = mc2("solve", EXAMPLE, "--grid", 32, "--walks", 4, "--start", "boundary", "--certify", 16)
    assert done.returncode == 0, done.stderr
    assert "error, root mean square with 95% interval" in done.stdout
    assert "overall" in done.stdout
    contents = json.loads(mc2("solve", EXAMPLE, "--grid", 32, "--walks", 4, "--certify", 16, "--json").stdout)
    certificate = contents["certificate"]
    assert certificate["low"] <= certificate["rms_error"] <= certificate["high"]
    assert certificate["rms_error"] == pytest.approx(contents["rms_error"], rel=0.5)


def test_helmholtz_problems_that_cannot_be_walked(tmp_path):
    file = tmp_path / "p.toml"
    file.write_text(HELMHOLTZ.format(k=6.0))
    done = mc2("solve", file)
    assert done.returncode == 0, done.stderr
    assert "by trefftz" in done.stdout
    assert done.stderr == ""
    file.write_text(HELMHOLTZ.format(k=5.52008))  # a zero of J₀
    done = mc2("solve", file, "--json")
    assert done.returncode == 0
    assert "of a Dirichlet eigenvalue of the domain" in done.stderr
    assert done.stderr.count("\n") == 1
    contents = json.loads(done.stdout)
    assert contents["walks"] == 0
    assert contents["rms_error"] < 1e-6


def test_no_exact_solution_no_error_line(tmp_path):
    file = tmp_path / "p.toml"
    file.write_text("family = 'laplace'\nboundary = 'x'\ngrid = 32\n[domain]\nshape = 'disk'\n")
    done = mc2("solve", file, "--walks", 1, "--corrector", "wos")
    assert done.returncode == 0
    assert "unknown from one walk" in done.stdout
    assert "rms" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--walks", "0"], "walks = 0"),
        (["--corrector", "magic"], "unknown corrector 'magic'"),
        (["--tolerance", "-1"], "tolerance = -1"),
        (["--certify", "1"], "walks = 1"),
        (["--max-walks", "100"], "limits of a tolerance"),
        (["--max-seconds", "-1", "--tolerance", "1"], "max_seconds = -1"),
        (["--plot", "a.jpeg"], "must end in .png"),
        (["--out", "a.txt"], "must end in .npz, .nc"),
        (["--out", "missing/a.npz"], "cannot write"),
        (["--epsilon", "2"], "epsilon = 2.0"),
    ],
)
def test_bad_options_are_one_line(tmp_path, arguments, message):
    done = mc2("solve", EXAMPLE, "--grid", 32, *arguments, folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_interruption_leaves_nothing_behind(tmp_path):
    arguments = ["solve", str(EXAMPLE), "--corrector", "wos", "--walks", "2000000", "--out", "s.npz"]
    assert interrupt(arguments, tmp_path) == (130, "interrupted: nothing was written\n")
    assert list(Path(tmp_path).iterdir()) == []


def test_warnings_are_one_line():
    done = mc2("solve", EXAMPLE, "--grid", 16, "--max-steps", 2)
    assert done.returncode == 0
    assert done.stderr.startswith("warning: ")
    assert "ran out of steps" in done.stderr
    assert done.stderr.count("\n") == 1
