"""`mc2 train` as a user meets it."""

import json
import signal
import subprocess
import sys
import time

import pytest

from .test_commands import mc2

TINY = """
steps = {steps}
grid = 32
batch = 2
budgets = [4]
validations = 1
validation_count = 3

[network]
architecture = "unet"
widths = [4, 8]
blocks = 1
"""


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(TINY.format(steps=2))
    return path


@pytest.mark.slow
def test_a_run_and_its_weights(config, tmp_path):
    done = mc2("train", config, "--device", "cpu", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    log = json.loads(done.stdout)
    assert (log["steps"], log["finished"]) == (2, True)
    assert "samples/s" in done.stderr
    weights = tmp_path / "runs" / "tiny" / "tiny.safetensors"
    again = mc2("train", config, "--device", "cpu", folder=tmp_path)
    assert "finished" in again.stdout
    judged = mc2("evaluate", "--method", weights, "--count", 1, "--grid", 32, "--no-lpips", "--json", folder=tmp_path)
    assert judged.returncode == 0, judged.stderr
    assert json.loads(judged.stdout)["method"] == "tiny"


@pytest.mark.slow
def test_ctrl_c_leaves_a_checkpoint(config, tmp_path):
    config.write_text(TINY.format(steps=1_000_000))
    command = [sys.executable, "-m", "mc2.cli.main", "train", str(config), "--device", "cpu", "--out", "run"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert "step" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        process.communicate(timeout=60)
        assert time.monotonic() - began < 30
    assert process.returncode == 130
    assert json.loads((tmp_path / "run" / "state.json").read_text())["step"] >= 1


def test_errors_are_one_line(config, tmp_path):
    config.write_text("stpes = 3")
    done = mc2("train", config, folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "did you mean 'steps'" in done.stderr
