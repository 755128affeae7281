"""The command line as a user meets it: output, exit codes, one-line errors, whole files."""

import io
import json
import signal
import subprocess
import sys
import time
import warnings
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import pytest
from matplotlib.image import imread

from mc2.cli.main import main

EXAMPLE = Path(__file__).parents[2] / "examples" / "keyhole.toml"


def started(*arguments: object, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, which takes a second to start."""
    command = [sys.executable, "-m", "mc2.cli.main", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120)


def mc2(*arguments: object, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command line in this process, with the warnings of a new one."""
    words, out, errors = ["mc2", *map(str, arguments)], io.StringIO(), io.StringIO()
    with (
        chdir(folder or Path.cwd()), patch.object(sys, "argv", words), redirect_stdout(out), redirect_stderr(errors),
        warnings.catch_warnings(),
    ):  # fmt: skip
        warnings.resetwarnings()
        for kind in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", kind)
        code: object = 0
        try:
            main()
        except SystemExit as end:
            code = end.code
    return subprocess.CompletedProcess(words, int(code or 0), out.getvalue(), errors.getvalue())


READY = """
import mc2.cli.main, mc2.solvers.solve, mc2.zoo.studies.convergence, matplotlib.pyplot
print("ready", flush=True)
mc2.cli.main.main()
"""


def interrupt(arguments: list[str], folder: Path) -> tuple[int, str]:
    """Run a command until it is loaded and has begun, then press Ctrl-C: the exit code, and what was said."""
    command = [sys.executable, "-c", READY, *arguments]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout.readline() == "ready\n"
            time.sleep(1)
            running.send_signal(signal.SIGINT)
            _, errors = running.communicate(timeout=30)
        finally:
            running.kill()
    return running.returncode, errors


@pytest.mark.parametrize(
    "arguments",
    [["info", "--json"], ["show", "none.toml"], ["fly"], ["solve", EXAMPLE, "--grid", 16, "--max-steps", 2]],
)
def test_a_process_of_its_own_says_the_same(tmp_path, arguments):
    """So that most tests may do without: a result, an error, a wrong use, a warning."""
    alone, here = (run(*arguments, folder=tmp_path) for run in (started, mc2))
    assert alone.returncode == here.returncode

    def words(text):  # but for the seconds that it took
        return [line for line in text.splitlines() if not line.startswith("time")]

    assert words(alone.stdout) == words(here.stdout)
    if alone.returncode != 2:  # usage is drawn to the width of a terminal
        assert alone.stderr == here.stderr


def test_info_json():
    done = mc2("info", "--json")
    assert done.returncode == 0, done.stderr
    contents = json.loads(done.stdout)
    assert list(contents["families"]) == ["laplace", "poisson", "yukawa", "biharmonic", "helmholtz", "elliptic"]
    assert contents["families"]["yukawa"]["parameters"] == {"lam": [0.5, 50.0]}
    assert len(contents["domains"]) == 8
    assert contents["domains"]["annulus"] == {"inner": [0.2, 0.6], "outer": [0.8, 1.4]}
    assert (len(contents["atoms"]["general"]), len(contents["atoms"]["harmonic"])) == (20, 12)
    assert contents["device"]["cores"] >= 1
    assert "mc2-rounds" in contents["correctors"]
    assert "fd" in contents["methods"]
    assert contents["atoms"]["general"]["trig"]["parameters"]["k"] == "an integer in [1, 6]"


def test_info_is_one_screen():
    done = mc2("info")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert len(lines) <= 50
    assert max(map(len, lines)) <= 80
    for word in ("biharmonic", "stadium", "logaddexp", "mc2-rounds", "diffusion-pde", "robin", "numpy 2.", "cores"):
        assert word in done.stdout


def test_info_atoms():
    done = mc2("info", "atoms")
    assert done.returncode == 0
    for word in ("very_high_freq_trig", "h_dipole", "a sin(kπx)"):
        assert word in done.stdout
    assert mc2("info", "atmos").returncode == 2


def test_show_draws_a_picture(tmp_path):
    done = mc2("show", EXAMPLE, "--out", tmp_path / "picture.png")
    assert done.returncode == 0, done.stderr
    assert "picture.png" in done.stdout
    picture = imread(tmp_path / "picture.png")
    assert picture.shape[0] > 300
    assert picture[..., :3].std() > 0.05
    assert [path.name for path in tmp_path.iterdir()] == ["picture.png"]


@pytest.mark.parametrize(
    ("content", "out", "message"),
    [
        ("family = 'poison'", "a.png", "did you mean 'poisson'?"),
        (EXAMPLE.read_text(), "a.jpeg", "must end in .png"),
        (EXAMPLE.read_text(), "missing/a.png", "cannot write"),
        ("\x00", "a.png", "not valid TOML"),
    ],
)
def test_errors_are_one_line(tmp_path, content, out, message):
    file = tmp_path / "problem.toml"
    file.write_text(content)
    done = mc2("show", file, "--out", out, folder=tmp_path)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["problem.toml"]


@pytest.mark.parametrize("arguments", [["fly"], ["show"], ["info", "--yaml"]])
def test_wrong_usage(arguments):
    assert mc2(*arguments).returncode == 2


def test_help_and_version():
    import mc2 as package

    assert "random walks" in mc2("--help").stdout
    assert mc2("--version").stdout.strip() == package.__version__
