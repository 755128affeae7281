"""Commands that are killed, asked to end, or meet a full disk, at some file steps; `validation.kills` tries all."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("works", "sample"),
    [
        (("build", "build npz", "records", "evaluate", "page"), 3),
        (("solve", "train"), 1),
    ],
)
@pytest.mark.slow
def test_some_steps(works, sample):
    command = [sys.executable, "-m", "validation.kills", "--sample", str(sample), "--seed", "1", "--json"]
    done = subprocess.run(
        [*command, "--only", *works], capture_output=True, text=True, timeout=120, cwd=Path(__file__).parents[1]
    )
    found = json.loads(done.stdout)
    assert [trial for trial in found["trials"] if trial["wrong"]] == []
    assert done.returncode == 0, done.stderr
    assert {(row["work"], row["fault"]): row["trials"] for row in found["summary"]} == {
        (work, fault): sample for work in works for fault in ("kill", "error", "terminate")
    }
    assert sum(row["temporary left"] for row in found["summary"]) > 0  # it does kill
