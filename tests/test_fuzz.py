"""The fuzz suite: what it calls wrong is wrong, and a short part of it finds nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest
from validation.fuzzing.child import Input, judge
from validation.fuzzing.mutate import alter, changed, edit

from mc2.errors import InputError

ROOT = Path(__file__).parents[1]


def raising(error):
    def run():
        raise error

    return Input(run)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("made", "outcome"),
    [
        (raising(InputError("one line")), "refused"),
        (raising(InputError("two\nlines")), "bad message"),
        (raising(InputError("x" * 2000)), "bad message"),
        (raising(InputError("\x1b[31m")), "bad message"),
        (raising(KeyError("a")), "traceback"),
        (raising(SystemExit(3)), "traceback"),
        (raising(MemoryError()), "over memory"),
        (Input(lambda: 1), "accepted"),
        (Input(lambda: 1, refused=True), "wrong contents"),
        (Input(lambda: {"a": np.array([1.0])}, same={"a": np.array([1.0])}), "accepted"),
        (Input(lambda: {"a": np.array([1.0])}, same={"a": np.array([1.0], np.float32)}), "wrong contents"),
        (Input(lambda: {"a": np.array([0.0])}, same={"a": np.array([-0.0])}), "wrong contents"),
    ],
)
def test_verdicts(made, outcome, tmp_path):
    assert judge(lambda rng, folder: made, Random(0), tmp_path)["outcome"] == outcome


def test_inputs_follow_from_their_seed():
    data = {"a": [1, 2.5, {"b": "text"}], "c": None}
    for number in range(50):
        for make, sample in ((alter, data), (edit, b'a = "text"\n[b]\nc = 1\n'), (changed, bytes(range(200)))):
            first, again = (repr(make(Random(number), sample)) for _ in range(2))
            assert first == again
    assert data == {"a": [1, 2.5, {"b": "text"}], "c": None}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="every input is read in a forked process")
@pytest.mark.slow
def test_a_short_part():
    """A few inputs of every target; `python -m validation.fuzz` goes on for as long as it is told."""
    command = [sys.executable, "-m", "validation.fuzz", "--seed", "1", "--most", "6", "--seconds", "120", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert found["failures"] == []
    assert all(row["inputs"] == row["refused"] + row["accepted"] == 6 for row in found["targets"].values())
    assert found["all"]["megabytes"] < 2048
