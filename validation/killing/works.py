"""The commands that are killed: what each is given, and what of its files must be equal whatever happened."""

import io
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from safetensors.torch import load as load_tensors

from mc2.benchmark.leaderboard.predictions import write_predictions
from mc2.training.checkpoints import STATE
from mc2.training.resume import read_state
from mc2.zoo import generate, make_fields

PROBLEM = """
title = "A notched disk"
family = "poisson"
source = "40*x*y"
boundary = "x**2 - y"
grid = 24

[domain]
shape = "disk"
"""
NETWORK = """
name = "tiny"
steps = 4
grid = 16
batch = 2
budgets = [4]
validations = 2
validation_count = 3
seed = {seed}

[network]
architecture = "unet"
widths = [4, 8]
blocks = 1
"""
TIMES = {"seconds", "walking_seconds"}
"""Keys of JSON files that no two runs have in common."""


@dataclass(frozen=True)
class Work:
    """A command, in a folder of its own.

    earlier: a command that makes an earlier version of what it writes. files: that must be there before both; texts by
    name. prepare: makes others.
    """

    name: str
    command: str
    earlier: str = ""
    files: dict[str, str] = field(default_factory=dict)
    prepare: Callable[[Path], None] = lambda folder: None

    def begin(self, folder, run):
        """Make the folder as the command finds it. run: called with the earlier command and the folder."""
        folder.mkdir(parents=True)
        for name, text in self.files.items():
            (folder / name).write_text(text)
        self.prepare(folder)
        if self.earlier:
            run(self.earlier, folder)


def write_fields(folder):
    """Predictions to be scored: the exact fields, a little wrong."""
    instances = [generate("test", index) for index in range(10)]
    fields = make_fields(instances, (1,), device="cpu")
    write_predictions(folder / "p.npz", [instance.id for instance in instances], 1.01 * fields.u)


def copy_entries(folder):
    """Those of this leaderboard, and a folder without any."""
    shutil.copytree(Path(__file__).parents[2] / "leaderboard" / "entries", folder / "entries")
    (folder / "none").mkdir()


BUILD = "zoo build --split test --range 0:4 --budgets 1,32 --grid 16 --shard-size 2 --device cpu --out built"
RECORDS = "zoo records --out r.jsonl --range"
SOLVE = "solve p.toml --out s.npz --plot s.png --seed"
EVALUATE = "evaluate --method mean --count 2 --grid 16 --no-lpips --device cpu --out r.json --predictions f.npz --seed"
SCORE = (
    "leaderboard score p.npz --count 10 --no-lpips --out scores.json --new-entry entry.json "
    "--about method=ours --about authors=us --about date=2025-01-02 --about notes="
)
VERIFY = "leaderboard verify entries/mean.json --count 10 --grid 16 --tolerance 40 --no-lpips --write --seed"
PAGE = "leaderboard build --out site/index.html --entries"
TRAIN = "train tiny.toml --device cpu --out run"
CONFIGS = {"tiny.toml": NETWORK.format(seed=0), "old.toml": NETWORK.format(seed=1)}
WORKS = {
    work.name: work
    for work in (
        Work("build", BUILD),
        Work("build npz", f"{BUILD} --format npz"),
        Work("records", f"{RECORDS} 0:40", f"{RECORDS} 0:9"),
        Work("solve", f"{SOLVE} 0", f"{SOLVE} 1", {"p.toml": PROBLEM}),
        Work("evaluate", f"{EVALUATE} 0", f"{EVALUATE} 1"),
        Work("score", f"{SCORE}new", f"{SCORE}old", prepare=write_fields),
        Work("verify", f"{VERIFY} 2", f"{VERIFY} 1", prepare=copy_entries),
        Work("page", f"{PAGE} entries", f"{PAGE} none", prepare=copy_entries),
        Work("train", TRAIN, files=CONFIGS),
        Work("train anew", f"{TRAIN} --no-resume", TRAIN.replace("tiny", "old"), CONFIGS),
    )
}


def canonical(path):
    """What of a file must be equal, and that it is whole: reading it fails otherwise."""
    content = path.read_bytes()
    if path.name == STATE:  # without its checksum, which is also one of the seconds
        return json.dumps(_timeless(read_state(path)), sort_keys=True)
    if path.suffix == ".json" and content:
        return json.dumps(_timeless(json.loads(content)), sort_keys=True)
    if path.suffix == ".npz":
        with np.load(io.BytesIO(content), allow_pickle=False) as data:
            arrays = {name: data[name] for name in data}
        record = arrays.pop("record", None)
        texts = "" if record is None else json.dumps(_timeless(json.loads(str(record))))
        return texts, *((name, array.tobytes()) for name, array in sorted(arrays.items()))
    if path.suffix == ".safetensors":
        load_tensors(content)
    return content


def _timeless(data):
    if isinstance(data, dict):
        return {key: _timeless(value) for key, value in data.items() if key not in TIMES}
    return [_timeless(value) for value in data] if isinstance(data, list) else data
