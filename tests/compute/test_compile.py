"""Kernels are compiled once per machine, and again when their sources change."""

import json
import subprocess
import sys

import pytest

from mc2.compute import compile as compiling

PROGRAM = """
import json
from mc2.functions.kernels import evaluate
from mc2.functions.machine import run
from mc2.functions.reader import read_expression
value = float(run(read_expression("x + y").program, 1.0, 2.0))
print(json.dumps([value, sum(evaluate.stats.cache_hits.values()), sum(evaluate.stats.cache_misses.values())]))
"""


@pytest.mark.slow
def test_second_start_does_not_compile():
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True)
    second = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True)
    assert json.loads(second.stdout) == [3.0, 1, 0]


def test_stamp_follows_every_compiled_source(tmp_path, monkeypatch):
    folder = tmp_path / "mc2" / "compute"
    folder.mkdir(parents=True)
    (folder / "compile.py").write_text("a")
    kernels = tmp_path / "mc2" / "geometry_kernels.py"
    kernels.write_text("b")
    monkeypatch.setattr(compiling, "__file__", str(folder / "compile.py"))
    before = compiling._source_stamp.__wrapped__()
    kernels.write_text("c")
    assert compiling._source_stamp.__wrapped__() != before
