"""Two processes do what one does with their batches together."""

import json
import os
import socket
import subprocess
import sys

import pytest

from mc2.errors import InputError
from mc2.training.data import training_batches
from mc2.training.loop import train

from .runs import CPU, small

PART = """
import json, sys
from pathlib import Path
from mc2.training import loop
from mc2.training.config import config_from_data
loop.LOG = 1
torch = loop.torch
torch.set_num_threads(1)
log = loop.train(config_from_data(json.loads(sys.argv[1])), Path(sys.argv[2]), device="cpu")
"""


@pytest.mark.slow
def test_two_processes_equal_one(tmp_path, monkeypatch):
    monkeypatch.setattr("mc2.training.loop.LOG", 1)
    config = small(steps=4, batch=4, validations=1)
    expected = train(config, tmp_path / "one", device="cpu")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    together = os.environ | {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    command = [sys.executable, "-c", PART, json.dumps(config.data), str(tmp_path / "two")]
    parts = [subprocess.Popen(command, env=together | {"RANK": str(rank)}) for rank in range(2)]
    assert [part.wait(timeout=120) for part in parts] == [0, 0]
    found = json.loads((tmp_path / "two" / "small.json").read_text())
    assert found["processes"] == 2
    assert [loss for _, loss in found["losses"]] == pytest.approx([loss for _, loss in expected["losses"]], rel=1e-5)
    assert found["best"]["psnr"] == pytest.approx(expected["best"]["psnr"], rel=1e-4)


def test_a_batch_must_be_shared_evenly():
    with pytest.raises(InputError, match="batch = 4 must be a multiple of the 3 processes"):
        training_batches(small(), 0, 0, 3, CPU)
