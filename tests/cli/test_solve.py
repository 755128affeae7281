"""`mc2 solve` as a user meets it."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from mc2.walks import Estimate
from tests.cli.test_commands import EXAMPLE, mc2


def test_summary_and_files(tmp_path):
    out, plot = tmp_path / "s.npz", tmp_path / "s.png"
    done = mc2("solve", EXAMPLE, "--walks", 16, "--corrector", "none", "--out", out, "--plot", plot, "--grid", 64)
    assert done.returncode == 0, done.stderr
    for word in ("walks", "16 per pixel", "steps each", "std. error", "error", "s.npz", "s.png"):
        assert word in done.stdout
    found = Estimate.load(out)
    assert found.mean.shape == (64, 64)
    assert found.walks == 16
    assert imread(plot)[..., :3].std() > 0.05
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.npz", "s.png"]


def test_json_tells_the_truth():
    done = mc2("solve", EXAMPLE, "--walks", 64, "--grid", 64, "--json", "--device", "cpu")
    contents = json.loads(done.stdout)
    assert contents["walks"] == 64 * contents["pixels"]
    assert 10 < contents["steps_per_walk"] < 20
    assert 0 < contents["rms_error"] < contents["largest_standard_error"] * 2
    again = json.loads(mc2("solve", EXAMPLE, "--walks", 64, "--grid", 64, "--json", "--threads", 1).stdout)
    assert again["rms_error"] == contents["rms_error"]


def test_no_exact_solution_no_error_line(tmp_path):
    file = tmp_path / "p.toml"
    file.write_text("family = 'laplace'\nboundary = 'x'\ngrid = 32\n[domain]\nshape = 'disk'\n")
    done = mc2("solve", file, "--walks", 1)
    assert done.returncode == 0
    assert "unknown from one walk" in done.stdout
    assert "rms" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--walks", "0"], "walks = 0"),
        (["--corrector", "magic"], "unknown corrector 'magic'"),
        (["--plot", "a.jpeg"], "must end in .png"),
        (["--out", "a.txt"], "must end in .npz"),
        (["--out", "missing/a.npz"], "cannot write"),
        (["--sampling", "sobol"], "unknown sampling"),
        (["--epsilon", "2"], "epsilon = 2.0"),
    ],
)
def test_bad_options_are_one_line(tmp_path, arguments, message):
    done = mc2("solve", EXAMPLE, "--grid", 32, *arguments, folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_interruption_leaves_nothing_behind(tmp_path):
    command = [sys.executable, "-m", "mc2.cli.main", "solve", str(EXAMPLE), "--walks", "2000000", "--out", "s.npz"]
    running = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    time.sleep(4)
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=30)
    assert running.returncode == 130
    assert errors == "interrupted: nothing was written\n"
    assert list(Path(tmp_path).iterdir()) == []


def test_warnings_are_one_line():
    done = mc2("solve", EXAMPLE, "--grid", 16, "--max-steps", 2)
    assert done.returncode == 0
    assert done.stderr.startswith("warning: ")
    assert done.stderr.count("\n") == 1
    assert np.isfinite(json.loads(mc2("solve", EXAMPLE, "--grid", 16, "--json").stdout)["rms_error"])
