"""Commands and their files: refused before the work, cleaned up after SIGTERM, one line for a full disk."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mc2.cli.main import app
from mc2.errors import InputError
from mc2.folders import holding
from tests.cli.test_commands import EXAMPLE, mc2

ENTRY = Path(__file__).parents[2] / "leaderboard" / "entries" / "bilateral.json"
RECORDS = ["zoo", "records", "--split", "train", "--out", "r.jsonl"]


def forbidden(*_, **__):
    pytest.fail("the work has begun")


@pytest.mark.parametrize(
    ("work", "arguments", "name"),
    [
        ("mc2.solvers.solve", ["solve", EXAMPLE, "--out"], "a.npz"),
        ("mc2.solvers.solve", ["solve", EXAMPLE, "--plot"], "a.png"),
        ("mc2.problems.read_problem", ["show", EXAMPLE, "--out"], "a.png"),
        ("mc2.benchmark.runner.evaluate", ["evaluate", "--method", "mean", "--out"], "a.json"),
        ("mc2.benchmark.runner.evaluate", ["evaluate", "--method", "mean", "--predictions"], "a.npz"),
        ("mc2.benchmark.bias.study_bias", ["bias", "--method", "mean", "--plot"], "a.png"),
        ("mc2.zoo.studies.study_calibration", ["zoo", "calibrate", "--plot"], "a.png"),
        ("mc2.zoo.studies.study_convergence", ["zoo", "convergence", "--plot"], "a.png"),
        ("mc2.zoo.studies.study_difficulty", ["zoo", "difficulty", "--plot"], "a.png"),
        ("mc2.zoo.studies.study_statistics", ["zoo", "stats", "--plot"], "a.png"),
        ("mc2.zoo.make_fields", ["zoo", "show", 1, "--out"], "a.png"),
        ("mc2.zoo.generate", ["zoo", "records", "--out"], "a.jsonl"),
        ("mc2.zoo.manifest.make_manifest", ["zoo", "manifest", "--write"], "a.json"),
        ("mc2.benchmark.leaderboard.read_predictions", ["leaderboard", "score", "p.npz", "--out"], "a.json"),
        ("mc2.benchmark.leaderboard.read_predictions", ["leaderboard", "score", "p.npz", "--new-entry"], "a.json"),
    ],
)
def test_outputs_are_refused_before_work(tmp_path, monkeypatch, work, arguments, name):
    monkeypatch.setattr(work, forbidden)
    (tmp_path / name).mkdir()
    for target, message in ((name, "it is a folder"), (f"missing/{name}", "there is no folder"), ("a.doc", "end in")):
        done = CliRunner().invoke(app, [*map(str, arguments), str(tmp_path / target)])
        assert isinstance(done.exception, InputError), done.exception
        assert message in str(done.exception)


def test_netcdf_without_xarray_is_refused_before_work(tmp_path, monkeypatch):
    monkeypatch.setattr("mc2.solvers.solve", forbidden)
    monkeypatch.setitem(sys.modules, "xarray", None)
    done = CliRunner().invoke(app, ["solve", str(EXAMPLE), "--out", str(tmp_path / "a.nc")])
    assert str(done.exception) == "xarray is not installed: pip install xarray, or save to .npz"


def test_an_entry_that_cannot_be_rewritten_is_refused_before_work(tmp_path, monkeypatch):
    monkeypatch.setattr("mc2.benchmark.leaderboard.verify.verify", forbidden)
    (tmp_path / "entry.txt").write_text(ENTRY.read_text())
    done = CliRunner().invoke(app, ["leaderboard", "verify", str(tmp_path / "entry.txt"), "--write"])
    assert "must end in .json" in str(done.exception)


def test_one_file_is_not_written_twice(tmp_path):
    both = ["--out", str(tmp_path / "a.json"), "--new-entry", str(tmp_path / "a.json")]
    done = CliRunner().invoke(app, ["leaderboard", "score", "p.npz", *both])
    assert "--out and --new-entry are both" in str(done.exception)


def test_two_builds_in_one_folder(tmp_path):
    with holding(tmp_path):
        done = mc2("zoo", "build", "--split", "test", "--out", tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert f"error: {tmp_path} is in use by process " in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("number", "word"),
    [(signal.SIGTERM, "terminated"), (signal.SIGHUP, "terminated"), (signal.SIGINT, "interrupted")],
)
@pytest.mark.slow
def test_a_process_that_is_asked_to_end_cleans_up(tmp_path, number, word):
    """In the middle of a file, of which an earlier version stays."""
    (tmp_path / "r.jsonl").write_text("old")
    command = [sys.executable, "-m", "mc2.cli.main", *RECORDS]

    def heed():  # what this process may have been told to ignore, as in a background job
        signal.signal(number, signal.SIG_DFL)

    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, preexec_fn=heed) as running:
        try:
            while not [path for path in tmp_path.glob(".*.tmp") if path.stat().st_size]:
                assert running.poll() is None
                time.sleep(0.01)
            running.send_signal(number)
            _, errors = running.communicate(timeout=30)
        finally:
            running.kill()
    assert (running.returncode, errors) == (128 + number, f"{word}: nothing was written\n")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("r.jsonl", "old")]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_output_to_a_full_disk_is_one_line():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "mc2.cli.main", "info"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (done.returncode, done.stderr) == (1, "error: [Errno 28] No space left on device\n")


@pytest.mark.parametrize("redirection", [">&-", "| true"])
def test_output_that_nobody_reads_is_no_error(redirection):
    command = f"{sys.executable} -m mc2.cli.main --version {redirection}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
